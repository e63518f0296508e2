"""Labels are for people: with every label rewritten, all verdicts and the answer of an audit stay the same."""

from inspect import signature
from itertools import count

import pytest

from support.experiments.tables import made_tables
from whence.auditing.audited import AuditedPart
from whence.report.overall_answer import answer
from whence.results.experiment import EXPERIMENTS, experiment
from whence.results.result import Result
from whence.results.verdict import Effect, Verdict

TABLES = list(made_tables())


@pytest.fixture
def nonsense(monkeypatch):
    """From now on every effect has a label that says nothing, each another one."""
    original, numbers = Effect.__init__, count()

    def rewritten(self, *values, **named):
        given = signature(original).bind(self, *values, **named)
        given.arguments["label"] = f"§{next(numbers)}%"
        original(*given.args, **given.kwargs)

    def rewrite():
        monkeypatch.setattr(Effect, "__init__", rewritten)

    return rewrite


def without_labels(verdict: Verdict) -> str:
    """The verdict as text, since NaN is not equal to itself."""
    plain = verdict.as_dict()
    return repr({**plain, "effects": [{**effect, "label": ""} for effect in plain["effects"]]})


def test_every_experiment_has_a_table():
    assert {name for name, _ in TABLES} == set(EXPERIMENTS.built_in)
    answers = {experiment(name).verdict(table).answer for name, table in TABLES}
    assert answers == {"yes", "yes, in part", "no", "undecided"}


@pytest.mark.parametrize(("name", "table"), TABLES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(TABLES)])
def test_no_verdict_depends_on_a_label(name, table, nonsense):
    before, numbers = experiment(name).verdict(table), repr(experiment(name).quantities(table))
    assert all(effect.key and effect.label for effect in before.effects)
    nonsense()
    after = experiment(name).verdict(table)
    assert all(effect.label.startswith("§") for effect in after.effects)
    assert "§" not in after.sentence + after.procedure + after.means + after.does_not_mean
    assert without_labels(after) == without_labels(before)
    assert repr(experiment(name).quantities(table)) == numbers


@pytest.mark.parametrize(("name", "table"), TABLES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(TABLES)])
def test_effects_are_told_apart_without_their_labels(name, table):
    effects = experiment(name).verdict(table).effects
    keys = [(effect.key, effect.place, effect.variant, effect.when) for effect in effects]
    assert len(set(keys)) == len(keys)


def test_no_audit_depends_on_a_label(nonsense):
    results = [Result(name, table, {}) for name, table in dict(TABLES).items()]
    before = AuditedPart("made", "", results).verdicts
    nonsense()
    after = AuditedPart("made", "", [Result(one.experiment, one.table, {}) for one in results]).verdicts
    assert {number: one.answer for number, one in after.items()} == {
        number: one.answer for number, one in before.items()
    }
    assert answer(after) == answer(before)
