"""Opening a workbench: models and corpus loaded once, as the user named them; no request names a path."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.auditing.prepare import train_demo_models
from whence.core.errors import BadConfig
from whence.data.registry import load as load_corpus
from whence.data.tables.columns import Columns
from whence.evaluation.chosen_examples import named_split
from whence.results.store import Store
from whence.subject.subject import load
from whence.workbench.bench import Workbench, serve_models
from whence.workbench.worker import WAITING

DEMO = "reviews"  # the corpus whose demo model is shown


@dataclass(frozen=True)
class Opening:
    """What a workbench is opened with."""

    model: str | None = None
    data: str | None = None
    also: tuple[str, ...] = ()
    folder: Path = Path("whence-workbench")
    split: str | None = None
    columns: Columns = field(default_factory=Columns)
    data_dir: Path | None = None
    task: str | None = None
    device: str = "cpu"
    dtype: str = "float32"
    trust_remote_code: bool = False
    waiting: int = WAITING


def open_workbench(opening: Opening, say: Callable[[str], Any] = print) -> Workbench:
    """The workbench, with everything loaded."""
    model, data = opening.model, opening.data
    if model is None and data is not None:
        raise BadConfig(f"data {data} came without a model; expected a folder or hub name before it")
    if model is None:
        ((model, data),) = train_demo_models([DEMO], Store(opening.folder), True, say)
    options = {"device": opening.device, "dtype": opening.dtype, "trust_remote_code": opening.trust_remote_code}
    subjects = [load(name, opening.task, **options) for name in (model, *opening.also)]  # type: ignore[arg-type]
    corpus, split = None, ""
    if data is not None:
        corpus = load_corpus(data, data_dir=opening.data_dir, columns=opening.columns)
        split = named_split(corpus.name, list(corpus.splits), opening.split)
    kept = {"columns": opening.columns, "data_dir": opening.data_dir, "task": opening.task, "split": split or None}
    served = serve_models(subjects, opening.waiting)
    return Workbench(served, opening.folder, corpus, split, data or "", {**kept, **options})
