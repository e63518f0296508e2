"""Training a reference model on a corpus: `whence train additive --data sst`."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Generator

from whence.core.errors import BadConfig, BadData
from whence.core.overrides import random, uniform
from whence.core.seeds import stream
from whence.data.catalogue import load as load_corpus
from whence.data.examples import Corpus, Example
from whence.data.vectors import read_vectors
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.models.fitting import Recipe, fit
from whence.models.subject import Subject, load
from whence.models.vocabulary import word_tokenizer
from whence.results.saving import saving, write_json

RECORD = "training.json"  # written last: a folder that has it is finished
ALTERED = {"uniform": lambda _: uniform, "random": lambda generator: random(generator)}


class Training(BaseModel):
    """What to train, on what, and how. The defaults are Jain & Wallace's (2019) for classification."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Literal["additive"] = Field("additive", description="reference model")
    data: str = Field("reviews", description="corpus with splits train and dev: a name or a table with a split column")
    data_dir: Path | None = Field(None, description="folder with the native corpora (default: $WHENCE_DATA)")
    vectors: Path | None = Field(None, description="word vectors to begin with, in GloVe's text format")
    encoder: Literal["lstm", "cnn", "average"] = Field("lstm", description="what reads the words")
    attention: Literal["additive", "dot"] = Field("additive", description="how attention scores a word")
    bypass: bool = Field(False, description="pairs: let the second text reach the decoder past the attention")
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of the encoder (per direction of the lstm)")
    min_count: int = Field(1, gt=0, description="words seen less often are unknown")
    epochs: int = Field(8, gt=0, description="passes over the training texts, at most")
    patience: int = Field(3, gt=0, description="stop after so many epochs without a better score on dev")
    batch_size: int = Field(32, gt=0, description="texts at a time")
    learning_rate: float = Field(1e-3, gt=0, description="of Adam (amsgrad)")
    weight_decay: float = Field(1e-5, ge=0, description="on all but the attention's own parameters")
    altered: Literal["none", "uniform", "random"] = Field("none", description="attention during training (train+infer)")
    seed: int = Field(0, ge=0, description="everything random follows from it")

    @property
    def recipe(self) -> Recipe:
        """The part that is about fitting."""
        return Recipe(self.epochs, self.batch_size, self.learning_rate, self.weight_decay, self.patience, self.seed)

    def identity(self, corpus: Corpus) -> dict[str, Any]:
        """What determines the trained model: the options, and the contents of the corpus."""
        options = self.model_dump(mode="json", exclude={"data", "data_dir", "vectors"})
        return {**options, "corpus": corpus.checksum, "vectors": self.vectors and self.vectors.name}

    def key(self, corpus: Corpus) -> str:
        """A short name for what is trained, whatever the seed and the alteration."""
        same = {name: value for name, value in self.identity(corpus).items() if name not in ("seed", "altered")}
        return hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()[:8]


def train(training: Training, folder: Path, *, corpus: Corpus | None = None, quiet: bool = False) -> Subject:
    """A trained subject, saved in `folder` with `save_pretrained`; taken from there if it is finished already.

    A run that was cut off goes on from its last finished epoch.
    """
    corpus = corpus or load_corpus(training.data, data_dir=training.data_dir)
    identity = training.identity(corpus)
    if (folder / RECORD).exists():
        _refuse_other(folder, identity)
        return load(folder)
    with saving(folder):
        return _trained(training, folder, corpus, identity, quiet)


