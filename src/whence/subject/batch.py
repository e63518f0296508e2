"""A batch: encoded texts, and for every token its word, segment and window."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Encoded examples.

    `inputs` are the model's keyword arguments. `special` tokens belong to no text ([CLS], [SEP], padding). `word` is
    the number of the word that a token is part of, within its `segment` (0 the first text, 1 the second), -1 for
    special tokens. `predicted_positions` is True at the output positions where the model predicts something, and
    `labels` are the classes there (-1 where unknown). `truncated` is True for texts that were too long for the model.

    A narrative's inputs are [batch window token]. Here its tokens stand in reading order, window after window, each
    padded to the same length; `window` is the number of the window of a token or padding. The model predicts once per
    window, and `labels` are values (NaN where unknown).
    """

    inputs: Mapping[str, Tensor]
    examples: Int[Tensor, " batch"]  # indices in the corpus
    tokens: tuple[tuple[str, ...], ...]
    special: Bool[Tensor, "batch token"]
    word: Int[Tensor, "batch token"]
    segment: Int[Tensor, "batch token"]
    predicted_positions: Bool[Tensor, "batch position"]
    labels: Shaped[Tensor, "batch position"]
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

        Texts without windows are rows already. A value for each token of these rows, reshaped as `special`, is in the
        order of this batch's tokens.
        """
        if self.window is None:
            return self
        n_window = self.predicted_positions.shape[1]
        length = self.special.shape[1] // n_window
        tokens = tuple(row[i : i + length] for row in self.tokens for i in range(0, len(row), length))
        flat = {name: getattr(self, name).repeat_interleave(n_window) for name in ("examples", "truncated")}
        laid = {name: getattr(self, name).reshape(-1, length) for name in ("special", "word", "segment", "window")}
        outputs = {name: getattr(self, name).reshape(-1, 1) for name in ("predicted_positions", "labels")}
        return replace(self, tokens=tokens, **flat, **laid, **outputs)

    def with_inputs(self, **changed: Any) -> "Batch":
        """The same batch with some model inputs changed."""
        return replace(self, inputs={**self.inputs, **changed})

    def only(self, rows: Int[Tensor, " row"]) -> "Batch":
        """Some of the texts, with the same padding."""
        of_texts = ("examples", "special", "word", "segment", "predicted_positions", "labels", "truncated")
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
        others = {name: getattr(self, name) for name in ("special", "word", "segment", "predicted_positions", "labels")}
        flat = {"examples": self.examples.repeat(times), "truncated": self.truncated.repeat(times)}
        window = None if self.window is None else self.window.repeat(times, 1)
        return Batch(
            inputs=tensors,
            tokens=self.tokens * times,
            **flat,
            window=window,
            **{name: tensor.repeat(times, 1) for name, tensor in others.items()},
        )
