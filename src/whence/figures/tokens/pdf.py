"""Token scores as a PDF: the places of `tokens_svg`, drawn by matplotlib."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from whence.figures.style import house
from whence.figures.token_shading import Scores, Shading, blend, lines
from whence.figures.tokens.svg import ROW, SIZE, placed, width_of

INCH = 96.0  # pixels


def save_pdf(
    tokens: Sequence[str], scores: Scores, path: Path, width: int = 420, shading: Shading = "strongest"
) -> None:
    """Each method's name and scale, and under it its tokens on shaded ground."""
    blocks = [(line, list(placed(line, width))) for line in lines(tokens, scores, shading)]
    height = sum(30 + ROW + max((y for _, y, *_ in boxes), default=0.0) + 12 for _, boxes in blocks) + 12
    with house():
        figure = Figure(figsize=(width / INCH, height / INCH))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        points = SIZE * 72 / INCH
        top = 6.0
        for line, boxes in blocks:
            for heading in filter(None, (line.method, line.scale)):
                axes.text(4, top + 10, heading, fontsize=0.8 * points, color="#555555", parse_math=False)
                top += 15
            for x, y, token, shade, _ in boxes:
                ground = [part / 255 for part in blend(shade)]
                axes.add_patch(Rectangle((x, top + y), width_of(token), ROW - 4, color=ground, linewidth=0))
                axes.text(x + width_of(token) / 2, top + y + 13, token, fontsize=points, family="monospace",
                          ha="center", parse_math=False)  # fmt: skip
            top += ROW + max((y for _, y, *_ in boxes), default=0.0) + 12
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})
