"""Layers: scores beside a slow loop, losses by hand."""

import numpy as np
import pandas as pd
import pytest

import whence
from support.contexts import TASKS, Shifts
from support.contexts import context as context_of
from whence.core.attending import attending
from whence.experiments import layers
from whence.measures.intervals import paired_share_interval


def config(**options) -> layers.Config:
    return layers.Config(model="m", data="d", **options)


def slow_score(subject, example, sites, special_tokens, draws):
    """The share of right answers of one text, its weights moved on by one key, then by two, and so on."""
    batch = subject.encode([example])
    found = []
    for shift in range(1, draws + 1):

        def moved(call, shift=shift):
            weights = call.weights.clone()
            spare = not special_tokens and not (subject.task.name == "seq2seq" and call.site.kind == "causal")
            for head, query in np.ndindex(*weights.shape[1:3]):
                may = call.mask.expand_as(weights)[0, head, query]
                keys = [k for k in range(len(may)) if may[k] and not (spare and batch.special[0, k])]
                for place, key in enumerate(keys):
                    weights[0, head, query, key] = call.weights[0, head, query, keys[(place + shift) % len(keys)]]
            return weights

        with attending(subject.model, override=dict.fromkeys(sites, moved) or None, watch=None):
            said = subject.predict(batch)[0].argmax(-1)
        answered = batch.predicted_positions[0]
        found.append(float((said[answered] == batch.labels[0][answered]).float().mean()))
    return float(np.mean(found))


@pytest.mark.parametrize("special_tokens", [True, False])
@pytest.mark.parametrize("kind", TASKS)
def test_scores_are_those_of_a_slow_loop(kind, special_tokens, monkeypatch):
    monkeypatch.setattr(whence, "permuted", Shifts(), raising=False)
    some = context_of(kind, n=5)
    table = layers.run(config(draws=2, special_tokens=special_tokens, decoding="forced"), some)
    every = layers.groups(some.subject)
    assert set(every) == ({"encoder", "decoder", "across"} if kind == "translator" else {"layers"})
    for (group, direction, depth), rows in table.groupby(["group", "direction", "depth"]):
        sites = every[group] if direction == "bottom-up" else every[group][::-1]
        assert set(rows["layer"]) == {sites[depth - 1] if depth else ""}
        slow = [slow_score(some.subject, e, sites[:depth], special_tokens, 2 if depth else 1) for e in some.examples]
        np.testing.assert_allclose(rows["score"], slow, atol=1e-6)
    depths = table.groupby(["group", "direction"])["depth"].max()
    assert (depths == [len(every[group]) for group, _ in depths.index]).all()
    assert layers.figure(table).axes
    assert layers.verdict(table).question == 1


def test_all_layers_are_shuffled_once_for_both_directions(monkeypatch):
    some, asked = context_of("bert", n=3), []

    def accuracy(context, make=None, place=None, special_tokens=True, draws=1):
        asked.append((place and place.sites, special_tokens, draws))
        return np.zeros(3)

    monkeypatch.setattr("whence.evaluation.scoring.accuracy", accuracy)
    layers.run(config(draws=7), some)
    first, last = some.subject.sites
    assert asked == [(None, False, 1), ((first,), False, 7), ((first, last), False, 7), ((last,), False, 7)]


def made(by_depth: dict[str, list[float]], n: int = 400, labels: str = "ab") -> pd.DataFrame:
    """A table whose first so many examples are right, by group and depth."""
    return layers.COLUMNS.table(
        [
            {
                "example": number,
                "label": labels[number % len(labels)] if labels else "",
                "group": group,
                "direction": direction,
                "depth": depth,
                "layer": str(depth),
                "score": float(number < share * n),
                "counts": None,
            }
            for group, shares in by_depth.items()
            for direction in layers.DIRECTIONS
            for depth, share in enumerate(shares)
            for number in range(n)
        ]
    )


def test_losses_are_means_with_intervals_that_hold_together():
    table = made({"layers": [0.9, 0.8, 0.5]})
    found = layers.losses(table).set_index(["direction", "depth"])
    for direction in layers.DIRECTIONS:
        assert found.loc[direction, "lost"].tolist() == pytest.approx([0.0, 10.0, 40.0])
    lost = np.array([[float(200 <= number < 360) for number in range(400)]])
    by_hand = paired_share_interval(lost, 1 - 0.05 / 4).scaled(100)  # two depths from either end
    assert found.loc[("bottom-up", 2), ["low", "high"]].tolist() == pytest.approx([by_hand.low, by_hand.high])
    assert found.loc["bottom-up", "left"].tolist() == pytest.approx([90.0, 80.0, 50.0])
    names = [effect.label for effect in layers.effects(table)]
    assert names == ["all 2 layers shuffled", "the lowest layer shuffled", "the topmost layer shuffled"]


@pytest.mark.parametrize(
    ("by_depth", "answer", "words"),
    [
        ({"layers": [0.9, 0.8, 0.5]}, "yes", "with all 2 layers shuffled, the model loses 40.0 points of accuracy ("),
        ({"layers": [0.9, 0.9, 0.9]}, "no", "hardly matters here: with all 2 layers shuffled, the model loses 0.0"),
        ({"layers": [0.9, 0.5]}, "yes", "with the only layer shuffled, the model loses 40.0"),
        ({"layers": [0.9, 0.87]}, "undecided", "The limit of 2 points lies within the interval"),
        ({"layers": [0.5, 0.1]}, "undecided", "not clearly better than always predicting the most frequent label"),
        (
            {"encoder": [0.9, 0.9, 0.9], "across": [0.9, 0.3, 0.1]},
            "yes",
            "all 2 layers from the decoder to the encoder shuffled, the model loses 80.0",
        ),
    ],
)
def test_the_verdict(by_depth, answer, words):
    table = made(by_depth)
    verdict = layers.verdict(table)
    assert verdict.answer == answer
    assert words in verdict.sentence
    assert len(layers.figure(table).axes) == len(by_depth)


def test_the_lowest_and_the_topmost_layer_are_named_in_the_sentence():
    said = layers.verdict(made({"layers": [0.9, 0.8, 0.5]})).sentence
    assert said.endswith("; with the lowest layer alone, 10.0; with the topmost layer alone, 10.0.")
