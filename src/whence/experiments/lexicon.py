"""Do words that people rate as good or bad get higher scores than neutral ones?

Wu et al. 2020, §6.4, Eq. 12 and Fig. 5. The mean score A_w of every word seen more than once is regressed on its
valence in a lexicon, A_w = b0 + b1 Val_w + b2 Val_w² + ε, on orthogonal polynomials as R's `lm(att ~ poly(val, 2))`. A
U, high at both ends, has b2 > 0. The claim also needs that the curve turns (two-lines test, Simonsohn 2018), also with
the word's frequency (its logarithm) and length held fixed; that it holds for other sentences (jackknife); and that
random scores and the same model untrained have no such U.

The effect is the correlation of scores with the second polynomial (b2 over √n and their standard deviation), whatever
their scale; the smallest of interest is 0.1, a small correlation by convention (Cohen 1988).

Words are those of `words`. They are looked up exactly, else by their inflected forms, with rules for endings
(`whence.data.lexical.lemmas`); the counts of both are reported. Differs from the paper, which took WordNet's lemmas,
all forms by the package `word_forms`, and corrections by hand that are not released.

When not to use it: where labels have nothing to do with the valence of words. A U shows plausibility, not faithfulness.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.lexicon import (
    curvature_interval,
    curvatures,
    fits,
    numbers,
    rated_words,
    regressions,
    word_curvature,
    words_of,
)
from whence.data.lexical.lexicons import load_lexicon
from whence.evaluation.config import AttributionConfig
from whence.figures.fit_panels import fit_panels
from whence.measures.intervals import Interval, level_for
from whence.results.columns import EXAMPLE, Column, Columns
from whence.results.experiment import ANY_TASK, Experiment
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Mean score of each word by its valence (at most 700 words are drawn), and the parabola fitted to all with its 95 %"
    " band; dashed: the same model before training. A U is high at both ends."
)
SMALLEST = 0.1  # of a correlation
BEYOND = {"random": "random scores", "untrained": "the same model untrained"}  # what scores are compared with


class Config(AttributionConfig):
    """Compare the scores of words with human ratings of these words."""

    lexicon: str = Field(
        "vader", description="warriner, vader, sst, or the path of a table with the columns word and value"
    )
    matching: Literal["exact", "lemma"] = Field(
        "lemma", description="match words exactly, or also by their inflected forms"
    )
    at_least: int = Field(2, gt=0, description="leave out words that occur less often (the paper: 2)")
    untrained: bool = Field(True, description="score the words also by the same model before training")

    def cache_key(self) -> dict[str, Any]:
        """The contents of the lexicon, not its name."""
        return {**super().cache_key(), "lexicon": load_lexicon(self.lexicon, self.data_dir).checksum}


COLUMNS = Columns(
    what="one row per word, example, explainer and state of the model",
    state=Column(str, "of the model: trained or untrained"),
    method=Column(str, "the explainer"),
    example=EXAMPLE,
    word=Column(str, "the word, in lower case, without punctuation"),
    n=Column(int, "how often it occurs in the example"),
    score=Column(float, "sum of its scores there"),
    valence=Column(float, "its value in the lexicon (NaN: not found)"),
    matched=Column(str, "how it was found: exact, lemma or none"),
    scale=Column(str, "which lexicon, and what its values are"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every word seen often enough, in every example, by each explainer."""
    from whence.evaluation.retraining import untrained

    lexicon = load_lexicon(config.lexicon, config.data_dir)
    found = [_scored(config.method, config, context, "trained")]
    learned = tuple(method for method in config.method if method != "random")  # random scores need no model
    if config.untrained and learned:
        found.append(_scored(learned, config, untrained(context), "untrained"))
    table = pd.concat(found)
    seen = table[table["method"] == config.method[0]].query("state == 'trained'").groupby("word")["n"].sum()
    table = table[table["word"].isin(seen.index[seen >= config.at_least])]
    values = {word: lexicon.find(word, config.matching) for word in table["word"].unique()}
    table["valence"] = [values[word][0] for word in table["word"]]
    table["matched"] = [values[word][1] for word in table["word"]]
    table["scale"] = f"{lexicon.scale} ({lexicon.name})"
    ordered = table.sort_values(["example"], kind="stable")
    return COLUMNS.table({name: ordered[name] for name in COLUMNS.columns})


def _scored(methods: tuple[str, ...], config: Config, context: "Context", state: str) -> pd.DataFrame:
    from whence.evaluation.word_scores import occurrences

    options = [option for option in config.options if option.partition(".")[0] in methods or state == "trained"]
    rows = pd.DataFrame(vars(one) for one in occurrences(context, methods, options))
    return rows.assign(state=state)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The regressions: one row per state of the model and explainer, without and with controls."""
    return regressions(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `b2 of lat`, `p of b2 of lat`, `correlation of lat and random`, ..."""
    return numbers(table, summary(table))


