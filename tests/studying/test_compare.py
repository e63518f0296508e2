"""A study's runs compared: verdicts counted, effects pooled over corpora, written as a page and tables."""

import numpy as np
import pandas as pd
import pytest

from support.command import whence
from whence.core.errors import BadData
from whence.measures.intervals import Interval
from whence.measures.intervals.pooling import random_effects
from whence.studying.compare import answers, as_effects, compare, pool
from whence.studying.compare_page import captions

SAME = {
    "run": "ablation",
    "experiment": "ablation",
    "key": "score_lost",
    "when": "infer",
    "unit": "points",
    "smallest": 2.0,
    "label": "uniform attention",
}


def effects():
    """Two corpora of single texts with two seeds each, and one of pairs; two architectures."""
    rows = []
    for kind, data, architecture, value in (
        ("single", "a", "lstm", 1.0),
        ("single", "a", "lstm", 3.0),
        ("single", "b", "lstm", 2.0),
        ("single", "b", "bert", 8.0),
        ("pair", "c", "lstm", 20.0),
        ("pair", "d", "lstm", np.nan),
    ):
        place = {
            "type": kind,
            "data": data,
            "architecture": architecture,
            "model": "m",
            "seed": 0,
            "variant": "uniform",
        }
        rows.append({**SAME, **place, "deciding": True, "value": value, "low": value - 1, "high": value + 1, "n": 50})
    return pd.DataFrame(rows)


def of(pooled, kind, architecture="all"):
    (found,) = pooled[(pooled["type"] == kind) & (pooled["architecture"] == architecture)].to_dict("records")
    return found


def test_corpora_are_pooled_by_random_effects():
    pooled = pool(effects())
    corpora = [
        random_effects([Interval(v, v - 1, v + 1) for v in values], at_least_fixed=True)
        for values in ((1.0, 3.0), (2.0, 8.0))
    ]
    expected = random_effects(corpora, at_least_fixed=True)
    found = of(pooled, "single")
    assert (found["value"], found["low"], found["high"]) == (expected.mean, expected.low, expected.high)
    assert (found["corpora"], found["runs"], found["n"]) == (2, 4, 200)
    assert found["value"] == pytest.approx(2.3)  # 2 and 5 weighted by 1 / (12.7 · 1)² and 1 / (12.7 · 3)²


def test_one_corpus_has_its_own_interval_and_what_is_not_finite_is_left_out():
    found = of(pool(effects()), "pair")
    assert (found["value"], found["low"], found["high"], found["corpora"]) == (20, 19, 21, 1)
    assert of(pool(effects()), "single", "bert")["value"] == 8


def test_equal_estimates_are_not_exact():
    equal = [Interval(0.0, -1.0, 1.0)] * 4
    assert random_effects(equal).high == 0.0
    found = random_effects(equal, at_least_fixed=True)
    assert found.high == pytest.approx(3.1824463 * (1 / 1.959964) / 2, rel=1e-5)  # t(3) · σ / √4


def test_what_is_lost_without_attention_is_drawn_first():
    pooled = pd.concat([pool(effects().assign(key="other", run="x")), pool(effects())])
    assert list(captions(pooled)) == ["score_lost", "other"]
    drawn = as_effects(pooled, "score_lost")
    assert [one.label for one in drawn] == [
        "single, uniform attention (2 corpora, 4 runs)",
        "pair, uniform attention (1 corpus, 2 runs)",
    ]


def test_answers_are_counted():
    place = {"run": "r", "type": "t", "architecture": "a"}
    found = answers(pd.DataFrame({**place, "answer": answer} for answer in ("no", "undecided", "no", "yes")))
    assert found.to_dict("records") == [{**place, "yes": 1, "no": 2, "undecided": 1}]


def test_the_command_writes_a_page(tmp_path, capsys):
    from studying.test_run import uninterrupted

    out = uninterrupted()
    said = whence(capsys, "compare", "small", "--out", out, "--to", tmp_path / "page")
    assert said.code == 0
    page = (tmp_path / "page" / "compare.html").read_text()
    assert "8 runs." in page
    assert "<svg" in page
    assert "Vashishth" in page
    table = pd.read_csv(tmp_path / "page" / "verdicts.csv")
    assert set(table["run"]) == {"ablation", "attention"}
    assert len(table) == 8
    with pytest.raises(BadData, match="no study other was begun"):
        compare(out, "other")
