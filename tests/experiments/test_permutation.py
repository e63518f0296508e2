"""Permutation: beside a slow loop, one text and one shuffle at a time, unpadded."""

import numpy as np
import pandas as pd
import pytest

import whence
from support import saved_models
from support.contexts import TASKS, Shifts, context
from whence.core.attending import attending
from whence.core.tape import Tape
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.locations import places
from whence.experiments import permutation
from whence.measures.intervals import mean_interval
from whence.results.verdict import Effect
from whence.subject.subject import Subject, load

SHUFFLES = 3  # odd, so that the median is one of them


def slow_median(subject: Subject, example: Example, sites: list[str], head: int | None, special_tokens: bool) -> float:
    """Jain & Wallace's algorithm 2 as it is written: one forward pass for each shuffle."""
    batch = subject.encode([example])
    base, answered = subject.predict(batch)[0].double().numpy(), batch.predicted_positions[0].numpy()
    changes = []
    for shift in range(1, 1 + SHUFFLES):

        def moved(call, shift=shift):
            weights = call.weights.clone()
            own_output = subject.task.name == "seq2seq" and call.site.kind == "causal"
            for h, query in np.ndindex(*weights.shape[1:3]):
                if head not in (None, h):
                    continue
                may = call.mask.expand_as(weights)[0, h, query]
                free = [
                    k for k in range(len(may)) if may[k] and (special_tokens or own_output or not batch.special[0, k])
                ]
                for place, key in enumerate(free):
                    weights[0, h, query, key] = call.weights[0, h, query, free[(place + shift) % len(free)]]
            return weights

        with attending(subject.model, override=dict.fromkeys(sites, moved), watch=None):
            probs = subject.predict(batch)[0].double().numpy()
        changes.append(np.mean([abs(p - q).sum() / 2 for p, q, a in zip(probs, base, answered, strict=True) if a]))
    return float(np.median(changes))


@pytest.mark.parametrize(
    ("kind", "granularity", "special_tokens"),
    [
        ("bert", "all", False),
        ("bert", "all", True),
        ("bert", "layer", False),
        ("bert", "head", True),
        ("additive", "all", False),
        ("additive", "all", True),
        ("additive", "layer", False),
        ("additive", "head", False),
        ("tagger", "all", False),
        ("tagger", "layer", True),
        ("translator", "all", False),
        ("translator", "layer", False),
        ("speaker", "all", True),
        ("speaker", "head", False),
    ],
)
def test_the_median_is_that_of_a_slow_loop(kind, granularity, special_tokens, monkeypatch):
    monkeypatch.setattr(whence, "permuted", Shifts(), raising=False)
    some = context(kind, batch_size=2)
    config = permutation.Config(
        model="m", data="d", permutations=SHUFFLES, granularity=granularity, special_tokens=special_tokens
    )
    table = permutation.run(config, some)
    where = places(some.subject, granularity, some.first_batch())
    assert len(table) == len(some.examples) * len(where)
    for place in where:
        rows = table[table["place"] == place.name]
        assert rows["example"].tolist() == list(some.numbers)
        slow = [slow_median(some.subject, e, list(place.sites), place.head, special_tokens) for e in some.examples]
        np.testing.assert_allclose(rows["median_tvd"], slow, atol=2e-5)
        assert max(slow) > 0, "nothing moved: the loop shows nothing"


@pytest.mark.parametrize("special_tokens", [False, True])
def test_a_batch_in_parts_gives_the_same_table(special_tokens, monkeypatch):
    """With room for one text at a time, and the same random numbers."""
    some = context("bert", batch_size=4)
    config = permutation.Config(model="m", data="d", permutations=SHUFFLES, special_tokens=special_tokens)
    whole = permutation.run(config, some)
    monkeypatch.setattr(permutation, "WEIGHTS", 1)
    (batch,) = some.batches()
    (place,) = places(some.subject, "all", batch)
    assert permutation.texts_at_once(some, batch, place) == 1
    parts = permutation.run(config, some)
    pd.testing.assert_frame_equal(parts, whole, rtol=1e-6, atol=1e-6)
    assert whole["median_tvd"].max() > 0


@pytest.mark.parametrize("kind", TASKS)
def test_the_largest_weight_is_the_mean_over_real_rows(kind):
    some = context(kind, batch_size=4)
    (batch,) = some.batches()
    for granularity in ("all", "head"):
        for place in places(some.subject, granularity, batch):
            got = permutation.max_weight(some, batch, place)
            for row, number in enumerate(batch.examples.tolist()):
                alone, tape = some.subject.encode([some.examples[number]]), Tape()
                with attending(some.subject.model, watch=dict.fromkeys(place.sites, tape)):
                    some.subject.predict(alone)
                largest = [
                    float(weights.max())
                    for site in place.sites
                    for head, rows in enumerate(tape.only(site).weights[0])
                    for weights in rows
                    if place.head in (None, head)
                ]
                assert got[row] == pytest.approx(np.mean(largest), abs=1e-5)


