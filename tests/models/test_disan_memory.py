"""DiSAN computed one query or a few features at a time: the same values and gradients in less memory."""

import math

import pytest
import torch
from torch import tensor
from torch.testing import assert_close

from support.models.disan import batch, made
from whence import attending
from whence.core.streaming import Summary
from whence.models.parts import disan_kernel as directional
from whence.models.parts import disan_layers


@pytest.mark.parametrize("block", [1, 40, 2**15])
def test_a_query_at_a_time_is_the_same_in_value_and_gradient(block, monkeypatch):
    monkeypatch.setattr(directional, "BLOCK", block)
    model, (inputs, _) = made(pairs=True).double(), batch()
    fast = model(**inputs).logits
    with attending(model):
        written_out = model(**inputs).logits
    assert_close(fast, written_out)
    direction = torch.randn(fast.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parameters = list(model.parameters())
    for one, other in zip(
        *(torch.autograd.grad((logits * direction).sum(), parameters) for logits in (fast, written_out)), strict=True
    ):
        assert_close(one, other)
        assert one.abs().max() > 0


@pytest.mark.parametrize("backwards", [False, True])
def test_its_gradient_is_the_finite_difference(backwards):
    text = torch.tensor([[0, 0, 0, 1, 1], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    words = torch.tensor([[True] * 5, [True] * 4 + [False], [False] * 5])
    grid = directional.Layout(words, text, 2).grid(backwards)
    assert grid.lengths == (3, 3, 2, 1)
    torch.manual_seed(0)
    parts = [torch.randn(9, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    torch.autograd.gradcheck(lambda queries, keys, values: directional.attended(queries, keys, values, grid), parts)


def test_large_scores_are_no_nan():
    """Where tanh is ±1 in any precision, and beyond what an exponential can hold: 200 counts for more."""
    words, text = torch.ones(1, 4, dtype=torch.bool), torch.zeros(1, 4, dtype=torch.long)
    grid = directional.Layout(words, text, 1).grid(False)
    queries = tensor([[0.0], [1e4], [-1e4], [150.0]], requires_grad=True)
    keys = tensor([[-150.0], [100.0], [-1e3], [0.0]], requires_grad=True)
    context = directional.attended(queries, keys, tensor([[1.0], [2.0], [4.0], [8.0]]), grid)
    low, high = math.exp(-5), math.exp(5)
    last = (1 * 1 + high * 2 + low * 4) / (1 + high + low)  # tanh 0, 1, -1
    assert_close(context, tensor([[0.0], [1.0], [1.5], [last]]))
    context.sum().backward()
    assert torch.isfinite(queries.grad).all()
    assert torch.isfinite(keys.grad).all()


def test_where_nobody_looks_no_tensor_of_all_pairs_is_kept():
    model = made(hidden_size=6)
    ids, kept = torch.randint(3, 30, (2, 50), generator=torch.Generator().manual_seed(0)), []

    def pack(saved):
        kept.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        model(ids).logits.sum().backward()
    assert max(kept) < 2 * 6 * 50 * 50 / 4


def test_how_many_features_are_shown_at_a_time_changes_nothing(monkeypatch):
    model, (inputs, _) = made(pairs=True), batch()
    seen = []
    for cells, times in [(1, 4), (2 * 3 * 10 * 10, 2), (2**22, 1)]:
        monkeypatch.setattr(disan_layers, "MAX_CELLS", cells)
        summary = Summary()
        calls: list[tuple[int, ...]] = []
        with torch.no_grad(), attending(model, watch={"encoder.sees_past": Counted(summary, calls)}):
            logits = model(**inputs).logits
        assert len(calls) == times
        seen.append((logits, summary.mean["encoder.sees_past"][0], summary.entropy["encoder.sees_past"][0]))
    for other in seen[1:]:
        assert_close(other, seen[0])


class Counted:
    """A summary that also notes which heads it was shown."""

    streams_heads = True

    def __init__(self, summary, calls):
        self.summary, self.calls = summary, calls

    def __call__(self, call):
        self.calls.append(call.heads)
        self.summary(call)
