"""Is there very different attention that gives the same prediction?

Jain & Wallace 2019, §4.2.2, Algorithm 3. For every text the attention at one site is replaced by another, everything
before it held fixed, to

    maximise JSD(α̃, α)  subject to  TVD(ŷ(α̃), ŷ(α)) ≤ ε  and the same decision

JSD is in nats, 0 to ln 2 = 0.69, and TVD = ½ Σ |p − q|. From K random starts Adam climbs on the logits of α̃,

    Σ_k JSD(α̃_k, α) − λ Σ_k (TVD_k − ε)₊ − λ Σ_k (p_k(best other class) − p_k(decision))₊ + s · mean JSD between the α̃_k

and the furthest candidate that met ε in any step is kept; where none did, the text's own attention, whose JSD is 0.
Each is then imposed on the model, and the table holds the values of a whole forward pass.

Where one query reads the text, α is its only row; else the row from which the prediction is read (as in
`raw_attention`), or all. Special tokens keep their weight, so JSD is measured *within the free mass*: of the weights of
all other tokens, divided by their sum. It is the mean over heads and rows, each weighted by its *importance*: how far
its free weights alone can move the margin of the decision (`evaluation.attention_importance`). So a head that does
nothing counts for nothing. Texts with fewer than two inputs have no other attention and are left out.

Probabilities are *calibrated*: the logits are multiplied by the number that makes the median margin over the examples
ln 9, a probability of 0.9 between the two most likely classes. A model whose logits are ten times as large decides and
attends alike, and gets the same verdict.

*Very different* attention has a JSD above 0.2: about what results from moving half of the weight from the only word
that has any to other words (0.216).

Differs from the paper, which limits the change of the model's own probabilities and not the decision, and takes JSD
over the whole row and the plain mean over heads (`--probabilities model --change-decision --divergence row`). Its code
optimises for ε = .01, takes the last step of each start, and selects within .05, for all tasks (`--penalised-change
0.01 --keep last --max-output-change 0.05`), with a steeper penalty and smaller steps (`--penalty 500 --learning-rate
0.01 --steps 500`), which stop further from the furthest attention there is: of the JSD of brute force they reach four
fifths, a hundred larger steps 97 %. s is .5 in the paper, .8 in its code; here 0 by default, since it hardly
changes the result and doubles the cost. Its change is |p − q| of one sigmoid, which is the TVD of two classes, or
Σ |p − q| of several, which is twice it (`--measure author_code`).

When not to use it: as proof that attention is no explanation: another attention that gives the same prediction shows
that it is not the only one (Wiegreffe & Pinter 2019, §2).
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field, field_validator

from whence.analysis.gates import CHANCE, CORRECT
from whence.analysis.instance_adversary import by_limit, decide, effects, free_mass, numbers, quartiles
from whence.evaluation.config import SPECIAL_TOKENS, ExperimentConfig
from whence.figures.violins import violins
from whence.measures.intervals import Interval
from whence.options import usually
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.evaluation.agreement import Agreement
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = (
    "How far attention can be moved while the prediction stays within ε, by how sharp it was. Right: very far; 0.69 is"
    " the maximum."
)


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
    probabilities: Literal["calibrated", "model"] = Field(
        "calibrated", description="whose change ε limits: at a median margin of ln 9, or the model's own"
    )
    change_decision: bool = Field(
        False, description="also take attention that changes the predicted class within ε (as Jain & Wallace do)"
    )
    divergence: Literal["free", "row"] = Field(
        "free",
        description="JSD of the weights that can be moved, heads weighted by importance; or of whole rows, mean over"
        " heads (as Jain & Wallace have it)",
    )
    restarts: int = Field(5, gt=0, description="random starts of each search")
    steps: int = Field(100, gt=0, description="steps of each search (Jain & Wallace's code: 500)")
    learning_rate: Annotated[float | None, usually("25 / steps", "NUMBER")] = Field(
        None, gt=0, description="Adam's (Jain & Wallace's code: .01)"
    )
    penalty: float = Field(50.0, gt=0, description="λ, on the change in excess of ε (Jain & Wallace's code: 500)")
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
    example=EXAMPLE,
    label=LABEL,
    prediction=Column(str, "the predicted class, where the model predicts one per text"),
    correct=CORRECT,
    chance=CHANCE,
    limit=Column(float, "ε: how far the prediction may move"),
    inputs=Column(int, "number of inputs whose weight may change"),
    max_weight=Column(
        float, "largest weight of the text's own attention, compared as JSD is (mean over rows and heads)"
    ),
    free_mass=Column(float, "how much of its weight may be moved (the same mean)"),
    met=Column(bool, "whether another attention within ε was found"),
    restart=Column(int, "the start that led to the furthest one, counted from 0 (-1: none did)"),
    jsd=Column(float, "JSD between that attention and the text's own, in nats (0 where none was found)"),
    tvd=Column(float, "how far the prediction moves when it is imposed on the model: ½ Σ |p − q|"),
    change=Column(float, "the same by the measure that ε limits"),
    model_tvd=Column(float, "the same ½ Σ |p − q| of the model's own probabilities"),
    factor=Column(
        float, "what logits were multiplied by before the softmax, for `tvd` and `change` (1: the model's own)"
    ),
    site=Column(str, "where attention was replaced"),
    steps=Column(int, "steps of each search"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: for every example how far its attention can be moved within each limit."""
    from whence.evaluation.agreement import agreement
    from whence.evaluation.checks import refuse_translator
    from whence.evaluation.exclusivity.editable_attention import single_site, with_copies
    from whence.evaluation.scoring import calibration_factor

    refuse_translator(
        context.subject,
        "instance_adversary needs one prediction per text",
        "; see `permutation`, which takes translators",
    )
    site = single_site(context.subject, config.site)
    suited = with_copies(context, site, config.restarts * len(config.penalised))
    factor = calibration_factor(suited) if config.probabilities == "calibrated" else 1.0
    known, search = agreement(suited), Searched(site, config.steps, factor)
    rows = [row for batch in suited.batches() for row in _rows(config, suited, batch, known, search)]
    return COLUMNS.table(rows).sort_values(["limit", "example"], kind="stable", ignore_index=True)


