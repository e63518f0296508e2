"""Tables of two rows and two columns side by side, their cells shaded by size (Vashishth et al. 2019 Figure 5)."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whence.core.errors import BadData
from whence.figures.heatmap import SHADES
from whence.figures.style import INK, QUIET, house, panels
from whence.figures.token_shading import visible
from whence.measures.intervals import Interval

HEIGHT = 1.75  # inches of one table


def square_tables(
    tables: Mapping[str, Sequence[Sequence[Interval]]], rows: tuple[str, str], columns: tuple[str, str], note: str = ""
) -> Figure:
    """One table for each name: cells [row column] in per cent, each with its interval below."""
    if not tables:
        raise BadData("expected at least one table of two rows and two columns, got none")
    with house():
        figure, axes = panels([HEIGHT] * len(tables))
        for ax, (name, cells) in zip(axes, tables.items(), strict=True):
            _draw(ax, visible(name), cells, rows, columns)
        if note:
            figure.suptitle(visible(note), fontsize=9, color=QUIET, x=0.02, ha="left")
    return figure


def _draw(
    axes: Axes, name: str, cells: Sequence[Sequence[Interval]], rows: tuple[str, str], columns: tuple[str, str]
) -> None:
    for down, row in enumerate(cells):
        for across, cell in enumerate(row):
            shade = cell.mean / 100 if cell.mean == cell.mean else 0.0
            colour = SHADES(shade)
            axes.add_patch(Rectangle((across, down), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
            ink = "white" if shade > 0.7 else INK
            axes.text(across + 0.5, down + 0.42, f"{cell.mean:.1f}", ha="center", va="center", fontsize=12, color=ink)
            ends = f"{cell.low:.1f} to {cell.high:.1f}" if cell.low == cell.low else ""
            axes.text(across + 0.5, down + 0.75, ends, ha="center", va="center", fontsize=8, color=ink)
    axes.set(xlim=(0, 2), ylim=(2, 0))
    axes.set_xticks([0.5, 1.5], columns)
    axes.set_yticks([0.5, 1.5], rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(name, loc="left", fontsize=10, pad=6)
