"""Memory that is known: models set by hand, what is forgotten worked out on paper, and a model that learns to keep."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kendalltau

from support.models import remembering
from whence.analysis.memory import by_delay, by_item, rank_correlation
from whence.core.errors import BadData
from whence.data.synthetic import recall, reviews
from whence.evaluation.runner import run_experiment
from whence.evaluation.trained_models import TrainedModels
from whence.experiments import memory
from whence.results.store import Store, table_bytes
from whence.results.verdict import NONE

KEPT = 0.5 ** (1 / np.linspace(12, 95, remembering.N))  # a half is left after 12 to 95 words


class ByHand(TrainedModels):
    """Models that need no training."""

    def trained(self, wanted):
        for name in wanted:
            yield name, self.context(self.subject)


def table_of(subject, corpus, **options) -> pd.DataFrame:
    given = ByHand(corpus, "test", list(range(len(corpus["test"]))), Path(), subject, quiet=True)
    table = memory.run(memory.Config(**options), given)
    return table[table["model"] != "given"]


@pytest.fixture(scope="module")
def fading() -> pd.DataFrame:
    corpus = remembering.apart()
    return table_of(remembering.keeping(corpus, KEPT), corpus, kinds=("gru",), seeds=5)


def test_what_keeps_everything_recalls_everything():
    corpus = remembering.apart()
    table = table_of(remembering.keeping(corpus, [1.0] * remembering.N), corpus, kinds=("gru",), seeds=1)
    assert table["right"].eq(1).all()
    assert table["longest"].eq(10).all()
    assert table["chance"].eq(1 / 20).all()
    verdict = memory.verdict(table)
    assert (verdict.question, verdict.answer) == (NONE, "undecided")
    assert verdict.sentence.startswith("No model forgot some items more than others")
    assert "GRU 100 % (chance 5 %)" in verdict.sentence


def test_what_knows_the_last_word_alone_is_right_by_chance():
    corpus = remembering.apart()
    table = table_of(remembering.forgetting(corpus), corpus, kinds=("rnn",), seeds=1)
    assert_allclose(by_delay(table)["recall"], 1 / 20)


def test_a_fading_memory_is_forgotten_when_half_of_it_is_gone(fading):
    half = np.linspace(12, 95, remembering.N)[fading["item"]]
    known = (half > fading["delay"]) | (fading["item"] == 0)  # the first is named where nothing is known
    assert fading["right"].eq(known.astype(float)).all()
    curve = by_delay(fading).set_index("delay")
    assert curve.loc[10, "recall"] == 1
    assert curve.loc[40, "recall"] == pytest.approx(known[fading["delay"] == 40].mean())
    assert curve.loc[40, "low"] < curve.loc[40, "recall"] < curve.loc[40, "high"]


def test_forgetting_by_item_and_its_relation_to_speed(fading):
    """Beyond ten words there are the delays 20, 40 and 80."""
    items = by_item(fading)
    assert len(items) == 5 * remembering.N
    one = items[items["seed"] == 1].set_index("item")
    for item in (1, 5, 19):
        half = np.linspace(12, 95, remembering.N)[item]
        assert one.loc[item, "forgotten"] == pytest.approx(np.mean([delay > half for delay in (20, 40, 80)]))
        assert one.loc[item, "speed"] == pytest.approx(KEPT[item] ** 10 * (1 - KEPT[item]), rel=1e-3)
    found = rank_correlation(items, "speed", ["gru"])
    assert found.mean == pytest.approx(kendalltau(one["speed"], one["forgotten"]).statistic)
    assert found.low < found.mean < found.high
    verdict = memory.verdict(fading)
    assert verdict.answer == "yes"
    assert verdict.sentence.startswith("Items whose state moves faster are forgotten more: Kendall's τ 0.")
    assert verdict.effects[0].n == remembering.N


def test_runs_that_forget_nothing_are_left_out(fading):
    items = by_item(fading)
    held = items.assign(forgotten=items["forgotten"].where(items["seed"] == 0, 0.0))
    assert rank_correlation(held, "speed", ["gru"]).mean == pytest.approx(
        rank_correlation(items, "speed", ["gru"]).mean
    )
    assert np.isnan(rank_correlation(held[held["seed"] == 1], "speed", ["gru"]).mean)
    assert np.isnan(rank_correlation(items, "speed", ["lstm"]).mean)


def test_the_reverse_order_is_a_no(fading):
    slow = fading.assign(speed=-fading["speed"])
    assert memory.verdict(slow).answer == "no"
    few = fading[fading["item"] < 9]
    assert memory.verdict(few).sentence.startswith("There are 9 items, too few to decide anything")


def test_without_longer_delays_than_learned_there_is_nothing_to_forget(fading):
    within_training = fading[fading["delay"] <= 10]
    verdict = memory.verdict(within_training)
    assert (verdict.answer, "nan" in verdict.sentence) == ("undecided", False)
    assert verdict.sentence.startswith("No delay is longer than those learned")
    assert memory.figures(within_training) == {}


def test_numbers_for_the_ledger_and_pictures(fading):
    found = memory.quantities(fading)
    curve = by_delay(fading).set_index("delay")
    assert found["chance, %"].mean == 5
    assert found["recall of GRU after 20 words, %"].mean == pytest.approx(100 * curve.loc[20, "recall"])
    assert found["recall of GRU, learned, %"].mean == 100
    assert found["recall of GRU, beyond, %"].mean == pytest.approx(100 * curve.loc[[20, 40, 80], "recall"].mean())
    assert found["τ of speed and forgetting, GRU"].mean == pytest.approx(memory.effects(fading)[0].value)
    assert memory.summary(fading)["model"].tolist() == ["GRU"]
    (axes,) = memory.figure(fading).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("words of noise", "recall")
    assert set(memory.figures(fading)) == {"speed", "drift"}
    still = fading.assign(speed=np.nan, drift=np.nan)
    assert memory.figures(still) == {}


def test_models_are_trained_kept_and_not_trained_again(tmp_path, monkeypatch):
    """A GRU learns noise of other words; the same result comes from the store, and the same bytes from elsewhere."""
    corpus = recall.load(sizes={"train": 1200, "dev": 200, "test": 320}, apart=True, trained=4, tested=(1, 4, 8))
    config = memory.Config(data="recall:apart", kinds=("gru",), seeds=1, width=32, epochs=6, learning_rate=0.01)
    store = Store(tmp_path)
    first = run_experiment("memory", config, store, corpus=corpus, quiet=True)
    assert first.table[first.table["delay"] <= 4]["right"].mean() > 0.9
    assert first.table["longest"].eq(4).all()
    assert len(list((tmp_path / "models").iterdir())) == 1
    assert first.manifest["corpus"]["n"] == 320
    monkeypatch.setattr(memory, "EXPERIMENT", replace(memory.EXPERIMENT, run=lambda *_: pytest.fail("run again")))
    again = run_experiment("memory", config, store, corpus=corpus, quiet=True)
    assert table_bytes(again.table) == table_bytes(first.table)


def test_a_given_model_stands_beside(tmp_path):
    corpus = recall.load(sizes={"train": 40, "dev": 20, "test": 40}, apart=True)
    subject = remembering.keeping(corpus, KEPT)
    config = memory.Config(kinds=("transformer",), seeds=1, width=8, epochs=0)
    table = run_experiment("memory", config, subject=subject, corpus=corpus, quiet=True).table
    assert table["model"].unique().tolist() == ["transformer", "given"]
    assert table[table["model"] == "given"]["right"].mean() > table[table["model"] == "transformer"]["right"].mean()
    assert table[table["model"] == "transformer"][["drift", "speed"]].isna().all(axis=None)
    assert "this model" in memory.verdict(table).sentence
    assert [effect.seeds for effect in memory.effects(table)] == [1, 1, 1, 1], "each is one model"


def test_other_corpora_are_refused_before_anything_is_trained(tmp_path):
    corpus = reviews.load(sizes={"train": 20, "dev": 10, "test": 10})
    with pytest.raises(BadData, match="an item to be remembered was expected"):
        run_experiment("memory", memory.Config(data="reviews"), Store(tmp_path), corpus=corpus, quiet=True)
    assert not (tmp_path / "models").exists()
