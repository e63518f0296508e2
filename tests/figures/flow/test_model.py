import json

import numpy as np
import pytest

from support.flows import by_hand, large, made
from whence.core.errors import BadConfig, BadData
from whence.figures.flow.model import Flow, flow_from


def test_amounts_by_hand():
    amounts = by_hand().amounts
    assert amounts[1, 0] == pytest.approx(np.array([[0.2, 0.2], [0.12, 0.48]]))  # .4 · (.5 .5), .6 · (.2 .8)
    assert amounts[0, 0] == pytest.approx(np.array([[0.288, 0.032], [0.272, 0.408]]))  # .32 · (.9 .1), .68 · (.4 .6)


def test_what_goes_along_the_lines_is_what_arrives():
    flow = made(list("abcd"), 3, 2)
    assert flow.amounts.sum(2) == pytest.approx(flow.nodes[:-1])


def test_through_json_and_back():
    flow = made(["a", "</script>", "电影", "\ud800"], 3, 2)
    again = flow_from(json.loads(json.dumps(flow.as_dict())))
    assert again.tokens == flow.tokens
    assert (again.method, again.prediction) == (flow.method, flow.prediction)
    assert np.abs(again.weights - flow.weights).max() <= 0.5e-4 + 1e-12
    for name in ("nodes", "readout", "scores"):
        assert getattr(again, name) == pytest.approx(getattr(flow, name), abs=1e-6)
    assert again.as_dict() == flow.as_dict()


def test_a_large_flow_is_small_in_json():
    assert len(json.dumps(large().as_dict(), separators=(",", ":"))) < 3_000_000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokens": ("so", "very", "dull")}, "with 3 tokens .* the scores .token. must be 3; they are 2"),
        ({"nodes": np.ones((2, 1, 2))}, "the nodes .level head token. must be 3 × 1 × 2; they are 2 × 1 × 2"),
        ({"weights": np.ones((2, 1, 2, 3))}, "must be 2 × 1 × 2 × 2; they are 2 × 1 × 2 × 3"),
        ({"weights": np.full((2, 1, 2, 2), 2.0)}, "are shares, at most 1; the largest is 2"),
        ({"scores": np.array([np.nan, 1.0])}, "some are negative or no numbers"),
        ({"readout": np.array([-0.5, 1.5])}, "some are negative"),
        ({"weights": np.zeros((0, 1, 2, 2)), "nodes": np.zeros((1, 1, 2))}, "a token, a layer and a head at least"),
    ],
)
def test_what_does_not_fit_gets_a_sentence(changes, words):
    with pytest.raises(BadData, match=words):
        by_hand(**changes)


def test_a_text_too_long_gets_a_sentence():
    shape = {"nodes": np.zeros((13, 12, 200)), "weights": np.zeros((12, 12, 200, 200))}
    with pytest.raises(BadData, match="200 tokens through 12 layers of 12 heads; up to 144 tokens can be drawn"):
        Flow(("a",) * 200, np.zeros(200), readout=np.zeros(200), **shape)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "lacks nodes, readout, scores, tokens, unit, weights"),
        (by_hand().as_dict() | {"tokens": ["so"]}, "1 tokens need 1 weights in each layer and head; there are 4"),
        (
            by_hand().as_dict() | {"weights": [[1, 2]]},
            "weights of a flow have the axes .depth head pairs.; there are 2",
        ),
        (by_hand().as_dict() | {"readout": ["much", "little"]}, "the readout of a flow must be numbers"),
        (by_hand().as_dict() | {"nodes": [[[1.0], [1.0, 2.0]]]}, "as many in each row"),
    ],
)
def test_json_of_something_else_gets_a_sentence(values, words):
    with pytest.raises(BadData, match=words):
        flow_from(values)


def test_the_ending_decides(tmp_path):
    for ending, begins in ((".svg", b"<svg"), (".html", b"<!DOCTYPE html>"), (".pdf", b"%PDF")):
        by_hand().save(tmp_path / f"flow{ending}")
        assert (tmp_path / f"flow{ending}").read_bytes().startswith(begins)
    with pytest.raises(BadConfig, match=r"ending in \.html, \.svg, \.pdf; 'flow\.png' does not"):
        by_hand().save(tmp_path / "flow.png")


def test_it_shows_itself_in_short():
    assert repr(by_hand()) == "Flow(2 tokens, 2 layers of 1 heads; most on: so 0.56, dull 0.44)"