class Searched(NamedTuple):
    """Where attention was replaced, by how many steps, and what logits were multiplied by."""

    site: str
    steps: int
    factor: float


def _rows(
    config: Config, context: "Context", batch: "Batch", known: "Agreement", search: Searched
) -> list[dict[str, Any]]:
    from whence.evaluation.exclusivity.attention_search import furthest_attention

    there, found = furthest_attention(context, batch, config, *search)
    values: dict[str, Any] = {
        "example": context.numbers_of(batch),
        "label": context.labels_of(batch),
        "prediction": context.predicted_labels(there.target),
        "inputs": there.inputs(),
        "max_weight": there.sharpness(),
        "free_mass": there.free_mass(),
        **known.of(batch),
        **{name: [value] * len(batch) for name, value in search._asdict().items()},
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
            "model_tvd": one.model_tvd,
        }
        rows += rows_from(mine)
    return rows


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """How far attention could be moved, within each limit: quartiles of JSD, and the share of texts."""
    return quartiles(table)


def quantities(table: pd.DataFrame) -> dict[str, Interval]:
    """The quantities of a study's ledger: `JSD within 0.01` (mean) and `very different within 0.01` (share)."""
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


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the attention is exclusive: no if most texts have a very different one within the strictest limit, yes if
    few have within the widest.
    """
    answer, sentence = decide(table)
    site, steps = str(table["site"].iloc[0]), int(table["steps"].iloc[0])
    return Verdict(
        question=5,
        answer=answer,
        sentence=sentence,
        effects=(*effects(table), free_mass(table)),
        procedure=f"For every text the attention at {site} was replaced by other attention, with everything before it"
        f" held fixed: the most different that {steps} steps from several starts could find while the decision stayed"
        f" the same and its probabilities moved by at most ε{_scaled(table)}. Each was imposed on the model, and the"
        " prediction checked. The intervals hold for all ε together.",
        means="Where very different attention gives the same prediction, the weights that the model shows are one of"
        " several that would do, and do not say by themselves which words the prediction came from.",
        does_not_mean="The other attention was made for a finished model, text by text, detached from the parts that"
        " compute it: the model would not attend so, and need not be trainable to (Wiegreffe & Pinter 2019; `adversary`"
        " trains one). Nor does it mean that the model's attention does not matter (question 1) or misleads (question"
        " 3). And a search that finds nothing does not prove that there is nothing.",
    )


def _scaled(table: pd.DataFrame) -> str:
    """What was done to the logits, if anything."""
    factor = float(table["factor"].iloc[0])
    return "" if factor == 1 else f" (of logits multiplied by {factor:.3g}, so that half of the margins are above ln 9)"


EXPERIMENT = Experiment(
    __doc__,
    Config,
    COLUMNS,
    CAPTION,
    run,
    figure,
    verdict,
    UNLABELLED,
    summary=summary,
    quantities=quantities,
    shards=RowOrder(("limit", "example")),
)
