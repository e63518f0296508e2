"""Words: means beside a slow loop, places worked by hand, and lists with stop words at either end."""

import re
from collections import defaultdict

import pandas as pd
import pytest

from support.contexts import context as context_of
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.lexical.words import STOP_WORDS
from whence.experiments import words
from whence.subject.targets import predicted

CONFIG = words.Config(model="m", data="d", method=("raw-attention", "random", "random"))


def listed(stop_scores, other_scores, method="lat"):
    """A table of stop words and others with these scores, each seen twice in one text."""
    named = [*zip(sorted(STOP_WORDS), stop_scores, strict=False)]
    named += [(f"word{number}", score) for number, score in enumerate(other_scores)]
    rows = pd.DataFrame({"word": [word for word, _ in named], "score": [2 * score for _, score in named], "n": 2})
    ranked = words.rank_words(rows, method)
    return words.COLUMNS.table({name: ranked[name] for name in words.COLUMNS.columns})


def test_means_and_ranks_beside_a_slow_loop():
    some = context_of("bert", n=12, batch_size=5)
    table = words.run(CONFIG, some)
    assert list(table["method"].unique()) == ["raw_attention", "random"]
    given = defaultdict(list)
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example], [number])
        scores = explainer("raw_attention")(some.subject, batch, predicted(some.subject, batch)).words(0)
        for word, score in zip(re.findall(r"\w+|[^\w\s]", example.text), scores, strict=True):
            if word.isalnum():
                given[word].append((score, number))
    mine = table[table["method"] == "raw_attention"].set_index("word")
    assert set(mine.index) == set(given)
    for word, scores in given.items():
        mean = sum(score for score, _ in scores) / len(scores)
        assert mine.loc[word, "score"] == pytest.approx(mean, abs=1e-6)
        assert mine.loc[word, "count"] == len(scores)
        assert mine.loc[word, "texts"] == len({number for _, number in scores})
        assert mine.loc[word, "stop"] == (word in STOP_WORDS)
        assert mine.loc[word, "rank"] == 1 + (mine["score"] > mine.loc[word, "score"]).sum()
    assert mine["rank"].is_monotonic_increasing


def test_places_by_hand():
    rows = pd.DataFrame({"word": list("abcde"), "score": [4.0, 6, 2, 2, 0], "n": [1, 2, 1, 1, 1]})
    found = words.rank_words(rows, "lat").set_index("word")
    assert found["score"].to_dict() == {"a": 4, "b": 3, "c": 2, "d": 2, "e": 0}
    assert found["rank"].to_dict() == {"a": 1, "b": 2, "c": 3, "d": 3, "e": 5}
    assert found["place"].to_dict() == {"a": 0, "b": 0.25, "c": 0.625, "d": 0.625, "e": 1}
    assert words.rank_words(rows, "lat", at_least=2)["word"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("stops", "others", "answer", "said"),
    [
        ([0.1] * 30, [0.5 + n / 1000 for n in range(60)], "yes", "stop words get low scores"),
        ([0.9] * 30, [0.5 + n / 1000 for n in range(60)], "no", "no lower scores than others"),
        ([n / 170 for n in range(170)], [n / 340 for n in range(340)], "no", "rank at 0."),
        ([0.1] * 9, [0.5] * 60, "undecided", "9 stop words among these words, too few"),
        ([], [0.5, 0.2], "undecided", "0 stop words"),
        ([0.0] * 11 + [0.9] * 8, [0.1 + n / 100 for n in range(60)], "undecided", "may or may not"),
    ],
)
def test_the_verdict(stops, others, answer, said):
    table = listed(stops, others)
    found = words.verdict(table)
    assert (found.question, found.answer) == (6, answer)
    assert said in found.sentence
    assert words.figure(table).axes or words.figure(table).subfigs


def test_the_summary_lists_the_words_on_top():
    table = pd.concat([listed([0.1], [0.5, 0.7, 0.6]), listed([0.9], [0.5], "random")])
    rows = words.summary(table, 3)
    assert rows["lat"].tolist() == ["word1", "word2", "word0"]
    assert rows["lat: score"].tolist() == [0.7, 0.6, 0.5]
    assert rows["random"].tolist()[2] is None or pd.isna(rows["random"].tolist()[2])


def test_an_explainer_that_there_is_not():
    with pytest.raises(BadConfig, match=r"no explainer 'lait' \(did you mean lat\?\)"):
        words.run(words.Config(model="m", data="d", method=("lait",)), context_of("bert", n=1))


def test_a_ledger_is_told_the_place_of_stop_words():
    found = words.quantities(listed([0.1] * 20, [0.5 + n / 100 for n in range(60)]))
    assert found["place of stop words, lat"].mean == pytest.approx((60 + 19 / 2) / 79)
