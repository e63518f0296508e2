"""Ablation: scores beside a slow loop, effects beside means by hand, verdicts at their edges."""

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

import whence
from support import saved_models
from whence.analysis.ablation_verdict import decide, deciding_effects
from whence.core.attending import attending
from whence.data.examples import Example
from whence.data.tables.reader import read_table
from whence.evaluation.context import Context
from whence.evaluation.locations import ablation_override, places
from whence.evaluation.scoring import accuracy
from whence.experiments import ablation
from whence.measures.intervals import paired_share_interval
from whence.results.verdict import Effect
from whence.subject.subject import Subject, load

N = 12


def context(kind: str = "bert", n: int = N) -> Context:
    subject = load(getattr(saved_models, kind)())
    return Context(subject, read_table(saved_models.labelled())["test"][:n], range(n), quiet=True, name="ablation")


def right(subject: Subject, example: Example) -> bool:
    probs = subject.predict(subject.encode([example]))[0, 0]
    return subject.labels[int(probs.argmax())] == example.label


def config(**options) -> ablation.Config:
    return ablation.Config(model="m", data="d", **options)


@pytest.mark.parametrize("kind", ["bert", "additive"])
@pytest.mark.parametrize("special_tokens", [True, False])
def test_equal_weights_score_as_in_a_slow_loop(kind, special_tokens):
    some = context(kind)
    table = ablation.run(config(variants=("uniform",), special_tokens=special_tokens), some)
    for row, example in zip(table.itertuples(), some.examples, strict=True):
        special = some.subject.encode([example]).special
        with attending(
            some.subject.model, override=whence.uniform if special_tokens else whence.uniform.sparing(special)
        ):
            altered = right(some.subject, example)
        assert (row.base, row.ablated) == (right(some.subject, example), altered)
    assert set(table["when"]) == {"infer"}
    assert set(table["seed"]) == {-1}


def test_draws_are_averaged(monkeypatch):
    """Alterations that turn the answer round in every third draw give a score of two thirds or one third."""
    some = context(n=6)
    draws = itertools.count()

    def predict(batch):
        probs = torch.zeros(len(batch), 1, 2)
        probs[:, 0, 0 if next(draws) % 3 else 1] = 1.0
        return probs

    monkeypatch.setattr(some.subject, "predict", predict)
    (place,) = places(some.subject, "all", some.first_batch())
    scores = accuracy(some, lambda generator: whence.random(generator), place, True, draws=3)
    is_first = [example.label == some.subject.labels[0] for example in some.examples]
    np.testing.assert_allclose(scores, [2 / 3 if first else 1 / 3 for first in is_first])


def test_equal_weights_are_drawn_once_and_others_as_often_as_asked(monkeypatch):
    some = context(n=3)
    asked = []

    def accuracy(context, make=None, place=None, special_tokens=True, draws=1):
        asked.append(draws)
        return np.zeros(3)

    monkeypatch.setattr("whence.evaluation.scoring.accuracy", accuracy)
    ablation.run(config(draws=7), some)
    assert asked == [1, 1, 7, 7]  # as it is, uniform, random, permuted


@pytest.mark.parametrize("granularity", ["layer", "head"])
def test_only_the_place_is_altered(granularity):
    some = context()
    batch = some.first_batch()
    with attending(some.subject.model) as own:
        some.subject.predict(batch)
    first = next(iter(some.subject.sites))
    found = places(some.subject, granularity, batch)
    assert len(found) == (2 if granularity == "layer" else 4)
    place = found[0]
    with attending(some.subject.model, override=place.rules(whence.uniform, some.subject, batch, True)) as altered:
        some.subject.predict(batch)
    before, after = own.only(first).weights, altered.only(first).weights
    length = int(batch.mask.sum())
    assert torch.allclose(after[:, 0], torch.full_like(after[:, 0], 1 / length))
    assert torch.equal(after[:, 1], before[:, 1]) == (granularity == "head")
    table = ablation.run(config(variants=("uniform",), granularity=granularity), some)
    assert table["place"].unique().tolist() == [one.name for one in found]
    assert not any(site.sessions for site in some.subject.model.modules() if hasattr(site, "sessions"))


def test_the_alterations_have_names():
    assert ablation_override("uniform", None) is whence.uniform
    assert ablation_override("permuted", torch.Generator()).name == "permuted"
    with pytest.raises(whence.core.errors.BadConfig, match="no ablation 'zero'; choose from: uniform, random"):
        ablation_override("zero", None)


