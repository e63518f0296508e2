"""Running a study: cases are trained and ablated, figures' experiments are run; what is there is not run again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.download.corpus_folder import home
from whence.data.examples import Corpus
from whence.data.registry import load as load_corpus
from whence.evaluation.runner import identified, perform
from whence.options import checked
from whence.reproducing.study import Case, Picture, Run, Scale, Study
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.record import RECORD
from whence.training.train import train_all

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Ready:
    """A case whose model of seed 0 is trained."""

    case: Case
    run: Run
    training: Training
    folder: Path
    corpus: Corpus


@dataclass(frozen=True)
class Way:
    """How a study is run: at which scale, where results are, and whether only `saved` ones are wanted."""

    scale: Scale
    store: Store
    data_dir: Path | None = None
    quiet: bool = False
    saved: bool = False


def prepared(case: Case, way: Way, seeds: int = 1) -> list[Ready]:
    """The corpus read and the models of the first seeds trained, or found; only those there, if no more is wanted."""
    run: Run = getattr(case, way.scale)
    settings = settled(run, way.data_dir)
    corpus = load_corpus(settings.data, data_dir=way.data_dir)
    trainings = [settings.model_copy(update={"seed": seed}) for seed in range(seeds)]
    all_ready = [Ready(case, run, one, way.store.root / "models" / one.called(corpus), corpus) for one in trainings]
    if way.saved:
        return [ready for ready in all_ready if (ready.folder / RECORD).exists()]
    train_all([(ready.training, ready.folder, corpus) for ready in all_ready], quiet=way.quiet)
    return all_ready


def settled(run: Run, data_dir: Path | None) -> Training:
    """The training of a case. Files that it names are looked for in the data folder, and so are saved models there
    (`models/NAME`), before the hub is asked.
    """
    options, data = dict(run.training), home(data_dir)
    local = data / "models" / str(options.get("model", "")).rpartition("/")[2]
    if "/" in str(options.get("model", "")) and local.is_dir():
        options["model"] = str(local)
    if "vectors" in options:
        options["vectors"] = data / options["vectors"]
        if not options["vectors"].is_file():
            raise BadData(
                f"the study begins with the word vectors {options['vectors']}, which are not there; put them there, or"
                " name the folder that holds them with --data-dir or WHENCE_DATA"
            )
    return checked(Training, {**options, "data_dir": data_dir})


def performed(name: str, ready: Ready, options: dict[str, Any], way: Way) -> Result | None:
    """The result of an experiment on a case, or on other data where its options name some; None if it is not there and
    should be.
    """
    given = {"model": str(ready.folder), "data": ready.training.data, "data_dir": ready.training.data_dir, **options}
    config = checked(experiment(name).config, given)
    corpus = load_corpus(config.data, data_dir=way.data_dir) if "data" in options else ready.corpus
    if not way.saved:
        return perform(name, config, way.store, corpus=corpus, quiet=way.quiet)
    return way.store.get(name, identified(name, config, load(ready.folder), corpus))


def conducted(
    study: Study, only: str | None, way: Way, say: Say, mode: str | None = None
) -> Iterator[tuple[Case | Picture, Case, Result]]:
    """All that is asked for, one after another: what it is for, on which case, and its result (one for each seed)."""
    for case, wanted in study.wanted(way.scale, only, mode):
        run: Run = getattr(case, way.scale)
        most = max((what.seeds for what in wanted if isinstance(what, Picture)), default=1)
        models = prepared(case, way, min(most, run.most) if way.scale == "full" else 1)
        for what in wanted:
            name = what.experiment if isinstance(what, Picture) else "ablation"
            options = of_figure(what, run, way.scale) if isinstance(what, Picture) else _of_ablation(run)
            seeds = what.seeds if isinstance(what, Picture) else 1
            for ready in (model for model in models if model.training.seed < seeds):
                say(f"{what.name if isinstance(what, Picture) else case.table}, {case.name}: {name}")
                result = performed(name, ready, options, way)
                if result is not None:
                    yield what, case, result


def of_figure(figure: Picture, run: Run, scale: Scale) -> dict[str, Any]:
    """The options of a figure, which may retrain no more often than its case is trained."""
    options: dict[str, Any] = getattr(figure, scale)
    return {**options, "retrain": min(options["retrain"], run.most)} if "retrain" in options else options


def _of_ablation(run: Run) -> dict[str, Any]:
    return {**run.ablation, "retrain": run.seeds}
