"""The table of examples, what a head does in them, comparing, and pages without a server."""

import base64
import json
import zlib

import numpy as np
import pytest
import torch

import whence
from support import saved_models
from whence.core.errors import BadConfig
from whence.measures.ranking import kendall_tau
from whence.workbench.operations.axes import Token
from whence.workbench.operations.comparing import aligned
from whence.workbench.standalone import modules_below
from workbench.conftest import api
from workbench.test_jobs import events


@pytest.fixture(scope="module")
def computed(client):
    told = events(client, api(client, "POST", "/examples/compute", json={})["job"])
    assert told[-1][0] == "result"
    return api(client, "GET", "/examples?limit=500")["rows"]


def test_examples_are_there_before_anything_is_computed(client, bench):
    bench.tables.clear()
    page = api(client, "GET", "/examples?offset=3&limit=2")
    assert page["total"] == len(bench.examples)
    assert [row["text"] for row in page["rows"]] == [one.text for one in bench.examples[3:5]]
    assert page["rows"][0]["prediction"] is None


def test_rows_are_what_the_model_does(bench, computed):
    subject = bench.model("").subject
    assert len(computed) == len(bench.examples)
    for row in computed[:5]:
        own = whence.explain(subject, row["text"], methods=("raw_attention", "gradient_x_input"), words=True)
        tokens = whence.explain(subject, row["text"], methods=("raw_attention",), summary=False)
        assert row["prediction"] == own.prediction
        assert row["confidence"] == pytest.approx(own.probability, abs=1e-5)
        assert row["largest_weight"] == pytest.approx(max(tokens.scores["raw_attention"]), abs=1e-5)
        first, second = (np.abs(scores) for scores in own.scores.values())
        assert row["disagreement"] == pytest.approx(1 - kendall_tau(first, second), abs=1e-3)
        assert 0 <= row["sink_share"] <= 1


def test_rows_are_sorted_and_filtered(client, computed):
    down = api(client, "GET", "/examples?sort=confidence&order=desc&limit=500")["rows"]
    values = [row["confidence"] for row in down]
    assert values == sorted(values, reverse=True)
    word = computed[0]["text"].split()[0]
    found = api(client, "GET", f"/examples?filter={word.upper()}&limit=500")
    shown = [
        any(word in str(row[name] or "").lower() for name in ("text", "label", "prediction")) for row in found["rows"]
    ]
    assert all(shown)
    assert found["total"] == len(shown) > 0
    assert client.get("/api/v1/examples?sort=nothing").status_code == 400
    assert client.get("/api/v1/examples?filter=.*&limit=500").json()["total"] == 0  # a text, not a pattern


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ({"pattern": "previous"}, lambda q, k, tokens: k == q - 1),
        ({"pattern": "itself"}, lambda q, k, tokens: k == q),
        ({"pattern": "special"}, lambda q, k, tokens: tokens[k].startswith("[")),
        ({"pattern": "token", "query": "the"}, lambda q, k, tokens: tokens[q] == "the"),
        (
            {"pattern": "token", "key": "[SEP]", "query": "the"},
            lambda q, k, tokens: (tokens[q], tokens[k]) == ("the", "[SEP]"),
        ),
    ],
)
def test_texts_in_which_a_head_does_this(client, bench, pattern, fits):
    subject = bench.model("").subject
    answer = api(client, "POST", "/find", json={"stack": "self", "layer": 1, "head": 1, "most": 5, **pattern})
    best = []
    site = list(subject.sites)[1]
    for row, example in enumerate(bench.examples):
        batch = subject.encode([example])
        with whence.attending(subject.model, watch=site) as tape, torch.no_grad():
            subject.model(**batch.inputs)
        weights, tokens = tape.only().weights[0, 1], batch.tokens[0]
        n = range(len(tokens))
        there = [float(weights[q, k]) for q in n for k in n if fits(q, k, tokens)]
        best += [(max(there), row)] if there else []
    expected = sorted(best, reverse=True)[:5]
    assert [row["weight"] for row in answer["rows"]] == pytest.approx([weight for weight, _ in expected], abs=1e-5)
    assert answer["rows"][0]["text"] == bench.examples[answer["rows"][0]["row"]].text
    assert answer["searched"] == len(bench.examples)


