"""Models before their first epoch: a vocabulary of the training words, and weights that follow from the seed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Generator
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from whence.core.errors import BadConfig, BadData, CannotLoad
from whence.core.seeds import stream
from whence.data.examples import Corpus, Example
from whence.data.files import there
from whence.data.vectors import read_vectors
from whence.models import additive, hierarchical, recurrent, transformer
from whence.models.loading import load_model, load_tokenizer
from whence.models.subject import Subject
from whence.models.vocabulary import piece_tokenizer, sentence_ends, word_tokenizer

if TYPE_CHECKING:
    from whence.models.training import Training


def untrained(training: "Training", corpus: Corpus) -> Subject:
    """The model before its first epoch: a reference model, or a saved one with a new head for the corpus's labels."""
    examples, task = learnable(corpus, "train"), task_of(corpus)
    with torch.random.fork_rng():
        torch.manual_seed(stream(training.seed, "beginning").initial_seed())
        if training.model not in REFERENCE:
            return _saved(training, task, corpus)
        tokenizer = vocabulary(training, examples, task)
        vectors = known_vectors(training, tokenizer)
        width = len(next(iter(vectors.values()))) if vectors else training.embedding_size
        model = REFERENCE[training.model](training, tokenizer, corpus, width)
    if vectors:
        table: Any = model.get_input_embeddings()
        begin_with(table.weight, tokenizer.get_vocab(), vectors, stream(training.seed, "vectors"))
    return Subject(model, tokenizer, task, training.model)


def _saved(training: "Training", task: str, corpus: Corpus) -> Subject:
    """A saved model to be fine-tuned, with a head for the corpus's classes."""
    unknown = f"no reference model and no model of a folder or hub is called {training.model}; reference models are:"
    try:
        model = load_model(training.model, task, labels=corpus.labels)
    except CannotLoad as error:
        if there(training.model):
            raise
        raise CannotLoad(f"{unknown} {', '.join(REFERENCE)} ({error})") from error
    return Subject(model, load_tokenizer(training.model), task, training.model)


def task_of(corpus: Corpus) -> str:
    """What there is to learn: one label for a text, a tag for each word, or a text for a text."""
    first = corpus["train"][0] if corpus["train"] else None
    if first is None:
        raise BadData(f"{corpus.name} has no examples in train; expected some to learn from")
    if first.target is not None:
        return "seq2seq"
    return "token-classification" if first.tags is not None else "sequence-classification"


def learnable(corpus: Corpus, split: str) -> tuple[Example, ...]:
    """The examples of a split, if they can be learned from."""
    needs = {"seq2seq": "target", "token-classification": "tags"}.get(task_of(corpus), "label")
    examples = corpus[split]
    if any(getattr(example, needs) is None for example in examples):
        raise BadData(f"{corpus.name} has examples without a {needs} in {split}; training needs one for each")
    classes = sorted({str(example.label) for example in examples}) if needs == "label" else []
    if split == "train" and needs == "label" and len(classes) < 2:
        raise BadData(f"{corpus.name} has one class only ({', '.join(classes) or 'none'}); expected two or more")
    return examples


def vocabulary(training: "Training", examples: Sequence[Example], task: str) -> PreTrainedTokenizerBase:
    """Whole words, or word pieces if so many were asked for; source and target of a translator share it."""
    if training.subwords:
        return piece_tokenizer(examples, training.subwords, lowercase=training.lowercase, framed=task != "seq2seq")
    return word_tokenizer(
        examples, min_count=training.min_count, lowercase=training.lowercase, framed=task != "seq2seq"
    )


def known_vectors(training: "Training", tokenizer: PreTrainedTokenizerBase) -> dict[str, np.ndarray]:
    """The vectors that were given, of the words of the vocabulary."""
    if training.vectors is None:
        return {}
    found = read_vectors(training.vectors, set(tokenizer.get_vocab()))
    if not found:
        raise BadData(f"none of the corpus's words is in {training.vectors}; expected vectors for its language")
    return found


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


