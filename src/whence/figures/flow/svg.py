"""A flow diagram as a picture that stands alone: SVG written by hand, so that text stays text."""

import textwrap
from collections import defaultdict
from collections.abc import Iterable
from html import escape

import numpy as np

from whence.figures.flow.captions import HOW_TO_READ, heading, in_words, scales
from whence.figures.flow.layout import FAINTEST, FANS, Layout, Scale, alpha_of, bound, darkest_dot, layout, lines
from whence.figures.flow.model import Flow
from whence.figures.style import INK, PALE, PALETTE, QUIET
from whence.figures.tokens.svg import FONT, SIZE

SANS = "'DejaVu Sans',system-ui,sans-serif"
LETTER, BOLD = 6.6, 7.7  # the width of a letter of the caption and of the heading, in pixels
CAPTION, STEP = 11.5, 17.0  # the height of its letters and of its lines
THIN = 1.1  # of lines
Stroke = tuple[float, float, float, float]  # from x, y to x, y


def as_svg(flow: Flow, scale: Scale = "strongest") -> str:
    """The flow from the answer at the top to the tokens at the bottom, with a caption that says how to read it."""
    places, drawn, dot = layout(flow), lines(flow, scale), darkest_dot(flow, scale)
    parts = [
        _strokes(fans(flow, places, dot, scale)),
        _strokes(segments(flow, places, scale)),
        _dots(flow, places, dot, scale),
    ]
    parts += [_names(flow, places), *_tokens(flow, places)]
    written = caption_lines([HOW_TO_READ, scales(flow, drawn, dot)], places.width - 24)
    for number, line in enumerate(written):
        parts.append(
            f'<text x="12" y="{places.height + STEP * (number + 1):g}" font-size="{CAPTION}">{escape(line)}</text>'
        )
    width, height = round(places.width), round(places.height + STEP * (len(written) + 1))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{SANS}" fill="{INK}" role="img"><title>{escape(heading(flow))}</title>'
        f'<desc>{escape(in_words(flow))}</desc><rect width="{width}" height="{height}" fill="#fff"/>'
        f"{''.join(parts)}</svg>"
    )


def segments(flow: Flow, places: Layout, scale: Scale) -> Iterable[tuple[float, Stroke]]:
    """The lines within heads, from faint to dark: how dark each is, and from where to where it goes."""
    drawn = lines(flow, scale)
    for alpha, (level, head, query, key) in zip(drawn.alpha, drawn.at, strict=True):
        upper, lower = places.x[head, query], places.x[head, key]
        yield float(alpha), (upper, places.y[level + 1], lower, places.y[level])


def fans(flow: Flow, places: Layout, dot: float, scale: Scale) -> Iterable[tuple[float, Stroke]]:
    """The lines from the answer to the top row (Eq. 8), and from the bottom row to the tokens (Eq. 11)."""
    x, y = places.answer
    words = np.array([label.x for label in places.labels])
    for amounts, down in ((np.tile(flow.readout, (flow.heads, 1)), False), (flow.nodes[0], True)):
        alpha = alpha_of(amounts, dot, scale)  # [head token]
        for head, token in np.argwhere(amounts >= bound(amounts, FANS)):
            point = places.x[head, token]
            ends = (point, places.y[0], words[token], places.text_top - 3) if down else (x, y, point, places.y[-1])
            yield float(alpha[head, token]), ends


def _strokes(strokes: Iterable[tuple[float, Stroke]]) -> str:
    """One path for all lines that are equally dark; lines too faint to see are left out."""
    paths: dict[int, list[str]] = defaultdict(list)
    for alpha, (x, y, to_x, to_y) in strokes:
        if alpha >= FAINTEST:
            paths[round(100 * alpha)].append(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}")
    drawn = (f'<path d="{"".join(paths[part])}" stroke-opacity="{part / 100:g}"/>' for part in sorted(paths))
    return f'<g fill="none" stroke="{PALETTE[0]}" stroke-width="{THIN}">{"".join(drawn)}</g>'


