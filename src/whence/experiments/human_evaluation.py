"""Do people find the words that attention highlights relevant for the prediction?

Annotators judge texts in which the highest-scoring words are highlighted, without knowing whether by the model's own
attention or by a control (Vashishth et al. 2019 §4.4, Figure 5). A study is prepared, answered and analysed with
`whence annotate`; this experiment reads the answers (`--annotations FOLDER`) and says what they show about the model
that the study was prepared with. Nothing is run.

Shares are of items, mean over annotators, with intervals over items. The table of Figure 5 (prediction right or wrong ×
words relevant or not) is given for every condition; agreement is Cohen's kappa of two annotators and Krippendorff's
alpha of any number. The smallest effect of interest is twenty points more than the control (one text in five), of
preferences ten points beyond a half, of marked words a twentieth of average precision. Annotators who failed more than
a fifth of their checks are left out.

When not to use it: as evidence of faithfulness: people judge what looks right (plausibility). With fewer than fifty
items per condition hardly any difference is decided.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.human_evaluation import (
    CELLS,
    COLUMNS,
    SMALLEST,
    cells,
    compared,
    judged,
    quantities,
    summary,
    task_of,
)
from whence.analysis.human_evaluation_verdict import SYNTHETIC, verdict
from whence.core.errors import BadConfig
from whence.evaluation.config import ExperimentConfig
from whence.figures.intervals import intervals
from whence.figures.square_tables import square_tables
from whence.measures.intervals import NOT_MEASURED
from whence.options import usually
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.verdict import Effect

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = (
    "Share of answers in per cent, by whether the prediction is right and whether annotators judged the highlighted"
    " words relevant, for each condition, with 95 % intervals over items."
)

NOTHING = Effect.of("none", "no answers that count", NOT_MEASURED, "share", SMALLEST, 0)


class Config(ExperimentConfig):
    """Analyse the answers of annotators to a study of this model."""

    annotations: Annotated[Path | None, usually("none", "STUDY")] = Field(
        None, description="folder of the study, with its answers (`whence annotate`)"
    )

    def cache_key(self) -> dict[str, Any]:
        """The answers and the items themselves, not the folder they are in."""
        from whence.annotation.answers import read_answers
        from whence.annotation.study import digest, read_study

        folder = self.folder()
        study = read_study(folder)
        answers = {name: [vars(one) for one in given.values()] for name, given in read_answers(folder, study).items()}
        return {**super().cache_key(), "annotations": digest([study.checksum, answers])}

    def folder(self) -> Path:
        """The folder of the study, which must be named."""
        if self.annotations is None:
            raise BadConfig("human_evaluation needs the folder of a study: --annotations FOLDER (`whence annotate`)")
        return self.annotations


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: every answer, with what the item was; refused if the study is of another model."""
    from whence.annotation.rows import refuse_other_model, rows_of

    refuse_other_model(config.folder(), context.subject.fingerprint, context.subject.name)
    return COLUMNS.table(rows_of(config.folder()))


def figure(table: pd.DataFrame) -> Figure:
    """Figure 5: a table of two by two for every condition; without right and wrong predictions, the comparisons."""
    counted = judged(table)
    names = dict.fromkeys(map(str, counted["condition"])) if task_of(counted) == "relevance" else ()
    found = {name: cells(counted, name) for name in names}
    if not found or not all(found.values()):
        return intervals(list(compared(counted)) or [NOTHING])
    order = [name for name, *_ in CELLS]
    tables = {
        name: [[one[cell] for cell in order[:2]], [one[cell] for cell in order[2:]]] for name, one in found.items()
    }
    note = SYNTHETIC.rstrip(": ") if table["synthetic"].any() else ""
    return square_tables(tables, ("right", "wrong"), ("relevant", "not relevant"), note)


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, summary=summary, quantities=quantities
)
