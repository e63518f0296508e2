"""Sentences with trees, a tagger, and rows of the table of `syntax`."""

import torch

from support import zoo
from support.tokenizing import wordpiece
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.experiments import syntax
from whence.models import TransformerConfig, TransformerForTokenClassification
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer

# "unbelievable" and "movies" are in pieces, "?" is a word of its own
FIRST = Example(
    "the movies was unbelievable ?", words=("the", "movies", "was", "unbelievable", "?"), heads=(1, 3, 3, -1, 3)
)


SECOND = Example("not good", words=("not", "good"), heads=(1, -1))


THIRD = Example("a bad story", words=("a", "bad", "story"), heads=(2, 2, -1))


CONFIG = syntax.Config(model="m", data="made")


def context_of(subject, examples, **options):
    return Context(subject, examples, range(len(examples)), quiet=True, predictions=False, **options)


def reader(family):
    return Subject(zoo.BY_NAME[family].build(), wordpiece(), name=family)


def tagger(corpus, seed=0, heads=4):
    tokenizer = word_tokenizer(corpus["train"])
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=heads,
        intermediate_size=16,
        id2label=dict(enumerate(corpus.labels)),
    )
    return Subject(TransformerForTokenClassification(config), tokenizer, name="tagger")


def row(head, tree, difference, error, **others):
    about = {
        "epoch": -1,
        "site": "a",
        "layer": 1,
        "sees": "all",
        "head": head,
        "tree": tree,
        "divergence": 2.0,
        "difference": difference,
        "difference_error": error,
        "attachment": 0.3,
        "offset_attachment": 0.25,
        "beyond_error": 0.02,
        "difference_low": difference - 0.2,
        "difference_high": difference + 0.2,
        "sentences": 50,
        "coverage": 1.0,
        "before": 0.5,
        "source": "trees: made",
        "reference": "parent",
        "masked": "zero",
        "shown": None,
    }
    return about | others
