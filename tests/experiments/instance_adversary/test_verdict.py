"""Verdicts about adversarial attention from tables made by hand."""

import numpy as np
import pytest
from pydantic import ValidationError
from statsmodels.stats.proportion import proportion_confint

from support.experiments.instance_adversary import config, context
from whence.analysis.instance_adversary import decide, effects, what_would_decide
from whence.core.errors import BadConfig, UnknownSite
from whence.evaluation.exclusivity import attention_search as _adversaries
from whence.experiments import instance_adversary


def test_the_authors_measure_is_twice_the_total_variation_of_several_classes():
    assert [_adversaries.change_factor("author_code", classes) for classes in (2, 3)] == [1, 2]
    assert [_adversaries.change_factor("total_variation", classes) for classes in (2, 3)] == [1, 1]
    some = context("pooled-pre-none-cross_entropy")
    asked = config(steps=20, measure="author_code", penalised_change=0.01, keep="last", max_output_change=(0.05,))
    table = instance_adversary.run(asked, some)
    np.testing.assert_allclose(table["change"], table["tvd"], atol=1e-12)


def made(*, free_mass: float = 0.8, correct: float = 1.0, **by_limit: list[float]):
    """A table with these divergences, by limit."""
    rows = [
        {
            "example": n,
            "label": "a",
            "prediction": "a",
            "limit": float(limit.replace("_", ".")[1:]),
            "inputs": 9,
            "max_weight": 0.3,
            "free_mass": free_mass,
            "correct": correct if n % 3 else 1.0,
            "chance": 0.5,
            "met": far > 0,
            "restart": 0,
            "jsd": far,
            "tvd": 0.0,
            "change": 0.0,
            "model_tvd": 0.0,
            "factor": 2.5,
            "site": "attention",
            "steps": 500,
        }
        for limit, apart in by_limit.items()
        for n, far in enumerate(apart)
    ]
    return instance_adversary.COLUMNS.table(rows)


@pytest.mark.parametrize(
    ("strict", "wide", "answer"),
    [
        ([0.5] * 40, [0.6] * 40, "no"),
        ([0.1] * 40, [0.15] * 40, "yes"),
        ([0.1] * 40, [0.6] * 40, "undecided"),
        ([0.5] * 20 + [0.1] * 20, [0.6] * 40, "undecided"),
        ([0.5] * 10, [0.6] * 10, "undecided"),
        ([0.1] * 20, [0.1] * 20, "undecided"),
    ],
)
def test_no_is_said_at_the_strictest_limit_and_yes_at_the_widest(strict, wide, answer):
    table = made(e0_01=strict, e0_05=wide)
    verdict = instance_adversary.verdict(table)
    assert (verdict.question, verdict.answer) == (5, answer)
    assert [effect.variant for effect in verdict.effects] == ["0.01", "0.05", ""]
    for effect, values in zip(verdict.effects[:2], (strict, wide), strict=True):
        different = sum(value > 0.2 for value in values)
        wilson = proportion_confint(different, len(values), alpha=0.025, method="wilson")  # two limits
        assert (effect.low, effect.high) == pytest.approx(wilson)
        assert effect.low < effect.high
    assert "Wiegreffe & Pinter" in verdict.does_not_mean
    assert instance_adversary.quantities(table)["JSD within 0.05"].mean == pytest.approx(np.mean(wide))
    assert len(instance_adversary.summary(table)) == 2
    assert instance_adversary.figure(table).axes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"free_mass": 0.05}, "special tokens hold 95 % of the weight (mean of 40 texts)"),
        ({"correct": 0.25}, "not clearly better than chance"),
    ],
)
@pytest.mark.parametrize("apart", [0.0, 0.6])
def test_nothing_is_decided_at_chance_or_where_little_can_be_moved(apart, options, said):
    assert decide(made(e0_05=[apart] * 40))[0] != "undecided"
    answer, sentence = decide(made(e0_05=[apart] * 40, **options))
    assert answer == "undecided"
    assert said in sentence


def test_an_undecided_verdict_says_how_many_texts_would_decide():
    """The interval's end is at the limit when its width has shrunk to the distance of the share from the limit."""
    table = made(e0_01=[0.5] * 24 + [0.1] * 16, e0_05=[0.6] * 40)
    answer, sentence = decide(table)
    strict = instance_adversary.verdict(table).effects[0]
    assert answer == "undecided"
    assert (
        "of 40 texts, very different attention was found for 60 % (42 to 75) of them while the prediction" in sentence
    )
    texts = int(np.ceil(40 * ((strict.value - strict.low) / (strict.value - 0.5)) ** 2))
    assert sentence.endswith(f"about {texts} texts would decide for *no*.")
    assert strict.low < 0.5
    low = proportion_confint(0.6 * 1.2 * texts, 1.2 * texts, alpha=0.025, method="wilson")[0]
    assert low > 0.5  # about so many: a fifth more do
    between = effects(made(e0_01=[0.5] * 14 + [0.1] * 26, e0_05=[0.5] * 14 + [0.1] * 26))
    assert "More texts would not decide it" in what_would_decide(between)


def test_what_cannot_be_asked_is_said():
    with pytest.raises(BadConfig, match="needs one prediction per text, and bart generates texts"):
        instance_adversary.run(config(), context("bart"))
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'"):
        instance_adversary.run(config(site="nowhere"), context("bert"))
    with pytest.raises(BadConfig, match=r"replaced at one site, and '\*layer\*' matches bert.encoder.layer.0"):
        instance_adversary.run(config(site="*layer*"), context("bert"))
    with pytest.raises(ValidationError, match="must be above 0"):
        config(max_output_change=(0.0, 0.1))
