"""Lexicon: a planted U is found, a line and a bend are not called U, and draws of sentences are worked one by one."""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from support.contexts import context as context_of
from whence.analysis.lexicon import curvatures, fits, rated_words, words_of
from whence.evaluation.word_scores import Occurrences
from whence.experiments import lexicon
from whence.measures.regression import quadratic

WORDS = [f"w{'x' * (number % 7)}{number}" for number in range(150)]
VALENCE = dict(zip(WORDS, np.random.default_rng(1).uniform(1, 9, 150), strict=True))


def u(value):
    return 0.05 * abs(value - 5)


def none(value):
    return 0.1


def table(trained, untrained=none, noise=0.02, examples=300, seed=0):
    """Texts of eight words each; scores by functions of valence, with noise."""
    rng, n = np.random.default_rng(seed), 8 * examples
    words = pd.Series([WORDS[place] for _ in range(examples) for place in rng.permutation(150)[:8]])
    values, example = words.map(VALENCE), np.repeat(np.arange(examples), 8)
    scores = {
        ("trained", "lat"): values.map(trained) + rng.normal(0, noise, n),
        ("trained", "random"): rng.random(n),
        ("untrained", "lat"): values.map(untrained) + rng.normal(0, noise, n),
    }
    rows = [
        pd.DataFrame(
            {
                "state": state,
                "method": method,
                "example": example,
                "word": words,
                "n": 1,
                "score": score,
                "valence": values,
                "matched": "exact",
                "scale": "v",
            }
        )
        for (state, method), score in scores.items()
    ]
    return pd.concat(rows).sort_values("example", kind="stable", ignore_index=True)


@pytest.mark.parametrize(
    ("trained", "untrained", "answer", "said"),
    [
        (u, none, "yes", "more than by chance or without training"),
        (u, u, "no", "hardly more so than by the same model untrained"),
        (lambda value: 0.05 * value, none, "no", "hardly higher scores than neutral"),
        (none, none, "undecided", "may or may not bend with valence"),
        (lambda value: -0.3 * np.log(value), none, "no", "do not fall and rise again: two lines"),
        (lambda value: -u(value), none, "no", "hardly higher scores"),
    ],
)
def test_a_planted_curve_is_judged(trained, untrained, answer, said):
    made = table(trained, untrained)
    verdict = lexicon.verdict(made)
    assert (verdict.question, verdict.answer) == (6, answer)
    assert said in verdict.sentence
    assert f"{150} words" in verdict.sentence
    assert lexicon.figure(made).axes


def test_a_u_of_word_lengths_is_not_one_of_valence():
    """Words of strong valence that are longer: with length held fixed there is no U."""
    made = table(none)
    rng = np.random.default_rng(2)
    longer = {word: "x" * int(abs(VALENCE[word] - 5) * 4 + rng.integers(0, 3)) + word for word in WORDS}
    made["word"] = made["word"].map(longer)
    made.loc[(made["method"] == "lat") & (made["state"] == "trained"), "score"] = made["word"].str.len() * 0.01
    made["score"] += np.random.default_rng(3).normal(0, 0.01, len(made))
    verdict = lexicon.verdict(made)
    assert verdict.answer == "undecided"
    assert "no U is left where frequency and length of the words are held fixed" in verdict.sentence


def test_words_are_means_over_their_occurrences():
    rows = {
        "state": ["trained"] * 3,
        "method": ["lat"] * 3,
        "example": [0, 1, 1],
        "word": ["good", "good", "the"],
        "n": [2, 1, 1],
        "score": [0.6, 0.6, 0.1],
        "valence": [7.0, 7.0, np.nan],
        "matched": ["lemma", "lemma", "none"],
        "scale": ["v"] * 3,
    }
    made = lexicon.COLUMNS.table(rows)
    good = words_of(made).set_index("word").loc["good"]
    assert (good["score"], good["count"], good["texts"], good["length"]) == (pytest.approx(0.4), 3, 2, 4)
    assert lexicon.matches(made) == {"exact": 0, "lemma": 1, "none": 1}
    verdict = lexicon.verdict(made)
    assert verdict.answer == "undecided"
    assert "1 words with a value in the lexicon are too few" in verdict.sentence
    assert "of 1 another form is, 1 were not found" in verdict.procedure
    assert lexicon.summary(made)["shape"].tolist() == ["too few words"] * 2
    assert lexicon.figure(made).axes


def test_sentences_left_out_in_turn_against_a_slow_loop():
    made = table(u, examples=60)
    found = curvatures(made)["trained", "lat"]
    mine = made[(made["method"] == "lat") & (made["state"] == "trained")]
    spread = rated_words(made)["trained", "lat"]["score"].std(ddof=0)
    assert len(found) == 60
    for example in range(0, 60, 12):
        left = mine[mine["example"] != example]
        means = left.groupby("word").agg(score=("score", "mean"), valence=("valence", "first"))
        fit = quadratic(means["score"].to_numpy(), means["valence"].to_numpy())
        assert found[example] == pytest.approx(fit.b2.value / np.sqrt(fit.n) / spread)


def test_of_many_sentences_groups_are_left_out():
    made = table(u, examples=60)
    with patch("whence.analysis.lexicon.GROUPS", 20):
        found = curvatures(made)["trained", "lat"]
    mine = made[(made["method"] == "lat") & (made["state"] == "trained")]
    left = mine[mine["example"] % 20 != 3].groupby("word").agg(score=("score", "mean"), valence=("valence", "first"))
    fit = quadratic(left["score"].to_numpy(), left["valence"].to_numpy())
    spread = rated_words(made)["trained", "lat"]["score"].std(ddof=0)
    assert len(found) == 20
    assert found[3] == pytest.approx(fit.b2.value / np.sqrt(fit.n) / spread)


