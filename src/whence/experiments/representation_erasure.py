"""Without which words, dimensions, hidden units or heads do the labels become less likely?

Li, Monroe & Jurafsky 2016, §3, Eq. 1. Let S(e, c) be the log-likelihood that the model gives the label c of text e, and
S(e, c, ¬d) the same after a part d of its representation is erased: set to zero. The importance of d is

    I(d) = 1/|E| · Σ_e (S(e, c) − S(e, c, ¬d)) / |S(e, c)|

above zero if the label becomes less likely. What is erased (`what`): the vector of an input word (all its subwords); a
dimension of the word vectors, at every token; a hidden unit of a layer's output, at every token; the output of an
attention head, whose weights become zero. The absolute change, S(e, c) − S(e, c, ¬d) in nats, is reported too: where
the model is very confident, S is near zero and the relative change is huge, so that few texts may dominate a mean.
Where a text has several labels, S is the sum over them.

All occurrences of a word (in lower case) are one part. Intervals are over texts. The part that matters most is also
chosen on one half of the texts and reported on the other. The smallest effect of interest is 0.05 nats: a label of
probability 0.5 falls to 0.475.

Differs from the paper: its Eq. 1 divides by S, which makes important parts negative; here it is divided by the size of
S. Heads are not in the paper. Deleting words from the text is `leave_one_out`.

When not to use it: to compare models by relative changes: where a model is very sure these are dominated by few texts.
Compare nats.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis import representation_erasure_figures as drawing
from whence.analysis.representation_erasure import rows
from whence.analysis.representation_erasure_figures import part_names, top_parts
from whence.core.errors import BadData
from whence.evaluation.config import ExperimentConfig
from whence.measures.intervals import Interval
from whence.results.columns import Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "The parts without which the labels become least likely, with 95 % intervals over texts."
SMALLEST = 0.05  # nats
SHOWN = 20  # parts in a summary
OFTEN = 5  # texts that a word must be in, to be chosen
NAMES = {"words": "word", "dimensions": "dimension of the word vectors", "units": "hidden unit", "heads": "head"}


class Config(ExperimentConfig):
    """Erase parts of what a model computes, one at a time, and measure how likely the labels still are."""

    what: Literal["words", "dimensions", "units", "heads"] = Field(
        "heads",
        description="what to erase: words, dimensions of the word vectors, hidden units, or attention heads",
    )
    measure: Literal["relative", "nats"] = Field(
        "relative", description="rank by the relative change of the log-likelihood (Eq. 1), or by the absolute change"
    )
    sites: tuple[str, ...] = Field(
        ("*",), min_length=1, description="heads: at which sites; units: in the layers around which sites"
    )


COLUMNS = Columns(
    what="one row per part that is erased and label (empty: all texts)",
    erased=Column(str, "words, dimensions, units or heads"),
    place=Column(str, "where: embedding, a layer or an attention site"),
    part=Column(int, "the part's number at its place, counted from 0"),
    word=Column(str, "the word, in lower case; empty if no words are erased"),
    label=Column(str, "texts with this label; empty: all"),
    importance=Column(float, "I(d): relative change of the log-likelihood, above zero if it falls; mean over texts"),
    importance_low=Column(float, "where its 95 % interval begins"),
    importance_high=Column(float, "where it ends"),
    lost=Column(float, "S(e, c) − S(e, c, ¬d) in nats, mean over texts"),
    lost_low=Column(float, "where its 95 % interval begins"),
    lost_high=Column(float, "where it ends"),
    chosen_by=Column(float, "the same on the half of the texts that is kept for choosing"),
    reported=Column(float, "the same on the other half"),
    reported_low=Column(float, "where its 95 % interval begins"),
    reported_high=Column(float, "where it ends"),
    texts=Column(int, "texts in which the part occurs"),
    occurrences=Column(int, "how often it occurs"),
    half=Column(int, "texts of the half that is reported on in which it occurs"),
    measure=Column(str, "what parts are ranked by: importance or lost"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: what is lost without each part, over all texts and over those of each label."""
    from whence.evaluation.representation_erasure import losses

    if len(context.examples) < 2:
        raise BadData("expected two texts or more, since a part is chosen on some and reported on others; got one")
    whole, places = losses(context, config.what, config.sites)
    labels = np.array(context.labels)
    constant = {"erased": config.what, "measure": {"relative": "importance", "nats": "lost"}[config.measure]}
    return COLUMNS.table({**constant, **row} for found in places for row in rows(found, whole, labels, config.seed))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The parts without which most is lost."""
    top = top_parts(table, SHOWN)
    return top.assign(part=top["name"])[
        ["part", "importance", "importance_low", "importance_high", "lost", "lost_low", "lost_high", "texts"]
    ].reset_index(drop=True)


def without_texts(table: pd.DataFrame) -> pd.DataFrame:
    """The table with words numbered: for pages of corpora that may not be passed on."""
    numbered = "word " + table["part"].astype(str)
    return table.assign(word=table["word"].where(table["word"] == "", numbered).astype(pd.StringDtype()))


def chosen(table: pd.DataFrame) -> dict[Any, Any]:
    """The part without which most is lost on the half that is kept for choosing; of words, one that is in several texts
    of the other half.
    """
    whole = table.assign(name=part_names(table))[(table["label"] == "") & table["chosen_by"].notna()]
    often = whole[whole["half"] >= min(OFTEN, int(whole["half"].max()))]
    return often.nlargest(1, "chosen_by").to_dict("records")[0]


def effects(table: pd.DataFrame) -> list[Effect]:
    """What is lost without the part that was chosen on other texts, and without the one that is first over all."""
    one, first = chosen(table), top_parts(table, 1).to_dict("records")
    kind = NAMES[str(table["erased"].iloc[0])]
    reported = Interval(one["reported"], one["reported_low"], one["reported_high"])
    return [
        Effect.of(
            "log_likelihood_lost",
            f"log-likelihood lost without the {kind} that was chosen on other texts ({one['name']})",
            reported,
            "nats",
            SMALLEST,
            int(one["half"]),
            place=str(one["name"]),
            variant="chosen",
        ),
        *(
            Effect.of(
                "log_likelihood_lost",
                f"log-likelihood lost without the {kind} that is first over all texts ({row['name']})",
                Interval(row["lost"], row["lost_low"], row["lost_high"]),
                "nats",
                SMALLEST,
                int(row["texts"]),
                place=str(row["name"]),
                variant="first",
            )
            for row in first
        ),
    ]


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: of the parts that come first, by both measures, and of the chosen one."""
    top, one = top_parts(table, SHOWN), chosen(table)
    found = {"nats lost, chosen on other texts": Interval(one["reported"], one["reported_low"], one["reported_high"])}
    for row in top.to_dict("records"):
        name = row["name"]
        found[f"importance of {name}"] = Interval(row["importance"], row["importance_low"], row["importance_high"])
        found[f"nats lost without {name}"] = Interval(row["lost"], row["lost_low"], row["lost_high"])
    return found


