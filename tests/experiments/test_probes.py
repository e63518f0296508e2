"""Probes: what is planted in a vector is found, noise is not; a plain scikit-learn loop; a whole run by its path."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.proportion import proportion_confint

from support import saved_models
from whence.analysis.probes import accuracies, bits, unbits
from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.probing.sampled import task_from_labels
from whence.data.probing.tasks import Item
from whence.data.tables.reader import read_table
from whence.evaluation.context import Context
from whence.evaluation.probe import Probe, chance, control_labels, most_frequent
from whence.evaluation.sentence_vectors import Vectors, key, vectors
from whence.experiments import probes
from whence.subject.hidden_states import bag, layer_vectors
from whence.subject.subject import load

WORDS = ["the", "a", "one", "some", "every", "no", "my", "your", "this", "that", "his", "her"]
CONFIG = probes.Config(model="m", data="made", train=300, test=200, epochs=20)


def sentences(n, seed=0, classes="ab"):
    rng = np.random.default_rng(seed)
    return tuple(
        Example(
            f"{WORDS[rng.integers(len(WORDS))]} w{rng.integers(50)} {seed}.{number}",
            classes[rng.integers(len(classes))],
        )
        for number in range(n)
    )


@dataclass(frozen=True)
class Planted:
    """A context whose model writes the label into its second layer; its word vectors and the rest are noise."""

    corpus: Corpus
    seed: int = 0
    name: str = "probes"
    quiet: bool = True
    learned: bool = True
    tasks_and_sources: list = field(default_factory=list)

    @property
    def examples(self):
        return self.corpus["test"]

    def untrained(self):
        return Planted(self.corpus, self.seed, learned=False, tasks_and_sources=self.tasks_and_sources)

    def vectors(self, items, read):
        self.tasks_and_sources.append((self.seed, self.learned, len(items), read))
        unique = {key(item.example): item for item in items}
        rng = np.random.default_rng([self.seed, self.learned])
        noise = rng.normal(size=(4, len(unique), 6)).astype(np.float32)
        labels = np.array(["abc".index(item.label) for item in unique.values()])
        planted = np.concatenate([noise[3], 3 * np.eye(3, dtype=np.float32)[labels]], 1)
        places = {one: number for number, one in enumerate(unique)}
        return Vectors(places, noise[0], [noise[1], noise[2], planted if self.learned else noise[3]])


def run(config, context):
    """The experiment where vectors are planted."""
    with (
        patch("whence.evaluation.retraining.untrained", Planted.untrained),
        patch("whence.evaluation.sentence_vectors.vectors", Planted.vectors),
    ):
        return probes.run(config, context)


@pytest.fixture(scope="module")
def planted():
    context = Planted(Corpus("made", {"train": sentences(400), "test": sentences(300, 1)}))
    return context, run(CONFIG, context)


def share(table, model, layer, probe):
    rows = table[(table["model"] == model) & (table["layer"] == layer) & (table["probe"] == probe)]
    return float(unbits(rows["right"]).mean())


def test_what_is_planted_is_found_and_noise_is_not(planted):
    _, table = planted
    majority = share(table, "majority", -1, "none")
    for probe in ("logistic", "mlp"):
        assert share(table, "trained", 2, probe) == 100.0
        for model, layer in (("trained", 0), ("trained", 1), ("random", 2), ("bag", -1)):
            assert share(table, model, layer, probe) == pytest.approx(majority, abs=12)
    counts = table.groupby("model").size()
    assert dict(counts) == {"bag": 2, "majority": 1, "random": 6, "trained": 6}
    assert set(table.loc[table["control"] == "", "model"]) == {"majority", "random"}
    assert (table["task"] == "made").all()
    assert (table["train"] == 300).all()
    assert set(table["right"].str.len()) == {200}


def test_the_verdict_and_its_numbers(planted):
    context, table = planted
    assert [tasks_and_sources[:2] for tasks_and_sources in context.tasks_and_sources] == [(0, True), (0, False)]
    whole, one = probes.effects(table)
    expected = np.mean(
        [share(table, "trained", layer, "logistic") - share(table, "random", layer, "logistic") for layer in (1, 2)]
    )
    assert whole.value == one.value == pytest.approx(expected)
    said = probes.verdict(table)
    assert (said.question, said.answer) == (0, "yes")
    assert "Most in made: " in said.sentence
    assert "enters the first layer" not in said.procedure
    numbers = probes.quantities(table)
    assert numbers["made, layer 2, logistic"].mean == 100
    got = numbers["made, layer 2, mlp, selectivity"].mean
    assert got == pytest.approx(100 - numbers["made, layer 2, mlp, control"].mean)
    assert numbers["made, majority"].mean == share(table, "majority", -1, "none")
    assert {"made, bag, logistic", "made, layer 1, random weights, mlp"} <= set(numbers)
    (row,) = probes.summary(table).to_dict("records")
    assert (row["classes"], row["train"], row["test"], row["layer 2"]) == (2, 300, 200, 100.0)
    assert row["best other probe"] == 100.0
    assert row["selectivity of best"] == pytest.approx(numbers["made, layer 2, logistic, selectivity"].mean)
    assert len(probes.figure(table).axes) == 1
    assert list(probes.figures(table)) == ["selectivity"]


def test_seeds_draw_other_models_and_control_labels():
    context = Planted(Corpus("made", {"train": sentences(120), "test": sentences(60, 1)}))
    table = run(CONFIG.model_copy(update={"seeds": 2, "probe": ("logistic",), "seed": 3}), context)
    assert [tasks_and_sources[:2] for tasks_and_sources in context.tasks_and_sources] == [
        (0, True),
        (3, False),
        (4, False),
    ]
    rows = table[(table["model"] == "trained") & (table["layer"] == 1)]
    assert list(rows["seed"]) == [3, 4]
    assert rows["right"].nunique() == 1, "a logistic regression does not depend on a seed"
    assert rows["control"].nunique() == 2
    assert probes.effects(table)[0].seeds == 2


def test_without_control_and_random_weights():
    context = Planted(Corpus("made", {"train": sentences(120), "test": sentences(60, 1)}))
    table = run(CONFIG.model_copy(update={"control": False, "untrained": False, "probe": ("logistic",)}), context)
    assert probes.figures(table) == {}
    assert "above the most frequent label" in probes.effects(table)[0].label
    assert np.isnan(probes.summary(table)["selectivity of best"].iloc[0])


def test_nothing_to_probe_for_is_said():
    context = Planted(Corpus("made", {"train": sentences(30), "test": sentences(9, 1)}))
    with pytest.raises(BadData, match=r"made holds nothing to probe for.*9 sentences in the test, fewer than 20"):
        run(CONFIG, context)
    bare = Planted(Corpus("made", {"test": tuple(Example(f"a {n}") for n in range(90))}))
    with pytest.raises(BadData, match=r"expected sentences with trees and morphology.*made: 0 classes"):
        run(CONFIG, bare)


def made_table(trained, random, n=200, tasks=("one", "two")):
    """Shares that are right, the same for every task."""
    rows = []
    for task in tasks:
        for model, layer, right in (
            ("majority", -1, 0.5),
            ("bag", -1, trained),
            ("trained", 0, trained),
            ("trained", 1, trained),
            ("random", 0, random),
            ("random", 1, random),
        ):
            probe = "none" if model == "majority" else "logistic"
            rows.append(
                {
                    "task": task,
                    "model": model,
                    "layer": layer,
                    "probe": probe,
                    "seed": 0,
                    "right": bits(np.arange(n) % 100 < 100 * right),
                    "control": "",
                    "classes": 2,
                    "train": 9,
                    "source": "hand",
                    "left_out": "three: 0 sentences",
                }
            )
    return probes.COLUMNS.table(rows)


@pytest.mark.parametrize(
    ("trained", "random", "n", "answer"),
    [
        (0.9, 0.5, 200, "yes"),
        (0.5, 0.5, 400, "no"),
        (0.52, 0.5, 200, "undecided"),
        (0.9, 0.5, 9, "undecided"),
    ],
)
def test_layers_know_more_if_the_interval_is_above_two_points(trained, random, n, answer):
    said = probes.verdict(made_table(trained, random, n))
    assert said.answer == answer
    assert "Left out: three: 0 sentences." in said.procedure
    assert "bag of word vectors is what enters the first layer" in said.procedure


def test_accuracies_of_one_seed_have_wilsons_interval():
    table = made_table(0.7, 0.5, 200)
    one = table.groupby(["task", "model", "layer", "probe"], sort=False).head(1)  # of one seed
    for row in accuracies(one).query("measure == 'right'").to_dict("records"):
        right = round(row["value"] * 2)
        theirs = proportion_confint(right, 200, method="wilson")
        assert (row["low"], row["high"]) == pytest.approx((100 * theirs[0], 100 * theirs[1]))


def test_ones_and_zeros_there_and_back():
    assert bits(np.array([True, False, True])) == "101"
    assert unbits(pd.Series(["101", "000"])).tolist() == [[100, 0, 100], [0, 0, 0]]


def test_a_logistic_probe_is_a_plain_loop_of_scikit_learn():
    rng = np.random.default_rng(0)
    train, test = rng.normal(3, 2, (200, 7)).astype(np.float32), rng.normal(3, 2, (90, 7)).astype(np.float32)
    train[:, 6] = test[:, 6] = 1  # which tells nothing
    labels, answers = (["xyz"[int(np.argmax(row[:3]))] for row in side] for side in (train, test))
    scale = StandardScaler().fit(train)
    model = LogisticRegression(C=0.05, max_iter=1000).fit(scale.transform(train), labels)
    expected = [
        str(model.predict(scale.transform(row[None]))[0]) == answer for row, answer in zip(test, answers, strict=True)
    ]
    found = Probe("logistic", strength=0.05).correct(train, labels, test, answers)
    assert (found == np.array(expected)).mean() > 0.98, "but for rounding"
    assert found.mean() > 0.8
    again = [Probe("mlp", seed=seed, epochs=60).correct(train, labels, test, answers) for seed in (0, 0, 1)]
    assert (again[0] == again[1]).all()
    assert again[0].mean() > 0.8
    assert Probe("logistic").correct(train, ["x"] * 200, test, answers).tolist() == [a == "x" for a in answers]


def test_the_most_frequent_label_by_hand():
    assert most_frequent(list("abbc"), list("abca")).tolist() == [False, True, False, False]
    assert most_frequent(list("ba"), list("ab")).tolist() == [True, False], "of equals the first by name"


def items(words):
    return [Item(Example(f"{word} x", words=(word, "x")), "?") for word in words]


def test_control_labels_are_of_types_and_the_same_everywhere():
    given = control_labels(items(["The", "the", "A"]), list("ab"), "task", 0)
    assert given[0] == given[1]
    digest = hashlib.sha256(b"0/task/the").digest()
    assert given[0] == ("a" if int.from_bytes(digest[:8], "big") / 2**64 < 0.5 else "b")
    assert chance("0/task/the") == int.from_bytes(digest[:8], "big") / 2**64


def test_control_labels_have_the_shares_of_the_true_ones_and_nothing_else_of_them():
    words = [f"word{number}" for number in range(4000)]
    true = ["a" if number % 4 else "b" for number in range(4000)]
    given = control_labels(items(words), true, "task", 0)
    assert Counter(given)["b"] / 4000 == pytest.approx(0.25, abs=0.03)
    others = [true, control_labels(items(words), true, "task", 1), control_labels(items(words), true, "other", 0)]
    for other in others:
        assert chi2_contingency(pd.crosstab(pd.Series(given), pd.Series(other))).pvalue > 0.001
    assert set(control_labels(items(words), list("abc"), "task", 0)) == set("abc")


def test_a_control_task_is_learned_by_heart():
    """From vectors that say which word comes first, the control labels are found; from noise they are not."""
    train, test = (task_from_labels("t", side, side, 400, 400, 0).train for side in (sentences(400), sentences(200, 1)))
    given = [control_labels(side, [item.label for item in train], "t", 0) for side in (train, test)]
    seen = [np.eye(len(WORDS))[[WORDS.index(item.example.text.split()[0]) for item in side]] for side in (train, test)]
    assert Probe("logistic", strength=10.0).correct(seen[0], given[0], seen[1], given[1]).all()


def test_vectors_are_read_once_and_stand_in_their_places():
    subject = load(saved_models.bert())
    examples = read_table(saved_models.labelled())["test"][:9]
    made = [Item(example, "x") for example in (*examples, *examples[:4])]
    context = Context(subject, examples, range(9), quiet=True, batch_size=2, predictions=False)
    found = vectors(context, made, "mean")
    assert len(found.bag) == len({key(example) for example in examples})
    for item in made:
        batch = subject.read([item.example])
        for layer, one in enumerate(layer_vectors(subject, batch)):
            np.testing.assert_allclose(found.of([item], layer)[0], one[0].numpy(), atol=1e-5)
        np.testing.assert_allclose(found.of([item], None)[0], bag(subject, batch)[0].numpy(), atol=1e-6)