def test_the_interval_over_sentences_is_as_wide_as_other_sentences_make_it():
    """Tables drawn anew, the words' true scores being the same: b2 scatters as the jackknife says."""
    others = [fits(rated_words(table(u, seed=seed, noise=0.2))["trained", "lat"], False)["b2"] for seed in range(25)]
    rows = lexicon.summary(table(u, seed=99, noise=0.2)).query("state == 'trained' and method == 'lat'").iloc[0]
    width = (rows["b2_high_sentences"] - rows["b2_low_sentences"]) / (2 * 1.96)
    assert width == pytest.approx(np.std(others), rel=0.4)


def test_the_summary_has_every_regression():
    rows = lexicon.summary(table(u))
    assert len(rows) == 6
    first = rows.iloc[0]
    assert (first["state"], first["method"], first["controls"], first["n"]) == ("trained", "lat", False, 150)
    assert first["shape"] == "U"
    assert first["b2_low_sentences"] < first["b2"] < first["b2_high_sentences"]
    assert first["left"] < 0 < first["right"]


@dataclass
class Made:
    """A context whose words have known scores."""

    texts: list[str]
    learned: bool = True

    def occurrences(self, methods, options=()):
        for number, text in enumerate(self.texts):
            for method in methods:
                for word in dict.fromkeys(text.split()):
                    n = text.split().count(word)
                    yield Occurrences(number, method, word, n, n * (float(len(word)) if self.learned else 1.0))

    def untrained(self):
        return Made(self.texts, learned=False)


def run_on(config, texts):
    """The experiment where words are scored by hand."""
    with (
        patch("whence.evaluation.word_scores.occurrences", Made.occurrences),
        patch("whence.evaluation.retraining.untrained", Made.untrained),
    ):
        return lexicon.run(config, Made(texts))


def test_the_table_has_words_seen_often_enough_with_their_valence(tmp_path):
    (tmp_path / "mine.csv").write_text("word,value\ngood,2\nfilm,0\n")
    config = lexicon.Config(model="m", data="d", method=("lat", "random"), lexicon=str(tmp_path / "mine.csv"))
    made = run_on(config, ["good films good", "a good dull film", "a films"])
    assert set(made["word"]) == {"good", "films", "a"}
    assert made.groupby("state", sort=False)["method"].unique().map(list).to_dict() == {
        "trained": ["lat", "random"],
        "untrained": ["lat"],
    }
    rows = made[(made["state"] == "trained") & (made["method"] == "lat")].set_index(["example", "word"])
    assert rows.loc[(0, "good"), ["n", "score", "valence", "matched"]].tolist() == [2, 8.0, 2.0, "exact"]
    assert rows.loc[(2, "films"), ["valence", "matched"]].tolist() == [0.0, "lemma"]
    assert rows.loc[(1, "a"), "matched"] == "none"
    exact = config.model_copy(update={"matching": "exact", "untrained": False, "at_least": 1})
    other = run_on(exact, ["good films"]).set_index("word")
    assert (other.loc["films", "matched"].tolist(), set(other["state"])) == (["none"] * 2, {"trained"})
    assert other["scale"].iloc[0] == "value (mine)"


def test_a_lexicon_is_known_by_its_contents(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("word,value\ngood,2\n")
    config = lexicon.Config(model="m", data="d", lexicon=str(path))
    before = config.cache_key()
    path.write_text("word,value\ngood,3\n")
    assert config.cache_key() != before
    (tmp_path / "other.csv").write_text("word,value\ngood,3\n")
    assert config.cache_key() == lexicon.Config(model="m", data="d", lexicon=str(tmp_path / "other.csv")).cache_key()


def test_a_real_model_goes_through():
    some = context_of("bert", n=40)
    made = lexicon.run(lexicon.Config(model="m", data="d", method=("lat", "gradient_squared", "random")), some)
    assert set(made["state"]) == {"trained", "untrained"}
    scores = made[made["matched"] != "none"].groupby(["state", "method"])["score"].sum()
    assert scores["trained", "lat"] != pytest.approx(scores["untrained", "lat"])
    assert lexicon.verdict(made).answer in ("yes", "no", "undecided")
    assert isinstance(lexicon.summary(made), pd.DataFrame)


def test_a_ledger_is_told_every_number():
    made = table(u)
    found, rows = lexicon.quantities(made), lexicon.summary(made).set_index(["state", "method", "controls"])
    first = rows.loc[("trained", "lat", False)]
    assert (found["b2 of lat"].mean, found["b2 of lat"].low) == (first["b2"], first["b2_low_sentences"])
    assert found["p of b2 of lat"].mean == first["b2_p"]
    assert (found["t of b1 of lat"].mean, found["R² of lat"].mean) == (first["b1_t"], first["r_squared"])
    words = words_of(made).query("state == 'trained'").pivot(index="word", columns="method", values="score")
    both = stats.pearsonr(words["lat"], words["random"])
    assert found["correlation of lat and random"].mean == pytest.approx(both.statistic)
    assert found["% of words above 0.4 by random"].mean == pytest.approx(100 * (words["random"] > 0.4).mean())
