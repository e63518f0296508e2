"""Do attention and other explainers rank the words of a text alike?

Jain & Wallace 2019, §4.1, Algorithm 1. For every text Kendall's τ-b between the attention weights and the sizes of

    gradient × input   |Σ_d x_d ∂y/∂x_d|, the attention weights held fixed
    leave one out      |y − y without the word|

y being the probability of the predicted class. Reported are the mean and standard deviation (of the texts, not of the
mean) over texts, and the share of texts whose τ is significant at .05, by predicted class as in their Table 2; by
chance 5 % are. For comparison the table also holds how well the other explainers agree with each other.

This measures agreement between methods only: a high τ does not show that attention is faithful, nor a low one that it
is not. `faithfulness` tests that.

τ is over the tokens that may be attended and are not special; scores that agree in six digits are tied. A text has none
where there are fewer than two such tokens, or all have one score.

Differs from the paper: leaving one out is measured by the predicted class, not by the total variation of all; of two
classes that is the same. `--signed` keeps the signs of the scores, which their code drops.

When not to use it: as evidence for or against faithfulness: explainers may agree and all be wrong.
"""

from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray
from pydantic import Field, field_validator

from whence.analysis.correlation import ATTENTION, agreement, by_class, classes, numbers, pairs
from whence.attribution.options import written_options
from whence.evaluation.config import ExperimentConfig
from whence.figures.distributions import distributions
from whence.figures.heatmap import heatmap
from whence.measures.intervals import NOT_MEASURED, Interval, level_for, mean_interval
from whence.measures.ranking import kendall_test
from whence.options import usually
from whence.results.columns import EXAMPLE, LABEL, Column, Columns
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = (
    "Kendall's τ between the scores of a text's words by two methods, for every text. 1: the same order; 0: as by"
    " chance; −1: the reverse."
)
CLASSES = 3  # most classes shown separately in a figure
OPTIONS = {"gradient_x_input": {"through_attention": False}}  # as in Jain & Wallace


class Config(ExperimentConfig):
    """Compare the order of words by attention with their order by other explainers."""

    method: tuple[str, ...] = Field(
        ("gradient_x_input", "leave_one_out"),
        min_length=1,
        description="explainers to compare with attention (`whence list`)",
    )
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = Field(
        (), description="options of explainers, as in raw_attention.layer=0 gradient_x_input.through_attention=true"
    )
    signed: bool = Field(False, description="rank by signed scores instead of absolute values")

    @field_validator("method")
    @classmethod
    def _once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        """Registered names, each once, without attention itself."""
        named = tuple(dict.fromkeys(name.replace("-", "_") for name in given if name.replace("-", "_") != ATTENTION))
        if not named:
            raise ValueError("name an explainer other than attention itself")
        return named


