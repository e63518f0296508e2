"""The yardstick: the same training from other seeds, beside what `beside` says of each."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from whence.core.errors import BadConfig
from whence.evaluation.context import Context
from whence.evaluation.model_comparison import compare
from whence.evaluation.runner import run_experiment
from whence.experiments import seeds
from whence.results.store import Store
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.train import train

TRAINING = Training(
    data="reviews", encoder="average", embedding_size=16, hidden_size=8, epochs=2, learning_rate=1e-2, seed=1
)


@pytest.fixture(scope="module")
def folder(few_reviews, tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    train(TRAINING, folder / "base", corpus=few_reviews, quiet=True)
    return folder


def test_every_other_seed_is_set_beside_the_model_and_its_own_is_not(few_reviews, folder, tmp_path):
    config = seeds.Config(model=str(folder / "base"), data="reviews", others=2)
    table = run_experiment("seeds", config, Store(tmp_path), corpus=few_reviews, quiet=True).table
    assert set(table["seed"]) == {0, 2}
    other = train(TRAINING.with_options({"seed": 2}), tmp_path / "again", corpus=few_reviews, quiet=True)
    subject = load(folder / "base")
    context = Context(subject, few_reviews["test"], range(40), quiet=True)
    apart = compare(context, replace(context, subject=other))
    rows = table[table["seed"] == 2].sort_values("example")
    np.testing.assert_allclose(rows["jsd"], apart.jsd_matched, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(rows["tvd"], apart.tvd, rtol=1e-5, atol=1e-9)
    sure = [float(subject.predict(subject.encode([e])).max()) for e in few_reviews["test"]]
    np.testing.assert_allclose(rows["max_probability"], sure, rtol=1e-4)
    verdict = seeds.verdict(table)
    assert verdict.question == 2
    assert verdict.effects[0].seeds == 2
    assert seeds.quantities(table)["JSD"].mean == pytest.approx(table["jsd"].mean())
    assert len(seeds.summary(table)) == 2
    assert seeds.figure(table).axes


def table(share: float) -> pd.DataFrame:
    rows = [
        {
            "example": n,
            "label": "x",
            "seed": seed,
            "max_probability": 0.9,
            "jsd": 0.5 if n < 50 * share else 0.01,
            "tvd": 0.05,
            "same": 1.0,
            "base": 1.0,
            "score": 1.0,
        }
        for seed in (1, 2)
        for n in range(50)
    ]
    return seeds.COLUMNS.table(rows)


@pytest.mark.parametrize(("share", "answer"), [(0.9, "no"), (0.0, "yes"), (0.4, "undecided")])
def test_the_verdict_counts_texts_that_are_attended_otherwise(share, answer):
    verdict = seeds.verdict(table(share))
    assert verdict.answer == answer
    assert verdict.effects[0].value == pytest.approx(share)


def test_a_model_that_came_trained_cannot_be_trained_again(few_reviews, folder, tmp_path):
    load(folder / "base").model.save_pretrained(tmp_path / "m")
    load(folder / "base").tokenizer.save_pretrained(tmp_path / "m")
    config = seeds.Config(model=str(tmp_path / "m"), data="reviews", others=1)
    with pytest.raises(BadConfig, match="cannot be retrained"):
        run_experiment("seeds", config, Store(tmp_path / "out"), corpus=few_reviews, quiet=True)
