"""Studies with people compared with published ones: which belong to a case, and the published numbers beside ours."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whence.annotation.answers import SYNTHETIC, read_answers
from whence.annotation.study import read_study
from whence.core.errors import BadData
from whence.measures.intervals import Interval
from whence.reproducing.compare import rows_of
from whence.reproducing.ledger_row import Row
from whence.reproducing.measured import Measured
from whence.reproducing.study import Case, Study
from whence.reproducing.study_files import names, read

EXPERIMENT = "human_evaluation"
SIMULATED = "simulated, not compared"


def answered_study(folders: Sequence[Path], corpus: str) -> Path | None:
    """The first of the folders whose human evaluation is on this corpus; simulated annotators are refused."""
    for folder in folders:
        study = read_study(folder)
        if study.about["corpus"] == corpus:
            simulated = [name for name in read_answers(folder, study) if name.startswith(SYNTHETIC)]
            if simulated:
                raise BadData(
                    f"{folder} holds answers of {simulated[0]}, which is no person; nothing is reproduced by it"
                )
            return folder
    return None


def published_rows(corpus: str, found: Mapping[str, Interval], n: int, *, simulated: bool = False) -> list[Row]:
    """Every published number of a human evaluation on this corpus, with ours; of simulated annotators without a status.

    `found` has our numbers by quantity, of `n` items.
    """
    ours = Measured((found,), n, 1)
    return [
        replace(row, where=f"{study.paper}, {row.where}", status=SIMULATED if simulated else row.status)
        for study in map(read, names())
        for figure in study.figure
        if figure.experiment == EXPERIMENT
        for case in _cases(study, figure.cases, corpus)
        for row in rows_of(figure, case, ours, "full")
    ]


def _cases(study: Study, wanted: Sequence[str], corpus: str) -> list[Case]:
    """The cases whose model is trained on this corpus; a corpus may go without the name of its variant."""
    mine = [case for case in study.case if case.name in wanted and case.full is not None]
    data = {case.name: str(case.full.training["data"]) for case in mine if case.full is not None}
    return [case for case in mine if corpus in (data[case.name], data[case.name].partition(":")[0])]
