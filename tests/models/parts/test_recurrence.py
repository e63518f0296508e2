"""Recurrent networks without packing: states, last states, gradients and losses are those of packed texts."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from support.models import packed
from whence.data.synthetic import reviews, stories
from whence.models.parts import encoders, recurrence
from whence.models.parts.recurrence import Extent, read
from whence.training.config import Training
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe

LENGTHS = (5, 1, 7, 3)
NETWORKS = {
    "lstm": lambda: nn.LSTM(6, 4, bidirectional=True, batch_first=True),
    "deep lstm": lambda: nn.LSTM(6, 4, 2, bidirectional=True, batch_first=True),
    "lstm of one direction": lambda: nn.LSTM(6, 4, batch_first=True),
    "gru": lambda: nn.GRU(6, 4, bidirectional=True, batch_first=True),
    "elman": lambda: nn.RNN(6, 4, batch_first=True),
}


def padded(lengths=LENGTHS, width=6):
    torch.manual_seed(1)
    x = torch.randn(len(lengths), max(lengths), width)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return x, Extent.of(mask)


@pytest.fixture(params=NETWORKS)
def network(request):
    torch.manual_seed(0)
    return NETWORKS[request.param]()


def test_the_numbers_and_gradients_are_those_of_packed_texts(network):
    x, extent = padded()
    parts = [*network.parameters()]
    found = []
    for reader in (read, packed.read):
        given = x.clone().requires_grad_()
        cells = network.mode == "LSTM"
        hidden, last = reader(network, given, extent, cells=cells)
        loss = sum(
            ((tensor * torch.arange(1.0, tensor.numel() + 1).view_as(tensor)).sum() for tensor in last),
            hidden.square().sum(),
        )
        found.append((hidden, *last, *torch.autograd.grad(loss, [given, *parts])))
    assert_close(found[0], found[1], atol=1e-4, rtol=1e-5)
    assert (found[0][0] - found[1][0]).abs().max() < 1e-6


def test_what_stands_at_padding_changes_nothing(network):
    x, extent = padded()
    other = x.masked_fill(~extent.real[..., None], 100.0)
    assert_close(read(network, x, extent), read(network, other, extent), atol=0, rtol=0)
    hidden, _ = read(network, x.masked_fill(~extent.real[..., None], torch.nan), extent)
    assert not hidden[~extent.real].any()
    assert not hidden.isnan().any()


def test_the_backward_direction_reads_each_text_from_its_own_end():
    """By hand: the second half of the state at the first token is a network run over the reversed words."""
    torch.manual_seed(0)
    both, back = nn.LSTM(6, 4, bidirectional=True, batch_first=True), nn.LSTM(6, 4, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(back, f"{name}_l0").data = getattr(both, f"{name}_l0_reverse").data
    x, extent = padded()
    hidden, (last,) = read(both, x, extent)
    for row, length in enumerate(LENGTHS):
        alone, _ = back(x[row : row + 1, :length].flip(1))
        assert_close(hidden[row, :length, 4:], alone[0].flip(0))
        assert_close(last[1, row], alone[0, -1])


def test_a_state_to_begin_with_is_that_of_packed_texts():
    torch.manual_seed(0)
    first, second = (nn.LSTM(6, 4, bidirectional=True, batch_first=True) for _ in range(2))
    x, extent = padded()
    ways = []
    for reader in (read, packed.read):
        _, state = reader(first, x, extent, cells=True)
        ways.append(reader(second, x.flip(2), extent, start=state))
    assert_close(ways[0], ways[1])


def test_padding_that_all_texts_have_is_not_read(network):
    x, extent = padded()
    longer = torch.nn.functional.pad(x, (0, 0, 0, 4), value=torch.nan)
    hidden, last = read(network, longer, Extent(extent.lengths, longer.shape[1]))
    assert hidden.shape[1] == longer.shape[1]
    assert not hidden[:, extent.n_token :].any()
    assert_close((hidden[:, : extent.n_token], last), read(network, x, extent), atol=0, rtol=0)


def test_reversing_twice_is_the_identity_also_of_the_gradient():
    x, extent = padded()
    x.requires_grad_()
    once = extent.reversed(x)
    assert_close(extent.reversed(once), x, atol=0, rtol=0)
    assert_close(once[3, :4], x[3, [2, 1, 0, 3]], atol=0, rtol=0)
    weights = torch.randn_like(x)
    (found,) = torch.autograd.grad((once * weights).sum(), x)
    assert_close(found, extent.reversed(weights), atol=0, rtol=0)
    torch.autograd.gradgradcheck(extent.reversed, x.double().detach().requires_grad_())


def test_a_text_without_tokens_counts_as_one_token_long():
    extent = Extent.of(torch.zeros(2, 3, dtype=torch.bool))
    assert extent.lengths.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("corpus", "options"),
    [
        (reviews, {"model": "additive"}),
        (reviews, {"model": "hierarchical"}),
        (reviews, {"model": "reader", "encoder": "gru"}),
        (stories, {"model": "additive"}),
        (stories, {"model": "conditional"}),
    ],
    ids=["additive", "hierarchical", "reader", "pairs", "conditional"],
)
def test_a_training_has_the_losses_of_packed_texts(monkeypatch, corpus, options):
    data = corpus.load(sizes={"train": 60, "dev": 20, "test": 10})
    recipe = Recipe(epochs=2, batch_size=10, learning_rate=1e-3)
    losses = []
    for slow in (False, True):
        if slow:
            for place in (encoders, recurrence):
                monkeypatch.setattr(place, "read", packed.read)
            monkeypatch.setattr(encoders, "read_by_steps", packed.read_by_steps)
            monkeypatch.setattr("whence.models.reader.read", packed.read)
        subject = untrained(Training(**options, embedding_size=8, hidden_size=8), data)
        losses.append(fit(subject, data["train"], data["dev"], recipe, quiet=True).losses)
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    assert losses[0][1] != losses[0][0]
