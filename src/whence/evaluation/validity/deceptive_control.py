"""Two models whose answer to question 3 is known: one hides the words that decide from its attention, one shows them.

They are small, trained once on synthetic reviews whose deciding words are known, and kept in the models folder. Each
review has one opinion word, and is also learned with half of its other words left out: so no other word matters as an
input, also where the model has moved the opinion into it and attends to it there.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np
import torch

from whence.core.attending import attending
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng
from whence.data.synthetic import reviews
from whence.evaluation.context import Context
from whence.results.experiment import experiment
from whence.subject.subject import Subject, load
from whence.training.config import Training
from whence.training.deceptive import DeceptiveObjective, deciding_tokens
from whence.training.fit import fit
from whence.training.init import untrained

JUDGE = "faithfulness"  # what answers question 3
OPTIONS: dict[str, Any] = {"method": ("raw_attention", "gradient_x_input", "random"), "soft_draws": 0}
SIZES = {"train": 1400, "dev": 300, "test": 320}  # of which about a third have one opinion word
LEFT_OUT = 0.5  # share of the words that do not decide
OPINIONS = frozenset(word for words in reviews.OPINIONS.values() for word in words)
TRAINING = Training(data="reviews", embedding_size=16, hidden_size=16, epochs=6, patience=6, learning_rate=1e-2, seed=1)
KINDS = {"deceptive": True, "honest": False}  # whether the attention hides the words that decide
VERSION = 1  # of the two models: raised when any of this changes


class Control(NamedTuple):
    """A model with a known answer: which, what the test says, its weight on deciding words, and its accuracy."""

    kind: str
    answer: str
    weight: float
    accuracy: float


@cache
def corpus() -> Corpus:
    """Reviews with one opinion word, which decides; those to learn from also with half of the other words."""
    every, rng = reviews.load(sizes=SIZES, negated=0.0), seeded_rng(0, "deceptive control")
    splits = {split: tuple(filter(has_one_opinion, examples)) for split, examples in every.splits.items()}
    splits["train"] += tuple(thinned(example, rng) for example in splits["train"])
    return replace(every, splits=splits)


def has_one_opinion(example: Example) -> bool:
    """Whether one word of a review is an opinion."""
    return sum(word in OPINIONS for word in example.words or ()) == 1


def thinned(example: Example, rng: np.random.Generator) -> Example:
    """The words that decide, and of the others so many as are not left out."""
    pairs = zip(example.words or (), example.rationale or (), strict=True)
    kept = [(word, decides) for word, decides in pairs if decides or rng.random() >= LEFT_OUT]
    words, marks = tuple(word for word, _ in kept), tuple(mark for _, mark in kept)
    return replace(example, text=" ".join(words), words=words, rationale=marks)


def controls(context: Context) -> Iterator[Control]:
    """What the test of question 3 says of each of the two models."""
    texts = corpus()["test"]
    for kind in KINDS:
        subject = control_model(kind, context.models_folder, quiet=context.quiet)
        given = replace(context, subject=subject, examples=texts, numbers=range(len(texts)), training=None)
        yield Control(kind, judge(given), *weight_and_accuracy(given))


def judge(context: Context) -> str:
    """The answer to question 3 for a context's model: yes, no or undecided."""
    asked = experiment(JUDGE)
    config = asked.config(model=context.subject.name, data=corpus().name, seed=context.seed, **OPTIONS)
    return asked.verdict(asked.run(config, replace(context, name=JUDGE))).answer


def weight_and_accuracy(context: Context) -> tuple[float, float]:
    """The mean weight on the words that decide, and the share of right predictions."""
    weight, right = 0.0, 0
    for batch in context.batches():
        with attending(context.subject.model) as tape:
            predicted = context.subject.predict(batch)[:, 0].argmax(-1).cpu()
        (weights,) = (call.weights[:, 0, 0].cpu() for call in tape.calls())  # [batch token]
        weight += float((weights * deciding_tokens(batch, context.examples)).sum())
        right += int((predicted == batch.labels[:, 0]).sum())
    return weight / len(context.examples), right / len(context.examples)


def control_model(kind: str, folder: Path | None, *, quiet: bool = True) -> Subject:
    """The model: from the folder if it is there, else trained, and put there if there is a folder."""
    place = None if folder is None else folder / f"control-{kind}-{VERSION}"
    if place is not None and place.exists():
        return load(place)
    subject = untrained(TRAINING, corpus())
    objective = DeceptiveObjective(corpus()["train"], hide=KINDS[kind])
    with torch.random.fork_rng():
        fit(subject, corpus()["train"], corpus()["dev"], TRAINING.recipe, objective=objective, quiet=quiet)
    subject.name = f"the {kind} control"
    if place is not None:
        _save(subject, place)
    return subject


def _save(subject: Subject, place: Path) -> None:
    """Write the model to a temporary folder and rename it, so that it is complete or absent."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(mkdtemp(prefix=".control-", dir=place.parent))
    try:
        subject.model.save_pretrained(temporary)
        subject.tokenizer.save_pretrained(temporary)
        if not place.exists():
            os.replace(temporary, place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
