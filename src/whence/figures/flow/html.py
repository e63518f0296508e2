"""An interactive flow diagram: one self-contained page, with the module `static/flow.js` inside it."""

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

from whence.figures.flow.captions import HOW_TO_READ, describe_flow, heading, scales
from whence.figures.flow.drawing import head_name, inks
from whence.figures.flow.layout import DARK, FANS, POWER, Scale, bound, darkest_dot, layout, lines
from whence.figures.flow.model import Flow

# the page runs its own scripts, and fetches nothing
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def as_data(flow: Flow, scale: Scale = "strongest") -> dict[str, Any]:
    """Plain values that `static/flow.js` draws: the flow, the layout, the opacities, and the captions."""
    places, drawn, dot = layout(flow), lines(flow, scale), darkest_dot(flow, scale)
    above = bound(flow.readout.repeat(flow.heads), FANS)
    return {
        "flow": flow.as_dict(),
        "layout": places.as_dict() | {"dark": DARK},
        "shade": {
            "line": drawn.darkest,
            "dot": dot,
            "least": drawn.least,
            "power": POWER[scale],
            "above": above,
            "below": bound(flow.nodes[0], FANS),
        },
        "words": {
            "heading": heading(flow),
            "short": describe_flow(flow),
            "how": HOW_TO_READ,
            "scales": scales(flow, drawn, dot),
            "inks": inks(flow),
            "heads": [head_name(flow, places, head) for head in range(flow.heads)],
        },
    }


def as_html(flow: Flow, scale: Scale = "strongest") -> str:
    """A whole page: hover over a head or a token, or move with the keyboard, to highlight its lines."""
    title = escape(heading(flow))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>\n'
        f"<style>body {{ margin: 0; background: #fff; }} h1 {{ font: bold 15px sans-serif; margin: 10px 12px 0; }}\n"
        f'{_static("flow.css")}</style></head>\n<body><main><h1>{title}</h1><figure id="flow"></figure>'
        "<noscript><p>This picture needs scripts; saved as .svg or .pdf it does not.</p></noscript></main>\n"
        f'<script type="application/json" id="data">{_within_script(as_data(flow, scale))}</script>\n'
        f'<script type="module">\n{_module()}\n'
        'draw(document.getElementById("flow"), JSON.parse(document.getElementById("data").textContent));\n'
        "</script></body></html>\n"
    )


def as_frame(flow: Flow, scale: Scale = "strongest") -> str:
    """The page in an iframe, for notebooks: isolated from other diagrams and from the notebook."""
    height = round(layout(flow).height) + 260
    return (
        f'<iframe srcdoc="{escape(as_html(flow, scale))}" sandbox="allow-scripts" title="{escape(heading(flow))}" '
        f'style="width:100%;height:{height}px;border:0"></iframe>'
    )


def _module() -> str:
    """Both modules in one: a page without a server cannot import."""
    return re.sub(
        r'^import .* from "\./flow_paths\.js";$', lambda _: _static("flow_paths.js"), _static("flow.js"), flags=re.M
    )


def _static(name: str) -> str:
    return (files("whence.figures.flow") / "static" / name).read_text(encoding="utf-8")


def _within_script(values: Any) -> str:
    """JSON in ASCII that can neither end its element nor begin a comment."""
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
