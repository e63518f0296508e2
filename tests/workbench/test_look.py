"""Looking at texts: every kind of model opens, and what is shown is what the model did."""

import numpy as np
import pytest
import torch
from torch import nn

import whence
from support import saved_models
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.models import (
    DisanConfig,
    DisanForSequenceClassification,
    HierarchicalConfig,
    HierarchicalForSequenceClassification,
)
from whence.subject.subject import Subject
from whence.training.vocabulary import word_tokenizer
from whence.workbench.bench import Workbench, serve_models
from whence.workbench.operations import looking
from whence.workbench.operations.looking import complete, look
from whence.workbench.operations.pictures import head_picture, thumbnails
from whence.workbench.operations.requests import LookRequest
from workbench.conftest import api

TEXT = "good film . a long story ! bad"


def small(form, config, **options):
    """An untrained model of words, with its tokenizer."""
    tokenizer = word_tokenizer([Example(TEXT)])
    ends = {"sentence_end_ids": [tokenizer.get_vocab()[end] for end in (".", "!")]} if form is HAN else {}
    ids = {name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")}
    torch.manual_seed(1)
    model = form(config(vocab_size=len(tokenizer), embedding_size=6, hidden_size=4, **ids, **ends, **options))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return Subject(model, tokenizer, "sequence-classification", form.__name__)


HAN = HierarchicalForSequenceClassification
MODELS = {
    "encoder": lambda: whence.load(saved_models.bert()),
    "decoder": lambda: whence.load(saved_models.speaker()),
    "encoder-decoder": lambda: whence.load(saved_models.translator()),
    "tagger": lambda: whence.load(saved_models.tagger()),
    "RNN with additive attention": lambda: whence.load(saved_models.additive()),
    "HAN": lambda: small(HAN, HierarchicalConfig),
    "DiSAN": lambda: small(DisanForSequenceClassification, DisanConfig, num_labels=2),
}
AXES = {
    "encoder": {"self": ("tokens", "tokens")},
    "decoder": {"causal": ("tokens", "tokens")},
    "encoder-decoder": {
        "self": ("tokens", "tokens"),
        "causal": ("targets", "inputs"),
        "cross": ("targets", "tokens"),
    },
    "tagger": {"self": ("tokens", "tokens")},
    "RNN with additive attention": {"pool": ("summary", "tokens")},
    "HAN": {"pool": ("sentences", "tokens"), "pool-2": ("summary", "sentences")},
    "DiSAN": {"self": ("tokens", "tokens"), "self-2": ("tokens", "tokens"), "pool": ("summary", "tokens")},
}


@pytest.fixture(scope="module")
def subjects():
    return {name: make() for name, make in MODELS.items()}


def seen(subject, **given):
    request = complete(subject, LookRequest(text=TEXT, **given))
    return look(subject, request, "x"), request


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_opens(subjects, name):
    subject = subjects[name]
    found, request = seen(subject)
    shown = found.as_dict()
    assert {one["id"]: (one["query_axis"], one["key_axis"]) for one in shown["stacks"]} == AXES[name]
    example = Example(TEXT, target=request.target_text)
    batch = subject.encode([example], ahead=True)
    with whence.attending(subject.model) as tape, torch.no_grad():
        probs = subject.predict(batch)
    at = probs[0, shown["prediction"]["position"]]
    top = dict(zip(shown["prediction"]["classes"], shown["prediction"]["probabilities"], strict=True))
    assert max(top.values()) == pytest.approx(float(at.max()), abs=1e-6)
    for stack in found.stacks:
        for site, weights in zip(stack.sites, stack.weights, strict=True):
            n_query, n_key = (len(found.axes[axis]) for axis in (stack.query_axis, stack.key_axis))
            assert weights.shape[1:] == (n_query, n_key)
            if stack.query_axis != "sentences":
                own = tape.joined(site).weights[0].numpy()[:, :n_query, :n_key]
                np.testing.assert_allclose(weights, own, atol=6e-4)


def test_the_words_of_each_sentence_are_a_row(subjects):
    found, _ = seen(subjects["HAN"])
    words, sentences = found.stacks
    tokens = [token.text for token in found.axes["tokens"]]
    assert [token.text.split() for token in found.axes["sentences"]] == [
        [tokens[0], "good", "film", "."],
        ["a", "long", "story", "!"],
        ["bad", tokens[-1]],
    ]
    rows = words.weights[0][0].astype(float)  # [sentence token]
    np.testing.assert_allclose(rows.sum(1), 1, atol=2e-3)
    assert rows[0, 4:].sum() == rows[1, :4].sum() == rows[2, :8].sum() == 0
    own = whence.explain(subjects["HAN"], TEXT, methods=("raw_attention",)).scores["raw_attention"]
    product = (rows * sentences.weights[0][0, 0].astype(float)[:, None]).sum(0)
    shown = [p for p, token in zip(product, found.axes["tokens"], strict=True) if not token.special]
    np.testing.assert_allclose(shown, own, atol=2e-3)


def test_what_a_translator_reads_and_writes(subjects):
    found, request = seen(subjects["encoder-decoder"], target_text="a fine film")
    targets, inputs = ([token.text for token in found.axes[name]] for name in ("targets", "inputs"))
    assert inputs[1:] == targets[:-1]
    assert inputs[0] == "[CLS]"
    assert request.target_text == "a fine film"


def test_a_target_and_a_contrast_are_those_of_explain(subjects):
    subject = subjects["encoder"]
    found, _ = seen(subject, target="negative", against="positive")
    own = whence.explain(subject, TEXT, target="negative", against="positive", methods=("random",))
    assert found.prediction is not None
    assert found.prediction["explained"]["value"] == pytest.approx(own.explained.value, abs=1e-5)
    assert found.prediction["explained"]["sentence"] == own.explained.sentence


def test_numbers_of_heads_by_hand(subjects):
    found, _ = seen(subjects["encoder"])
    (stack,) = found.stacks
    special = [token.special for token in found.axes["tokens"]]
    for weights, summary in zip(stack.weights, stack.summaries, strict=True):
        for head, rows in enumerate(weights.astype(np.float64)):
            n = len(rows)
            entropy = np.mean([-sum(w * np.log(w) for w in row if w > 0) for row in rows])
            before = sum(rows[i, i - 1] for i in range(1, n)) / n
            distance = np.mean([sum(w * abs(i - j) for j, w in enumerate(row)) for i, row in enumerate(rows)])
            assert summary.entropy[head] == pytest.approx(entropy, abs=1e-4)
            assert summary.special_share[head] == pytest.approx(rows[:, special].sum(1).mean(), abs=1e-4)
            assert summary.largest[head] == pytest.approx(rows.max(1).mean(), abs=1e-4)
            assert summary.previous[head] == pytest.approx(before, abs=1e-4)
            assert summary.distance[head] == pytest.approx(distance, abs=1e-3)


def test_pictures_are_the_weights(subjects):
    (stack,) = seen(subjects["encoder"])[0].stacks
    own = stack.weights[1].astype(np.float64)
    one, both = head_picture(stack, 1, [1], "uint8"), head_picture(stack, 1, None, "uint8")
    for picture, expected in ((one, own[1]), (both, own.mean(0))):
        shown = np.frombuffer(picture.bytes, np.uint8).reshape(picture.shape) * picture.scale
        np.testing.assert_allclose(shown, expected, atol=expected.max() / 255 / 2 + 1e-4)
    exact = head_picture(stack, 0, [0], "float16")
    np.testing.assert_array_equal(np.frombuffer(exact.bytes, "<f2").reshape(exact.shape), stack.weights[0][0])


def test_thumbnails_keep_the_largest_weight_of_what_they_cover():
    (stack,) = seen(whence.load(saved_models.bert()))[0].stacks
    n, size = stack.weights[0].shape[1], 4
    made = np.frombuffer(thumbnails(stack, size).bytes, np.uint8).reshape(2, 2, size, size) / 255
    for row in range(size):
        for column in range(size):
            rows = slice(row * n // size, -(-(row + 1) * n // size))
            columns = slice(column * n // size, -(-(column + 1) * n // size))
            largest = stack.weights[1][0][rows, columns].astype(float).max()
            assert made[1, 0, row, column] ** 2 == pytest.approx(largest, abs=0.01)


def test_scores_are_those_of_explain(client, bench):
    text = "a truly great film"
    shown = api(client, "POST", "/look", json={"text": text})
    methods = ["raw_attention", "rollout", "gradient_x_input", "leave_one_out", "random"]
    for words in (False, True):
        body = {"id": shown["id"], "methods": methods, "granularity": "words" if words else "tokens"}
        answer = api(client, "POST", "/scores", json=body)
        own = whence.explain(bench.model("").subject, text, methods=tuple(methods), words=words)
        for method in methods:
            rows = zip(answer["tokens"], answer["scores"][method], strict=True)
            assert [score for token, score in rows if not token["special"]] == pytest.approx(
                own.scores[method], abs=1e-6
            )
        assert [token["text"] for token in answer["tokens"] if not token["special"]] == own.tokens
        assert answer["how"]["raw_attention"]


def test_slow_numbers_of_heads_are_those_of_explain(client, bench):
    text = "a truly great film"
    shown = api(client, "POST", "/look", json={"text": text})
    answer = api(client, "GET", f"/summaries/{shown['id']}")
    own = whence.explain(bench.model("").subject, text, methods=("random",)).heads
    for head in own:
        assert answer["importance"]["self"][head.layer][head.head] == pytest.approx(head.share, abs=1e-6)
    assert np.shape(answer["sink_share"]["self"]) == (2, 2)
    assert not answer["errors"]


def test_a_dropped_look_is_computed_again(bench):
    own = Workbench(serve_models([bench.model("").subject]), bench.folder)
    own.looks.held = 1  # byte: only the last one stays
    first = own.look(LookRequest(text="a great film"))
    second = own.look(LookRequest(text="a bad film"))
    assert len(own.looks) == 1
    again = own.again(first.id)
    assert again is not first
    np.testing.assert_array_equal(again.stacks[0].weights[0], first.stacks[0].weights[0])
    assert own.again(second.id).id == second.id
    own.close()


def test_a_text_whose_weights_take_too_much_memory_gets_a_sentence(subjects, monkeypatch):
    monkeypatch.setattr(looking, "MOST", 100)
    with pytest.raises(BadData, match="shorter text"):
        seen(subjects["encoder"])


def test_the_flow_is_what_explain_draws(client):
    shown = api(client, "POST", "/look", json={"text": "a truly great film"})
    answer = api(client, "POST", "/flow", json={"id": shown["id"]})
    assert answer["flow"]["tokens"] == [token["text"] for token in shown["tokens"]]


def test_what_is_not_there(client):
    shown = api(client, "POST", "/look", json={"text": "a film"})["id"]
    for path in (f"{shown}/self/9/0", f"{shown}/self/0/9", f"{shown}/cross/0/0", f"{shown}/self/0/x", "0/self/0/0"):
        answer = client.get(f"/api/v1/weights/{path}")
        assert answer.status_code == 404, path
        assert answer.json()["error"]


def test_the_documentation_lists_every_operation(client):
    described = api(client, "GET", "/openapi.json")
    page = client.get("/docs").text
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}</code>" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http-equiv", "")
