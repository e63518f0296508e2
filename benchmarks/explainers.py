"""What each explainer costs per sentence: 200 sentences of the Stanford Sentiment Treebank and a fine-tuned MiniLM.

Batches of 32 sentences of like length, encoded beforehand; what is explained is the class that the model predicts. The
model is fine-tuned here, on 2,000 sentences, which matters to `integrated_gradients` most: how many steps it needs
depends on the model. Best of three runs; what takes more than half a minute is run once.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.measure import table
from benchmarks.models import MINILM
from whence.attribution.registry import explainer, names
from whence.data.registry import load
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import predicted
from whence.training.config import Training
from whence.training.train import train

SENTENCES, ROUNDS, PLAIN = 200, 3, "a plain pass"
LONG = 30.0  # seconds, after which a method is not run again


def report() -> str:
    """Milliseconds per sentence, the fastest first."""
    if "WHENCE_DATA" not in os.environ:
        return "The sentences of the Stanford Sentiment Treebank are needed: set WHENCE_DATA."
    subject = fine_tuned()
    examples = [replace(example, label=None) for example in load("sst")["test"][:SENTENCES]]
    batches = list(subject.batches(examples))
    taken = {name: quickest(subject, batches, name) for name in (PLAIN, *names())}
    rows = [
        [name, f"{1000 * spent / SENTENCES:.1f} ms", f"{spent / taken[PLAIN]:.1f}×"]
        for name, spent in sorted(taken.items(), key=lambda item: item[1])
    ]
    return table([f"{SENTENCES} sentences of SST", "a sentence", f"compared with {PLAIN}"], rows)


def fine_tuned() -> Subject:
    """MiniLM after 2,000 of the treebank's sentences."""
    with TemporaryDirectory() as folder, torch.enable_grad():
        subject = train(
            Training(model=str(MINILM), data="sst", limit=2000, epochs=1), Path(folder) / "model", quiet=True
        )
    subject.model.eval()
    return subject


def quickest(subject: Subject, batches: Sequence[Batch], name: str) -> float:
    """The best of three runs; what takes long is run once."""
    first = seconds(subject, batches, name)
    return first if first > LONG else min(first, *(seconds(subject, batches, name) for _ in range(ROUNDS - 1)))


def seconds(subject: Subject, batches: Sequence[Batch], name: str) -> float:
    """How long all sentences take by one method; what is predicted is known beforehand."""
    targets = [predicted(subject, batch) for batch in batches]
    start = time.perf_counter()
    for batch, target in zip(batches, targets, strict=True):
        if name == PLAIN:
            subject.logits(batch)
        else:
            explainer(name)(subject, batch, target)
    return time.perf_counter() - start