def _dots(flow: Flow, places: Layout, dot: float, scale: Scale) -> str:
    """Points of no length with round ends: every token's place in pale, and over it what has arrived there."""
    alpha = alpha_of(flow.nodes, dot, scale)  # [level head token]
    every, shaded = [], defaultdict(list)
    for level, head, token in ((a, b, c) for a in range(alpha.shape[0]) for b in range(flow.heads) for c in
                               range(len(flow.tokens))):  # fmt: skip
        point = f"M{places.x[head, token]:.1f} {places.y[level]:.1f}h0"
        every.append(point)
        shaded[round(100 * alpha[level, head, token])].append(point)
    drawn = (
        f'<path d="{"".join(shaded[part])}" stroke-opacity="{part / 100:g}" '
        f'stroke-width="{2 * places.size(part / 100):g}"/>'
        for part in sorted(shaded)
        if part
    )
    wide = f'fill="none" stroke-linecap="round" stroke-width="{2 * places.radius:g}"'
    x, y = places.answer
    return (
        f'<g {wide} stroke="{PALE}"><path d="{"".join(every)}"/></g>'
        f'<g {wide} stroke="{PALETTE[0]}">{"".join(drawn)}</g>'
        f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{PALETTE[0]}"/>'
    )


def _names(flow: Flow, places: Layout) -> str:
    """The heading, and the names of rows and columns."""
    x, y = places.answer
    parts = [f'<text x="12" y="18" font-size="13" font-weight="bold">{escape(heading_line(flow, places))}</text>',
             f'<text x="{x:g}" y="{y - 9:g}" font-size="12" text-anchor="middle">answer</text>']  # fmt: skip
    for level, row in enumerate(places.y):
        name = f"layer {level}" if level else "input"
        parts.append(f'<text x="12" y="{row + 4:.1f}" font-size="12" fill="{QUIET}">{name}</text>')
    for head in range(flow.heads):
        middle = places.x[head].mean()
        parts.append(
            f'<text x="{middle:.1f}" y="{places.y[-1] - 12:.1f}" font-size="12" text-anchor="middle" stroke="#fff" '
            f'stroke-width="4" paint-order="stroke">{head_name(flow, places, head)}</text>'
        )
    parts.append(f'<text x="12" y="{places.text_top + SIZE:g}" font-size="12" fill="{QUIET}">tokens</text>')
    return "".join(parts)


def heading_line(flow: Flow, places: Layout) -> str:
    """The heading, cut where the picture is too narrow for it."""
    return textwrap.shorten(heading(flow), int((places.width - 24) / BOLD), placeholder="…")


def head_name(flow: Flow, places: Layout, head: int) -> str:
    """A head's name, or its number alone where columns are narrow."""
    column = (places.x[-1, 0] - places.x[0, 0]) / max(flow.heads - 1, 1)
    return f"head {head + 1}" if flow.heads == 1 or column >= 56 else str(head + 1)


def _tokens(flow: Flow, places: Layout) -> Iterable[str]:
    """The text of the tokens, the darker the more attention has arrived; its title is the whole text and the score."""
    for label, score, ink in zip(places.labels, flow.scores, inks(flow), strict=True):
        turn = f' transform="rotate(90 {label.x:.1f} {places.text_top:g})"' if places.upright else ""
        at = f'x="{label.x:.1f}" y="{places.text_top + (0 if places.upright else SIZE):g}"'
        anchor = "start" if places.upright else "middle"
        shift = ' dy="4.5"' if places.upright else ""
        yield (
            f'<text {at}{shift}{turn} text-anchor="{anchor}" font-size="{SIZE:g}" font-family="{FONT}" fill="{ink}" '
            f'unicode-bidi="isolate"><title>{escape(f"{label.whole}: {score:.3g}")}</title>{escape(label.text)}</text>'
        )


def inks(flow: Flow) -> list[str]:
    """The colour of each token's text: from a grey that can still be read, for the least score, to black."""
    least, largest = flow.extremes
    greys = [round(0x76 * min((largest - score) / ((largest - least) or 1.0), 1.0)) for score in flow.scores]
    return [f"#{grey:02x}{grey:02x}{grey:02x}" for grey in greys]


def caption_lines(sentences: Iterable[str], width: float) -> list[str]:
    """Paragraphs broken into lines of that width."""
    return [line for text in sentences for line in textwrap.wrap(text, max(int(width / LETTER), 30))]