def _trained(training: Training, folder: Path, corpus: Corpus, identity: dict[str, Any], quiet: bool) -> Subject:
    begun = time.perf_counter()
    subject, dev = untrained(training, corpus), labelled(corpus, "dev")
    folder.mkdir(parents=True, exist_ok=True)
    started = folder / "training.started.json"
    if started.exists():
        _refuse_other(folder, identity, started.name)
    else:
        write_json(started, {"identity": identity})
    progress = fit(
        subject, corpus["train"], dev, training.recipe, checkpoint=folder / "checkpoint.pt", quiet=quiet,
        override=ALTERED.get(training.altered),
    )  # fmt: skip
    subject.model.save_pretrained(folder)
    subject.tokenizer.save_pretrained(folder)
    record = {"identity": identity, "training": training.model_dump(mode="json"), "dev": progress.scores,
              "losses": progress.losses, "best": progress.best,
              "seconds": round(time.perf_counter() - begun, 2), "notes": list(corpus.notes)}  # fmt: skip
    write_json(folder / RECORD, record)
    for leftover in (started, folder / "checkpoint.pt", folder / "checkpoint.new"):
        leftover.unlink(missing_ok=True)
    return subject


def untrained(training: Training, corpus: Corpus) -> Subject:
    """The model before its first epoch, with a vocabulary of the training words."""
    examples = labelled(corpus, "train")
    tokenizer = word_tokenizer(examples, min_count=training.min_count)
    pairs = any(example.pair is not None for example in examples)
    config = AdditiveConfig(
        vocab_size=len(tokenizer), encoder=training.encoder, attention=training.attention, pairs=pairs,
        bypass=training.bypass, hidden_size=training.hidden_size, embedding_size=training.embedding_size,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        id2label=dict(enumerate(corpus.labels)), label2id={label: i for i, label in enumerate(corpus.labels)},
    )  # fmt: skip
    found = {} if training.vectors is None else read_vectors(training.vectors, set(tokenizer.get_vocab()))
    if training.vectors is not None:
        if not found:
            raise BadData(f"none of the corpus's words is in {training.vectors}; expected vectors for its language")
        config.embedding_size = len(next(iter(found.values())))
    with torch.random.fork_rng():
        torch.manual_seed(stream(training.seed, "beginning").initial_seed())
        model = AdditiveForSequenceClassification(config)
    if found:
        begin_with(model.embeddings.weight, tokenizer.get_vocab(), found, stream(training.seed, "vectors"))
    return Subject(model, tokenizer, "sequence-classification", training.model)


def labelled(corpus: Corpus, split: str) -> tuple[Example, ...]:
    """The examples of a split, if they can be learned from."""
    examples = corpus[split]
    if any(example.label is None for example in examples):
        raise BadData(f"{corpus.name} has examples without a label in {split}; training needs one for each")
    classes = sorted({str(example.label) for example in examples})
    if split == "train" and len(classes) < 2:
        raise BadData(f"{corpus.name} has one class only ({', '.join(classes) or 'none'}); expected two or more")
    return examples


@torch.no_grad()
def begin_with(
    table: torch.Tensor, numbers: dict[str, int], found: dict[str, np.ndarray], generator: Generator
) -> None:
    """Word vectors where there are some; a word without one is drawn from a normal of the same mean and spread."""
    known = torch.tensor(np.stack(list(found.values())), dtype=table.dtype)
    for word, number in sorted(numbers.items(), key=lambda item: item[1]):
        if number == 0:
            continue  # padding stays zero
        drawn = torch.normal(float(known.mean()), float(known.std()), table[number].shape, generator=generator)
        table[number] = torch.as_tensor(found[word]) if word in found else drawn


def recorded(folder: Path) -> Training | None:
    """How the model in a folder was trained, if Whence trained it."""
    record = folder / RECORD
    return Training(**json.loads(record.read_text())["training"]) if record.exists() else None


def training_seconds(folder: Path) -> float:
    """How long the training of the model in a folder took (its last part, if it was cut off)."""
    return float(json.loads((folder / RECORD).read_text())["seconds"])


def _refuse_other(folder: Path, identity: dict[str, Any], name: str = RECORD) -> None:
    there = json.loads((folder / name).read_text())["identity"]
    differing = sorted(key for key in identity if there.get(key) != identity[key])
    if differing:
        raise BadConfig(
            f"{folder} holds a model that was trained otherwise (other: {', '.join(differing)}); name another folder"
        )
