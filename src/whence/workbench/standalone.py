"""A page of the workbench as one file that needs no server: styles, modules and data are inside it.

A page imports its modules by relative paths. Here each becomes a data: address under a name of its own in an import
map, so that the modules stay as they are, and are the same as those that the server gives.
"""

import base64
import json
import re
from collections.abc import Mapping
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:;"
    " base-uri 'none'; form-action 'none'"
)
STYLE = re.compile(r'<link rel="stylesheet" href="/static/([\w./-]+)">')
SCRIPT = re.compile(r'<script type="module" src="/static/([\w./-]+)"></script>')
IMPORT = re.compile(r'^(\s*(?:import|export)\b[^"\n]*?)"(\.{1,2}/[\w./-]+)"', re.MULTILINE)
NAME = "whence/"
TITLES = {"look": "Look", "change": "Change", "compare": "Compare", "audit": "Audit", "explore": "Explorer"}


def static_file(path: str) -> Path:
    """A file of the pages; those of the flow diagram stand in a folder of their own."""
    package = "whence.figures.flow" if path.startswith("flow/") else "whence.workbench"
    return Path(str(files(package) / "static")) / path.removeprefix("flow/")


def view_page(view: str) -> str:
    """The page of a view, as the server gives it."""
    return Template(static_file("page.html").read_text(encoding="utf-8")).substitute(view=view, title=TITLES[view])


def standalone(view: str, responses: Mapping[str, Any], state: Mapping[str, Any] | None = None) -> str:
    """The page of a view (`look`) with the answers that it would ask the server for, by method and address."""
    page, module = view_page(view), f"pages/{view}.js"
    modules = modules_below(module)
    page = STYLE.sub(lambda link: f"<style>\n{_style(link[1])}\n</style>", page)
    data = {"view": view, "state": dict(state or {}), "responses": dict(responses)}
    scripts = (
        f'<script type="application/json" id="whence-data">{within_script(data)}</script>\n'
        f'<script type="importmap">{within_script({"imports": {NAME + n: _address(t) for n, t in modules.items()}})}'
        f'</script>\n<script type="module">import "{NAME}{module}";</script>'
    )
    page = SCRIPT.sub(lambda _: scripts, page)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}', 1)


def modules_below(first: str) -> dict[str, str]:
    """The text of a module and of all that it imports, each import by the name that it has in the import map."""
    found: dict[str, str] = {}
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        text = static_file(name).read_text(encoding="utf-8")
        found[name] = IMPORT.sub(partial(_by_name, name), text)
        waiting += [_resolved(name, line[2]) for line in IMPORT.finditer(text)]
    return found


def _by_name(module: str, line: re.Match[str]) -> str:
    return f'{line[1]}"{NAME}{_resolved(module, line[2])}"'


def _resolved(module: str, path: str) -> str:
    """Where a relative import of a module leads."""
    parts: list[str] = list(PurePosixPath(module).parent.parts)
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _style(name: str) -> str:
    return static_file(name).read_text(encoding="utf-8").replace("</style", "<\\/style")


def _address(text: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(text.encode()).decode()


def within_script(values: Any) -> str:
    """JSON in ASCII that can neither end its element nor begin a comment."""
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")


def in_frame(page: str, title: str, height: int = 900) -> str:
    """The page in a frame that can reach nothing around it, for notebooks."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts allow-downloads" title="{escape(title)}"'
        f' style="width:100%;height:{height}px;border:0"></iframe>'
    )
