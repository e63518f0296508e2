"""Models before their first epoch: a vocabulary of the training words, and initial weights that the seed determines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Generator
from transformers import PreTrainedTokenizerBase

from whence.core.errors import BadData, CannotLoad
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.formats.text import file_exists
from whence.data.lexical.vectors import read_vectors
from whence.data.tables.cells import listed_rows
from whence.reference_model import REFERENCE_MODELS, BuildInputs
from whence.subject.loading import load_model, load_tokenizer
from whence.subject.subject import Subject
from whence.subject.tasks import TASKS
from whence.training.config import Training
from whence.training.vocabulary import subword_tokenizer, word_tokenizer


def untrained(training: Training, corpus: Corpus) -> Subject:
    """The model before its first epoch: a reference model, or a saved one with a new head for the corpus's labels."""
    examples, task, reference = learnable(corpus, "train"), task_of(corpus), training.reference
    with torch.random.fork_rng():
        torch.manual_seed(stream(training.seed, "beginning").initial_seed())
        if reference is None:
            return _saved(training, task, corpus)
        reference.refuse_other_tasks(task, corpus)
        frozen = training.options.freezes_vectors and training.vectors is not None
        known = [example for split in corpus.splits for example in corpus[split]] if frozen else examples
        tokenizer = vocabulary(training, known, task)
        vectors = known_vectors(training, tokenizer)
        width = len(next(iter(vectors.values()))) if vectors else None
        model = reference.build(training.options, BuildInputs(tokenizer, corpus, task, width))
    if vectors:
        table: Any = model.get_input_embeddings()
        init_vectors(table.weight, tokenizer.get_vocab(), vectors, stream(training.seed, "vectors"))
    return Subject(model, tokenizer, task, training.model)


def _saved(training: Training, task: str, corpus: Corpus) -> Subject:
    """A saved model to be fine-tuned, with a head for the corpus's classes."""
    unknown = f"no reference model, folder or hub model has the name {training.model}; reference models are:"
    try:
        model = load_model(training.model, task, labels=corpus.labels)
    except CannotLoad as error:
        if file_exists(training.model):
            raise
        raise CannotLoad(f"{unknown} {', '.join(REFERENCE_MODELS.names())} ({error})") from error
    return Subject(model, load_tokenizer(training.model), task, training.model)


def task_of(corpus: Corpus) -> str:
    """The task of a corpus: one label for a text, a tag for each word, a text for a text, or values for windows."""
    first = corpus["train"][0] if corpus["train"] else None
    if first is None:
        raise BadData(f"{corpus.name} has no examples in train; expected some to train on")
    if first.target is not None:
        return "seq2seq"
    if first.windows is not None and first.label is None:
        return "series"
    return "token-classification" if first.tags is not None else "sequence-classification"


def learnable(corpus: Corpus, split: str) -> tuple[Example, ...]:
    """The examples of a split, if all have labels and at least two classes."""
    needs = TASKS[task_of(corpus)].needs
    examples = corpus[split]
    without = [number for number, example in enumerate(examples, start=1) if getattr(example, needs) is None]
    if without:
        wanted = needs if needs == "values" else f"a {needs}"
        raise BadData(
            f"{corpus.name} has examples without {wanted} in {split} ({listed_rows(without)} of it, counted from 1);"
            " training needs one for each"
        )
    brief = [number for number, e in enumerate(examples) if needs == "values" and len(e.windows or ()) < 2]
    if brief:
        raise BadData(
            f"{corpus.name} has narratives of one window in {split} (the first is number {brief[0]}, counted "
            "from 0); expected two windows or more: the values of one do not vary"
        )
    classes = sorted({str(example.label) for example in examples}) if needs == "label" else []
    if split == "train" and needs == "label" and len(classes) < 2:
        raise BadData(f"{corpus.name} has one class only ({', '.join(classes) or 'none'}); expected two or more")
    return examples


def vocabulary(training: Training, examples: Sequence[Example], task: str) -> PreTrainedTokenizerBase:
    """Whole words, or subwords if a number of them is given; source and target of a translator share it."""
    if training.subwords:
        return subword_tokenizer(examples, training.subwords, lowercase=training.lowercase, framed=task != "seq2seq")
    return word_tokenizer(
        examples, min_count=training.min_count, lowercase=training.lowercase, framed=task != "seq2seq"
    )


def known_vectors(training: Training, tokenizer: PreTrainedTokenizerBase) -> dict[str, np.ndarray]:
    """The vectors that were given, of the words of the vocabulary."""
    if training.vectors is None:
        return {}
    found = read_vectors(training.vectors, set(tokenizer.get_vocab()))
    if not found:
        raise BadData(f"none of the corpus's words is in {training.vectors}; expected vectors for its language")
    return found


@torch.no_grad()
def init_vectors(
    table: torch.Tensor, numbers: dict[str, int], found: dict[str, np.ndarray], generator: Generator
) -> None:
    """Word vectors where there are some; a word without one is drawn from a normal of the same mean and spread."""
    known = torch.tensor(np.stack(list(found.values())), dtype=table.dtype)
    mean, spread = float(known.mean()), float(known.std())
    for word, number in sorted(numbers.items(), key=lambda item: item[1]):
        if number == 0:
            continue  # padding stays zero
        drawn = torch.normal(mean, spread, table[number].shape, generator=generator)
        table[number] = torch.as_tensor(found[word]) if word in found else drawn
