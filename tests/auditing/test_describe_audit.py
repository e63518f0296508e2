"""Words for times, names of figures and notes in an audit."""

import json

import pandas as pd
import pytest

from whence.auditing.audited import RECORD, AuditedPart, read_audit
from whence.auditing.run import describe_time, recorded
from whence.auditing.write_report import slug
from whence.experiments import ablation, permutation
from whence.results.result import Result
from whence.results.store import Store


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 second"), (20.0, "20 s"), (90.0, "2 m"), (600.0, "10 m")])
def test_times_in_words(seconds, words):
    assert describe_time(seconds).startswith(words)


def test_figures_are_named_after_the_part():
    assert slug("my model on a/b c.csv") == "my-model-on-a-b-c-csv"
    assert all(json.dumps(module.CAPTION) for module in (ablation, permutation))
    assert ablation.CAPTION != permutation.CAPTION


def test_a_report_written_again_has_the_notes_of_its_audit_and_not_those_saved_with_a_table(tmp_path):
    result = Result("permutation", pd.DataFrame(), {"cache_key": {}, "notes": ["took column 'review' as the text"]})
    store = Store(tmp_path)
    store.put(result, {})
    now = Result(result.experiment, result.table, {**result.manifest, "notes": ["3 texts were cut"]})
    record = recorded(AuditedPart("a part", "about it", [now], ["no time for seeds"]), store, 1.0)
    (tmp_path / RECORD).write_text(json.dumps({"parts": [record]}), encoding="utf-8")
    assert read_audit(tmp_path).parts[0].notes == ["3 texts were cut", "no time for seeds"]
    del record["notes"]  # as audits were recorded before
    (tmp_path / RECORD).write_text(json.dumps({"parts": [record]}), encoding="utf-8")
    assert read_audit(tmp_path).parts[0].notes == ["took column 'review' as the text", "no time for seeds"]