COLUMNS = Columns(
    what="one row per example and pair of explainers",
    example=EXAMPLE,
    label=LABEL,
    prediction=Column(str, "the predicted class, where the model predicts one per text"),
    first=Column(str, "one explainer"),
    second=Column(str, "the other"),
    inputs=Column(int, "number of tokens that are ordered: not special, and may be attended"),
    tau=Column(float, "Kendall's τ-b between their scores (NaN: no order)"),
    p=Column(float, "two-sided p value of τ (exact for few tokens without ties, else by the normal approximation)"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: for every example how similarly the explainers rank its words."""
    rows = [row for batch in context.batches() for row in _rows(config, context, batch)]
    order = [ATTENTION, *config.method]
    table = COLUMNS.table(rows)
    places = [table[side].map(order.index) for side in ("first", "second")]
    return table.iloc[np.lexsort([table["example"], places[1], places[0]])].reset_index(drop=True)


def _rows(config: Config, context: "Context", batch: "Batch") -> list[dict[str, Any]]:
    from whence.evaluation.faithfulness.erasers import attended_words
    from whence.evaluation.word_scores import token_attributions
    from whence.subject.targets import predicted

    methods, inputs = (ATTENTION, *config.method), attended_words(context.subject, batch).numpy()
    written = written_options(methods, config.options)
    given = token_attributions(
        context, batch, methods, {name: {**OPTIONS.get(name, {}), **written.get(name, {})} for name in methods}
    )
    scores = {name: found if config.signed else np.abs(found) for name, found in given.items()}  # [batch token]
    predictions = context.predicted_labels(predicted(context.subject, batch))
    about = zip(context.numbers_of(batch), context.labels_of(batch), predictions, strict=True)
    rows = []
    for row, (number, label, prediction) in enumerate(about):
        there = {name: rounded(found[row, inputs[row]]) for name, found in scores.items()}
        for first, second in combinations(there, 2):
            tau, p = kendall_test(there[first], there[second])
            rows.append(
                {
                    "example": number,
                    "label": label,
                    "prediction": prediction,
                    "first": first,
                    "second": second,
                    "inputs": int(inputs[row].sum()),
                    "tau": tau,
                    "p": p,
                }
            )
    return rows


def rounded(scores: Float[ndarray, " token"]) -> Float[ndarray, " token"]:
    """The scores rounded to six digits, so that rounding errors make ties."""
    return np.array([float(f"{score:.5e}") for score in scores.tolist()])


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of τ over the texts, and the share that is significant; by predicted class."""
    return by_class(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `τ of attention and leave_one_out`, `SD of τ of ...`, and `significant,
    attention and leave_one_out`; of one predicted class with `, positive` after it.
    """
    return numbers(table)


def effects(table: pd.DataFrame) -> list[Effect]:
    """The mean τ of every pair, attention's first, with intervals that hold for all of them together (Bonferroni)."""
    found, there = [], pairs(table)
    for pair, known in there.items():
        measured, level = NOT_MEASURED, level_for(len(there))
        if len(known):
            measured = mean_interval(known["tau"].to_numpy(float)[None], level)
        label = f"agreement of {pair}: mean of Kendall's τ"
        found.append(Effect.of("agreement", label, measured, "of τ", 0.0, len(known), variant=pair))
    return found


def figure(table: pd.DataFrame) -> Figure:
    """The distribution of τ for every pair, by predicted class where there are few (Jain & Wallace, Fig. 2 to 4)."""
    shown, named = classes(table), dict[str, pd.Series]()
    for pair, known in pairs(table).items():
        if 2 <= len(shown) <= CLASSES:
            named |= {f"{pair}: {one}": known.loc[known["prediction"] == one, "tau"] for one in shown}
        else:
            named[pair] = known["tau"]
    return distributions(named, "Kendall's τ of a text's words", limits=(-1.0, 1.0), each=0.52)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """The mean τ of every pair of explainers as a square table: `agreement`."""
    cells = agreement(table)
    named = cells.rename(index=str, columns=dict(zip(cells.columns, map(str, range(1, len(cells) + 1)), strict=True)))
    named.index = pd.Index([f"{number}  {name}" for number, name in enumerate(cells.index, start=1)])
    return {"agreement": heatmap(named, x_label="agreement: mean of Kendall's τ")}


def verdict(table: pd.DataFrame) -> Verdict:
    """How far the orders agree; this alone never decides whether attention is faithful."""
    found, rows = effects(table), summary(table)
    taus = "; ".join(
        f"{row['pair']} {row['mean']:.2f} ± {row['SD']:.2f}, significant in {100 * row['significant']:.0f} % of texts"
        for row in rows[rows["predicted"] == "all"].to_dict("records")
    )
    few = next((effect.too_few for effect in found if effect.too_few), "")
    missing = int(table.groupby("example")["tau"].apply(lambda tau: tau.isna().any()).sum())
    rest = f" {missing:,} of {table['example'].nunique():,} texts have words that cannot be ranked." if missing else ""
    compared = (
        f"Kendall's τ between rankings of words (mean ± SD): {taus}.{rest} This is how far methods agree, and does not"
        " say which of them is right."
    )
    return Verdict(
        question=3,
        answer="undecided",
        sentence=few or compared,
        effects=tuple(found),
        procedure="The words of every text were ranked by attention and by other explainers, and the rankings compared."
        " The intervals hold for all pairs together.",
        means="Explainers that agree would give a reader the same words; ones that do not cannot all be right.",
        does_not_mean="Agreement is not faithfulness: explainers can agree and be wrong, and attention may be right"
        " where gradients are not. `faithfulness` asks which words decide.",
    )


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
    shards=RowOrder(blocks=("first", "second")),
)
