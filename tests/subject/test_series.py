"""Models of series: trained, saved, loaded; what is refused; what the commands say."""

import json

import numpy as np
import pytest
from torch.testing import assert_close

import whence
from whence.cli import main
from whence.core.errors import BadConfig, BadData, CannotLoad
from whence.data.examples import Corpus, Example, narrative
from whence.data.synthetic import narratives, reviews
from whence.evaluation.runner import run_experiment
from whence.results.experiment import EXPERIMENTS
from whence.subject.metrics import agreement, score
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.init import task_of, untrained
from whence.training.train import train

TINY = {"embedding_size": 8, "hidden_size": 8, "layers": 1, "heads": 2, "head_size": 4, "epochs": 2}
SIZES = {"train": 12, "dev": 6, "test": 6}


@pytest.fixture(scope="module")
def corpus():
    return narratives.load(sizes=SIZES)


@pytest.fixture(scope="module")
def folder(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("series") / "model"
    train(Training(model="pooled_series", data="narratives", **TINY), folder, corpus=corpus, quiet=True)
    return folder


def test_defaults_are_those_of_the_authors_code():
    """DETAILS §1.1: Adam at 1e-4, weight decay 1e-4, 25 narratives at a time, up to 300 epochs; sizes as for SST."""
    training = Training(model="pooled_series")
    assert (training.optimizer, training.learning_rate, training.weight_decay) == ("adam", 1e-4, 1e-4)
    assert (training.batch_size, training.epochs) == (25, 300)
    assert {"layers": 6, "heads": 8, "hidden_size": 300}.items() <= training.flat().items()
    code = Training(model="pooled_series", mode="author-code")
    assert {"norm": "query", "positions": "none"}.items() <= code.flat().items()
    assert code.dropout_epochs == 0, "only the classifier's training forgot to switch dropout on again"


def test_a_trained_model_is_saved_and_predicts_when_loaded(corpus, folder):
    subject, batch = load(folder), load(folder).encode(corpus["test"])
    assert (subject.task.name, list(subject.sites)) == ("series", ["layers.0.attention", "local"])
    again = train(Training(model="pooled_series", data="narratives", **TINY), folder, corpus=corpus, quiet=True)
    assert_close(again.predict(batch), subject.predict(batch))
    record = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    assert record["best"] == pytest.approx(score(subject, corpus["dev"]), abs=1e-5), "the dev score is the concordance"
    assert max(record["dev"]) == record["best"]


def test_what_is_learned_from_a_saved_one(corpus, folder, tmp_path):
    tuned = train(
        Training(model=str(folder), data="narratives", epochs=1, batch_size=4),
        tmp_path / "m",
        corpus=corpus,
        quiet=True,
    )
    assert tuned.task.name == "series"
    assert tuned.fingerprint != load(folder).fingerprint


def test_the_task_of_a_corpus(corpus):
    assert task_of(corpus) == "series"
    assert task_of(Corpus("mine", {"train": (Example("a b", "x", windows=("a", "b")),)})) == "sequence-classification"


TOLD = narrative([["a"], ["b"]], [0.1, 0.2])


@pytest.mark.parametrize(
    ("splits", "says"),
    [
        ({"train": (TOLD, narrative([["a"], ["b"]])), "dev": (TOLD,)}, "examples without values in train"),
        ({"train": (TOLD,), "dev": (TOLD, narrative([["a"]], [0.5]))}, r"of one window in dev \(the first is number 1"),
        ({"train": (TOLD, narrative([["a"]], [0.5])), "dev": (TOLD,)}, "expected two windows or more"),
        ({"train": (TOLD, Example("a b")), "dev": (TOLD,)}, "examples without values in train"),
        ({"train": (TOLD,)}, "training needs train and dev"),
    ],
)
def test_narratives_that_cannot_be_learned_from_are_said(splits, says, tmp_path):
    with pytest.raises(BadData, match=says):
        train(Training(model="pooled_series", **TINY), tmp_path / "m", corpus=Corpus("mine", splits), quiet=True)


@pytest.mark.parametrize("model", ["additive", "hierarchical", "transformer", "recurrent"])
def test_models_of_labels_and_texts_refuse_narratives(model, corpus):
    with pytest.raises(BadConfig, match="narratives asks for a value for each window of a narrative"):
        untrained(Training(model=model, hidden_size=8), corpus)


def test_a_model_of_series_refuses_labels(folder):
    made = reviews.load(sizes={"train": 8, "dev": 4})
    with pytest.raises(BadConfig, match="a value for each window of a narrative; reviews asks for one label"):
        untrained(Training(model="pooled_series", **TINY), made)
    with pytest.raises(CannotLoad, match="could not be loaded"):
        untrained(Training(model=str(folder)), made)


@pytest.mark.parametrize("experiment", ["ablation", "permutation", "faithfulness", "layers", "gating"])
def test_experiments_on_classes_refuse_values(experiment, folder, corpus):
    config = EXPERIMENTS.get(experiment).config(model=str(folder), data="narratives")
    with pytest.raises(BadConfig, match=rf"predicts values, not classes .*; {experiment} needs classes"):
        run_experiment(experiment, config, corpus=corpus)


def test_words_are_ranked_in_narratives_too(folder, corpus):
    """Wu et al. 2020, §6.3 and §6.4 have both tasks; what is counted are words, whatever the model answers."""
    config = EXPERIMENTS.get("words").config(model=str(folder), data="narratives", method=("lat", "random"))
    table = run_experiment("words", config, corpus=corpus).table
    of_lat = table[table["method"] == "lat"]
    assert of_lat["count"].sum() == sum(len(example.words) for example in corpus["test"])
    assert (of_lat["score"] * of_lat["count"]).sum() == pytest.approx(
        sum(len(example.windows) for example in corpus["test"])
    ), "the scores of a window sum to one"
    config = EXPERIMENTS.get("lexicon").config(model=str(folder), data="narratives", lexicon="vader")
    table = run_experiment("lexicon", config, corpus=corpus).table
    rated = table.dropna(subset="valence").drop_duplicates("word").set_index("word")["valence"]
    assert all(rated[word] == narratives.RATINGS[word] for word in rated.index)


def test_an_audit_refuses_values(folder, tmp_path):
    with pytest.raises(BadConfig, match=r"predicts values, not classes .*; an audit needs classes"):
        whence.audit(folder, "narratives", out=tmp_path)


def test_a_window_is_explained(folder):
    methods = ["lat", "raw_attention", "gradient_x_input", "random"]
    explanation = whence.explain(folder, "the day was lovely", methods=methods)
    assert explanation.caption.startswith("the value ")
    assert "probability" not in explanation.caption
    assert explanation.tokens == ["the", "day", "was", "lovely"]
    assert list(explanation.scores) == methods
    assert explanation.as_dict()["probability"] is None
    with pytest.raises(BadConfig, match="leave_one_out takes tokens from a text"):
        whence.explain(folder, "the day was lovely", methods=["leave_one_out"])


@pytest.fixture
def said(capsys):
    def command(*arguments: object) -> str:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        heard = capsys.readouterr()
        assert not stopped.value.code, heard.err
        return heard.out

    return command


def test_train_by_command(said, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(narratives, "SIZES", SIZES)
    sizes = [part for name, size in TINY.items() for part in (f"--{name.replace('_', '-')}", size)]
    arguments = ["train", "pooled_series", "--data", "narratives", *sizes, "--out", tmp_path / "m"]
    trained = json.loads(said(*arguments, "--json"))
    found = agreement(load(tmp_path / "m"), corpus["test"])
    assert (trained["split"], trained["concordance"]) == ("test", pytest.approx(found.mean(), abs=1e-4))
    assert trained["sd_over_examples"] == pytest.approx(found.std(), abs=1e-4)
    assert f"concordance {np.mean(found):.3f} (SD over narratives" in said(*arguments, "--quiet")
    shown = said("explain", tmp_path / "m", "the day was lovely", "--method", "lat")
    assert "the value " in shown