def _named(tokenizer: PreTrainedTokenizerBase, corpus: Corpus) -> dict[str, Any]:
    """What every config is told: the vocabulary, its special tokens, the classes."""
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    labels = {
        "id2label": dict(enumerate(corpus.labels)),
        "label2id": {label: i for i, label in enumerate(corpus.labels)},
    }
    return {"vocab_size": len(tokenizer), **ids, **(labels if corpus.labels else {})}


def _additive(training: "Training", tokenizer: Any, corpus: Corpus, width: int) -> PreTrainedModel:
    _refuse_targets(training, corpus)
    pairs = any(example.pair is not None for example in corpus["train"])
    wanted = "bypass" if training.bypass else "conditional" if training.model == "conditional" else ""
    if wanted and not pairs:
        raise BadConfig(f"{wanted} is for corpora of pairs; {corpus.name} has single texts")
    if wanted == "conditional" and training.encoder != "lstm":
        raise BadConfig(f"conditional hands on the state of an lstm; the encoder is {training.encoder}")
    return additive.AdditiveForSequenceClassification(
        additive.AdditiveConfig(
            encoder=training.encoder, attention=training.attention, hidden_size=training.hidden_size,
            embedding_size=width, pairs=pairs,
            conditional=training.model == "conditional", bypass=training.bypass, **_named(tokenizer, corpus),
        )
    )  # fmt: skip


def _hierarchical(training: "Training", tokenizer: Any, corpus: Corpus, width: int) -> PreTrainedModel:
    _refuse_targets(training, corpus)
    return hierarchical.HierarchicalForSequenceClassification(
        hierarchical.HierarchicalConfig(
            embedding_size=width, hidden_size=training.hidden_size, word_dropout=training.dropout,
            sentence_dropout=training.dropout / 2, output_dropout=training.dropout / 2,
            sentence_end_ids=sentence_ends(tokenizer), **_named(tokenizer, corpus),
        )
    )  # fmt: skip


def _recurrent(training: "Training", tokenizer: Any, corpus: Corpus, width: int) -> PreTrainedModel:
    _refuse_labels(training, corpus)
    return recurrent.RecurrentForConditionalGeneration(
        recurrent.RecurrentConfig(
            embedding_size=width, hidden_size=training.hidden_size, num_layers=training.layers,
            attention=training.attention, dropout=training.dropout, **_translating(tokenizer, corpus),
        )
    )  # fmt: skip


def _transformer(training: "Training", tokenizer: Any, corpus: Corpus, width: int) -> PreTrainedModel:
    shape: dict[str, Any] = {
        "hidden_size": training.hidden_size, "intermediate_size": 2 * training.hidden_size, "dropout": training.dropout,
        "num_hidden_layers": training.layers, "num_decoder_layers": training.layers,
        "num_attention_heads": training.heads,
    }  # fmt: skip
    if training.vectors is not None:
        raise BadConfig(
            "the transformer's word vectors are as wide as its layers and begin at random; leave vectors out"
        )
    if task_of(corpus) == "seq2seq":
        config = transformer.TransformerConfig(**shape, **_translating(tokenizer, corpus))
        return transformer.TransformerForConditionalGeneration(config)
    return transformer.TransformerForSequenceClassification(
        transformer.TransformerConfig(**shape, **_named(tokenizer, corpus))
    )


def _translating(tokenizer: Any, corpus: Corpus) -> dict[str, Any]:
    return {**_named(tokenizer, corpus), "decoder_start_token_id": tokenizer.bos_token_id}


def _refuse_targets(training: "Training", corpus: Corpus) -> None:
    if task_of(corpus) != "sequence-classification":
        raise BadConfig(
            f"{training.model} answers with one label for a text; {corpus.name} has none. For texts as answers train"
            " recurrent or transformer"
        )


def _refuse_labels(training: "Training", corpus: Corpus) -> None:
    if task_of(corpus) != "seq2seq":
        raise BadConfig(
            f"{training.model} answers with a text; {corpus.name} has no target texts. For labels train additive,"
            " conditional, hierarchical or transformer"
        )


Begin = Callable[["Training", Any, Corpus, int], PreTrainedModel]
REFERENCE: dict[str, Begin] = {
    "additive": _additive,
    "conditional": _additive,
    "hierarchical": _hierarchical,
    "recurrent": _recurrent,
    "transformer": _transformer,
}
