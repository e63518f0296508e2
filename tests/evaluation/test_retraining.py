"""Retraining: from seeds, and refused where it cannot be done."""

import pytest

from support import saved_models
from whence.core.errors import BadConfig
from whence.data.examples import Corpus
from whence.evaluation.runner import run_experiment
from whence.experiments import ablation
from whence.results.store import Store
from whence.training.config import Training
from whence.training.train import train


def config(model=saved_models.bert, **options) -> ablation.Config:
    return ablation.Config(model=str(model()), data=str(saved_models.labelled()), draws=2, limit=6, **options)


def test_what_cannot_be_retrained_says_so(tmp_path):
    with pytest.raises(BadConfig, match="cannot be retrained: that needs a model made by `whence train`"):
        run_experiment("ablation", config(retrain=2), Store(tmp_path), quiet=True)


def test_retrained_from_seeds(tmp_path):
    """Reference models are retrained with uniform attention; the given model serves as its own seed."""
    corpus = saved_models.corpus()
    small = Corpus(
        "reviews", {"train": corpus["train"][:64], "dev": corpus["dev"][:8], "test": corpus["test"][:8]}, corpus.labels
    )
    training = Training(embedding_size=4, hidden_size=4, epochs=1)
    train(training, tmp_path / "model", corpus=small, quiet=True)
    options = ablation.Config(
        model=str(tmp_path / "model"), data="reviews", retrain=2, retrained=("uniform",), variants=("uniform",)
    )
    store = Store(tmp_path / "out")
    result = run_experiment("ablation", options, store, corpus=small, quiet=True)
    counted = result.table.groupby(["when", "seed"]).size().to_dict()
    assert counted == {("infer", 0): 8, ("infer", 1): 8, ("train+infer", 0): 8, ("train+infer", 1): 8}
    trained = sorted(folder.name.split("-", 2)[2] for folder in (tmp_path / "out" / "models").iterdir())
    assert trained == ["none-seed1", "uniform-seed0", "uniform-seed1"]


def test_a_model_of_another_corpus_is_not_retrained(tmp_path):
    options = config(saved_models.additive, retrain=2)
    with pytest.raises(BadConfig, match=r"cannot be retrained: reviews-24.csv has no splits train and dev; leave"):
        run_experiment("ablation", options, Store(tmp_path), quiet=True)


def test_variants_without_retraining_is_refused():
    with pytest.raises(BadConfig, match="retrained names the variants to retrain with, and retrain the number"):
        run_experiment("ablation", config(retrained=("uniform",)), quiet=True)