def test_finding_refuses_what_is_not_there(client):
    for body in ({"stack": "self", "layer": 9, "head": 0}, {"stack": "self", "layer": 0, "head": 9}):
        answer = client.post("/api/v1/find", json=body)
        assert answer.status_code == 400
        assert "there are" in answer.json()["error"]


def test_tokens_of_two_texts_are_aligned():
    def tokens(text):
        return [Token(word) for word in text.split()]

    assert aligned(tokens("a good film"), tokens("a bad film")) == [(0, 0), (1, 1), (2, 2)]
    assert aligned(tokens("a film"), tokens("a very good film")) == [(0, 0), (1, 3)]
    assert aligned(tokens("a"), tokens("b c")) == []


def test_heads_are_compared_by_their_aligned_rows(client, bench):
    first, second = (
        api(client, "POST", "/look", json={"text": text}) for text in ("the film was great", "the film was bad")
    )
    answer = api(client, "POST", "/compare", json={"a": first["id"], "b": second["id"], "stack": "self"})
    a, b = bench.looks.get(first["id"]), bench.looks.get(second["id"])
    queries, keys = answer["aligned"]["queries"], answer["aligned"]["keys"]
    for layer in range(2):
        for head in range(2):
            one, two = (look.stacks[0].weights[layer][head].astype(float) for look in (a, b))
            rows = []
            for i, j in queries:
                shared = sum(abs(one[i, k] - two[j, m]) for k, m in keys)
                rest = abs(
                    (one[i].sum() - sum(one[i, k] for k, _ in keys)) - (two[j].sum() - sum(two[j, m] for _, m in keys))
                )
                rows.append((shared + rest) / 2)
            assert answer["differences"][layer][head] == pytest.approx(np.mean(rows), abs=1e-5)
    p, q = (np.array(one["prediction"]["probabilities"]) for one in (first, second))
    assert answer["tvd"] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-6)
    same = api(client, "POST", "/compare", json={"a": first["id"], "b": first["id"], "stack": "self"})
    assert np.max(same["differences"]) == 0


def test_show_holds_everything_it_needs(tmp_path):
    shown = whence.show(saved_models.bert(), "a truly great film", target="negative")
    page = shown.page
    assert "/static/" not in page.replace('"/static/', "", 0).split("<body>")[0]
    assert 'src="/' not in page
    data = json.loads(page.split('id="whence-data">')[1].split("</script>")[0])
    answers = data["responses"]
    look = answers["POST /api/v1/look"]
    assert look["prediction"]["explained"]["target"] == "negative"
    kept = answers[f"GET /api/v1/weights/{look['id']}/self/1/0?dtype=uint8"]
    values = np.frombuffer(zlib.decompress(base64.b64decode(kept["octets"])), np.uint8).reshape(kept["shape"])
    own = shown.look.stacks[0].weights[1][0].astype(float)
    np.testing.assert_allclose(values * kept["scale"], own, atol=own.max() / 255)
    assert set(answers["POST /api/v1/scores"]["scores"]) == {"raw_attention", "gradient_x_input", "leave_one_out"}
    frame = shown._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert frame.count("<") == 2  # the page is an attribute's value, escaped
    assert shown.save(tmp_path / "a.html").read_text() == page
    with pytest.raises(BadConfig, match=r"ending in \.html"):
        shown.save(tmp_path / "a.png")


def test_modules_of_a_page_are_found_and_renamed():
    modules = modules_below("pages/look.js")
    assert {"pages/look.js", "pages/api.js", "views/dom.js", "flow/flow.js", "flow/flow_paths.js"} <= set(modules)
    assert not any('from "./' in text or 'from "../' in text for text in modules.values())
