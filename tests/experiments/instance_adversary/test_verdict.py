"""Verdicts about adversarial attention from tables made by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from support.experiments.instance_adversary import config, context
from whence.core.errors import BadConfig, UnknownSite
from whence.evaluation import attention_search as _adversaries
from whence.experiments import instance_adversary


def test_the_authors_measure_is_twice_the_total_variation_of_several_classes():
    assert [_adversaries.change_factor("author_code", classes) for classes in (2, 3)] == [1, 2]
    assert [_adversaries.change_factor("total_variation", classes) for classes in (2, 3)] == [1, 1]
    some = context("pooled-pre-none-cross_entropy")
    asked = config(steps=20, measure="author_code", penalised_change=0.01, keep="last", max_output_change=(0.05,))
    table = instance_adversary.run(asked, some)
    np.testing.assert_allclose(table["change"], table["tvd"], atol=1e-12)


def made(**by_limit: list[float]):
    """A table with these divergences, by limit."""
    rows = [
        {
            "example": n,
            "label": "a",
            "prediction": "a",
            "limit": float(limit.replace("_", ".")[1:]),
            "inputs": 9,
            "max_weight": 0.3,
            "met": far > 0,
            "restart": 0,
            "jsd": far,
            "tvd": 0.0,
            "change": 0.0,
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
    ],
)
def test_no_is_said_at_the_strictest_limit_and_yes_at_the_widest(strict, wide, answer):
    table = made(e0_01=strict, e0_05=wide)
    verdict = instance_adversary.verdict(table)
    assert (verdict.question, verdict.answer) == (5, answer)
    assert [effect.variant for effect in verdict.effects] == ["0.01", "0.05"]
    assert "Wiegreffe & Pinter" in verdict.does_not_mean
    assert instance_adversary.quantities(table)["JSD within 0.05"].mean == pytest.approx(np.mean(wide))
    assert len(instance_adversary.summary(table)) == 2
    assert instance_adversary.figure(table).axes


def test_what_cannot_be_asked_is_said():
    with pytest.raises(BadConfig, match="needs one prediction per text, and bart generates texts"):
        instance_adversary.run(config(), context("bart"))
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'"):
        instance_adversary.run(config(site="nowhere"), context("bert"))
    with pytest.raises(BadConfig, match=r"replaced at one site, and '\*layer\*' matches bert.encoder.layer.0"):
        instance_adversary.run(config(site="*layer*"), context("bert"))
    with pytest.raises(ValidationError, match="must be above 0"):
        config(max_output_change=(0.0, 0.1))
