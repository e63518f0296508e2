"""Does attention point at the words that decide the prediction?

Words are removed from a text in the order of an explainer's scores, and the margin of the decision (its logit less that
of the best other class) is followed. The area of an order is the mean drop of the margin over how many words are
removed: comprehensiveness (DeYoung et al. 2020 §4.2, as an area: Samek et al. 2017). Sufficiency keeps the words with
the highest scores, which is to remove in the reversed order. Both are normalised text by text,

    (area − worst) / (best − worst)   and   (best − reversed) / (best − worst)

between the best and the worst order that can be found (Edin et al. 2024): all orders of at most eight words by dynamic
programming over their subsets, of more words a beam search. Their mean is 0 for the worst order, 1 for the best, and
about a half for random ones. It does not change when all logits are multiplied by a number. Where the best and the
worst order differ by less than a twentieth of the margin, no word decides, and the text is left out.

To remove a word has several meanings, and each has its artefacts, so there are several: it is deleted (`delete`),
hidden (`mask`: the tokenizer's mask or unknown token), replaced by a token drawn from the corpus (`replace`), or gets
no attention at any site, the other weights being renormalised (`attention`; `zero` leaves them as they are). The first
three change the input, the last two what the model reads of it: a word that a first layer has moved its neighbour's
meaning into matters for the last layer's attention, and not at all as an input.

In the table too: the share of words removed when the decision changes (Serrano & Smith 2019), ΔJS of the word with the
highest score compared with another at random by the difference of their scores (Vashishth et al. 2019 §4.2, Fig. 3),
whether removing it makes the decision surer (a violated sign: Liu et al. 2022), the two areas in probabilities, and
soft comprehensiveness and sufficiency (Zhao & Aletras 2023).

Units are words (the scores of their subwords are summed); in texts of more than 62 words, spans of equally many words.
Of several predictions per text, the last one is explained.

Differs from DeYoung et al.: areas are over evenly spaced numbers of words, not over five shares. Differs from Serrano &
Smith: their code draws r as a rank and uses it as a position, so that it can hit i*; ours is any other word.

When not to use it: on texts of two or three words, where all orders are nearly alike, or a model whose decision never
changes whatever is removed.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis import faithfulness as analysis
from whence.analysis import faithfulness_figures, faithfulness_verdict
from whence.analysis.gates import CHANCE, CORRECT
from whence.core.errors import BadConfig
from whence.evaluation.config import AttributionConfig
from whence.measures.intervals.interval import Interval
from whence.options import usually
from whence.results.columns import Column, Columns
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Above: how well removing words in each explainer's order changes the decision, from the worst order (0) to the"
    " best (1). Below: how much further the prediction moves without the word that scores highest than without another,"
    " by the difference of their scores."
)
METHODS = (
    "raw_attention",
    "gradient_x_input",
    "integrated_gradients",
    "leave_one_out",
    "value_zeroing",
    "random",
)
Erase = Literal["delete", "mask", "replace", "attention", "zero"]


class Config(AttributionConfig):
    """Remove words in the order of an explainer's scores, and compare with the best, the worst and random orders."""

    method: tuple[str, ...] = Field(
        METHODS, min_length=1, description="explainers, by name (`whence list`); the first one is judged"
    )
    erase: tuple[Erase, ...] = Field(
        ("delete", "mask", "replace", "attention"),
        min_length=1,
        description="how words are removed: from the text, or from what is attended to",
    )
    layer: Annotated[int | None, usually("each explainer's own", "INT")] = Field(
        None, description="which layer the explainers read, counted from 0, where they read one"
    )
    head: Annotated[int | None, usually("all", "INT")] = Field(
        None, description="which head, counted from 0, where they read one"
    )
    sites: tuple[str, ...] = Field(
        ("*",), min_length=1, description="where attention is taken away, names or globs (of a translator: across)"
    )
    units: Literal["words", "tokens"] = Field("words", description="what is removed at a time")
    most_units: int = Field(62, gt=1, le=62, description="longer texts are removed in spans of several words")
    steps: int = Field(8, gt=1, description="how many numbers of removed words are tried for each order")
    random_orders: int = Field(2, gt=0, description="random orders of each text; each counts forwards and backwards")
    leave_out: bool = Field(
        False,
        description="leave out explainers and kinds of removal that the model does not allow, and do not refuse it",
    )
    soft_draws: int = Field(2, ge=0, description="draws of the soft metrics (0: leave them out)")


