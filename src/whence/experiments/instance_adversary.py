"""Is there very different attention that gives the same prediction?

Jain & Wallace 2019, §4.2.2, Algorithm 3. For every text the attention at one site is replaced by another, everything
before it held fixed, to

    maximise JSD(α̃, α)  subject to  TVD(ŷ(α̃), ŷ(α)) ≤ ε

JSD is in nats, 0 to ln 2 = 0.69, and TVD = ½ Σ |p − q|. From K random starts Adam climbs on the logits of α̃,

    Σ_k JSD(α̃_k, α) − λ Σ_k (TVD_k − ε)₊ + s · mean JSD between the α̃_k

and the furthest candidate that met ε in any step is kept; where none did, the text's own attention, whose JSD is 0.
Each is then imposed on the model, and the table holds the values of a whole forward pass.

Where one query reads the text, α is its only row; else the row from which the prediction is read (as in
`raw_attention`), or all, and JSD the mean over rows and heads. Special tokens keep their weight. Texts with fewer than
two inputs have no other attention and are left out.

*Very different* attention has a JSD above 0.2: about what results from moving half of the weight from the only word
that has any to other words (0.216).

Differs from the paper: its code optimises for ε = .01, takes the last step of each start, and selects within .05, for
all tasks (`--penalised-change 0.01 --keep last --max-output-change 0.05`). s is .5 in the paper, .8 in its code; here 0
by default, since it hardly changes the result and doubles the cost. Its change is |p − q| of one sigmoid, which is the
TVD of two classes, or Σ |p − q| of several, which is twice it (`--measure author_code`).
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field, field_validator

from whence.analysis.instance_adversary import MOST, by_limit, effects, numbers, quartiles
from whence.core.errors import BadConfig
from whence.evaluation.config import SPECIAL_TOKENS, ExperimentConfig
from whence.figures.violins import violins
from whence.measures.bootstrap import Interval
from whence.options import usually
from whence.results.columns import Column, Columns
from whence.results.experiment import Experiment, Needs
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = (
    "How far attention can be moved while the prediction stays within ε, by how sharp it was. Right: very far; 0.69 is"
    " the maximum."
)
FEW = 0.2  # of the texts
STEPS, STEPS_ELSEWHERE = 500, 100


class Config(ExperimentConfig):
    """For every text search for the attention furthest from its own that keeps the prediction."""

    site: Annotated[str, usually("the last pooling attention, else the last layer's", "NAME")] = Field(
        "auto", description="where attention is replaced: one site, by name or pattern"
    )
    rows: Literal["read", "all"] = Field(
        "read", description="which rows: the one that the prediction is read from, or every token's"
    )
    special_tokens: bool = Field(False, description=SPECIAL_TOKENS)
    max_output_change: tuple[float, ...] = Field(
        (0.01, 0.05), min_length=1, description="ε: how far the prediction may move; one search each"
    )
    penalised_change: Annotated[float | None, usually("ε, each by itself", "NUMBER")] = Field(
        None, gt=0, description="from which change on the search is penalised (Jain & Wallace's code: 0.01)"
    )
    measure: Literal["total_variation", "author_code"] = Field(
        "total_variation", description="of change: ½ Σ |p − q|, or as Jain & Wallace's code has it"
    )
    restarts: int = Field(5, gt=0, description="random starts of each search")
    steps: Annotated[int | None, usually("500; 100 where no pooling attention is replaced", "INT")] = Field(
        None, gt=0, description="steps of each search"
    )
    learning_rate: Annotated[float | None, usually("5 / steps", "NUMBER")] = Field(
        None, gt=0, description="Adam's, so .01 for 500 steps"
    )
    penalty: float = Field(500.0, gt=0, description="λ, on the change in excess of ε")
    spread: float = Field(
        0.0, ge=0, description="s, on the distance between the restarts (Jain & Wallace: .5; their code: .8)"
    )
    keep: Literal["best", "last"] = Field(
        "best", description="which step of a search is kept: the best within ε, or the last"
    )

    @field_validator("max_output_change")
    @classmethod
    def _rising(cls, given: tuple[float, ...]) -> tuple[float, ...]:
        """The limits, each once, in rising order."""
        if min(given) <= 0:
            raise ValueError("a change that is allowed must be above 0")
        return tuple(sorted(set(given)))

    @property
    def penalised(self) -> tuple[float, ...]:
        """The changes for which a search is made."""
        return self.max_output_change if self.penalised_change is None else (self.penalised_change,)


COLUMNS = Columns(
    what="one row per example and limit",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the label, where the model predicts one class per text"),
    prediction=Column(str, "the predicted class, where the model predicts one per text"),
    limit=Column(float, "ε: how far the prediction may move"),
    inputs=Column(int, "number of inputs whose weight may change"),
    max_weight=Column(float, "largest weight of the text's own attention (mean over rows and heads)"),
    met=Column(bool, "whether another attention within ε was found"),
    restart=Column(int, "the start that led to the furthest one, counted from 0 (-1: none did)"),
    jsd=Column(float, "JSD between that attention and the text's own, in nats (0 where none was found)"),
    tvd=Column(float, "how far the prediction moves when it is imposed on the model: ½ Σ |p − q|"),
    change=Column(float, "the same by the measure that ε limits"),
    site=Column(str, "where attention was replaced"),
    steps=Column(int, "steps of each search"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: for every example how far its attention can be moved within each limit."""
    from whence.evaluation.editable_attention import single_site, with_copies

    if context.subject.task.name == "seq2seq":
        raise BadConfig(
            f"instance_adversary needs one prediction per text, and {context.subject.name} generates texts; see"
            " `permutation`, which takes translators"
        )
    site = single_site(context.subject, config.site)
    pooling = context.subject.sites[site].kind == "pool"
    steps = config.steps or (STEPS if pooling else STEPS_ELSEWHERE)
    suited = with_copies(context, site, config.restarts * len(config.penalised))
    rows = [row for batch in suited.batches() for row in _rows(config, suited, batch, site, steps)]
    return COLUMNS.table(rows).sort_values(["limit", "example"], kind="stable", ignore_index=True)


