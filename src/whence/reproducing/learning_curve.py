"""A score by the number of training examples: where a number that was published for more of them would be."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from whence.figures.style import INK, PALETTE, QUIET, canvas, house, save
from whence.reproducing.measured import FigureResult
from whence.reproducing.study import LearningCurve, Study
from whence.results.experiment import experiment

COLUMNS = ["examples", "score", "low", "high"]


def curve_points(summary: LearningCurve, results: Sequence[FigureResult]) -> pd.DataFrame:
    """One row for each model: how many examples it was trained on, and its score with the interval. A model whose score
    is in several figures counts once.
    """
    rows = {}
    for figure, case, result, _, seed in results:
        if figure.name in summary.figures and case.name in summary.sizes and (case.name, seed) not in rows:
            found = experiment(figure.experiment).quantities(result.table)[summary.quantity]
            rows[case.name, seed] = (summary.sizes[case.name], found.mean, found.low, found.high)
    return pd.DataFrame(list(rows.values()), columns=COLUMNS).sort_values("examples", ignore_index=True)


def fitted_power(points: pd.DataFrame) -> tuple[float, float]:
    """(b, c) of error = b · n^−c, a straight line in logarithms (Hestness et al. 2017); errors in per cent."""
    slope, height = np.polyfit(np.log(points["examples"]), np.log(100 - points["score"]), 1)
    return float(np.exp(height)), float(-slope)


def extrapolated(points: pd.DataFrame, examples: float) -> float:
    """The score that the fitted line has for so many examples."""
    b, c = fitted_power(points)
    return 100 - b * examples**-c


def describe_curve(
    study: Study, summary: LearningCurve, results: Sequence[FigureResult], folder: Path, draws: bool = True
) -> str:
    """The curve, and where its line is at the published number of examples; nothing with fewer than two sizes."""
    points = curve_points(summary, results)
    if points["examples"].nunique() < 2:
        return ""
    stem = f"figures/{study.name}-{summary.name.lower().replace(' ', '-')}"
    if draws:
        save(draw_curve(points, summary), folder / stem, ["svg"])
    size, theirs = summary.published
    measured = ", ".join(f"{row.score:.1f} with {row.examples:,}" for row in points.itertuples())
    return (
        f"## {summary.name}\n\n{summary.about} Ours: {measured}. The straight line of the logarithms of error and size"
        f" has {extrapolated(points, float(size)):.1f} at the paper's {size:,}, where {theirs:g} was published: an"
        f" extrapolation from {len(points)} points, without an interval.\n\n![{summary.name}]({stem}.svg)"
    )


def draw_curve(points: pd.DataFrame, summary: LearningCurve) -> Figure:
    """Scores with their intervals over a logarithmic axis, the fitted line, and the published score."""
    size, theirs = summary.published
    with house():
        figure, axes = canvas(2.9)
        away = np.array([points["score"] - points["low"], points["high"] - points["score"]])
        axes.errorbar(points["examples"], points["score"], away, fmt="o", color=PALETTE[0], label="ours")
        sizes = np.geomspace(points["examples"].min(), size, 50)
        line = [extrapolated(points, float(number)) for number in sizes]
        axes.plot(sizes, line, color=QUIET, linewidth=1.0, linestyle=":", label="error = b · size^−c")
        axes.plot([size], [theirs], "D", color=INK, label="published")
        axes.set_xscale("log")
        axes.set_xticks([*points["examples"], size])
        axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(summary.x_label)
        axes.set_ylabel(summary.y_label)
        axes.legend(loc="lower right", fontsize=9)
    return figure
