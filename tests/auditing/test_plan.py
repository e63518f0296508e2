"""The plan of an audit: what fits into the time, worked by hand."""

import json

import pytest

from whence.auditing import costs as costing
from whence.auditing.costs import Costs
from whence.auditing.plan import (
    FEWEST,
    Plan,
    Wish,
    ceil_tenth,
    fill,
    least_seconds,
    refuse_too_little,
    without_optional,
)
from whence.auditing.wishes import matters, seeds_and_variants, trained
from whence.core.errors import BadConfig


@pytest.fixture(autouse=True)
def one_processor(monkeypatch):
    monkeypatch.setattr(costing, "processors", lambda: 1)


def test_costs_by_hand():
    costs = Costs(each=0.01, training=30.0, places=2, one_site=False, heads=12, words=20.0)
    assert costs.ablating == pytest.approx(0.01 * (1 + 11 * 2))
    assert costs.shuffling == pytest.approx(0.01 * 2 * 100)
    assert costs.erasing_heads == pytest.approx(0.01 * 12 * 0.6)
    assert costs.retraining(5, 2) == pytest.approx((5 * 3 - 1) * 30)
    assert costs.retraining(0, 2) == 0
    assert Costs(0.01, None, 1, one_site=True).shuffling == pytest.approx(0.05)
    searched = 20 + 2 * 8 * 8  # single words, and two beams
    assert costs.removing(6, 4, 8) == pytest.approx(0.01 * (0.75 * 4 * (searched + 2 * 8 * 7) + 48 + 40 + 24))


def wishes(*shares: float, each: float = 0.1, **options) -> list[Wish]:
    return [Wish(f"experiment {n}", "", each, share, **options) for n, share in enumerate(shares)]


def counts(steps, n: int) -> list[int]:
    return [step.options["limit"] or n for step in steps]


def test_time_is_shared_and_used_up():
    steps = fill(wishes(0.75, 0.25), 10_000, 100.0)
    assert sum(step.seconds for step in steps) == pytest.approx(100.0, abs=0.5)
    assert counts(steps, 10_000) == pytest.approx([50 + 675, 50 + 225], abs=2)


def test_what_one_does_not_need_goes_to_the_others():
    cheap, dear = Wish("cheap", "", 0.001, 0.5), Wish("dear", "", 1.0, 0.5)
    steps = fill([cheap, dear], 400, 200.0)
    assert steps[0].options["limit"] is None  # all of them
    assert counts(steps, 400) == [400, 199]
    plenty = fill([cheap, dear], 400, 10_000.0)
    assert counts(plenty, 400) == [400, 400]


def test_fixed_costs_and_experiments_that_take_everything():
    steps = fill([Wish("trains", "", 0.1, 0.5, fixed=60.0), Wish("whole", "", 0.01, 0.5, limited=False)], 1000, 100.0)
    assert "limit" not in steps[1].options
    assert steps[0].seconds == pytest.approx(60 + 0.1 * steps[0].options["limit"])
    assert sum(step.seconds for step in steps) == pytest.approx(100.0, abs=0.2)


def test_a_budget_that_is_too_small_is_refused_before_it_begins():
    some = wishes(0.5, 0.5, each=1.0)
    assert least_seconds(some, 1000) == 2 * FEWEST
    refuse_too_little(some, 1000, 100.0)
    with pytest.raises(
        BadConfig, match=r"50 texts takes about 1.7 minutes here, and the budget is 0.5; .*--budget 1.7"
    ):
        refuse_too_little(some, 1000, 30.0)
    refuse_too_little(some, 10, 30.0)  # ten texts are all there are
    assert [ceil_tenth(minutes) for minutes in (1.61, 9.99, 10.2)] == [1.7, 10.0, 11.0]


def test_optional_experiments_make_room_the_dearest_first():
    some = [*wishes(0.5), *wishes(0.1, each=1.0, optional=True), *wishes(0.1, each=0.5, optional=True)]
    kept, said = without_optional(some, 1000, 40.0)
    assert [wish.each for wish in kept] == [0.1, 0.5]
    assert said == ["no experiment 0: it would take 0.8 minutes at least, see --budget"]
    assert len(without_optional(some, 1000, 1000.0)[0]) == 3
    assert [wish.each for wish in without_optional(some, 1000, 1.0)[0]] == [0.1]  # what is not optional stays


def test_without_labels_there_is_no_ablation():
    found, said = matters(Costs(1e-4, None, 1, False), 500, 60.0, granularity="all", labelled=False)
    assert [(wish.experiment, wish.optional) for wish in found] == [("permutation", False)]
    assert "it needs labels" in said[0]


def test_heads_are_erased_where_there_are_several():
    found, _ = matters(Costs(1e-4, None, 1, False, heads=72), 500, 60.0, granularity="all", labelled=True)
    assert [wish.experiment for wish in found] == ["ablation", "permutation", "representation_erasure"]
    found, _ = matters(Costs(1e-4, None, 1, False), 500, 60.0, granularity="layer", labelled=True)
    assert [wish.options["granularity"] for wish in found] == ["layer", "layer"]


def test_shuffles_are_fewer_where_they_are_dear():
    for each, shuffles in ((1e-4, 100), (1e-2, 20)):
        found, _ = matters(Costs(each, None, 1, False), 500, 60.0, granularity="all", labelled=True)
        assert found[1].options["permutations"] == shuffles
        assert found[1].each == pytest.approx(each * shuffles)


def test_retraining_as_far_as_time_allows():
    costs = Costs(1e-4, 10.0, 1, True)
    assert seeds_and_variants(costs, 400, 200.0) == (5, ("uniform", "random"))  # 14 trainings of 10 s
    assert seeds_and_variants(costs, 400, 110.0) == (5, ("uniform",))  # 9 trainings
    assert seeds_and_variants(costs, 400, 75.0) == (4, ("uniform",))  # 7
    assert seeds_and_variants(costs, 400, 5.0) == (0, ())
    found, said = matters(costs, 400, 20.0, granularity="all", labelled=True, least=2)
    assert found[0].options["retrain"] == 2
    assert said == ["the budget allows 2 of 5 seeds for retraining, see --budget"]


def test_models_that_are_retrained_are_compared():
    fast = Costs(1e-4, 2.0, 1, False)
    assert [wish.experiment for wish in trained(fast, 3, 60.0)] == ["seeds", "adversary"]
    assert trained(fast, 3, 60.0)[0].options == {"others": 2}
    assert [wish.experiment for wish in trained(Costs(1e-4, 20.0, 1, False), 3, 60.0)] == ["seeds"]
    assert trained(fast, 1, 60.0) == trained(Costs(1e-4, None, 1, False), 3, 60.0) == []


def test_a_saved_plan_is_the_same_plan():
    plan = Plan(tuple(fill(wishes(0.5, 0.5), 100, 10.0)), ("a note",))
    assert Plan.from_dict(json.loads(json.dumps(plan.as_dict()))) == plan
