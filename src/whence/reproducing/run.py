"""Reproducing a study: cases are trained, the experiments of its figures are run. Finished work is not repeated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from whence.core.errors import BadConfig, BadData
from whence.data.download.corpus_folder import data_folder
from whence.data.examples import Corpus
from whence.data.registry import load as load_corpus
from whence.evaluation.runner import cache_key, run_experiment
from whence.options import checked
from whence.reproducing.answered import answered_study
from whence.reproducing.compare import rows_of
from whence.reproducing.ledger import write_ledger
from whence.reproducing.ledger_row import Row, format_rows, from_table, to_table
from whence.reproducing.measured import FigureResult, measured
from whence.reproducing.study import Run, Scale, Study
from whence.reproducing.study_files import read
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store
from whence.subject.subject import Subject, load
from whence.training.config import Training
from whence.training.record import RECORD, training_record
from whence.training.train import train_all

Progress = Callable[[str], None]
OF_LOADING = {"model", "task", "device", "dtype", "trust_remote_code"}  # options that change which model is loaded


@dataclass(frozen=True)
class RunSettings:
    """What to reproduce and how: the options of `whence reproduce`.

    With `saved` nothing is trained or run. `ledger` is a page (.md) to write the results into. `annotations` are
    folders of human evaluations that people have answered; without one on its corpus, a figure that needs it is left.
    """

    study: str
    scale: Scale = "quick"
    only: str | None = None
    mode: str | None = None
    data_dir: Path | None = None
    device: str = "cpu"
    out: Path = Path("whence-results")
    saved: bool = False
    ledger: Path | None = None
    annotations: tuple[Path, ...] = ()
    quiet: bool = True

    @cached_property
    def store(self) -> Store:
        """Where models and results are kept."""
        return Store(self.out)

    @cached_property
    def corpus(self) -> Callable[[str], Corpus]:
        """Loads a corpus by its name, each once."""
        return cache(partial(load_corpus, data_dir=self.data_dir))


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A study that was run.

    `rows` has one row for each published number; `sentences` one verdict for each result that no published number
    belongs to; `results` all results; `page` the page, if one was written.
    """

    rows: pd.DataFrame
    sentences: tuple[str, ...]
    results: tuple[Result, ...]
    page: Path | None = None

    def __repr__(self) -> str:
        rows = [format_rows(from_table(self.rows))] if len(self.rows) or not self.sentences else []
        return "\n".join([*rows, *self.sentences])

    def _repr_html_(self) -> str:
        return str(self.rows.to_html(index=False)) + "".join(f"<p>{escape(text)}</p>" for text in self.sentences)


def reproduce(settings: RunSettings, progress: Progress = lambda text: None) -> Reproduction:
    """Run what a paper ran, and compare our numbers with the published ones."""
    study = read(settings.study)
    if settings.ledger is not None and settings.ledger.suffix != ".md":
        raise BadConfig(f"ledger is a page; expected a file that ends in .md, got {settings.ledger}")
    study.refuse_unknown(settings.only, settings.mode)
    rows, results, sentences = list[Row](), list[FigureResult](), list[str]()
    for one in run_study(study, settings, progress):
        results.append(one)
        new = rows_of(one.figure, one.case, measured(one.figure, [one.result], one.learned), settings.scale)
        sentence = "" if new else describe_result(one)
        rows += new
        sentences += [sentence] if sentence and sentence not in sentences else []  # two figures may show one result
        progress(format_rows(new) if new else sentence)
    page = write_ledger(study, settings.scale, results, settings.ledger) if settings.ledger else None
    return Reproduction(to_table(rows), tuple(sentences), tuple(one.result for one in results), page)


def describe_result(one: FigureResult) -> str:
    """The verdict on a case, in a sentence."""
    name = one.result.experiment
    return f"{one.case.name}, {name}: {experiment(name).verdict(one.result.table).sentence}"


def run_study(study: Study, settings: RunSettings, progress: Progress) -> Iterator[FigureResult]:
    """The requested results, case by case: one for each figure and seed."""
    for case, run, figures in study.select(settings.scale, settings.only, settings.mode):
        n_seeds = min(max(figure.seeds for figure in figures), run.max_seeds) if settings.scale == "full" else 1
        models = train_case(run, settings, n_seeds)
        for figure in figures:
            options = figure.options_for(run, settings.scale)
            for model in (model for model in models if model.training.seed < figure.seeds):
                if figure.needs:
                    answered = answered_study(settings.annotations, model.corpus.name)
                    if answered is None:
                        progress(f"{figure.name}, {case.name}: not run, needs {figure.needs}")
                        continue
                    options = {**options, "annotations": answered}
                progress(f"{figure.name}, {case.name}: {figure.experiment}")
                result = result_of(figure.experiment, model, options, settings)
                if result is not None:
                    yield FigureResult(figure, case, result, training_record(model.folder), model.training.seed)


@dataclass(frozen=True, eq=False)
class TrainedCase:
    """The trained model of a case and seed, which is loaded once, and its corpus."""

    training: Training
    folder: Path
    corpus: Corpus

    @cached_property
    def subject(self) -> Subject:
        """The model, loaded when it is first needed."""
        return load(str(self.folder), device=self.training.device)


def train_case(run: Run, settings: RunSettings, n_seeds: int = 1) -> list[TrainedCase]:
    """The models of a case, seed by seed, trained unless they are saved; with `settings.saved` only the saved ones."""
    options = training_of(run, settings.data_dir).with_options({"device": settings.device})
    corpus = settings.corpus(options.data)
    trainings = [options.with_options({"seed": seed}) for seed in range(n_seeds)]
    models = [TrainedCase(one, settings.store.root / "models" / one.folder_name(corpus), corpus) for one in trainings]
    if settings.saved:
        return [model for model in models if (model.folder / RECORD).exists()]
    train_all([(model.training, model.folder, corpus) for model in models], quiet=settings.quiet)
    return models


def training_of(run: Run, data_dir: Path | None) -> Training:
    """The training options of a case. Word vectors are looked up in the data folder, and so are pretrained models
    (`models/NAME`) before the hub is asked.
    """
    options, data = dict(run.training), data_folder(data_dir)
    local = data / "models" / str(options.get("model", "")).rpartition("/")[2]
    if "/" in str(options.get("model", "")) and local.is_dir():
        options["model"] = str(local)
    if "vectors" in options:
        options["vectors"] = data / options["vectors"]
        if not options["vectors"].is_file():
            raise BadData(
                f"the study needs the word vectors {options['vectors']}, which do not exist; put them there, or name"
                " the folder that has them with --data-dir or WHENCE_DATA"
            )
    return checked(Training, {**options, "data_dir": data_dir})


def result_of(name: str, model: TrainedCase, options: dict[str, Any], settings: RunSettings) -> Result | None:
    """The result of an experiment on a case, or on other data where its options name some; None if only saved results
    are wanted and it is not saved.
    """
    given: dict[str, Any] = {
        "model": str(model.folder),
        "data": model.training.data,
        "data_dir": model.training.data_dir,
    }
    given |= {"device": settings.device, **options}
    config = checked(experiment(name).config, given)
    corpus = settings.corpus(config.data) if "data" in options else model.corpus
    subject = None if OF_LOADING & options.keys() else model.subject
    if not settings.saved:
        return run_experiment(name, config, settings.store, subject=subject, corpus=corpus, quiet=settings.quiet)
    return settings.store.get(name, cache_key(name, config, model.subject, corpus))
