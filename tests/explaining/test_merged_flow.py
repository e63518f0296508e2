"""The flow of texts that are too long to be drawn token by token: merged exactly, streamed, and said on the page."""

import json
from copy import deepcopy

import numpy as np
import pytest
import torch
import transformers as hf

from support import saved_models
from support.command import whence
from support.held import most_matrices
from whence.data.examples import Example
from whence.explainers.lat import traced
from whence.explaining import merged_flow
from whence.explaining.explanation import flow
from whence.explaining.merged_flow import between_runs, room, runs
from whence.explaining.options import ExplainOptions
from whence.subject.subject import Subject, load

TEXT = "i found the plot dull and the cast superb but the music was weak"


def long_bert(words, layers=12, heads=12):
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=len(words),
        hidden_size=2 * heads,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=8,
        max_position_embeddings=1024,
        initializer_range=0.5,
        id2label={0: "negative", 1: "positive"},
    )
    return hf.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of 12 layers of 12 heads for 1,024 tokens."""
    folder, words = tmp_path_factory.mktemp("long"), saved_models.reviews_tokenizer()
    long_bert(words).save_pretrained(folder)
    words.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text()) | {"model_max_length": 1024}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def text_of(folder, tokens):
    """Words that make so many tokens."""
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    words = (TEXT.split() * tokens)[:tokens]
    while len(tokenizer(" ".join(words))["input_ids"]) > tokens:
        words.pop()
    return " ".join(words)


@pytest.mark.parametrize(("ending", "tokens"), [("svg", 200), ("html", 600)])
def test_a_long_text_is_drawn_and_the_page_says_how(ending, tokens, folder, capsys, tmp_path):
    out, drawn, text = tmp_path / "scores.json", tmp_path / f"flow.{ending}", text_of(folder, tokens)
    asked = ("--method", "random", "--no-summary", "--form", "json", "--out", out, "--flow", drawn)
    said = whence(capsys, "explain", folder, text, *asked)
    assert said.code == 0, said.err
    assert json.loads(out.read_text())["prediction"] in saved_models.LABELS
    length = len(hf.AutoTokenizer.from_pretrained(folder)(text)["input_ids"])
    assert length > tokens - 8
    page = drawn.read_text()
    assert f"The text has {length} tokens, too many to draw each" in page
    assert f"The text has {length} tokens, too many to draw each" in said.err
    assert len(page) < 40_000_000


def test_merging_by_a_slow_loop(monkeypatch):
    """Against the trace that holds all weights: what arrives at runs, and the lines between them."""
    subject = load(saved_models.bert(), dtype="float64")
    batch = subject.encode([Example(TEXT)])
    trace = traced(subject, batch)
    monkeypatch.setattr(merged_flow, "MOST", 2 * 2 * 7**2)  # room for seven
    found = flow(subject, TEXT, ExplainOptions(normalize="none"))
    assert len(found.tokens) == 7
    scores = trace.raw[0].numpy()
    strongest = set(np.argsort(-scores)[:3].tolist())
    expected: list[list[int]] = []
    for token in range(len(scores)):
        if expected and not (token in strongest or expected[-1][-1] in strongest):
            expected[-1].append(token)
        else:
            expected.append([token])
    named = [[batch.tokens[0][token] for token in run] for run in expected]
    assert found.tokens == tuple(run[0] if len(run) == 1 else f"({len(run)}) {' '.join(run)}" for run in named)
    nodes = np.concatenate([trace.accumulated[:, 0].numpy(), np.tile(trace.start[0].numpy(), (1, 2, 1))])
    for level, head, here in np.ndindex(3, 2, 7):
        assert found.nodes[level, head, here] == pytest.approx(sum(nodes[level, head, i] for i in expected[here]))
    for layer, head, upper, lower in np.ndindex(2, 2, 7, 7):
        line = sum(
            nodes[layer + 1, head, j] * float(trace.weights[layer, 0, head, j, i])
            for j in expected[upper]
            for i in expected[lower]
        )
        assert found.amounts[layer, head, upper, lower] == pytest.approx(line, rel=1e-5, abs=1e-8)
    assert found.scores.sum() == pytest.approx(scores.sum())
    assert found.amounts.sum(2) == pytest.approx(found.nodes[:-1])  # nothing is lost on the way
    assert found.weights.sum(-1) == pytest.approx(1.0)  # also of runs that nothing reaches


def test_runs_are_no_more_than_there_is_room_for():
    generator = torch.Generator().manual_seed(0)
    for size, most in [(10, 3), (50, 7), (600, 144), (5, 9)]:
        scores = torch.rand(size, generator=generator)
        run = runs(scores, most)
        assert run[0] == 0
        assert bool((run.diff() >= 0).all())
        assert bool((run.diff() <= 1).all())
        assert int(run.max()) + 1 <= most
        top = scores.argsort(descending=True)[: (most - 1) // 2]
        assert bool((run.bincount()[run[top]] == 1).all())
    assert room(12, 12) == 144


def test_weights_between_runs_by_hand():
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.6, 0.0, 0.4]])
    above, run = torch.tensor([0.2, 0.6, 0.2]), torch.tensor([0, 0, 1])
    expected = [[(0.2 * 0.8 + 0.6 * 0.2) / 0.8, (0.2 * 0.2 + 0.6 * 0.8) / 0.8], [0.6, 0.4]]
    assert between_runs(weights, above, run).numpy() == pytest.approx(np.array(expected))
    nothing = between_runs(weights, torch.tensor([0.0, 0.0, 1.0]), run)
    assert nothing.numpy() == pytest.approx(np.array([[(0.8 + 0.2) / 2, (0.2 + 0.8) / 2], [0.6, 0.4]]))


def test_what_goes_wrong_with_a_flow_costs_nothing_else(capsys, tmp_path):
    out = tmp_path / "scores.json"
    asked = ("--method", "random", "--form", "json", "--out", out, "--flow", tmp_path / "flow.svg")
    said = whence(capsys, "explain", saved_models.additive(), "so dull", *asked)
    assert said.code == 2
    assert "needs layers of self-attention, and this model has none" in said.err
    assert json.loads(out.read_text())["tokens"] == ["so", "dull"]
    assert not (tmp_path / "flow.svg").exists()


def test_no_layer_is_held(monkeypatch):
    """The weights of one head at a time: no tensor of all heads and all tokens is made."""
    words = deepcopy(saved_models.reviews_tokenizer())
    words.model_max_length = 1024
    subject = Subject(long_bert(words, 4, 4), words, "sequence-classification")
    text = " ".join(TEXT.split() * 5)
    monkeypatch.setattr(merged_flow, "MOST", 4 * 4 * 9**2)
    length = subject.encode([Example(text)]).special.shape[1]
    assert length > 64  # shorter texts have all heads of a layer together, which is faster
    assert most_matrices(lambda: flow(subject, text), length) <= 6
