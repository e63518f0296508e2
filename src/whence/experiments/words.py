"""Which words get the highest scores?

Wu et al. 2020, §6.3 and Fig. 4. An explainer scores every word of every text; the mean of a word's scores over its
occurrences ranks the words of the corpus. The paper reports words of strong emotion on top and that stop words do not
receive high scores. Measured is the rank of stop words, from 0 (on top) to 1 (at the bottom), 0.5 where they rank like
any word. The smallest effect of interest is a tenth of the list.

Words are the corpus's (else the tokenizer's), in lower case, the scores of subwords summed. Special tokens, padding and
punctuation are left out. Scores are as the explainer gives them, for the class that the model predicts. Stop words are
a short list of English function words (`whence.data.lexical.words`).

Differs from the paper: no word is taken out of the cloud by hand (the authors removed 14 names and all words with
apostrophes); stop words are measured, not inspected.

When not to use it: in small corpora, where a word's mean score is of two or three occurrences.
"""

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.data.lexical.words import STOP_WORDS
from whence.evaluation.config import AttributionConfig
from whence.figures import distributions, word_cloud
from whence.figures.style import INK, apart, house
from whence.measures.intervals import NOT_MEASURED, Interval, mean_interval
from whence.results.columns import Column, Columns
from whence.results.experiment import ANY_TASK, Experiment
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Above: the words with the highest mean scores among those seen at least twice, stop words in grey. Below: where"
    " stop words rank among all words."
)
SMALLEST = 0.1  # of the list of words
SEEN = 2  # times, to be in the cloud
TOP = 20


class Config(AttributionConfig):
    """Rank the words of a corpus by the mean of their scores."""

    at_least: int = Field(1, gt=0, description="leave out words that occur less often")


COLUMNS = Columns(
    what="one row per word and explainer",
    method=Column(str, "the explainer"),
    word=Column(str, "the word, in lower case, without punctuation"),
    score=Column(float, "mean of its scores over its occurrences"),
    count=Column(int, "how often it occurs"),
    texts=Column(int, "in how many examples"),
    rank=Column(int, "its place by score, the highest is 1; equal scores share the better place"),
    place=Column(float, "the same as a share of the list: 0 on top, 1 at the bottom (equal scores: their mean)"),
    stop=Column(bool, "whether it is a stop word"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every word with its mean score, for each explainer the highest first."""
    from whence.evaluation.word_scores import occurrences

    found = pd.DataFrame(vars(one) for one in occurrences(context, config.method, config.options))
    rows = [rank_words(found[found["method"] == method], method, config.at_least) for method in config.method]
    table = pd.concat(rows)
    return COLUMNS.table({name: table[name] for name in COLUMNS.columns})


def rank_words(found: pd.DataFrame, method: str, at_least: int = 1) -> pd.DataFrame:
    """One explainer's words, from rows of example, word, n and score (a sum over n occurrences)."""
    words = found.groupby("word", sort=True).agg(total=("score", "sum"), count=("n", "sum"), texts=("n", "size"))
    words = words[words["count"] >= at_least].reset_index()
    words["score"] = words["total"] / words["count"]
    words["rank"] = words["score"].rank(ascending=False, method="min").astype(int)
    words["place"] = (words["score"].rank(ascending=False) - 1) / max(len(words) - 1, 1)
    words["stop"] = words["word"].isin(STOP_WORDS)
    words["method"] = method
    return words.sort_values(["rank", "word"], kind="stable")[list(COLUMNS.columns)]


def effects(table: pd.DataFrame) -> list[Effect]:
    """How far below the middle of the list stop words rank, by each explainer; intervals over the stop words."""
    found = []
    for method, rows in table.groupby("method", sort=False):
        places = rows.loc[rows["stop"], "place"].to_numpy(float) - 0.5
        measured = mean_interval(places[None]) if len(places) else NOT_MEASURED
        label = f"how far below the middle of the list stop words are, by {method}"
        found.append(
            Effect.of("stop_words_below", label, measured, "of the list", SMALLEST, len(places), variant=str(method))
        )
    return found


def summary(table: pd.DataFrame, top: int = TOP) -> pd.DataFrame:
    """The words on top: one row per rank, for each explainer the word, its mean score and its count (seen twice)."""
    columns: dict[str, list[Any]] = {"rank": list(range(1, top + 1))}
    for method, rows in table[table["count"] >= SEEN].groupby("method", sort=False):
        best = rows.sort_values(["score", "word"], ascending=[False, True]).head(top)
        missing = [None] * (top - len(best))
        columns[str(method)] = [*best["word"], *missing]
        columns[f"{method}: score"] = [*best["score"].round(4), *missing]
        columns[f"{method}: count"] = [*best["count"], *missing]
    return pd.DataFrame(columns)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: the mean place of stop words, by each explainer."""
    return {
        f"place of stop words, {one.variant}": Interval(one.value + 0.5, one.low + 0.5, one.high + 0.5)
        for one in effects(table)
    }


def figure(table: pd.DataFrame) -> Figure:
    """A word cloud by the first explainer (Wu et al. 2020 Fig. 4), above the places of stop words by all of them."""
    methods = list(table["method"].unique())
    first = table[(table["method"] == methods[0]) & (table["count"] >= SEEN)]
    stops = table[table["stop"]]
    with house():
        drawn, (above, below) = apart((3.4, 0.95 + 0.36 * len(methods)))
        word_cloud.draw(above, first, "word", "score", "stop")
        places = {str(method): stops.loc[stops["method"] == method, "place"] for method in methods}
        distributions.draw(below, places, "place of stop words in the list (0: on top)")
        below.axvline(0.5, color=INK, linewidth=0.8, linestyle=":")
        above.set_title(f"by {methods[0]}", loc="left", fontsize=10, pad=18)
    return drawn


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether stop words rank low, by the first explainer."""
    found = effects(table)
    answer, sentence = decide(found[0], str(table["method"].iloc[0]))
    top = ", ".join(summary(table, 8).iloc[:, 1].dropna())
    return Verdict(
        question=6,
        answer=answer,
        sentence=f"{sentence} Highest scores: {top}." if top else sentence,
        effects=tuple(found),
        procedure="Every word of every text was scored, and words were ranked by their mean score. The position of stop"
        " words was compared with the middle of the list. The words named are those with the highest means among words"
        f" seen at least {SEEN} times.",
        means="Where stop words rank low, the explainer prefers words with a meaning of their own, as people would.",
        does_not_mean="That people like an explanation does not make it faithful (question 3). A word's mean also"
        " depends on the texts it occurs in: where scores of a text sum to one, words of short texts rank high.",
    )


def decide(effect: Effect, method: str) -> tuple[Answer, str]:
    """Yes if the whole interval is a tenth of the list below the middle, no if it is above that."""
    if effect.n < 10:
        return "undecided", f"There are {effect.n} stop words among these words, too few to say where they rank."
    where = f"at {effect.value + 0.5:.2f} of the list ({effect.low + 0.5:.2f} to {effect.high + 0.5:.2f})"
    scale = "0 is the top, 1 the bottom, 0.5 the mean of all words"
    return effect.judge(
        yes=f"By {method}, stop words get low scores: on average they rank {where}; {scale}.",
        no=f"By {method}, stop words get no lower scores than others: they rank {where}; {scale}.",
        undecided=f"By {method}, stop words may or may not get lower scores: they rank {where}; {scale}.",
    )


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, ANY_TASK, summary=summary, quantities=quantities
)
