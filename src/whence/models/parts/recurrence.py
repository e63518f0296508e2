"""Recurrent networks over padded texts without packing: the same numbers and the same weights, several times faster.

Packed texts are read step by step in small matrix products. Padded ones are read in one call per direction, on CPUs by
oneDNN. Nothing depends on padding: it stands at the end of each text, where the forward direction reads it last, and
the backward direction reads each text reversed within its own length, so that there too padding comes last.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Padded = Float[Tensor, "batch token _"]
Last = Float[Tensor, "layers batch hidden"]
CLOSED = 1e4  # added to a gate's sum, it shuts the gate or opens it: the sigmoid is 0 or 1 to the last bit


@dataclass(frozen=True, eq=False)
class Extent:
    """How long the texts of a batch are; a text without tokens counts as one token long."""

    lengths: Int[Tensor, " batch"]
    n_token: int

    @classmethod
    def of(cls, mask: Bool[Tensor, "batch token"]) -> "Extent":
        """From a mask that is True for tokens, False for padding at the end."""
        return cls(mask.sum(1).clamp_min(1), mask.shape[1])

    @property
    def real(self) -> Bool[Tensor, "batch token"]:
        """True for tokens."""
        return torch.arange(self.n_token, device=self.lengths.device) < self.lengths[:, None]

    @cached_property
    def turned(self) -> Int[Tensor, " row"]:
        """For each place, counted along the padded texts, the place that has it when each text is reversed."""
        place = torch.arange(self.n_token, device=self.lengths.device)
        order = torch.where(place < self.lengths[:, None], self.lengths[:, None] - 1 - place, place)  # [batch token]
        return (order + self.n_token * torch.arange(len(order), device=order.device)[:, None]).flatten()

    def reversed(self, x: Padded) -> Padded:
        """Each text from its last token to its first, padding where it was. Twice, this is the identity."""
        found: Padded = _Reversed.apply(x, self.turned)
        return found

    def last(self, x: Padded) -> Float[Tensor, "batch _"]:
        """What stands at the last token of each text."""
        return x[torch.arange(len(x), device=x.device), self.lengths - 1]

    @property
    def cut(self) -> "Extent":
        """The same texts without the padding that all of them have."""
        return Extent(self.lengths, int(self.lengths.max()))


class _Reversed(torch.autograd.Function):
    """Rows in another order that is its own inverse, and so the order of the gradient too."""

    @staticmethod
    def forward(ctx: Any, x: Padded, order: Int[Tensor, " row"]) -> Padded:
        ctx.save_for_backward(order)
        return x.flatten(0, 1).index_select(0, order).view_as(x)

    @staticmethod
    def backward(ctx: Any, given: Padded) -> tuple[Padded, None]:
        found: Padded = _Reversed.apply(given, *ctx.saved_tensors)
        return found, None


def read(
    rnn: nn.RNNBase, x: Padded, extent: Extent, start: tuple[Last, ...] | None = None, *, cells: bool = False
) -> tuple[Padded, tuple[Last, ...]]:
    """The hidden states of a network's top layer, zero at padding, and the last state of every layer and direction.

    The last state of an LSTM is (hidden, cell) if `cells` are asked for, else hidden alone. `start` is the state to
    begin with, of all layers and directions.
    """
    directions = ("", "_reverse") if rnn.bidirectional else ("",)
    found: list[tuple[Tensor, ...]] = []
    whole, extent = extent, extent.cut
    x = x[:, : extent.n_token]
    for layer in range(rnn.num_layers):
        if layer and rnn.dropout:
            x = F.dropout(x, rnn.dropout, rnn.training)
        states = []
        for suffix in directions:
            begin = None if start is None else tuple(part[len(found)] for part in start)
            hidden, last = _direction(rnn, f"_l{layer}{suffix}", x, extent, begin, cells)
            states.append(hidden)
            found.append(last)
        x = torch.cat(states, -1)
    hidden = F.pad(x.masked_fill(~extent.real[..., None], 0.0), (0, 0, 0, whole.n_token - extent.n_token))
    return hidden, tuple(torch.stack(part) for part in zip(*found, strict=True))


def _direction(
    rnn: nn.RNNBase, name: str, x: Padded, extent: Extent, start: tuple[Tensor, ...] | None, cells: bool
) -> tuple[Padded, tuple[Tensor, ...]]:
    """One direction of one layer: its states in the order of the tokens, and its last state."""
    backward = name.endswith("_reverse")
    given = extent.reversed(x) if backward else x
    weights = [getattr(rnn, f"{part}{name}") for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    begin = start or (x.new_zeros(len(x), rnn.hidden_size),) * (2 if rnn.mode == "LSTM" else 1)
    if cells:
        given, weights[0] = _held_at_the_end(given, weights[0], extent)
    states, cell = _steps(rnn.mode, given, begin, weights)
    last = extent.last(states)
    return extent.reversed(states) if backward else states, (last, cell) if cells and cell is not None else (last,)


def _steps(
    mode: str, x: Padded, start: tuple[Tensor, ...], weights: list[Tensor]
) -> tuple[Padded, Float[Tensor, "batch hidden"] | None]:
    """The state after each token, and of an LSTM the cell after the last place."""
    form = (True, 1, 0.0, torch.is_grad_enabled(), False, True)  # biases, layers, dropout, train, two ways, batch first
    first = tuple(part[None].contiguous() for part in start)
    if mode == "LSTM":
        states, _, cell = torch.lstm(x, first, weights, *form)
        return states, cell[0]
    if mode == "GRU":
        return torch.gru(x, first[0], weights, *form)[0], None
    return torch.rnn_tanh(x, first[0], weights, *form)[0], None


def _held_at_the_end(x: Padded, weight: Tensor, extent: Extent) -> tuple[Padded, Tensor]:
    """An input that is 1 at padding, where it shuts the input gate and opens the forget gate: the cell stays as it was
    after the last token of each text.
    """
    size = weight.shape[0] // 4  # gates: input, forget, cell, output
    column = weight.new_zeros(len(weight), 1)
    column[:size], column[size : 2 * size] = -CLOSED, CLOSED
    padding = (~extent.real).to(x)[..., None]  # [batch token 1]
    return torch.cat([x, padding], -1), torch.cat([weight, column], 1)
