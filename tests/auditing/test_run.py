"""An audit: planned once, resumed, reported."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from support import saved_models
from support.saved_models import audit_settings as settings
from whence.auditing import prepare as preparing
from whence.auditing import run as running
from whence.auditing import write_report as reporting
from whence.auditing.audited import read_audit
from whence.auditing.run import audit
from whence.auditing.write_report import write_report
from whence.core.errors import BadData, WhenceError
from whence.experiments import ablation, faithfulness, permutation
from whence.results.errors import DamagedResult
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import Answer


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> tuple[Path, list[str]]:
    """A copy of a finished audit, and what it said."""
    out = tmp_path_factory.mktemp("audit") / "out"
    shutil.copytree(saved_models.audited(), out)
    return out, saved_models.audit_messages()


@pytest.fixture(autouse=True)
def no_files_of_figures(audited, monkeypatch):
    """They take longest; those of the first audit are there."""
    monkeypatch.setattr(reporting, "save", lambda *_: [])


def tables(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("results/*/*/*"))}


def test_what_is_there_afterwards(audited):
    out, _ = audited
    assert sorted(path.name for path in out.iterdir()) == ["audit.json", "figures", "plans", "report.html", "results"]
    there = {path.name for path in (out / "results").iterdir()} - {"representation_erasure"}  # if there was time for it
    assert sorted(there) == [
        "ablation",
        "faithfulness",
        "identifiability",
        "instance_adversary",
        "lexicon",
        "permutation",
    ]
    assert {path.suffix for path in (out / "figures").iterdir()} == {".svg", ".pdf", ".png"}
    assert not list(out.rglob(".*"))


def test_the_plan_is_told_before_it_is_run(audited):
    _, said = audited
    single = r"(representation_erasure of \d+ examples of test, )?"  # if there was time for it
    names = ("ablation", "permutation", f"{single}faithfulness", "instance_adversary", "identifiability", "lexicon")
    steps = ", ".join(rf"{name} of \d+ examples of test" for name in names)
    plan = re.match(rf"The plan: {steps}; about \d+ seconds? of the 0.05", said[0])
    assert plan
    assert "  bert-200 on reviews-24.csv: took column 'label' as the label" in said
    assert sum("(about" in line for line in said) == (7 if plan[1] else 6)


def test_five_questions_are_answered_and_the_other_says_that_it_was_not_asked(audited):
    out, _ = audited
    ((name, given),) = read_audit(out).verdicts.items()
    assert name == "bert-200 on reviews-24.csv"
    assert list(given) == [1, 2, 3, 5, 6]
    assert all(verdict.answer in get_args(Answer) for verdict in given.values())
    page = (out / "report.html").read_text()
    assert len(page) < 5_000_000
    assert "Does attention matter?" in page
    assert "Not asked: question 4." in page


def test_an_audit_that_is_finished_is_not_run_again(audited, monkeypatch):
    out, _ = audited
    before = tables(out)
    for module in (ablation, permutation, faithfulness):
        monkeypatch.setattr(module, "EXPERIMENT", replace(module.EXPERIMENT, run=lambda *_: pytest.fail("run again")))
    monkeypatch.setattr(preparing, "measure_costs", lambda *_: pytest.fail("planned again"))
    audit(settings(out), quiet=True, say=lambda _: None)
    assert tables(out) == before


def test_an_audit_that_was_cut_off_goes_on_with_its_plan(audited, tmp_path, monkeypatch):
    done, _ = audited
    out, uninterrupted = tmp_path / "out", permutation.EXPERIMENT
    (out / "plans").mkdir(parents=True)
    for plan in (done / "plans").iterdir():
        (out / "plans" / plan.name).write_bytes(plan.read_bytes())

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(permutation, "EXPERIMENT", replace(uninterrupted, run=interrupted))
    with pytest.raises(KeyboardInterrupt):
        audit(settings(out), quiet=True, say=lambda _: None)
    assert [path.split("/")[1] for path in tables(out)] == ["ablation", "ablation"]
    assert not (out / "report.html").exists()
    with pytest.raises(BadData, match="holds no finished audit"):
        write_report(read_audit(out))
    monkeypatch.setattr(permutation, "EXPERIMENT", uninterrupted)
    again = replace(ablation.EXPERIMENT, run=lambda *_: pytest.fail("run again"))
    monkeypatch.setattr(ablation, "EXPERIMENT", again)
    saved_models.with_finished_results(out, "faithfulness", "instance_adversary")
    audit(settings(out), quiet=True, say=lambda _: None)
    expected = {name: content for name, content in tables(done).items() if name.endswith("parquet")}
    assert {name: content for name, content in tables(out).items() if name.endswith("parquet")} == expected


def test_another_budget_is_another_plan(audited, monkeypatch):
    out, _ = audited
    asked = []

    def planned(*_, **__):
        asked.append(1)
        pytest.skip("planned")

    monkeypatch.setattr(running, "run_experiment", planned)
    with pytest.raises(pytest.skip.Exception):
        audit(settings(out, budget=0.06), quiet=True, say=lambda _: None)
    assert len(list((out / "plans").iterdir())) == 2


def test_a_damaged_plan_is_told(tmp_path, audited):
    out, _ = audited
    (tmp_path / "plans").mkdir()
    for plan in (out / "plans").iterdir():
        (tmp_path / "plans" / plan.name).write_text('{"steps": [{"experiment"')
    with pytest.raises(BadData, match=r"the plan .* is damaged .* delete that file and run again"):
        audit(settings(tmp_path), quiet=True, say=lambda _: None)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"parts": [{"name": "x"}]}', "not json"])
def test_a_damaged_record_is_told(tmp_path, content):
    (tmp_path / "audit.json").write_text(content)
    with pytest.raises(BadData, match=r"audit.json is damaged .* run the audit again"):
        write_report(read_audit(tmp_path))


def test_a_damaged_table_is_told(audited, tmp_path):
    out, _ = audited
    shutil.copytree(out, tmp_path / "copy")
    next((tmp_path / "copy").glob("results/*/*/table.parquet")).write_bytes(b"PAR1")
    with pytest.raises(DamagedResult, match="Delete that folder and run again"):
        write_report(read_audit(tmp_path / "copy"))


def test_tables_are_loaded_and_judged_once(audited, monkeypatch):
    out, _ = audited
    loaded, judged = Counter[str](), Counter[str]()
    load_, verdict_ = Store.load, Result.verdict
    monkeypatch.setattr(Store, "load", lambda self, folder: loaded.update([str(folder)]) or load_(self, folder))
    monkeypatch.setattr(Result, "verdict", lambda self: judged.update([self.experiment]) or verdict_(self))
    finished = audit(settings(out), quiet=True, say=lambda _: None)
    assert finished.verdicts[finished.parts[0].name] == finished.parts[0].verdicts
    assert set(loaded.values()) == set(judged.values()) == {1}
    assert list(judged) == [result.experiment for result in finished.parts[0].results]


def test_an_audit_whose_report_fails_is_not_finished(audited, tmp_path, monkeypatch):
    out = tmp_path / "out"
    shutil.copytree(audited[0], out)
    (out / "audit.json").unlink()
    (out / "report.html").unlink()

    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr(permutation, "EXPERIMENT", replace(permutation.EXPERIMENT, figure=broken))
    with pytest.raises(ZeroDivisionError):
        audit(settings(out), quiet=True, say=lambda _: None)
    with pytest.raises(BadData, match="holds no finished audit"):
        read_audit(out)
    assert not (out / "report.html").exists()


def test_the_report_is_written_again_byte_for_byte(audited):
    out, _ = audited
    before = (out / "report.html").read_bytes()
    write_report(read_audit(out))
    assert (out / "report.html").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"data": None}, "came without data; expected a table or a corpus after it"),
        ({"model": None}, "came without a model; expected a folder or hub name before it"),
        ({"split": "dev"}, "has no split 'dev'; it has: test"),
        ({"device": "abacus"}, "the device 'abacus' cannot be used here"),
    ],
)
def test_settings_that_make_no_sense(options, words, tmp_path):
    with pytest.raises(WhenceError, match=re.escape(words)):
        audit(settings(tmp_path / "out", **options), quiet=True, say=lambda _: None)
    assert not (tmp_path / "out").exists()


def test_examples_without_labels_are_audited_by_shuffling_and_removing():
    out = saved_models.audited(labels=False)
    assert any("no ablation: it needs labels" in line for line in saved_models.audit_messages(labels=False))
    (given,) = read_audit(out).verdicts.values()
    assert list(given) == [1, 2, 3, 5]
    assert "no ablation" in (out / "report.html").read_text()


def test_hidden_labels_and_other_corpora_are_said(tmp_path):
    rows = [
        {"text": e.text, "label": e.label if n % 2 else "", "split": ("test", "validation")[n % 2]}
        for n, e in enumerate(saved_models.corpus()["test"][:8])
    ]
    hidden = saved_models.table(tmp_path / "hidden.csv", rows)
    part = preparing.prepare(settings(tmp_path / "out"), Store(tmp_path / "out"), str(saved_models.bert()), str(hidden))
    assert part.plan.left_out[-1] == "the split dev has them: --split dev"
    rows = [
        {"text": e.text, "label": e.label, "split": split}
        for split in ("train", "dev", "test")
        for e in saved_models.corpus()["test"][:8]
    ]
    other = saved_models.table(tmp_path / "other.csv", rows)
    part = preparing.prepare(
        settings(tmp_path / "out"), Store(tmp_path / "out"), str(saved_models.additive()), str(other)
    )
    assert part.plan.left_out[-1] == (
        "models are not retrained: the model was trained on other examples than those of other.csv"
    )
    assert not any(step.options.get("retrain") for step in part.plan.steps)
