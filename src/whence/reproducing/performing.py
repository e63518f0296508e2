"""Running a study: cases are trained and ablated, figures' experiments are run; what is there is not run again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.catalogue import load as load_corpus
from whence.data.examples import Corpus
from whence.data.shelf import home
from whence.experiments import experiment
from whence.experiments._running import perform
from whence.models.training import Training
from whence.models.workshop import train_all
from whence.options import checked
from whence.reproducing.study import Case, Picture, Run, Scale, Study
from whence.results.result import Result
from whence.results.store import Store

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Ready:
    """A case whose model of seed 0 is trained."""

    case: Case
    run: Run
    training: Training
    folder: Path
    corpus: Corpus


def prepared(case: Case, scale: Scale, store: Store, data_dir: Path | None, quiet: bool) -> Ready:
    """The corpus read and the model of seed 0 trained, or found."""
    run: Run = getattr(case, scale)
    training = settled(run, data_dir)
    corpus = load_corpus(training.data, data_dir=data_dir)
    folder = store.root / "models" / f"{corpus.name.replace(':', '-')}-{training.key(corpus)}-none-seed{training.seed}"
    train_all([(training, folder, corpus)], quiet=quiet)
    return Ready(case, run, training, folder, corpus)


def settled(run: Run, data_dir: Path | None) -> Training:
    """The training of a case; files that it names are looked for in the data folder."""
    options = dict(run.training)
    if "vectors" in options:
        options["vectors"] = home(data_dir) / options["vectors"]
        if not options["vectors"].is_file():
            raise BadData(
                f"the study begins with the word vectors {options['vectors']}, which are not there; put them there, or"
                " name the folder that holds them with --data-dir or WHENCE_DATA"
            )
    return checked(Training, {**options, "data_dir": data_dir})


def ablated(ready: Ready, store: Store, quiet: bool) -> Result:
    """The case's row of the table: with its attention and without."""
    options = {**ready.run.ablation, "retrain": ready.run.seeds}
    return _performed("ablation", ready, options, store, quiet)


def pictured(figure: Picture, ready: Ready, scale: Scale, store: Store, quiet: bool) -> Result:
    """The figure's experiment on one case."""
    return _performed(figure.experiment, ready, getattr(figure, scale), store, quiet)


def _performed(name: str, ready: Ready, options: dict[str, Any], store: Store, quiet: bool) -> Result:
    given = {"model": str(ready.folder), "data": ready.training.data, "data_dir": ready.training.data_dir, **options}
    config = checked(experiment(name).Config, given)
    return perform(name, config, store, corpus=ready.corpus, quiet=quiet)


def conducted(
    study: Study, scale: Scale, only: str | None, store: Store, data_dir: Path | None, quiet: bool, say: Say
) -> Iterator[tuple[Case | Picture, Case, Result]]:
    """Everything that is asked for, one after another: what it is for, on which case, and its result."""
    figures = study.figures(scale, only)
    wanted = study.cases(scale, only)
    needed = [case for figure in figures for case in study.cases(scale) if case.name in figure.cases]
    for case in {case.name: case for case in (*wanted, *needed)}.values():
        ready = prepared(case, scale, store, data_dir, quiet)
        if case in wanted and ready.run.seeds:
            say(f"{case.table}, {case.name}: ablation")
            yield case, case, ablated(ready, store, quiet)
        for figure in figures:
            if case.name in figure.cases:
                say(f"{figure.name}, {case.name}: {figure.experiment}")
                yield figure, case, pictured(figure, ready, scale, store, quiet)
