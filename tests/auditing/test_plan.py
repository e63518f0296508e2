"""The plan of an audit: what fits into the time, worked by hand."""

import json

import pytest

from whence.auditing import plan as planning
from whence.auditing.plan import FEWEST, Costs, Plan, fitting, make_plan, seeds_and_variants


@pytest.fixture(autouse=True)
def one_processor(monkeypatch):
    monkeypatch.setattr(planning, "processors", lambda: 1)


def named(plan: Plan) -> dict[str, dict]:
    return {step.experiment: step.options for step in plan.steps}


def test_costs_by_hand():
    costs = Costs(each=0.01, training=30.0, places=2, one_site=False)
    assert costs.looking == pytest.approx(0.01 * (1 + 11 * 2))
    assert costs.shuffling == pytest.approx(0.01 * 2 * 100)
    assert costs.retraining(5, 2) == pytest.approx((5 * 3 - 1) * 30)
    assert costs.retraining(0, 2) == 0
    assert Costs(0.01, None, 1, one_site=True).shuffling == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("seconds", "each", "n", "few"),
    [(10.0, 0.1, 1000, 100), (10.0, 0.1, 80, 80), (1.0, 1.0, 1000, 50), (-5.0, 1.0, 1000, 50), (1.0, 1.0, 20, 20)],
)
def test_examples_that_fit(seconds, each, n, few):
    assert fitting(seconds, each, n) == few


def test_plenty_of_time_looks_at_everything():
    plan = make_plan(Costs(1e-4, None, 1, False), 500, 600.0, granularity="all", labelled=True)
    options = named(plan)
    assert options["ablation"]["limit"] is None
    assert options["permutation"] == {"limit": None, "permutations": 100, "granularity": "all"}
    assert plan.left_out == ()
    assert plan.seconds == pytest.approx(500 * 1e-4 * 12 + 500 * 1e-4 * 100)


def test_little_time_looks_at_fewer_and_says_so():
    plan = make_plan(Costs(0.01, None, 1, False), 10_000, 60.0, granularity="all", labelled=True)
    options = named(plan)
    assert options["ablation"]["limit"] == int(0.4 * 60 / 0.12) == 200
    assert options["permutation"] == {
        "limit": 50,
        "permutations": 100,
        "granularity": "all",
    }  # the 36 s left are 36 examples
    assert plan.seconds <= 1.5 * 60
    tight = make_plan(Costs(0.1, None, 1, False), 10_000, 60.0, granularity="all", labelled=True)
    assert named(tight)["permutation"] == {"limit": 50, "permutations": 20, "granularity": "all"}
    assert tight.left_out == ("each example is shuffled 20 times instead of 100, to fit into the time",)


@pytest.mark.parametrize("seconds", [30.0, 120.0, 600.0, 3600.0])
@pytest.mark.parametrize("each", [1e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("training", [None, 1.0, 20.0, 200.0])
def test_a_plan_keeps_to_its_time_unless_the_fewest_examples_are_too_many(seconds, each, training):
    plan = make_plan(Costs(each, training, 1, True), 2000, seconds, granularity="all", labelled=True)
    fewest = FEWEST * each * (12 * 5 + 5)
    assert plan.seconds <= 1.05 * seconds + fewest


def test_without_labels_there_is_no_ablation():
    plan = make_plan(Costs(1e-4, None, 1, False), 500, 60.0, granularity="all", labelled=False)
    assert list(named(plan)) == ["permutation"]
    assert "it needs labels" in plan.left_out[0]


def test_retraining_as_far_as_time_allows():
    costs = Costs(1e-4, 10.0, 1, True)
    assert seeds_and_variants(costs, 400, 200.0) == (5, ("uniform", "random"))  # 14 trainings of 10 s
    assert seeds_and_variants(costs, 400, 110.0) == (5, ("uniform",))  # 9 trainings
    assert seeds_and_variants(costs, 400, 75.0) == (4, ("uniform",))  # 7
    assert seeds_and_variants(costs, 400, 29.0) == (0, ())  # 3 trainings for two seeds, and nothing to look with
    assert seeds_and_variants(Costs(1e-4, None, 1, True), 400, 1e6) == (0, ())
    plan = make_plan(costs, 400, 29.0, granularity="all", labelled=True)
    assert named(plan)["ablation"]["retrain"] == 0
    assert plan.left_out == ("the budget allows 0 of 5 seeds for retraining, see --budget",)
    least = make_plan(costs, 400, 29.0, granularity="all", labelled=True, least=2)
    assert named(least)["ablation"]["retrain"] == 2
    assert named(least)["ablation"]["retrained"] == ("uniform",)


def test_a_plan_comes_back_from_json():
    plan = make_plan(Costs(0.01, 5.0, 1, True), 10_000, 60.0, granularity="layer", labelled=True)
    again = Plan.from_dict(json.loads(json.dumps(plan.as_dict())))
    assert json.dumps(again.as_dict()) == json.dumps(plan.as_dict())
    assert again.seconds == plan.seconds
