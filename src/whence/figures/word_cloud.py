"""A word cloud (Wu et al. 2020 Fig. 4): the larger a word, the higher its score."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whence.core.errors import BadData
from whence.figures.style import PALETTE, QUIET, canvas, house, note_above
from whence.figures.token_shading import visible
from whence.figures.violins import refuse_missing

MOST = 120  # words
WIDE, HIGH, SCALE = 460, 290, 3  # pixels of the layout, and how many times finer it is drawn
LINES = 10  # of a plain list, drawn without `wordcloud`


def word_cloud(table: pd.DataFrame, word: str, size: str, quiet: str | None = None, seed: int = 0) -> Figure:
    """The words with the highest scores, sized by rank; `quiet` ones in grey.

    Words whose score is not above zero are left out; no word is removed by hand. The seed determines the layout.
    Without the package `wordcloud` (`pip install 'whence[wordcloud]'`) the first thirty words are listed.
    """
    with house():
        figure, axes = canvas(height=3.1)
        draw(axes, table, word, size, quiet, seed)
    return figure


def draw(axes: Axes, table: pd.DataFrame, word: str, size: str, quiet: str | None = None, seed: int = 0) -> None:
    """The same on existing axes."""
    refuse_missing(table, [column for column in (word, size, quiet) if column])
    known = table[np.isfinite(table[size]) & (table[size] > 0)].sort_values(size, ascending=False, kind="stable")
    if known[word].duplicated().any():
        raise BadData(f"a cloud has each word once; {known[word][known[word].duplicated()].iloc[0]!r} comes twice")
    axes.set_axis_off()
    drawn = 0
    if len(known):
        grey = set(known.loc[known[quiet].to_numpy(bool), word].map(visible)) if quiet else set[str]()
        best = known.head(MOST)
        scores = {visible(str(name)): float(score) for name, score in zip(best[word], best[size], strict=True)}
        if find_spec("wordcloud") is None:
            drawn = listed(axes, scores, grey)
        else:
            image, drawn = picture(scores, grey, seed)
            axes.imshow(image, interpolation="antialiased")
    sized = "larger" if find_spec("wordcloud") else "first"
    note = f"{drawn} of {len(known):,} words; {sized}: higher score{'; grey: stop words' if quiet else ''}"
    note_above(axes, note)


def listed(axes: Axes, scores: dict[str, float], grey: set[str]) -> int:
    """The words in three columns, the highest score first, where `wordcloud` is not installed; how many there are."""
    words = list(scores)[: 3 * LINES]
    for number, word in enumerate(words):
        column, line = divmod(number, LINES)
        colour = QUIET if word in grey else PALETTE[0]
        axes.text(column / 3, 1 - (line + 0.5) / LINES, word, transform=axes.transAxes, color=colour, va="center")
    return len(words)


def picture(scores: dict[str, float], grey: set[str], seed: int) -> tuple[np.ndarray, int]:
    """The cloud as red, green, blue and opacity [row column 4], and how many words fitted.

    Laid out by `wordcloud`, the highest score first; sizes depend on ranks alone (`relative_scaling=0`, as in the
    paper).
    """
    from wordcloud import WordCloud

    made = WordCloud(
        width=WIDE,
        height=HIGH,
        scale=SCALE,
        mode="RGBA",
        background_color=None,
        relative_scaling=0,
        max_words=MOST,
        random_state=seed,
        prefer_horizontal=1.0,
        min_font_size=8,
        max_font_size=46,
        color_func=_coloured(grey),
    )
    return np.asarray(made.generate_from_frequencies(scores).to_array()), len(made.layout_)


def _coloured(grey: set[str]) -> Callable[..., str]:
    def colour(word: str, **_: Any) -> str:
        return QUIET if word in grey else PALETTE[0]

    return colour