def made(losses: dict[tuple[str, str], list[list[float]]], base: float = 1.0, labels: str = "ab") -> pd.DataFrame:
    """A table with these losses, [seed example], by when and variant."""
    return ablation.COLUMNS.table(
        [
            {
                "example": number,
                "label": labels[number % len(labels)] if labels else "",
                "place": "all",
                "variant": variant,
                "when": when,
                "seed": seed,
                "base": base,
                "ablated": base - loss,
                "base_counts": None,
                "ablated_counts": None,
            }
            for (when, variant), by_seed in losses.items()
            for seed, row in enumerate(by_seed)
            for number, loss in enumerate(row)
        ]
    )


def test_effects_are_means_with_tangos_interval():
    generator = np.random.default_rng(0)
    losses = {
        (when, variant): generator.integers(0, 2, (3, 40)).astype(float).tolist()
        for when in ("infer", "train+infer")
        for variant in ("uniform", "random")
    }
    found = ablation.effects(made(losses))
    assert [(effect.variant, effect.when) for effect in found] == [(variant, when) for when, variant in losses]
    assert found[2].label == "uniform attention, retrained"
    for effect, loss in zip(found, losses.values(), strict=True):
        interval = paired_share_interval(np.array(loss)).scaled(100)
        assert effect.value == pytest.approx(100 * np.mean(loss))
        assert (effect.low, effect.high) == pytest.approx((interval.low, interval.high))
        assert (effect.n, effect.seeds, effect.smallest) == (40, 3, 2.0)
    summary = ablation.summary(made(losses))
    assert summary["base"].tolist() == [100.0] * 4
    np.testing.assert_allclose(summary["change"], [round(-100 * np.mean(loss), 1) for loss in losses.values()])


def vote(low: float, high: float, *, variant: str = "uniform", when: str = "infer") -> Effect:
    return Effect("score_lost", "", (low + high) / 2, low, high, "points", 2.0, 100, variant=variant, when=when)


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [(2.1, 9.0, "yes"), (2.0, 9.0, "undecided"), (-1.0, 1.9, "no"), (-1.0, 2.0, "undecided"), (-9.0, -3.0, "no")],
)
def test_the_verdict_rests_on_the_whole_interval(low, high, answer):
    assert decide([vote(low, high)])[0] == answer
    assert decide([vote(low, high)], "At chance.") == ("undecided", "At chance.")


YES, NO, OPEN = (5.0, 9.0), (-1.0, 1.0), (0.0, 5.0)


@pytest.mark.parametrize(
    ("uniform", "permuted", "retrained", "answer"),
    [
        (YES, YES, None, "yes"),
        (NO, NO, None, "no"),
        (NO, YES, None, "yes, in part"),  # uniform attention loses nothing, shuffled attention much
        (YES, NO, None, "yes, in part"),
        (YES, OPEN, None, "yes, in part"),
        (NO, OPEN, None, "undecided"),
        (OPEN, OPEN, None, "undecided"),
        (YES, YES, YES, "yes"),
        (YES, YES, NO, "yes, in part"),
        (YES, YES, OPEN, "yes"),
        (NO, NO, NO, "no"),
        (NO, OPEN, NO, "no"),
        (NO, NO, YES, "yes, in part"),
        (NO, NO, OPEN, "undecided"),
        (OPEN, OPEN, YES, "yes"),
    ],
)
def test_votes_that_contradict_each_other_are_yes_in_part(uniform, permuted, retrained, answer):
    votes = [vote(*uniform), vote(*permuted, variant="permuted"), vote(*YES, variant="random")]
    votes += [vote(*retrained, when="train+infer")] if retrained else []
    for order in (votes, votes[::-1]):
        assert decide(deciding_effects(order))[0] == answer


ALL, NONE = [[1.0] * 200], [[0.0] * 200]


