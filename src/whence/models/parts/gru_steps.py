"""A bidirectional GRU over texts of very different lengths: step by step, both directions at once, no padding.

torch runs a GRU on CPUs as a chain of small operations for each direction, and multiplies matrices in every step of the
gradient. Here the texts are sorted, longest first, so that a step is the first rows of the step before; the directions
are one batch; and what does not depend on the step before, above all the gradient of the weights, is computed for all
steps together.

    r, z = σ(x + W h + b)  ·  n = tanh(x + r ∘ (W h + b))  ·  h' = n + z ∘ (h − n)

where x are parts of the input's projection, and W, b those of `weight_hh` and `bias_hh`: torch's GRU.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

Rows = Float[Tensor, "direction row _"]  # the rows of all steps, one step after another


@dataclass(frozen=True, eq=False)
class Schedule:
    """Which token is read when. A row is a text in a step; step s has the first `counts[s]` of the sorted texts.

    `forth` and `back` are, for each row, the token that either direction reads, counted along the padded texts.
    """

    counts: list[int]
    forth: Int[Tensor, " row"]
    back: Int[Tensor, " row"]

    @classmethod
    def of(cls, lengths: Int[Tensor, " batch"], n_token: int) -> "Schedule":
        """From the lengths of padded texts."""
        longest_first = lengths.argsort(descending=True, stable=True)
        steps = torch.arange(int(lengths.max()), device=lengths.device)[:, None]  # [step 1]
        ordered = lengths[longest_first]
        present = steps < ordered  # [step batch]
        begin = longest_first * n_token
        forth, back = begin + steps, begin + ordered - 1 - steps
        return cls(present.sum(1).tolist(), forth[present], back[present])

    @property
    def starts(self) -> list[int]:
        """The first row of each step."""
        return [0, *torch.tensor(self.counts).cumsum(0).tolist()][:-1]

    def before(self, states: Rows) -> Rows:
        """The state from which each row begins: zero in the first step."""
        first = self.counts[0]
        rows = [states[:, start : start + n] for start, n in zip(self.starts, self.counts[1:], strict=False)]
        return torch.cat([states.new_zeros(len(states), first, states.shape[-1]), *rows], 1)


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Rows, weight: Tensor, bias: Tensor, schedule: Schedule) -> Rows:
        """The state of each row; `x` [direction row gates], `weight` [direction gates hidden]."""
        size, turned = weight.shape[-1], weight.mT
        gates, candidates = torch.empty_like(x), x.new_empty(*x.shape[:2], size)
        states, state = torch.empty_like(candidates), x.new_zeros(len(x), schedule.counts[0], size)
        for start, count in zip(schedule.starts, schedule.counts, strict=True):
            rows = slice(start, start + count)
            state, given, gate = state[:, :count], x[:, rows], gates[:, rows]
            gate.copy_(torch.baddbmm(bias[:, None], state, turned))
            gate[..., : 2 * size].add_(given[..., : 2 * size]).sigmoid_()
            new = torch.addcmul(given[..., 2 * size :], gate[..., :size], gate[..., 2 * size :]).tanh_()
            candidates[:, rows] = new
            state = torch.lerp(new, state, gate[..., size : 2 * size])
            states[:, rows] = state
        ctx.save_for_backward(states, gates, candidates, weight)
        ctx.schedule = schedule
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: Rows) -> tuple[Tensor | None, ...]:
        states, gates, candidates, weight = ctx.saved_tensors
        reset, keep, inner = gates.chunk(3, -1)
        before, slope = ctx.schedule.before(states), (1 - keep) * (1 - candidates.square())
        of_reset, of_keep = slope * inner * reset * (1 - reset), (before - candidates) * keep * (1 - keep)
        by_gate = torch.stack([of_reset, of_keep, slope * reset], 2)  # [direction row 3 hidden]
        whole, recurrent = given.clone(), torch.empty_like(by_gate)
        later = whole[:, :0]
        for start, count in zip(reversed(ctx.schedule.starts), reversed(ctx.schedule.counts), strict=True):
            rows = slice(start, start + count)
            whole[:, start : start + later.shape[1]] += later
            recurrent[:, rows] = whole[:, rows, None] * by_gate[:, rows]
            later = torch.baddbmm(whole[:, rows] * keep[:, rows], recurrent[:, rows].flatten(2), weight)
        projected = recurrent.clone()
        projected[:, :, 2] = whole * slope
        flat = recurrent.flatten(2)  # [direction row gates]
        return projected.flatten(2), flat.mT @ before, flat.sum(1), None


def read_by_steps(
    gru: nn.GRU, x: Float[Tensor, "batch token size"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, "batch token width"], Float[Tensor, "2 batch hidden"]]:
    """The hidden states of one bidirectional layer, zero at padding, and the last state of each direction."""
    batch, n_token, size = x.shape
    schedule = Schedule.of(lengths, n_token)
    tokens = x.reshape(batch * n_token, size)
    given = [
        F.linear(tokens[order], getattr(gru, f"weight_ih_l0{name}"), getattr(gru, f"bias_ih_l0{name}"))
        for order, name in ((schedule.forth, ""), (schedule.back, "_reverse"))
    ]
    weight, bias = (
        torch.stack([getattr(gru, f"{part}_hh_l0{name}") for name in ("", "_reverse")]) for part in ("weight", "bias")
    )
    states: Tensor = _Steps.apply(torch.stack(given), weight, bias, schedule)
    hidden = x.new_zeros(batch * n_token, 2 * gru.hidden_size)
    forth = hidden.index_put((schedule.forth,), F.pad(states[0], (0, gru.hidden_size)))
    both = forth.index_put((schedule.back,), F.pad(states[1], (gru.hidden_size, 0)), accumulate=True)
    found = both.unflatten(0, (batch, n_token))
    ends = torch.arange(batch, device=x.device), lengths - 1
    return found, torch.stack([found[ends][:, : gru.hidden_size], found[:, 0, gru.hidden_size :]])
