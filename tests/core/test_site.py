import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn, tensor
from torch.testing import assert_close

from whence.core.site import AttentionSite, masked_softmax


def test_masked_softmax_by_hand():
    scores = tensor([[[[0.0, math.log(3.0), 7.0]]]])
    mask = tensor([[[[True, True, False]]]])
    assert_close(masked_softmax(scores, mask), tensor([[[[0.25, 0.75, 0.0]]]]))


def test_an_empty_row_is_zero_and_so_is_its_gradient():
    scores = torch.randn(1, 1, 2, 3, requires_grad=True)
    mask = tensor([[[[True, False, True], [False, False, False]]]])
    weights = masked_softmax(scores, mask)
    assert_close(weights[0, 0, 1], torch.zeros(3), atol=0.0, rtol=0.0)
    (gradient,) = torch.autograd.grad(weights[0, 0, :, 0].sum(), scores)
    assert torch.isfinite(gradient).all()
    assert not gradient[0, 0, 1].any()
    assert gradient[0, 0, 0].any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_forbidden_keys_get_nothing_at_the_ends_of_the_range(dtype):
    """A permitted score may be the lowest number there is: the forbidden ones still get nothing."""
    low = torch.finfo(dtype).min
    scores = tensor([[[[low, low, 0.0], [-low, low, 0.0]]]], dtype=dtype)
    mask = tensor([[[[True, True, False]]]])
    expected = tensor([[[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]]], dtype=dtype)
    assert_close(masked_softmax(scores, mask), expected)


@given(
    st.lists(st.lists(st.floats(-50, 50), min_size=4, max_size=4), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_masked_softmax_agrees_with_a_slow_loop(rows, permitted):
    scores, mask = tensor(rows, dtype=torch.float64)[None, None], tensor(permitted)[None, None, None]
    expected = torch.zeros_like(scores)
    for i, row in enumerate(rows):
        total = sum(math.exp(e) for e, ok in zip(row, permitted, strict=True) if ok)
        for j, (e, ok) in enumerate(zip(row, permitted, strict=True)):
            expected[0, 0, i, j] = math.exp(e) / total if ok else 0.0
    assert_close(masked_softmax(scores, mask), expected)


def test_without_a_mask_it_is_torch_softmax(generator):
    scores = torch.randn(2, 3, 4, 5, generator=generator)
    assert_close(masked_softmax(scores), nn.functional.softmax(scores, -1), atol=0.0, rtol=0.0)


def test_a_site_has_no_parameters_and_leaves_no_trace_in_a_checkpoint():
    model = nn.Sequential(nn.Linear(2, 2), AttentionSite())
    assert list(model.state_dict()) == ["0.weight", "0.bias"]
