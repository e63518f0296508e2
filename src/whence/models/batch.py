"""A batch: texts as numbers, and for every token what it is in the text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """What a subject made of some examples.

    `inputs` are the model's keyword arguments. `special` tokens belong to no text ([CLS], [SEP], padding). `word` is
    the number of the word that a token is part of, within its `segment` (0 the first text, 1 the second), -1 for
    specials. `answers` says at which of the model's answer positions something is predicted, and `gold` what is right
    there (-1 where that is not known). `truncated` says which texts were too long for the model and were cut.
    """

    inputs: Mapping[str, Tensor]
    examples: Int[Tensor, " batch"]  # their numbers in the corpus
    tokens: tuple[tuple[str, ...], ...]
    special: Bool[Tensor, "batch token"]
    word: Int[Tensor, "batch token"]
    segment: Int[Tensor, "batch token"]
    answers: Bool[Tensor, "batch position"]
    gold: Int[Tensor, "batch position"]
    truncated: Bool[Tensor, " batch"]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def mask(self) -> Bool[Tensor, "batch token"]:
        """True for tokens, False for padding."""
        given = self.inputs.get("attention_mask")
        return torch.ones_like(self.special) if given is None else given.bool()

    def with_inputs(self, **changed: Any) -> "Batch":
        """The same batch with some of the model's arguments changed."""
        return replace(self, inputs={**self.inputs, **changed})

    def repeated(self, times: int) -> "Batch":
        """The batch `times` times over, one copy after another."""
        tensors = {name: tensor.repeat(times, *[1] * (tensor.dim() - 1)) for name, tensor in self.inputs.items()}
        others = {name: getattr(self, name) for name in ("special", "word", "segment", "answers", "gold")}
        flat = {"examples": self.examples.repeat(times), "truncated": self.truncated.repeat(times)}
        return Batch(
            inputs=tensors, tokens=self.tokens * times, **flat,
            **{name: tensor.repeat(times, 1) for name, tensor in others.items()},
        )  # fmt: skip
