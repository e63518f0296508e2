"""Attention as a guide: the table, what is made of it, and a known answer."""

import numpy as np
import pandas as pd
import pytest

from support.tokenizing import reader
from support.trainings import SMALL, short_stories, word_by_word
from whence.analysis.guide import effects, levels, numbers
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.runner import run_experiment
from whence.experiments import guide
from whence.results.store import Store
from whence.subject.metrics import scores
from whence.training.train import train


@pytest.fixture(scope="module")
def folder(few_reviews, tmp_path_factory):
    folder = tmp_path_factory.mktemp("guide")
    train(SMALL, folder / "base", corpus=few_reviews, quiet=True)
    return folder


def test_every_source_guides_a_model_of_its_own(few_reviews, folder):
    config = guide.Config(model=str(folder / "base"), data="reviews", strengths=(0.5,), seeds=2, into="words")
    table = run_experiment("guide", config, Store(folder), corpus=few_reviews, quiet=True).table
    by_source = table.groupby("source")["seed"].nunique()
    assert dict(by_source) == dict.fromkeys(["adversary", "base", "none", "permuted", "random", "uniform"], 2)
    assert set(table.loc[table["source"] == "adversary", "strength"]) == {0.5}
    models = [path.name for path in (folder / "models").iterdir()]
    assert len(models) == 13  # twelve that are guided, and the adversary
    assert guide.figure(table).axes
    assert len(guide.summary(table)) == 6
    again = run_experiment("guide", config, Store(folder), corpus=few_reviews, quiet=True).table
    pd.testing.assert_frame_equal(table, again)


def test_a_guided_model_is_marked_with_the_attention_imposed(few_reviews, folder, tmp_path):
    config = guide.Config(model=str(folder / "base"), data="reviews", sources=("base", "uniform"))
    table = run_experiment("guide", config, Store(tmp_path), corpus=few_reviews, quiet=True).table
    (trained,) = [p for p in (tmp_path / "models").iterdir() if _source(p) == "base"]
    from whence.training.record import recorded_training

    subject = train(recorded_training(trained), trained, corpus=few_reviews, quiet=True)
    batch = subject.encode(few_reviews["test"])
    right = scores(subject.predict(batch), batch.predicted_positions, batch.labels).numpy()
    rows = table[table["source"] == "base"].sort_values("example")
    np.testing.assert_array_equal(rows["score"], right)


def _source(folder) -> str:
    import json

    return json.loads((folder / "training.json").read_text())["training"]["guided_by"]["source"]


def table(**shares: float) -> pd.DataFrame:
    rows = [
        {
            "example": n,
            "label": "x",
            "source": source,
            "strength": np.nan,
            "into": "same",
            "seed": seed,
            "base": 1.0,
            "score": float(n < 300 * share),
            "base_counts": None,
            "counts": None,
        }
        for source, share in shares.items()
        for seed in (0, 1)
        for n in range(300)
    ]
    return guide.COLUMNS.table(rows)


def test_the_verdict_is_decided_by_equal_weights():
    helps = guide.verdict(table(base=0.9, random=0.9, uniform=0.5))
    assert helps.answer == "yes"
    assert helps.effects[0].value == pytest.approx(40.0)
    assert guide.verdict(table(base=0.9, uniform=0.9)).answer == "no"
    assert guide.verdict(table(base=0.9)).answer == "undecided"
    assert numbers(table(base=0.9))["score under base"].mean == pytest.approx(90.0)
    both = effects(table(base=1.0, random=0.5, uniform=0.5))
    assert [effect.variant for effect in both] == ["uniform", "random"]


def test_a_model_without_a_pooling_attention_cannot_guide_single_words():
    there = Context(reader("bert"), [Example("good", "LABEL_0")], [0], quiet=True, name="guide")
    with pytest.raises(BadConfig, match="--into same"):
        guide.run(guide.Config(model="m", data="d", into="words", sources=("base",)), there)


def test_the_attention_of_a_model_that_found_the_deciding_fact_helps_one_that_cannot_find_it(tmp_path):
    config = guide.Config(model=str(word_by_word()), data="stories:words", sources=("base", "uniform"), into="words")
    verdict = guide.verdict(run_experiment("guide", config, Store(tmp_path), corpus=short_stories(), quiet=True).table)
    assert verdict.answer == "yes", verdict.sentence


def test_where_nothing_is_compared_it_is_shown_how_well_models_do(few_reviews, folder):
    config = guide.Config(model=str(folder / "base"), data="reviews", sources=("none",))
    table = run_experiment("guide", config, Store(folder), corpus=few_reviews, quiet=True).table
    (one,) = levels(table)
    assert (one.label, one.unit) == ("nothing imposed", "points of accuracy")
    assert one.value == pytest.approx(100 * table["score"].mean())
    assert guide.figure(table).axes
    assert guide.verdict(table).answer == "undecided"
