"""Token scores as highlighted text, one line for each method: HTML, terminal, LaTeX (SVG in `tokens_svg`)."""

from collections.abc import Sequence
from html import escape

from whence.figures.token_shading import (
    AGAINST,
    DEEPEST,
    FOR,
    Line,
    Scores,
    Shading,
    blend,
    lines,
    right_to_left,
    score_text,
)
from whence.figures.tokens.svg import as_svg
from whence.results.latex import latex

__all__ = ["as_html", "as_latex", "as_svg", "as_text"]


def as_html(tokens: Sequence[str], scores: Scores, caption: str = "", shading: Shading = "strongest") -> str:
    """A table with one row per method: its name, the shaded tokens, the scale.

    Shades are half transparent, so that they work on light and dark pages. A token's score is its tooltip.
    """
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    rows = "".join(
        f'<tr><th scope="row">{escape(line.method)}</th><td style="line-height:1.9">{_html_tokens(line)}'
        f"<br><small>{escape(line.scale)}</small></td></tr>"
        for line in lines(tokens, scores, shading)
    )
    return f'<table class="whence-tokens">{above}<tbody>{rows}</tbody></table>'


def _html_tokens(line: Line) -> str:
    """Each token isolated, so that one written from right to left does not move its neighbours."""
    spans = []
    for token, score, shade in zip(line.tokens, line.scores, line.shades, strict=True):
        red, green, blue = FOR if shade >= 0 else AGAINST
        ground = f"background:rgba({red},{green},{blue},{DEEPEST * abs(shade):.3f})"
        title = escape(score_text(score, line.signed))
        spans.append(
            f'<bdi style="{ground};padding:.1em .2em;border-radius:.2em" title="{title}">{escape(token)}</bdi>'
        )
    return " ".join(spans)


def as_text(tokens: Sequence[str], scores: Scores, colour: bool = True, shading: Shading = "strongest") -> str:
    """Lines for a terminal: shaded tokens, or, without colour, each token with its score in brackets."""
    named = lines(tokens, scores, shading)
    width = max((len(line.method) for line in named), default=0)
    shown = []
    for line in named:
        name = f"{line.method:<{width}}  " if width else ""
        shown.append(f"{name}{_coloured(line) if colour else _bracketed(line)}")
        shown.append(f"{' ' * len(name)}({line.scale})")
    return "\n".join(shown)


def _coloured(line: Line) -> str:
    """Black on the shade, 24-bit colours (ISO 8613-6), reset after each token."""
    parts = []
    for token, shade in zip(line.tokens, line.shades, strict=True):
        red, green, blue = blend(shade)
        parts.append(f"\x1b[38;2;0;0;0;48;2;{red};{green};{blue}m{_isolated(token)}\x1b[0m")
    return " ".join(parts)


def _bracketed(line: Line) -> str:
    pairs = zip(line.tokens, line.scores, strict=True)
    return " ".join(f"{_isolated(token)}[{score_text(score, line.signed)}]" for token, score in pairs)


def _isolated(token: str) -> str:
    """A token written from right to left, between isolating characters; others unchanged."""
    return f"\u2068{token}\u2069" if right_to_left(token) else token


def as_latex(tokens: Sequence[str], scores: Scores, shading: Shading = "strongest") -> str:
    r"""A tabular of one row for each method; needs `\usepackage{xcolor}`.

    Letters outside Latin need XeLaTeX or LuaLaTeX and a font that has them.
    """
    rows = []
    for line in lines(tokens, scores, shading):
        boxes = " ".join(_box(token, shade) for token, shade in zip(line.tokens, line.shades, strict=True))
        scale = latex(line.scale).replace("±", r"\ensuremath{\pm}")
        rows.append(rf"{latex(line.method)} & {boxes} \newline {{\footnotesize {scale}}} \\")
    begin = r"\begingroup\setlength{\fboxsep}{1pt}\begin{tabular}{lp{0.8\linewidth}}"
    return "\n".join([begin, *rows, r"\end{tabular}\endgroup", ""])


def _box(token: str, shade: float) -> str:
    colour = ",".join(str(part) for part in blend(shade))
    text = latex(token).replace("‹", r"\guilsinglleft{}").replace("›", r"\guilsinglright{}")
    return rf"\colorbox[RGB]{{{colour}}}{{\strut {text}}}"
