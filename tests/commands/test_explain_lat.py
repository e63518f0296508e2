"""Tracing attention from the command line: `whence explain --method lat`, and `whence run relabelling`."""

import json

import pytest

from support import saved_models
from support.command import whence

TEXT = "i found the plot dull"


def test_explain_by_tracing(capsys):
    said = whence(
        capsys,
        "explain",
        saved_models.bert(20),
        TEXT,
        "--method",
        "lat",
        "lat-mixed",
        "rollout",
        "gradient_squared",
        "--json",
    )
    found = json.loads(said.out)
    assert said.code == 0
    assert found["how"] == {
        "lat": "from: first, down 2 layers of 2 heads, normalize: softmax_sum",
        "lat_mixed": "from: first, down 2 layers of 2 heads, mixed, normalize: softmax_sum",
        "rollout": "from: first, down 2 layers of 2 heads, heads: mean, residual: yes",
        "gradient_squared": "of the margin, normalize: softmax_sum",
    }
    assert all(len(scores) == len(found["tokens"]) for scores in found["scores"].values())


def test_an_option_reaches_every_method_that_has_it(capsys):
    said = whence(
        capsys,
        "explain",
        saved_models.bert(20),
        TEXT,
        "--method",
        "lat",
        "rollout",
        "gradient_squared",
        "raw_attention",
        "--row",
        2,
        "--normalize",
        "none",
        "--of",
        "code",
        "--json",
    )
    assert json.loads(said.out)["how"] == {
        "lat": "from: token 2, down 2 layers of 2 heads, normalize: none",
        "rollout": "from: token 2, down 2 layers of 2 heads, heads: mean, residual: yes",
        "gradient_squared": "of the sum of all classes' sigmoids, normalize: none",
        "raw_attention": "layer: last, heads: mean, from: 2",
    }


@pytest.mark.parametrize(
    ("model", "asked", "complaint"),
    [
        (lambda: saved_models.bert(20), ("--method", "lat", "--row", 60), "no token 60 in a text of"),
        (
            lambda: saved_models.bert(20),
            ("--method", "random", "--of", "code"),
            "of is an option of gradient_squared: not among the methods: random",
        ),
        (
            saved_models.translator,
            ("--method", "lat", "--target", "the cast"),
            "lat follows one stack of self-attention down to the tokens, and cannot here",
        ),
        (saved_models.additive, ("--method", "lat", "--row", "mean"), "it starts from the local attention attention"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(capsys, model, asked, complaint):
    said = whence(capsys, "explain", model(), TEXT, *asked)
    assert said.code == 2
    assert complaint in said.err
    assert said.err.count("\n") == 1


def test_run_relabelling(capsys, tmp_path):
    said = whence(
        capsys,
        "run",
        "relabelling",
        "--model",
        saved_models.bert(20),
        "--data",
        saved_models.labelled(),
        "--limit",
        20,
        "--draws",
        1,
        "--methods",
        "lat",
        "rollout",
        "--out",
        tmp_path,
        "--quiet",
    )
    assert said.code == 0
    assert "2. Can the question be asked?" in said.out
    assert "Kendall's τ between the scores before and after" in said.out
