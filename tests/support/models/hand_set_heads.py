"""A model of one attention layer whose heads are set by hand: a score and a value for each word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import transformers as hf
from transformers.modeling_outputs import SequenceClassifierOutput

from support.tokenizing import wordpiece
from whence.core.site import AttentionSite
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.subject.subject import Subject

LABELS = ("negative", "positive")
FILLERS = ("the", "a", "movie", "film", "story", "was")
WORD = {"good": "positive", "bad": "negative"}


@dataclass(frozen=True)
class Head:
    """Scores decide where it attends, values what each word adds to the margin of the second class."""

    scores: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)


DECISIVE = Head({"good": 8.0, "bad": 8.0}, {"good": 2.0, "bad": -2.0})


class HandSet(hf.PreTrainedModel):
    """The margin of the second class is Σ over heads and words of α · value in the first row, plus `bypass`,
    which reads words without attention; it is cut off at ± `bent`, multiplied by `scale`, and shared by both logits.
    """

    config_class = hf.PreTrainedConfig

    def __init__(self, config, heads: Sequence[Head], bypass: Mapping[str, float], bent: float, scale: float) -> None:
        super().__init__(config)
        words, empty = wordpiece().get_vocab(), torch.zeros(len(heads), len(wordpiece()))
        self.attention, self.bent, self.scale = AttentionSite("self"), bent, scale
        self.scores, self.values = (torch.nn.Parameter(empty.clone()) for _ in range(2))  # [head word]
        self.words = torch.nn.Embedding(len(wordpiece()), 1)  # the numbers of the words, from which the tables are read
        self.bypass = torch.nn.Parameter(empty[0].clone())
        with torch.no_grad():
            for number, head in enumerate(heads):
                for table, given in ((self.scores, head.scores), (self.values, head.values)):
                    for word, value in given.items():
                        table[number, words[word]] = value
            for word, value in bypass.items():
                self.bypass[words[word]] = value
        self.post_init()

    def get_input_embeddings(self):
        return self.words

    def forward(self, input_ids, attention_mask, **_):
        mask = attention_mask[:, None, None].bool()
        scores = self.scores[:, input_ids].transpose(0, 1)[:, :, None]  # [batch head 1 key]
        scores = scores.expand(-1, -1, input_ids.shape[1], -1)
        weights = self.attention(scores, mask)
        mixed = (weights[:, :, 0] * self.values[:, input_ids].transpose(0, 1)).sum((1, 2))
        margin = mixed + (self.bypass[input_ids] * attention_mask).sum(-1)
        margin = self.scale * margin.clamp(-self.bent, self.bent)
        return SequenceClassifierOutput(logits=torch.stack([-margin / 2, margin / 2], -1))


def hand_set(
    *heads: Head,
    bypass: Mapping[str, float] | None = None,
    bent: float = float("inf"),
    scale: float = 1.0,
    labels: Sequence[str] = LABELS,
) -> Subject:
    """A subject with these heads."""
    made: Any = hf.PreTrainedConfig
    config = made(
        pad_token_id=0,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    with torch.random.fork_rng():
        model = HandSet(config, heads, bypass or {}, bent, scale).eval()
    return Subject(model, wordpiece(), task="sequence-classification", name="set by hand")


def reviews(n: int = 30, copies: int = 1, seed: int = 0) -> list[Example]:
    """Texts of five to eight fillers and one deciding word, or so many copies of it."""
    rng, examples = np.random.default_rng(seed), []
    for number in range(n):
        word = ("good", "bad")[number % 2]
        words = [*rng.choice(FILLERS, 5 + number % 4), *[word] * copies]
        examples.append(Example(" ".join(rng.permutation(words)), WORD[word]))
    return examples


def context_of(subject: Subject, examples: Sequence[Example], numbers: Sequence[int] | None = None) -> Context:
    return Context(subject, examples, range(len(examples)) if numbers is None else numbers, quiet=True, batch_size=128)
