"""Token scores as a PDF, drawn by matplotlib."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whence.figures.style import house
from whence.figures.token_shading import Scores, Shading
from whence.figures.tokens.drawing import BASELINE, BLACK, BOX, HEADING, QUIET, SIZE, draw_tokens

INCH = 96.0  # pixels
POINT = 72 / INCH  # of a pixel


def save_pdf(
    tokens: Sequence[str], scores: Scores, path: Path, width: int = 420, shading: Shading = "strongest"
) -> None:
    """The same picture as the SVG."""
    drawing = draw_tokens(tokens, scores, width, shading)
    with house():
        figure, axes = pixel_figure(drawing.width, drawing.height)
        for heading in drawing.headings:
            axes.text(heading.x, heading.y, heading.text, fontsize=HEADING * POINT, color=QUIET, parse_math=False)
        for box in drawing.boxes:
            ground = [part / 255 for part in box.colour]
            axes.add_patch(Rectangle((box.x, box.y), box.width, BOX, color=ground, linewidth=0))
            middle, baseline = box.x + box.width / 2, box.y + BASELINE
            axes.text(
                middle,
                baseline,
                box.token,
                fontsize=SIZE * POINT,
                family="monospace",
                ha="center",
                color=BLACK,
                parse_math=False,
            )
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def pixel_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure that its axes fill, in pixels from the upper left corner."""
    figure = Figure(figsize=(width / INCH, height / INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return figure, axes