COLUMNS = Columns(
    what="one row per example, kind of removal and explainer",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the label, where the model predicts one class per text"),
    correct=CORRECT,
    chance=CHANCE,
    position=Column(int, "which of the text's predictions was explained (0 if there is one)"),
    erase=Column(str, "how words were removed: delete, mask, replace, attention or zero"),
    method=Column(str, "the explainer"),
    units=Column(int, "how many words (or spans, or tokens) the text has that can be removed"),
    span=Column(int, "how many words make a unit"),
    area=Column(float, "mean drop of the decision's margin, highest scores removed first"),
    reversed=Column(float, "the same, lowest scores removed first"),
    best=Column(float, "the largest area of any order that was found"),
    worst=Column(float, "the smallest"),
    normalised_comprehensiveness=Column(float, "the area, from 0 (the worst order) to 1 (the best)"),
    normalised_sufficiency=Column(float, "the reversed area, from 0 (the best order, reversed) to 1"),
    normalised=Column(float, "the mean of the two (NaN: no order differs from another)"),
    comprehensiveness=Column(float, "mean drop of the decision's probability, highest scores removed first"),
    sufficiency=Column(float, "the same, lowest scores removed first"),
    flip=Column(float, "share of the units removed, highest scores first, when the decision changes (NaN: never)"),
    changes=Column(bool, "whether the decision changed in any removal of this kind that was tried"),
    top=Column(int, "first token of i*, the unit with the highest score"),
    other=Column(int, "first token of r, another unit drawn at random"),
    delta_score=Column(float, "the score of i* less that of r (Δα for attention)"),
    js_top=Column(float, "JS(p, q) in nats, q being the prediction without i*"),
    js_other=Column(float, "JS(p, q) in nats, q being the prediction without r"),
    delta_js=Column(float, "ΔJS: js_top less js_other"),
    against=Column(float, "1 if the decision gets surer without i*, else 0"),
    soft_comprehensiveness=Column(float, "soft comprehensiveness (the same for all kinds of removal)"),
    soft_sufficiency=Column(float, "soft sufficiency"),
    how=Column(str, "how the scores were made"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every example under each kind of removal, by each explainer."""
    from whence.evaluation.agreement import agreement
    from whence.evaluation.faithfulness.measure import Faithfulness
    from whence.evaluation.faithfulness.usable import usable_kinds, usable_methods

    kinds, methods = usable_kinds(config, context), usable_methods(config, context)
    measuring, agreed, rows = Faithfulness(context, config, methods), agreement(context), []
    for batch in context.batches():
        columns: dict[str, Any] = {
            "example": context.numbers_of(batch),
            "label": context.labels_of(batch),
            **agreed.of(batch),
        }
        for row in measuring.rows(batch, kinds):
            at = row.pop("row")
            rows.append({**{name: values[at] for name, values in columns.items()}, **row})
    if not rows:
        raise BadConfig("no text has two words or more that can be removed; expected longer texts")
    return COLUMNS.table(rows).sort_values("example", kind="stable", ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each explainer with its normalised faithfulness and its interval, the best first."""
    return analysis.ranked(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: for each explainer its `normalised faithfulness` and more."""
    return analysis.quantities(table)


def figure(table: pd.DataFrame) -> Figure:
    """The ranking of the explainers above ΔJS by the difference of scores (Vashishth et al. 2019 Fig. 3)."""
    return faithfulness_figures.figure(table)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """By kind of removal, and the shares that must be removed (Serrano & Smith 2019, Fig. 6)."""
    return faithfulness_figures.figures(table)


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether the first explainer points at the words that decide, by every kind of removal."""
    return faithfulness_verdict.verdict(table)


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    UNLABELLED,
    figures=figures,
    summary=summary,
    quantities=quantities,
    shards=RowOrder(),
)
