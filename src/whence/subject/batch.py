"""A batch: texts as numbers, and for every token what it is in the text."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """What a subject made of some examples.

    `inputs` are the model's keyword arguments. `special` tokens belong to no text ([CLS], [SEP], padding). `word` is
    the number of the word that a token is part of, within its `segment` (0 the first text, 1 the second), -1 for
    specials. `answers` says at which of the model's answer positions something is predicted, and `gold` what is right
    there (-1 where that is not known). `truncated` says which texts were too long for the model and were cut.

    A narrative's inputs are [batch window token]. Here its tokens stand in reading order, window after window, each
    padded to the same length; `window` says which window a token, or padding, stands in. It is answered once a window,
    and `gold` are values (NaN where they are not known).
    """

    inputs: Mapping[str, Tensor]
    examples: Int[Tensor, " batch"]  # their numbers in the corpus
    tokens: tuple[tuple[str, ...], ...]
    special: Bool[Tensor, "batch token"]
    word: Int[Tensor, "batch token"]
    segment: Int[Tensor, "batch token"]
    answers: Bool[Tensor, "batch position"]
    gold: Shaped[Tensor, "batch position"]
    truncated: Bool[Tensor, " batch"]
    window: Int[Tensor, "batch token"] | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def mask(self) -> Bool[Tensor, "batch token"]:
        """True for tokens, False for padding."""
        given = self.inputs.get("attention_mask")
        return torch.ones_like(self.special) if given is None else given.bool().reshape(self.special.shape)

    def by_window(self) -> "Batch":
        """The batch as attention sees it: a row for each window of each narrative, with the inputs as they were.

        Texts that do not come in windows are rows already. What is found for the tokens of these rows has, once it is
        given the shape of `special`, the order of this batch's tokens.
        """
        if self.window is None:
            return self
        n_window = self.answers.shape[1]
        length = self.special.shape[1] // n_window
        tokens = tuple(row[i : i + length] for row in self.tokens for i in range(0, len(row), length))
        flat = {name: getattr(self, name).repeat_interleave(n_window) for name in ("examples", "truncated")}
        laid = {name: getattr(self, name).reshape(-1, length) for name in ("special", "word", "segment", "window")}
        answered = {name: getattr(self, name).reshape(-1, 1) for name in ("answers", "gold")}
        return replace(self, tokens=tokens, **flat, **laid, **answered)

    def with_inputs(self, **changed: Any) -> "Batch":
        """The same batch with some of the model's arguments changed."""
        return replace(self, inputs={**self.inputs, **changed})

    def only(self, rows: Int[Tensor, " row"]) -> "Batch":
        """Some of the texts, padded as they are."""
        of_texts = ("examples", "special", "word", "segment", "answers", "gold", "truncated")
        window = None if self.window is None else self.window[rows]
        return Batch(
            inputs={name: tensor[rows.to(tensor.device)] for name, tensor in self.inputs.items()},
            window=window,
            tokens=tuple(self.tokens[row] for row in rows.tolist()),
            **{name: getattr(self, name)[rows] for name in of_texts},
        )

    def repeated(self, times: int) -> "Batch":
        """The batch `times` times over, one copy after another."""
        tensors = {name: tensor.repeat(times, *[1] * (tensor.dim() - 1)) for name, tensor in self.inputs.items()}
        others = {name: getattr(self, name) for name in ("special", "word", "segment", "answers", "gold")}
        flat = {"examples": self.examples.repeat(times), "truncated": self.truncated.repeat(times)}
        window = None if self.window is None else self.window.repeat(times, 1)
        return Batch(
            inputs=tensors,
            tokens=self.tokens * times,
            **flat,
            window=window,
            **{name: tensor.repeat(times, 1) for name, tensor in others.items()},
        )
