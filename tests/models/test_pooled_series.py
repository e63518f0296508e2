"""The time-series form of Wu et al. 2020's model, beside one window after another."""

import math

import pytest
import torch
from torch import tensor
from torch.testing import assert_close

from support.models.pooled_reader import TINY_POOLED, with_large_weights
from whence import attending, sites
from whence.models import PooledForTimeSeries, PooledSeriesConfig
from whence.models.pooled_series import squared_error
from whence.subject.loading import load_model, saved_task

IDS = tensor(
    [[[1, 5, 6, 2], [1, 7, 2, 0], [1, 8, 9, 2]], [[1, 9, 2, 0], [1, 5, 2, 0], [0, 0, 0, 0]]]
)  # 3 and 2 windows


def made(**options):
    config = PooledSeriesConfig(**{**TINY_POOLED, "lstm_size": 8, **options})
    return with_large_weights(lambda: PooledForTimeSeries(config))


def by_steps(model, windows):
    """The values of one narrative: each window's words by themselves, and the LSTM's gates written out."""
    lstm, size = model.lstm, model.config.lstm_size
    hidden, cell, values = torch.zeros(size), torch.zeros(size), []
    for window in windows:
        (context,) = model.context(tensor([window]))
        gates = lstm.weight_ih_l0 @ context + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ hidden + lstm.bias_hh_l0
        enter, forget, new, out = gates.split(size)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        hidden = out.sigmoid() * cell.tanh()
        values.append(model.decoder[3](model.decoder[0](hidden).clamp_min(0)))
    return torch.stack(values)


@pytest.mark.parametrize("norm", ["post", "pre", "query"])
def test_values_are_those_of_one_window_after_another(norm):
    model = made(norm=norm)
    values = model(IDS, attention_mask=(IDS != 0).long()).logits
    assert values.shape == (2, 3, 1)
    assert_close(values[0], by_steps(model, [[5, 6], [7], [8, 9]]))
    assert_close(values[1, :2], by_steps(model, [[9], [5]]))
    assert not values[1, 2].any()  # no window there
    assert_close(model(IDS).logits, values)


def test_sites_see_every_window_as_a_text():
    model = made()
    with attending(model) as tape:
        model(IDS)
    assert list(tape) == list(sites(model)) == ["layers.0.attention", "layers.1.attention", "local"]
    assert tape.only("layers.0.attention").weights.shape == (6, 3, 4, 4)
    weights = tape.only("local").weights
    assert weights.shape == (6, 1, 1, 4)
    assert_close(weights.sum(-1).flatten(), tensor([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))


def test_a_value_depends_on_no_later_window():
    model, changed = made(), IDS.clone()
    changed[0, 2, 1] = 20
    one, other = model(IDS).logits[0], model(changed).logits[0]
    assert_close(one[:2], other[:2], atol=0.0, rtol=0.0)
    assert not torch.allclose(one[2], other[2])


@pytest.mark.parametrize("norm", ["post", "pre", "query"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_padding_makes_no_nan_in_values_loss_or_gradients(norm, positions):
    model = made(norm=norm, positions=positions).train()
    labels = tensor([[0.5, math.nan, -0.5], [1.0, 0.0, math.nan]])
    output = model(IDS, labels=labels)
    output.loss.backward()
    assert torch.isfinite(output.logits).all()
    assert torch.isfinite(output.loss)
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    nothing = model(torch.zeros_like(IDS), labels=labels)
    assert not nothing.logits.any()
    assert float(nothing.loss.detach()) == 0


def test_the_loss_by_hand():
    """(0.5² + 1² + 2²) / 3: the last window is none, whatever its label, and one has no label."""
    values = tensor([[0.5, 3.0], [1.0, 9.0], [4.0, 0.0]])
    labels = tensor([[0.0, 2.0], [math.nan, 7.0], [2.0, 5.0]])
    windows = tensor([[True, True], [True, False], [True, False]])
    assert_close(squared_error(values, labels, windows), tensor((0.25 + 1 + 4) / 3))


def test_its_sizes_are_the_papers():
    model = PooledForTimeSeries(PooledSeriesConfig(vocab_size=10))
    assert (model.lstm.input_size, model.lstm.hidden_size, model.lstm.bidirectional) == (300, 300, False)
    assert [tuple(model.decoder[n].weight.shape) for n in (0, 3)] == [(64, 300), (1, 64)]


def test_saved_and_loaded_it_answers_alike(tmp_path):
    model = made()
    model.save_pretrained(tmp_path)
    again = load_model(tmp_path)
    assert isinstance(again, PooledForTimeSeries)
    assert saved_task(again.config) == "series"
    assert_close(again(IDS).logits, model(IDS).logits)