def _rows(config: Config, context: "Context", batch: "Batch", site: str, steps: int) -> list[dict[str, Any]]:
    from whence.evaluation.attention_search import furthest_attention

    there, found = furthest_attention(context, batch, config, site, steps)
    values: dict[str, Any] = {
        "example": context.numbers_of(batch),
        "label": context.labels_of(batch),
        "prediction": context.predicted_labels(there.target),
        "inputs": there.inputs(),
        "max_weight": there.sharpness(),
        "site": [site] * len(batch),
        "steps": [steps] * len(batch),
    }
    rows = []
    for one in found:
        mine = {
            **values,
            "limit": [one.limit] * len(batch),
            "met": one.restart >= 0,
            "restart": one.restart,
            "jsd": one.jsd,
            "tvd": one.tvd,
            "change": one.change,
        }
        rows += [dict(zip(mine, row, strict=True)) for row in zip(*mine.values(), strict=True)]
    return rows


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """How far attention could be moved, within each limit: quartiles of JSD, and the share of texts."""
    return quartiles(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `JSD within 0.01` (mean) and `quite different within 0.01` (share)."""
    return numbers(table)


def figure(table: pd.DataFrame) -> Figure:
    """Violins of JSD by bins of the largest weight (Jain & Wallace Fig. 8), one for each limit; of one, by label."""
    there = pd.concat(by_limit(table).values())
    several = there["limit"].nunique() > 1
    drawn = there.assign(limit=[f"ε = {limit:g}" for limit in there["limit"]])
    return violins(
        drawn,
        x="max_weight",
        y="jsd",
        colour="limit" if several else "label",
        upto=float(np.log(2)),
        y_label="JSD of the furthest attention within ε (nats)",
    )


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether the attention is exclusive: no if most texts have a very different one within the strictest limit, yes if
    few have within the widest.
    """
    found = effects(table, seed)
    answer, sentence = decide(found[0], found[-1], *by_limit(table))
    site, steps = str(table["site"].iloc[0]), int(table["steps"].iloc[0])
    return Verdict(
        question=5,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure=f"For every text the attention at {site} was replaced by other attention, with everything before it"
        f" held fixed: the most different that {steps} steps from several starts could find while the prediction moved"
        " by at most ε. Each was imposed on the model, and the prediction checked. The intervals hold for all ε"
        " together.",
        means="Where very different attention gives the same prediction, the weights that the model shows are one of"
        " several that would do, and do not say by themselves which words the prediction came from.",
        does_not_mean="The other attention was made for a finished model, text by text, detached from the parts that"
        " compute it: the model would not attend so, and need not be trainable to (Wiegreffe & Pinter 2019; `adversary`"
        " trains one). Nor does it mean that the model's attention does not matter (question 1) or misleads (question"
        " 3). And a search that finds nothing does not prove that there is nothing.",
    )


def decide(strict: Effect, wide: Effect, first: float, *others: float) -> tuple[Any, str]:
    """No if most texts have another attention within the strictest limit; yes if few have within the widest."""
    last = (first, *others)[-1]
    if strict.too_few:
        return "undecided", strict.too_few
    within = [
        f"{100 * one.value:.0f} % of the texts ({100 * one.low:.0f} to {100 * one.high:.0f}) while the prediction moves"
        f" by at most {limit:g}"
        for one, limit in ((strict, first), (wide, last))
    ]
    said = f"very different attention was found for {' and '.join(dict.fromkeys(within))}"
    if strict.low > MOST:
        return "no", f"Other attention gives the same predictions: {said}."
    if wide.high < FEW:
        return "yes", f"Hardly any other attention gives the same predictions: {said}."
    return "undecided", f"Some predictions need their attention and others do not: {said}."


EXPERIMENT = Experiment(
    about=__doc__ or "",
    config=Config,
    columns=COLUMNS,
    caption=CAPTION,
    run=run,
    figure=figure,
    verdict=verdict,
    needs=Needs(labels=False),
    summary=summary,
    quantities=quantities,
)
