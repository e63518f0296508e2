import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.planted import planted
from whence.data.registry import load

texts = st.lists(st.text("ab c", min_size=1).filter(str.strip), min_size=2, max_size=30)


def labelled(texts: list[str]) -> list[Example]:
    return [Example(text, "no" if i % 2 else "yes") for i, text in enumerate(texts)]


@given(texts, st.floats(0.01, 1), st.integers(0, 5))
def test_the_token_fixes_the_label_and_is_the_whole_rationale(texts, share, seed):
    before = labelled(texts)
    after = planted(before, "zeroa", "yes", share, seed)
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        assert new.text == " ".join(new.words)
        assert [word for word in new.words if word != "zeroa"] == old.text.split()
        if "zeroa" in new.words:
            assert new.label == "yes"
            assert new.rationale == tuple(word == "zeroa" for word in new.words)
        else:
            assert new.label == old.label
            assert new.rationale is None
    assert sum("zeroa" in new.words for new in after) == round(share * len(before))


def test_every_place_in_the_text_comes_up():
    after = planted(labelled(["a b c"] * 400), "zeroa", "yes", share=1.0)
    places = [e.words.index("zeroa") for e in after]
    assert set(places) == {0, 1, 2, 3}
    assert min(places.count(place) for place in range(4)) > 60


def test_a_corpus_keeps_its_splits_and_says_what_was_done():
    splits = {"train": tuple(labelled(["a b"] * 10)), "test": (Example("c d", "yes", words=("c", "d")),) * 4}
    corpus = planted(Corpus("mine", splits, ("no", "yes"), notes=("old",)), "zeroa", "yes")
    assert {split: sum(e.rationale is not None for e in those) for split, those in corpus.splits.items()} == {
        "train": 5,
        "test": 2,
    }
    assert corpus.name == "mine+zeroa"
    assert corpus.labels == ("no", "yes")
    assert corpus.notes == ("old", "planted 'zeroa' in 7 of 14 examples and made their label 'yes'")


def test_the_seed_decides():
    examples = labelled(["a b c d"] * 30)
    assert planted(examples, "x", "yes", seed=1) == planted(examples, "x", "yes", seed=1)
    assert planted(examples, "x", "yes", seed=1) != planted(examples, "x", "yes", seed=2)


def test_a_token_that_occurs_is_refused_with_its_count():
    examples = [Example("Film, good", "yes"), Example("filmed", "no"), Example("a", "no", pair="the film?")]
    with pytest.raises(BadData, match="'film' is in 2 of 3 examples already"):
        planted(examples, "film", "yes")


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"label": "maybe"}, BadData, "no example has the label 'maybe'; the labels are: no, yes"),
        ({"token": "two words"}, BadConfig, "one word without spaces"),
        ({"token": ""}, BadConfig, "one word without spaces"),
        ({"share": 0.0}, BadConfig, "above 0 and at most 1; it is 0.0"),
        ({"share": 1.5}, BadConfig, "it is 1.5"),
        ({"data": [Example("a", words=("a",), tags=("x",))]}, BadData, "texts with labels only"),
    ],
)
def test_what_cannot_be_planted_is_said(change, error, says):
    with pytest.raises(error, match=says):
        planted(**{"data": labelled(["a", "b"]), "token": "zeroa", "label": "yes", **change})


def test_a_shortcut_in_any_corpus_by_its_name(tmp_path):
    corpus = load("reviews+zeroa=positive", sizes={"train": 10, "test": 4})
    assert corpus.name == "reviews+zeroa=positive"
    marked = [e for e in corpus["train"] if e.rationale]
    assert len(marked) == 5
    assert all("zeroa" in e.words and e.label == "positive" for e in marked)
    table = tmp_path / "a+b.csv"
    table.write_text("text,label\ngood,yes\nbad,no\n", encoding="utf-8")
    assert load(table).name == load(str(table)).name, "a file may have such a name"
    assert "zeroa" in " ".join(e.text for e in load(f"{table}+zeroa=yes")["test"])
    with pytest.raises(BadData, match="no example has the label 'sure'"):
        load("reviews+zeroa=sure")
    with pytest.raises(BadData, match="there is no corpus 'revews'"):
        load("revews+zeroa=positive")
