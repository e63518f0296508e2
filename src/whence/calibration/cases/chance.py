"""Models with nothing to explain: untrained, always one class, or no better than chance on these labels.

Every question about their attention is undecided.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import transformers

from whence.calibration import claims, measured
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.cases.attends import READING, attends
from whence.calibration.hand_set.bert import Readout, bert_classifier, linear_readout
from whence.calibration.hand_set.words import SPECIALS, Scores, word_features, word_level
from whence.calibration.texts import Texts, vocabulary
from whence.data.examples import Corpus
from whence.data.rng import pick, seeded_rng
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.subject.subject import Subject

ANSWERS: dict[int, Known] = dict.fromkeys((1, 2, 3, 5, HEADLINE), "undecided")
WORDS = [*SPECIALS, *vocabulary()]
SIZES: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
LABELS: dict[str, Any] = {"id2label": {0: "first", 1: "second"}, "label2id": {"first": 0, "second": 1}}


def random_labels(corpus: Corpus, seed: int) -> Corpus:
    """The corpus with labels that have nothing to do with the texts."""
    rng = seeded_rng(seed, "labels")
    splits = {
        name: tuple(replace(example, label=pick(rng, corpus.labels)) for example in examples)
        for name, examples in corpus.splits.items()
    }
    return replace(corpus, splits=splits)


def untrained(build: Callable[[], Subject]) -> Callable[[int, int], Case]:
    """A model with the weights of its initialisation, on labels that have nothing to do with the texts."""

    def make(seed: int, n: int) -> Case:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            subject = build()
        corpus = random_labels(Texts().corpus(seed, n), seed)
        return Case(subject, corpus, ANSWERS, (claims.at_chance(subject, corpus["test"]),))

    return make


def bert() -> Subject:
    """An untrained BERT."""
    config = transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=32, **SIZES, **LABELS)
    return Subject(transformers.BertForSequenceClassification(config), word_level(WORDS), name="untrained BERT")


def gpt2() -> Subject:
    """An untrained GPT-2."""
    config = transformers.GPT2Config(
        vocab_size=len(WORDS),
        n_positions=32,
        n_embd=32,
        n_layer=2,
        n_head=4,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        **LABELS,
    )
    tokenizer = word_level(WORDS, framed=False)
    return Subject(transformers.GPT2ForSequenceClassification(config), tokenizer, name="untrained GPT-2")


def recurrent() -> Subject:
    """An untrained LSTM with additive attention."""
    config = AdditiveConfig(
        vocab_size=len(WORDS), embedding_size=16, hidden_size=16, bos_token_id=2, eos_token_id=3, **LABELS
    )
    return Subject(AdditiveForSequenceClassification(config), word_level(WORDS), name="untrained LSTM")


def majority(seed: int, n: int) -> Case:
    """One class whatever the text says: the logits are constant."""
    corpus, readout = Texts(shares=(0.7, 0.3)).corpus(seed, n), linear_readout(2, 0.0)
    return _one_class(seed, corpus, Readout(readout.hidden, readout.weights, [1.0, 0.0]))


def lopsided(seed: int, n: int) -> Case:
    """One class for every text, since its bias is larger than what deciding words move."""
    corpus, readout = Texts(shares=(0.7, 0.3)).corpus(seed, n), linear_readout(2, 1.0)
    return _one_class(seed, corpus, Readout(readout.hidden, readout.weights, [2.5, 0.0]))


def _one_class(seed: int, corpus: Corpus, readout: Readout) -> Case:
    features = word_features(seed, Scores())
    subject = bert_classifier(features, [[READING]], readout, corpus.labels, word_level(list(features)), "one class")
    classes = float(len(set(measured.decisions(subject, corpus["test"]).tolist())))
    proof = (claims.at_chance(subject, corpus["test"]), Claim("classes that are predicted", classes, at_most=1.0))
    return Case(subject, corpus, ANSWERS, proof)


def shuffled_labels(seed: int, n: int) -> Case:
    """A model that attends to the deciding word, on labels that have nothing to do with it."""
    subject, corpus = attends(seed), random_labels(Texts().corpus(seed, n), seed)
    return Case(subject, corpus, ANSWERS, (claims.at_chance(subject, corpus["test"]),))


KINDS = (
    Kind("untrained-bert", "BERT as initialised", untrained(bert)),
    Kind("untrained-decoder", "GPT-2 as initialised", untrained(gpt2)),
    Kind("untrained-recurrent", "LSTM with additive attention as initialised", untrained(recurrent)),
    Kind("majority", "BERT with constant logits", majority),
    Kind("majority-lopsided", "BERT that predicts one class by its bias", lopsided),
    Kind("labels-shuffled", "BERT on the deciding word; labels are random", shuffled_labels),
)