def test_a_targets_padding_is_no_row_even_where_it_is_as_long_as_the_text():
    subject = load(saved_models.translator())
    examples = [Example("a b", target="a b"), Example("a", target="a b"), Example("a b", target="a")]
    some = Context(subject, examples, range(3), quiet=True, name="permutation")
    (batch,) = some.batches()
    assert batch.mask.shape == batch.predicted_positions.shape
    (place,) = places(subject, "all", batch)
    together = permutation.max_weight(some, batch, place)
    for row, number in enumerate(batch.examples.tolist()):
        single = Context(subject, [examples[number]], [0], quiet=True, name="permutation")
        assert together[row] == pytest.approx(permutation.max_weight(single, single.first_batch(), place)[0], abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "word", "words"),
    [("bert", "the", "the plot is dull and the cast is bright"), ("additive", "dull", "dull dull dull the is")],
)
def test_one_word_cannot_be_shuffled_and_many_can(kind, word, words):
    subject = load(TASKS[kind][0]())
    for text, movable in ((word, False), (words, True)):
        some = Context(subject, [Example(text, "negative")], [0], quiet=True, name="permutation")
        config = permutation.Config(model="m", data="d", permutations=20)
        (change,) = permutation.run(config, some)["median_tvd"]
        assert change > 1e-5 if movable else change < 1e-6


def test_an_example_without_a_label_has_an_empty_one():
    some = context("bert", 3)
    some = Context(some.subject, [Example(e.text) for e in some.examples], range(3), quiet=True, name="permutation")
    table = permutation.run(permutation.Config(model="m", data="d", permutations=2), some)
    assert table["label"].tolist() == ["", "", ""]
    assert permutation.verdict(table).answer in ("yes", "no", "undecided")
    assert permutation.figure(table).axes


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(0.11, 0.2, "yes"), (0.1, 0.2, "undecided"), (0.05, 0.099, "no"), (0.05, 0.1, "undecided"), (0.0, 0.0, "no")],
)
def test_the_verdict_rests_on_the_whole_interval(low, high, answer):
    effect = Effect("prediction_moved", "moves", (low + high) / 2, low, high, "", permutation.SMALLEST, 100)
    assert permutation.decide(effect)[0] == answer


def made(**by_place: list[float]):
    """A table with these changes, by place."""
    rows = [
        {"example": example, "label": "a", "place": place.replace("_", " "), "max_weight": 0.5, "median_tvd": moved}
        for place, changes in by_place.items()
        for example, moved in enumerate(changes)
    ]
    return permutation.COLUMNS.table(rows)


def test_one_place_that_matters_is_not_lost_among_many_that_do_not():
    """The largest decides, and the intervals hold for all places together."""
    drawn = np.random.default_rng(0).uniform(0.2, 0.6, 40).tolist()
    still = {f"layer.{n}_head_{m}": [0.0] * 40 for n in range(3) for m in range(4)}
    table = made(**still, **{"layer.3_head_1": drawn})
    verdict = permutation.verdict(table)
    assert verdict.answer == "yes"
    assert "Shuffling the attention at layer.3 head 1 moves the prediction: on average 0." in verdict.sentence
    assert "one head at a time, many times" in verdict.procedure
    assert "hold for all places together" in verdict.procedure
    interval = mean_interval(np.array([drawn]), 1 - 0.05 / 13, within=(0.0, 1.0))
    first = verdict.effects[0]
    assert (first.value, first.low, first.high) == pytest.approx((interval.mean, interval.low, interval.high), abs=0.01)
    alone = permutation.verdict(made(layer=drawn)).effects[0]
    assert alone.high - alone.low < first.high - first.low
    words = [text.get_text() for text in permutation.figure(table).axes[0].texts]
    assert words[-1].startswith("layer.3 head 1: 0.") or any(word.startswith("layer.3 head 1: 0.") for word in words)


def test_a_wide_interval_is_not_called_about_the_limit():
    verdict = permutation.verdict(made(layer=[0.0, 0.0, 0.0, 1.0] * 5))
    assert verdict.answer == "undecided"
    assert "0.25 of the probability (" in verdict.sentence
    assert "; the limit of 0.1 lies within the interval." in verdict.sentence


def test_few_examples_decide_nothing():
    verdict = permutation.verdict(made(layer=[0.0, 0.0]))
    assert (verdict.answer, verdict.sentence[:33]) == ("undecided", "There are 2 examples, too few to ")
    assert permutation.verdict(made(layer=[0.0] * 40)).answer == "no"


def test_the_largest_weight_is_one_that_was_shuffled():
    some = context("bert")
    (batch,) = some.batches()
    (place,) = places(some.subject, "all", batch)
    drawing = whence.scaled(batch.special & batch.mask, 20.0)  # special tokens draw most of the weight
    with attending(some.subject.model, override=drawing, watch=None):
        with attending(some.subject.model) as tape:
            some.subject.predict(batch)
        got = permutation.max_weight(some, batch, place, special_tokens=False)
        with_specials = permutation.max_weight(some, batch, place, special_tokens=True)
    largest = [
        [
            [float(row[~batch.special[n]].max()) for row, real in zip(rows, batch.mask[n], strict=True) if real]
            for site in place.sites
            for rows in tape.only(site).weights[n]
        ]
        for n in range(len(batch))
    ]
    np.testing.assert_allclose(got, [np.mean(rows) for rows in largest], atol=1e-5)
    assert (got < with_specials).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_in_half_precision(dtype):
    some = context("bert")
    some = Context(load(saved_models.bert(), dtype=dtype), some.examples, range(3), quiet=True, name="permutation")
    table = permutation.run(permutation.Config(model="m", data="d", permutations=2), some)
    assert table["median_tvd"].between(0, 1).all()
