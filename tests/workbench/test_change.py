"""Edits of attention through the interface: the same numbers as the Python API, and code that gives them again."""

import contextlib
import io

import numpy as np
import pytest
import torch

import whence
from whence.data.examples import Example
from workbench.conftest import api

TEXT = "the film was truly great and the story fine"
EDITS = {
    "uniform": {"override": "uniform"},
    "uniform, specials too": {"override": "uniform", "options": {"special": True}},
    "uniform, one head": {"override": "uniform", "layers": [1], "heads": [0]},
    "permuted": {"override": "permuted", "options": {"seed": 3}},
    "random": {"override": "random", "options": {"seed": 5}, "layers": [0]},
    "temperature": {"override": "temperature", "options": {"degrees": 3.0}},
    "without": {"override": "without", "options": {"tokens": [2, 3]}},
    "only": {"override": "only", "options": {"tokens": [0, 4]}, "heads": [1]},
    "some rows": {"override": "uniform", "options": {"queries": [0, 2]}},
}


@pytest.fixture(scope="module")
def seen(client):
    return api(client, "POST", "/look", json={"text": TEXT})


@pytest.fixture(scope="module")
def batch(bench):
    return bench.model("").subject.encode([Example(TEXT)])


def changed(client, seen, *edits, **more):
    body = {"id": seen["id"], "edits": [{"stack": "self", **edit} for edit in edits], **more}
    return api(client, "POST", "/change", json=body)


def predicted(subject, batch, rules):
    with contextlib.ExitStack() as blocks:
        for rule in rules:
            blocks.enter_context(whence.attending(subject.model, override=rule, watch=None))
        return subject.predict(batch)[0, 0]


def overrides(special):
    """What each edit means, written with the Python API."""
    return {
        "uniform": whence.uniform.sparing(special),
        "uniform, specials too": whence.uniform,
        "uniform, one head": whence.uniform.only(layers=[1], heads=[0]).sparing(special),
        "permuted": whence.permuted(3).sparing(special),
        "random": whence.random(5).only(layers=[0]).sparing(special),
        "temperature": whence.temperature(3.0).sparing(special),
        "without": whence.without([2, 3]),
        "only": whence.without([k for k in range(special.shape[1]) if k not in (0, 4)]).only(heads=[1]),
        "some rows": whence.uniform.only(queries=[0, 2]).sparing(special),
    }


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_what_the_python_api_computes(client, bench, seen, batch, name):
    subject, answer = bench.model("").subject, changed(client, seen, EDITS[name])
    rule = overrides(batch.special)[name]
    before, after = subject.predict(batch)[0, 0], predicted(subject, batch, [rule])
    assert answer["before"]["prediction"]["probabilities"] == pytest.approx(before.tolist(), abs=1e-6)
    assert answer["after"]["prediction"]["probabilities"] == pytest.approx(after.tolist(), abs=1e-6)
    p, q = before.double().numpy(), after.double().numpy()
    assert answer["tvd"] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-6)
    m = (p + q) / 2
    assert answer["jsd"] == pytest.approx((p * np.log(p / m) + q * np.log(q / m)).sum() / 2, abs=1e-6)
    assert answer["tvd"] > 1e-6


def run_python(code):
    """The variables of a script that was run."""
    made: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, made)
    return made


@pytest.mark.parametrize("names", [(name,) for name in EDITS] + [("permuted", "without", "temperature"), ()])
def test_the_code_gives_the_same_numbers(client, seen, names):
    answer = changed(client, seen, *(EDITS[name] for name in names))
    made = run_python(answer["python"])
    assert made["before"].tolist() == pytest.approx(answer["before"]["prediction"]["probabilities"], abs=1e-6)
    assert made["after"].tolist() == pytest.approx(answer["after"]["prediction"]["probabilities"], abs=1e-6)


def test_a_dragged_row_is_imposed(client, bench, seen, batch):
    keys = seen["stacks"][0]["keys"]
    row = [1.0] + [0.0] * (keys - 2) + [3.0]
    edit = {"override": "row", "layers": [1], "heads": [1], "options": {"query": 0, "weights": row}}
    answer = changed(client, seen, edit)
    subject = bench.model("").subject
    with whence.attending(subject.model) as tape:
        subject.predict(batch)
    site = seen["stacks"][0]["sites"][1]
    weights = tape[site][0].weights.detach().clone()
    weights[0, 1, 0] = torch.tensor(row) / 4
    after = predicted(subject, batch, [{site: whence.imposed(weights)}])
    assert answer["after"]["prediction"]["probabilities"] == pytest.approx(after.tolist(), abs=1e-6)
    assert run_python(answer["python"])["after"].tolist() == pytest.approx(after.tolist(), abs=1e-6)
    shown = client.get(f"/api/v1/weights/{answer['after']['id']}/self/1/1?dtype=float16").content
    assert np.frombuffer(shown, "<f2").reshape(keys, keys)[0].tolist() == pytest.approx([v / 4 for v in row], abs=1e-3)


def test_scores_before_and_after_are_those_of_the_explainers(client, bench, seen, batch):
    answer = changed(client, seen, {"override": "uniform"}, methods=["raw_attention", "gradient_x_input"])
    subject = bench.model("").subject
    own = whence.explain(subject, TEXT, methods=("raw_attention", "gradient_x_input"))
    special = batch.special[0].tolist()
    for method, scores in own.scores.items():
        shown = [s for s, hidden in zip(answer["scores_before"][method], special, strict=True) if not hidden]
        assert shown == pytest.approx(scores, abs=1e-6)
    after = [s for s, hidden in zip(answer["scores_after"]["raw_attention"], special, strict=True) if not hidden]
    assert max(after) - min(after) < 1e-6 < max(own.scores["raw_attention"]) - min(own.scores["raw_attention"])


def test_several_edits_act_one_after_another(client, bench, seen, batch):
    two = [{"override": "without", "options": {"tokens": [2]}}, {"override": "temperature", "options": {"degrees": 9}}]
    subject, answer = bench.model("").subject, changed(client, seen, *two)
    rules = [whence.without([2]), whence.temperature(9.0).sparing(batch.special)]
    expected = predicted(subject, batch, rules)
    assert answer["after"]["prediction"]["probabilities"] == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize(
    "edit",
    [
        {"override": "uniform", "layers": [7]},
        {"override": "uniform", "stack": "nowhere"},
        {"override": "without"},
        {"override": "without", "options": {"tokens": [999]}},
        {"override": "row", "layers": [0], "options": {"weights": [1.0]}},
        {"override": "row", "options": {"weights": [1.0]}},
        {"override": "rows", "layers": [0], "options": {"weights": [[["x"]]]}},
        {"override": "temperature", "options": {"degrees": 0}},
        {"override": "nothing"},
        {"override": "uniform", "heads": [99]},
    ],
)
def test_an_edit_that_makes_no_sense_gets_a_sentence(client, seen, edit):
    answer = client.post("/api/v1/change", json={"id": seen["id"], "edits": [{"stack": "self", **edit}]})
    assert answer.status_code in (400, 404, 422)
    assert len(answer.json()["error"]) > 15