def matches(table: pd.DataFrame) -> dict[str, int]:
    """How many words were found exactly, as a form, or not."""
    words = table.drop_duplicates("word")["matched"].value_counts()
    return {how: int(words.get(how, 0)) for how in ("exact", "lemma", "none")}


def effects(table: pd.DataFrame) -> list[Effect]:
    """How much of a U the first explainer has: alone, beyond random scores, beyond the untrained model.

    Jackknife intervals over examples, the same for both sides, that hold for the three together (Bonferroni).
    """
    words, left_out = rated_words(table), curvatures(table)
    first = (str(table["state"].iloc[0]), str(table["method"].iloc[0]))
    sides = {"": None, "random": ("trained", "random"), "untrained": ("untrained", first[1])}
    there = {variant: key for variant, key in sides.items() if key is None or (key in words and key != first)}
    found = []
    for variant, key in there.items():
        beyond = f", beyond {BEYOND[variant]}" if key else ""
        value = word_curvature(words[first]) - (word_curvature(words[key]) if key else 0)
        known = first in left_out and (key is None or key in left_out)
        without = left_out[first] - (left_out[key] if key else 0) if known else None
        measured = curvature_interval(float(value), without, level_for(len(there)))
        label = f"how much of a U scores by {first[1]} have{beyond}"
        unit, n = "of a correlation (-1 to 1)", len(words[first])
        found.append(Effect.of("curvature", label, measured, unit, SMALLEST, n, variant=variant))
    return found


def figure(table: pd.DataFrame) -> Figure:
    """Scores by valence with fitted parabolas, a panel for each explainer (Wu et al. 2020 Fig. 5)."""
    return fit_panels(words_of(table), "valence", "score", "method", "state", str(table["scale"].iloc[0]), "mean score")


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether words of strong valence get higher scores: a U that turns, beyond what chance and no training give."""
    method, found, counts = str(table["method"].iloc[0]), effects(table), matches(table)
    words = rated_words(table)[str(table["state"].iloc[0]), method]
    plain, controlled = fits(words, False), fits(words, True)
    answer, sentence = decide(method, found, plain["shape"], controlled["shape"])
    return Verdict(
        question=6,
        answer=answer,
        sentence=sentence + _numbers(plain),
        effects=tuple(found),
        procedure="The mean score of each word seen often enough was regressed on its value in a lexicon,"
        f" {table['scale'].iloc[0]}: {counts['exact']:,} words are in it, of {counts['lemma']:,} another form is,"
        f" {counts['none']:,} were not found. Two lines were fitted left and right of the bend, also with frequency and"
        " length held fixed; examples were left out in turn for the intervals, which hold for the effects together.",
        means="Where there is a U, words that people find good or bad get higher scores than neutral words.",
        does_not_mean="Such words may get high scores without deciding the prediction (question 3). A significant b2"
        " alone shows no U: a curve that flattens has one too. And the U may be a small part of what makes scores"
        " differ (R²).",
    )


def _numbers(fit: dict[str, Any]) -> str:
    """The coefficients in a sentence; nothing where there are none."""
    if not np.isfinite(fit["b2"]):
        return ""
    b1, b2 = (
        f"{name} = {fit[name]:.3g} (t = {fit[f'{name}_t']:.2f}, p = {fit[f'{name}_p']:.2g})" for name in ("b1", "b2")
    )
    return f" {b1}, {b2}, R² = {fit['r_squared']:.3f}, {fit['n']:,} words."


def decide(method: str, found: list[Effect], plain: str, controlled: str) -> tuple[Answer, str]:
    """Yes if the curve turns, with controls too, and all intervals are above the limit; no if one is wholly below."""
    own, *others = found
    if not np.isfinite(own.low):
        return "undecided", f"{own.n} words with a value in the lexicon are too few to see a curve."
    much = f"{own.value:.2f} of a correlation ({own.low:.2f} to {own.high:.2f})"
    above = [effect for effect in found if effect.low > effect.smallest]
    strong = f"By {method}, words that people find good or bad get"
    if own.high < SMALLEST:
        return "no", f"{strong} hardly higher scores than neutral ones: {much}."
    if plain != "U":
        if own in above:
            return "no", f"By {method}, scores bend with valence ({much}) but do not fall and rise again: two lines."
        return "undecided", f"By {method}, scores may or may not bend with valence ({much}); two lines show no U."
    weak = [BEYOND[effect.variant] for effect in others if effect.high < SMALLEST]
    if weak:
        return "no", f"{strong} higher scores ({much}), but hardly more so than by {' and by '.join(weak)}."
    u = f"{strong} higher scores than neutral ones: {much}"
    if controlled != "U":
        return "undecided", f"{u}; but no U is left where frequency and length of the words are held fixed."
    if len(above) < len(found):
        return "undecided", f"{u}; whether that is more than {SMALLEST}, also beyond chance and no training, is open."
    return "yes", f"{u}, and that is more than by chance or without training."


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, ANY_TASK, summary=summary, quantities=quantities
)
