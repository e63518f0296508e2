"""All cases of a calibration: which at which scale, run one after another or in parallel, and resumed."""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import torch
import transformers
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from whence.calibration.case import Kind
from whence.calibration.kinds import KINDS
from whence.calibration.run_case import Job, Record, run
from whence.calibration.variants import VARIED
from whence.core.errors import BadConfig

Scale = Literal["quick", "full"]
QUESTIONS = (1, 2, 3, 4, 5, 6)
QUICK = ((50, 0),)  # numbers of texts, with their seeds
QUICK_TRAINED = ("trained-lstm", "deceptive-lstm", "deceptive-bert")  # of the trained kinds: others take too long
FULL = ((20, 1), (50, 2), (50, 7), (100, 3))
FULL_LARGE = ((300, 5),)  # of some kinds of every family: what more texts decide
FULL_LARGEST = ((500, 6),)
FULL_TRAINED = ((50, 1), (100, 2))
FULL_CONTROLS = ((120, 1), (120, 2))  # of fewer texts, too few are left to plant a word in
LARGE = (
    *("attends", "attends-decoder", "attends-pool", "attends-noise", "idle-3", "carrier-next", "carrier-everywhere"),
    *("parked-rest-decides", "parked-rest-free", "uniform-suffices", "sharp-without-need", "ablations-contradict"),
    *("past-mean", "past-mean-uniform", "past-decoder", "past-tagger", "pair-first", "tagger-sentence", "read-early"),
    *("untrained-bert", "majority", "labels-shuffled"),
)
LARGEST = ("attends", "carrier-next", "past-mean", "untrained-bert")
VARIED_AT = {"quick": QUICK, "full": ((100, 3),)}
QUICK_VARIED = ("attends", "one-head-of-four")


def jobs(scale: Scale, patterns: Sequence[str] = ("*",)) -> list[Job]:
    """The cases of a scale whose kinds match one of the patterns, and their variants; corpora that are not there are
    left out. Quick are all kinds with hand-set weights, and some that are trained; more of these if they are named.
    """
    chosen = [name for name in KINDS if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if not chosen:
        raise BadConfig(f"no kind of case matches {', '.join(patterns)}; there are: {', '.join(KINDS)}")
    found = []
    for name in chosen:
        kind = KINDS[name]
        too_slow = kind.trained and scale == "quick" and name not in QUICK_TRAINED and tuple(patterns) == ("*",)
        if too_slow or not available(kind.needs_data):
            continue
        found += [Job(name, seed, n) for n, seed in sizes(scale, kind)]
        if scale == "full" or name in QUICK_VARIED:
            found += [Job(name, seed, n, change) for n, seed in VARIED_AT[scale] for change in VARIED.get(name, ())]
    return sorted(found, key=lambda job: job.n)  # small ones first: what goes wrong is soon seen


def sizes(scale: Scale, kind: Kind) -> tuple[tuple[int, int], ...]:
    """The numbers of texts of a kind's cases, with their seeds."""
    if scale == "quick":
        return QUICK
    if kind.trained:
        return FULL_CONTROLS if kind.family == "controls" else FULL_TRAINED
    return FULL + FULL_LARGE * (kind.name in LARGE) + FULL_LARGEST * (kind.name in LARGEST)


def available(corpus: str) -> bool:
    """Whether a native corpus is in the folder of corpora."""
    return not corpus or (Path(os.environ.get("WHENCE_DATA", "/nowhere")) / corpus).is_dir()


def run_all(
    wanted: Sequence[Job],
    folder: Path,
    questions: Sequence[int] = QUESTIONS,
    *,
    workers: int = 1,
    save: bool = False,
    quiet: bool = False,
) -> list[Record]:
    """The records of all cases, in their order; those that were run before with the same rules are not run again."""
    records = dict[str, Record]()
    bar = tqdm(total=len(wanted), desc="cases", unit="case", disable=quiet)
    with bar:
        for record in _records(wanted, folder, questions, workers, save):
            records[record["name"]] = record
            bar.update()
            bar.set_postfix_str(record["kind"])
    return [records[job.name] for job in wanted]


def _records(
    wanted: Sequence[Job], folder: Path, questions: Sequence[int], workers: int, save: bool
) -> Iterator[Record]:
    if workers < 2:
        for job in wanted:
            yield _alone(job, questions, folder, save)
        return
    tasks = (delayed(_alone)(job, questions, folder, save) for job in wanted)
    yield from Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered")(tasks)


def _alone(job: Job, questions: Sequence[int], folder: Path, save: bool) -> Record:
    """A record, computed on one thread: these models are too small for more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    try:
        return {"name": job.name, **run(job, questions, folder, save)}
    finally:
        torch.set_num_threads(before)
