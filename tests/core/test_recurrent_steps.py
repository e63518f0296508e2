"""Calls of one site at many steps, joined as if they had been one."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from support.models.attentive import Attentive, example
from whence import attending
from whence.core.tape import Tape


def stepped(keep=()):
    """The three queries of the example asked one after another, and the same asked at once."""
    model, given = Attentive(), example()
    with attending(model, keep=keep) as steps:
        for query in range(3):
            model(given["scores"][:, :, query : query + 1], given["values"], given["mask"])
    with attending(model, keep=keep) as at_once:
        model(**given)
    return steps, at_once


def test_steps_joined_are_the_queries_asked_at_once():
    steps, at_once = stepped(keep=["scores", "values"])
    for site in ("first", "second"):
        joined, whole = steps.joined(site), at_once.only(site)
        assert_close(joined.weights, whole.weights)
        assert_close(joined.scores, whole.scores)
        assert torch.equal(joined.mask.expand_as(joined.weights), whole.mask.expand_as(whole.weights))
        assert joined.site == whole.site
        assert joined.step == 0
    assert steps.joined("f*").weights.shape == (2, 2, 3, 4)
    lean, _ = stepped()
    assert lean.joined("first").scores is None


def test_one_call_joined_is_that_call():
    _, at_once = stepped()
    assert at_once.joined("first") is at_once.only("first")


def test_what_cannot_be_joined_is_refused():
    steps, _ = stepped()
    with pytest.raises(ValueError, match=r"expected one site; '\*' matches first, second"):
        steps.joined()
    calls = steps["first"]
    shorter = replace(calls[1], weights=calls[1].weights[..., :3], mask=calls[1].mask[..., :3])
    with pytest.raises(ValueError, match="the 2 calls of 'first' differ in batch, heads or keys and cannot be joined"):
        Tape({"first": [calls[0], shorter]}).joined("first")
