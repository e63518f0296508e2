"""Training many models side by side, one process each; what is finished already is not trained again."""

import os
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from whence.data.examples import Corpus
from whence.models.training import RECORD, Training, train


def train_all(wanted: Sequence[tuple[Training, Path, Corpus]], *, quiet: bool = False) -> None:
    """Train each into its folder, as many at a time as there are processors."""
    missing = [one for one in wanted if not (one[1] / RECORD).exists()]
    workers = min(len(missing), processors())
    if workers < 2:
        for training, folder, corpus in missing:
            train(training, folder, corpus=corpus, quiet=quiet)
        return
    tasks = (delayed(_train_alone)(*one) for one in missing)
    finished = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered")(tasks)
    for _ in tqdm(finished, total=len(missing), desc="training", unit="model", disable=quiet):
        pass


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _train_alone(training: Training, folder: Path, corpus: Corpus) -> None:
    """In a process of its own, on one thread: the others have the other processors."""
    torch.set_num_threads(1)
    transformers.logging.disable_progress_bar()
    train(training, folder, corpus=corpus, quiet=True)
