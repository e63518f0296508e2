"""Real texts whose deciding words are known: tokens planted in SST, and the pronouns of Pruthi et al. 2020.

In each sentence of SST one of two tokens is planted at random, and says the label (Bastings et al. 2022); what else it
says tells nothing. Pruthi et al.'s texts are labelled by the gender of their pronouns, which are marked. Attention is
led to those words, or away from them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from whence.calibration import claims, measured
from whence.calibration.case import Case, Claim, Kind
from whence.calibration.cases.trained import DECEPTIVE, FAITHFUL, fitted
from whence.calibration.texts import marked_example
from whence.data.examples import Corpus, Example
from whence.data.registry import load
from whence.data.rng import seeded_rng
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer

TRAINED_ON, LONGEST, STEPS = 800, 20, 250  # texts, words of a text, steps of training
TOKENS = ("zeroa", "zerob")
OTHERS = {
    "he": "she",
    "him": "her",
    "his": "her",
    "himself": "herself",
    "she": "he",
    "her": "his",
    "herself": "himself",
}
COMMON = ("the", "of", "in", "and", "a")


def planted(seed: int, n: int) -> Corpus:
    """Sentences of SST, cut to 20 words, each with one of two tokens, which is its label."""
    sst, rng = load("sst"), seeded_rng(seed, "planted")
    splits = {}
    for split, size in (("train", TRAINED_ON), ("test", n)):
        chosen = rng.permutation(len(sst[split]))[:size].tolist()
        splits[split] = tuple(_planted(sst[split][number], rng) for number in chosen)
    return Corpus("sst, planted", splits, TOKENS)


def _planted(example: Example, rng: np.random.Generator) -> Example:
    words = (example.words or tuple(example.text.split()))[:LONGEST]
    token, place = TOKENS[int(rng.integers(2))], int(rng.integers(len(words) + 1))
    marked = [(word, False) for word in words]
    return marked_example([*marked[:place], (token, True), *marked[place:]], token)


def pronouns(seed: int, n: int) -> Corpus:
    """Texts of at most 20 words whose marked words are all pronouns that have a counterpart."""
    native, rng = load("deceptive_attention:pronoun"), seeded_rng(seed, "pronouns")
    splits = {}
    for split, size in (("train", TRAINED_ON), ("test", n)):
        suited = [example for example in native[split] if _suited(example)]
        splits[split] = tuple(suited[number] for number in rng.permutation(len(suited))[:size].tolist())
    return Corpus(native.name, splits, native.labels)


def _suited(example: Example) -> bool:
    words, marks = example.words or (), example.rationale or ()
    return (
        6 <= len(words) <= LONGEST and any(marks) and all(w in OTHERS for w, m in zip(words, marks, strict=True) if m)
    )


def turned(example: Example) -> Example:
    """The example with each deciding word replaced by its counterpart."""
    others = {**OTHERS, TOKENS[0]: TOKENS[1], TOKENS[1]: TOKENS[0]}
    pairs = zip(example.words or (), example.rationale or (), strict=True)
    words = tuple(others[word] if mark else word for word, mark in pairs)
    return replace(example, text=" ".join(words), words=words)


def lstm(corpus: Corpus) -> Subject:
    """An LSTM with additive attention, and the words of the corpus."""
    tokenizer = word_tokenizer([example for split in corpus.splits for example in corpus[split]])
    labels = dict(enumerate(corpus.labels))
    config = AdditiveConfig(
        vocab_size=len(tokenizer),
        embedding_size=16,
        hidden_size=16,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        id2label=labels,
        label2id={label: number for number, label in labels.items()},
    )
    return Subject(AdditiveForSequenceClassification(config), tokenizer, name=f"LSTM on {corpus.name}")


def proof(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that the marked words decide."""
    before, after = (measured.decisions(subject, some) for some in (examples, [turned(e) for e in examples]))
    return (
        claims.right(subject, examples, at_least=0.95),
        Claim("decisions changed by turning the deciding words", float((before != after).mean()), at_least=0.9),
    )


def led(make: Callable[[int, int], Corpus], lead: float, steps: int = STEPS) -> Callable[[int, int], Case]:
    """An LSTM whose attention is led to the deciding words, or away from them."""

    def made(seed: int, n: int) -> Case:
        corpus = make(seed, n)
        subject, examples = fitted(lambda: lstm(corpus), seed, corpus, steps, lead), corpus["test"]
        if lead > 0:
            points = claims.points_at_deciding(subject, examples, at_least=0.95)
            return Case(subject, corpus, FAITHFUL, (*proof(subject, examples), points))
        idle = claims.attended_word_is_idle(subject, examples, at_most=0.05, words=lambda word: COMMON)
        weight = float(np.mean(claims.shares_on_deciding(subject, examples)))
        elsewhere = Claim("mean share of the words' attention on deciding words", weight, at_most=0.05)
        return Case(subject, corpus, DECEPTIVE, (*proof(subject, examples), elsewhere, idle))

    return made


KINDS = (
    Kind("planted-sst", "LSTM on SST with planted tokens, led to them", led(planted, 0.5), True, "sst"),
    Kind("planted-sst-deceptive", "the same, led away from them", led(planted, -1.0), True, "sst"),
    Kind("pronouns", "LSTM on Pruthi et al.'s pronouns, led to them", led(pronouns, 0.5), True, "deceptive_attention"),
    Kind("pronouns-deceptive", "the same, led away from them", led(pronouns, -1.0, 400), True, "deceptive_attention"),
)