def figure(table: pd.DataFrame) -> Figure:
    """The parts without which most is lost, as bars."""
    return drawing.bars(table)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """More figures: all parts, by layer or by label (Li et al., Figs. 1 to 4)."""
    return {"heatmap": drawing.heatmaps(table)}


def verdict(table: pd.DataFrame) -> Verdict:
    """Of heads, whether the labels need one of them; of other parts, which they depend on."""
    found, what = effects(table), str(table["erased"].iloc[0])
    n = int((table["label"] == "").sum())
    answer, sentence = decide(found[0], what, n, str(chosen(table)["name"]))
    return Verdict(
        question=1 if what == "heads" else 3,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure=f"Each of {n} {what} was set to zero in turn, and the log-likelihood of the labels was compared with"
        " that of the intact model. The one without which most is lost on one half of the texts is reported on the"
        " other half.",
        means="Correct predictions rest on parts without which the labels become less likely.",
        does_not_mean="A part without which nothing is lost may still do something: others may compensate. And a model"
        " with a part set to zero computes what it never met in training.",
    )


def decide(effect: Effect, what: str, n: int, which: str) -> tuple[Answer, str]:
    """Yes if heads were erased and the whole interval is above the smallest effect; else nothing is decided."""
    if effect.too_few and (what == "heads" or not np.isfinite(effect.value)):
        return "undecided", effect.too_few
    which = repr(which) if what == "words" else which
    value, low, high = (f"{round(end, 2) + 0.0:.2f}" for end in (effect.value, effect.low, effect.high))  # never -0.00
    much = f"{value} nats of log-likelihood are lost ({low} to {high})"
    if effect.low > effect.smallest:
        most_needed = f"Of {n} {what}, the likelihood of the labels depends most on {which}: without it {much}."
        if what == "heads":
            return "yes", f"Single heads matter. {most_needed}"
        return "undecided", f"{most_needed} Whether attention goes there is measured by `correlation` and `erasure`."
    common = " that is in several texts" * (what == "words")
    most = f"{which}, without which most is lost on one half of the texts, on the other costs {value} nats"
    needed = f"no single one{common} is clearly needed: {most} of log-likelihood ({low} to {high})"
    return "undecided", f"Of {n} {what}, {needed}."


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    Needs(),
    figures,
    summary,
    quantities,
    without_texts=without_texts,
)
