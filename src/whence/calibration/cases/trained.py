"""Small models, trained: with attention led to the deciding words, or away from them while these still decide.

Led away is the deception of Pruthi et al. 2020: a person who looks at the attention is misled. Whether the training
came out so is measured on the finished model, by replacing words.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import transformers

from whence.calibration import claims, measured
from whence.calibration.case import HEADLINE, Case, Claim, Kind, Known
from whence.calibration.cases.chance import ANSWERS as UNDECIDED
from whence.calibration.cases.chance import LABELS, SIZES, WORDS, random_labels, recurrent
from whence.calibration.hand_set.words import word_level
from whence.calibration.plain_training import train
from whence.calibration.texts import Texts
from whence.data.examples import Corpus, Example
from whence.models.hierarchical import HierarchicalConfig, HierarchicalForSequenceClassification
from whence.subject.subject import Subject

TEXTS = Texts(leaning=False)
TRAINED_ON = 600  # texts
NO_DROPOUT: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
Proof = Callable[[Subject, Sequence[Example]], tuple[Claim, ...]]
FAITHFUL: dict[int, Known] = {3: "yes", 6: "yes", HEADLINE: "not no"}
DECEPTIVE: dict[int, Known] = {3: "no", 6: "no", HEADLINE: "not yes"}


def bert() -> Subject:
    """A BERT of two layers."""
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        max_position_embeddings=32,
        **(SIZES | {"num_attention_heads": 2}),
        **NO_DROPOUT,
        **LABELS,
    )
    return Subject(transformers.BertForSequenceClassification(config), word_level(WORDS), name="trained BERT")


def hierarchical() -> Subject:
    """A hierarchical attention network whose sentences end with *and*."""
    ends = [WORDS.index("and")]
    config = HierarchicalConfig(
        vocab_size=len(WORDS),
        embedding_size=16,
        hidden_size=12,
        word_dropout=0.0,
        sentence_dropout=0.0,
        output_dropout=0.0,
        sentence_end_ids=ends,
        bos_token_id=2,
        eos_token_id=3,
        **LABELS,
    )
    return Subject(HierarchicalForSequenceClassification(config), word_level(WORDS), name="trained HAN")


def fitted(build: Callable[[], Subject], seed: int, corpus: Corpus, steps: int, lead: float) -> Subject:
    """A new model, trained on the corpus's split `train`."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return train(build(), corpus["train"], steps=steps, lead=lead, seed=seed)


def faithful_proof(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that the word with most attention decides, and others do not."""
    return (
        claims.right(subject, examples, at_least=0.98),
        claims.points_at_deciding(subject, examples, at_least=0.98),
        claims.deciding_word_decides(subject, examples, at_least=0.98),
        claims.other_words_are_idle(subject, examples, at_most=0.02, words=measured.plain),
    )


def deceptive_proof(subject: Subject, examples: Sequence[Example]) -> tuple[Claim, ...]:
    """What proves that the word with most attention does not matter, and that the deciding word has hardly any."""
    return (
        claims.right(subject, examples, at_least=0.98),
        claims.attends_elsewhere(subject, examples, at_most=0.1),
        claims.deciding_word_decides(subject, examples, at_least=0.98),
        claims.attended_word_is_idle(subject, examples, at_most=0.02, words=measured.plain),
    )


def led(
    build: Callable[[], Subject], steps: int, lead: float, answers: Mapping[int, Known], prove: Proof
) -> Callable[[int, int], Case]:
    """A model whose attention is led to the deciding word in training, or away from it (a negative `lead`)."""

    def make(seed: int, n: int) -> Case:
        corpus = TEXTS.corpus(seed, n, train=TRAINED_ON)
        subject = fitted(build, seed, corpus, steps, lead)
        return Case(subject, corpus, answers, prove(subject, corpus["test"]))

    return make


led_to = partial(led, lead=0.5, answers=FAITHFUL, prove=faithful_proof)
led_away = partial(led, lead=-1.0, answers=DECEPTIVE, prove=deceptive_proof)


def on_random_labels(seed: int, n: int) -> Case:
    """An LSTM trained on labels that have nothing to do with the texts, evaluated on other such labels."""
    corpus = random_labels(TEXTS.corpus(seed, n, train=100), seed)
    subject = fitted(recurrent, seed, corpus, steps=150, lead=0.0)
    return Case(subject, corpus, UNDECIDED, (claims.at_chance(subject, corpus["test"]),))


KINDS = (
    Kind("trained-lstm", "LSTM with additive attention, led to the deciding word", led_to(recurrent, 150), True),
    Kind("trained-han", "hierarchical attention network, led to the deciding word", led_to(hierarchical, 150), True),
    Kind("trained-bert", "BERT, led to the deciding word", led_to(bert, 200), True),
    Kind("deceptive-lstm", "LSTM, attention led away from the deciding word", led_away(recurrent, 200), True),
    Kind("deceptive-han", "hierarchical network, attention led away from it", led_away(hierarchical, 200), True),
    Kind("deceptive-bert", "BERT, attention led away from it", led_away(bert, 300), True),
    Kind("trained-on-random-labels", "LSTM trained and evaluated on random labels", on_random_labels, True),
)
