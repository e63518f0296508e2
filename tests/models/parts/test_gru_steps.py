"""A GRU read step by step without padding: states, last states and gradients are those of packed texts."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from support.models import packed
from whence.models.parts.gru_steps import Schedule, read_by_steps


@pytest.fixture
def gru():
    torch.manual_seed(0)
    return nn.GRU(6, 4, bidirectional=True, batch_first=True)


@pytest.mark.parametrize(
    "lengths", [[5, 1, 7, 3], [4], [3, 3, 3], [1, 2, 3] * 5 + [30]], ids=["mixed", "one", "equal", "long tail"]
)
def test_the_numbers_and_gradients_are_those_of_packed_texts(gru, lengths):
    lengths = torch.tensor(lengths)
    x, found = torch.randn(len(lengths), int(lengths.max()) + 2, 6), []
    for reader in (read_by_steps, packed.read_by_steps):
        given = x.clone().requires_grad_()
        hidden, last = reader(gru, given, lengths)
        loss = (hidden * torch.arange(8.0)).square().sum() + (last * torch.arange(1.0, 5.0)).sum()
        found.append((hidden, last, *torch.autograd.grad(loss, [given, *gru.parameters()])))
    assert_close(found[0], found[1], atol=1e-4, rtol=1e-5)


def test_the_gradient_is_that_of_finite_differences(gru):
    gru.double()
    x = torch.randn(3, 4, 6, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda given: read_by_steps(gru, given, torch.tensor([4, 1, 3])), x)


def test_padding_is_never_read(gru):
    lengths = torch.tensor([2, 4])
    x = torch.randn(2, 5, 6)
    other = x.clone()
    other[0, 2:], other[1, 4:] = torch.nan, torch.nan
    assert_close(read_by_steps(gru, x, lengths), read_by_steps(gru, other, lengths), atol=0, rtol=0)


def test_the_schedule_by_hand():
    """Texts of 1, 3 and 2 tokens, padded to 4: the longest first, and back from each text's own end."""
    schedule = Schedule.of(torch.tensor([1, 3, 2]), 4)
    assert schedule.counts == [3, 2, 1]
    assert schedule.starts == [0, 3, 5]
    assert schedule.forth.tolist() == [4, 8, 0, 5, 9, 6]
    assert schedule.back.tolist() == [6, 9, 0, 5, 8, 4]