@pytest.mark.parametrize(
    ("losses", "answer", "words"),
    [
        ({("infer", "uniform"): ALL}, "yes", "with uniform attention, the model loses 100.0 points"),
        ({("infer", "uniform"): NONE}, "no", "with uniform attention, the model loses 0.0 points"),
        (
            {("infer", "uniform"): ALL, ("train+infer", "uniform"): NONE},
            "yes, in part",
            "a model retrained with uniform attention",
        ),
        (
            {("infer", "uniform"): NONE, ("train+infer", "uniform"): ALL},
            "yes, in part",
            "a model retrained with uniform attention",
        ),
        (
            {("infer", "uniform"): NONE, ("infer", "random"): ALL},
            "no",
            "with uniform attention",
        ),  # equal weights decide
        ({("infer", "random"): ALL}, "yes", "with random attention, the model loses"),
        ({("infer", "permuted"): ALL}, "yes", "with its own attention shuffled, the model loses"),
        (
            {("infer", "uniform"): ALL, ("train+infer", "random"): NONE},
            "yes, in part",
            "a model retrained with random attention",
        ),
    ],
)
def test_which_evidence_decides(losses, answer, words):
    verdict = ablation.verdict(made(losses))
    assert verdict.answer == answer
    assert words in verdict.sentence
    assert len(verdict.effects) == len(losses)
    assert ablation.figure(made(losses)).axes


def test_a_model_at_chance_leaves_it_undecided():
    half = [[0.5, 0.0] * 25]
    at_chance = made({("infer", "uniform"): half}, base=0.5)
    assert ablation.verdict(at_chance).answer == "undecided"
    assert "most frequent label" in ablation.verdict(at_chance).sentence
    without_labels = made({("infer", "uniform"): [[0.5] * 50]}, base=0.5, labels="")
    assert ablation.verdict(without_labels).answer == "yes"  # there is no most frequent one to name
    nothing_right = made({("infer", "uniform"): NONE}, base=0.0, labels="")
    assert ablation.verdict(nothing_right).answer == "undecided"
    assert "gets hardly anything right, so there is nothing" in ablation.verdict(nothing_right).sentence


def test_a_translator_without_a_bleu_leaves_it_undecided():
    zero, some = "0 0 0 0 4 3 2 1 4 4", "4 3 2 1 4 3 2 1 4 4"
    for counts, answer in ((zero, "undecided"), (some, "no")):
        table = made({("infer", "uniform"): NONE}, labels="")
        table = table.assign(base_counts=counts, ablated_counts=counts)
        assert ablation.verdict(table).answer == answer


def test_few_examples_decide_nothing():
    verdict = ablation.verdict(made({("infer", "uniform"): [[0.0, 0.0]]}))
    assert (verdict.answer, verdict.sentence[:33]) == ("undecided", "There are 2 examples, too few to ")
    for n, answer in ((20, "undecided"), (180, "undecided"), (200, "no")):  # z²/(n + z²) is below 2 % from 189 on
        assert ablation.verdict(made({("infer", "uniform"): [[0.0] * n]})).answer == answer


def test_what_is_gained_is_not_called_a_loss():
    effect = Effect("score_lost", "", -29.2, -58.3, 3.3, "points of accuracy lost", 2.0, 100, variant="uniform")
    said = "with uniform attention, the model gains 29.2 points of accuracy (−3.3 to 58.3)"
    assert said in decide([effect])[1]
    nothing = Effect("score_lost", "", -0.04, -0.04, 1.0, "points of accuracy lost", 2.0, 100, variant="uniform")
    assert decide([nothing])[1].endswith("the model loses 0.0 points of accuracy (0.0 to 1.0).")


def test_the_place_and_what_was_done_are_said():
    rows = made({("infer", "uniform"): [[1.0, 0.0] * 20]})
    table = pd.concat([rows.assign(place="layer head 0"), rows.assign(place="layer head 1", ablated=1.0)])
    near = table.assign(ablated=np.where(table["example"] < 1, table["ablated"], 1.0))
    assert ablation.verdict(near).answer == "undecided"
    assert ablation.verdict(near).sentence.startswith(
        "It is not clear whether attention matters: with uniform attention at layer head 0, the model loses 2.5"
    )
    assert "replaced by uniform ones, one head at a time, and the predictions" in ablation.verdict(table).procedure
    both = ablation.verdict(made({("infer", "random"): ALL, ("infer", "permuted"): ALL}))
    assert "replaced by random ones and by their own in random order, and" in both.procedure


def test_a_label_beside_a_language_model_is_not_what_it_answers():
    some = context("speaker", 4)
    table = ablation.run(config(variants=("uniform",)), some)
    assert set(table["label"]) == {""}
    assert "most frequent label" not in ablation.verdict(table).sentence
