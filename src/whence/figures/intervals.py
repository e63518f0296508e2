"""Effects with their intervals, one row each, with zero and the smallest effect of interest."""

import math
import textwrap
import unicodedata
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.figures.style import INK, PALE, PALETTE, canvas, house, note_above
from whence.figures.token_shading import visible
from whence.results.format_number import number
from whence.results.verdict import Effect

LINE = 62  # letters that fit into a line of the figure
STRIP = 0.2  # inches: the height of a band


def intervals(effects: Sequence[Effect], x_label: str | None = None) -> Figure:
    """A dot for each effect and a line for its interval, with its name and numbers above.

    The grey band is too small to be of interest: from minus to plus the effect's `smallest`.
    """
    units = sorted({effect.unit for effect in effects})
    if len(units) != 1:
        raise BadData(f"the effects of one figure must have one unit, got: {', '.join(units) or 'no effects'}")
    titles = [_title(effect) for effect in effects]
    with house():
        heights = [0.36 + 0.165 * len(title) for title in titles]  # inches
        figure, axes = canvas(height=sum(heights) + 0.95)
        bottom = 0.0
        for effect, title, height in reversed(list(zip(effects, titles, heights, strict=True))):
            _row(axes, effect, title, bottom)
            bottom += height
        _dress(axes, effects, bottom, visible(x_label or units[0]))
    return figure


def _title(effect: Effect) -> list[str]:
    """The name and the numbers, wrapped to the width of the figure."""
    spread = (effect.smallest, effect.high - effect.low)
    value, low, high = (number(part, spread) for part in (effect.value, effect.low, effect.high))
    numbers = f"{value} ({low} to {high})" if math.isfinite(effect.value) else "could not be measured"
    name = visible(effect.label)
    unbroken = numbers.replace(" ", "\N{NO-BREAK SPACE}")
    return textwrap.wrap(f"{name}: {unbroken}", LINE // 2 if _wide(name) else LINE) or [numbers]


def _wide(text: str) -> bool:
    """Whether a character is twice as wide as usual, as Chinese ones are."""
    return any(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def _row(axes: Axes, effect: Effect, title: list[str], bottom: float) -> None:
    """Band, interval and dot low in the row, the title above them."""
    at = bottom + 0.13
    if math.isfinite(effect.smallest) and effect.smallest > 0:
        axes.barh(at, 2 * effect.smallest, STRIP, left=-effect.smallest, color=PALE, linewidth=0)
    axes.plot([0, 0], [at - STRIP / 2, at + STRIP / 2], color=INK, linewidth=0.9)
    if math.isfinite(effect.low) and math.isfinite(effect.high):
        axes.plot([effect.low, effect.high], [at, at], color=PALETTE[0], linewidth=2.2, solid_capstyle="butt")
    if math.isfinite(effect.value):
        axes.plot([effect.value], [at], "o", color=PALETTE[0], markersize=6, markeredgecolor="white")
    axes.text(0, at + STRIP / 2 + 0.02, "\n".join(title), transform=axes.get_yaxis_transform(), va="bottom", fontsize=9)


def _dress(axes: Axes, effects: Sequence[Effect], top: float, x_label: str) -> None:
    """The zero line, the axis limits, and a note that explains the band."""
    numbers = [part for effect in effects for part in (effect.low, effect.value, effect.high, effect.smallest)]
    numbers += [-effect.smallest for effect in effects]
    finite = [part for part in numbers if math.isfinite(part)] + [0.0]
    margin = 0.06 * (max(finite) - min(finite)) or 1.0
    axes.set(xlim=(min(finite) - margin, max(finite) + margin), ylim=(0, top), xlabel=x_label)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    note_above(axes, "black line: no effect · grey: too small to be of interest")
