"""Corpora in which people marked the words that decide: small files of their native formats, and the real ones."""

import json

import pytest

from support.corpora import packed, real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.marked_words import agreed, changed_words, marked_by_characters
from whence.data.registry import load


def marked(example, pair=False):
    words, marks = (example.pair_words, example.pair_rationale) if pair else (example.words, example.rationale)
    return [word for word, mark in zip(words, marks, strict=True) if mark]


def test_words_are_marked_by_characters_annotators_and_revisions():
    assert marked_by_characters("Be a fool, sir.", [6, 7]) == (("Be", "a", "fool", ",", "sir", "."), (0, 0, 1, 0, 0, 0))
    assert agreed([[True, True, False], [True, False, False], [False, True, False]], 2) == (True, True, False)
    assert changed_words(["a", "Good", "film"], ["A", "bad", "film"]) == (False, True, False)
    assert changed_words(["a", "film"], ["a", "long", "film"]) == (False, False)  # nothing of its own was changed


def movies(**changes):
    evidence = [
        [{"docid": "a.txt", "start_token": 1, "end_token": 3}],
        [{"docid": "a.txt", "start_token": 4, "end_token": 4}],
    ]
    row = {"annotation_id": "a.txt", "classification": "NEG", "evidences": evidence, **changes}
    other = {"annotation_id": "b.txt", "classification": "POS", "evidences": []}
    lines = f"{json.dumps(row)}\n{json.dumps(other)}\n"
    docs = {"movies/docs/a.txt": "a dull film .\nno !\n", "movies/docs/b.txt": "fine .\n"}
    return packed({**{f"movies/{split}.jsonl": lines for split in ("train", "val", "test")}, **docs})


def test_movie_reviews(tmp_path):
    written(tmp_path / "eraser_movies", "movies.tar", movies()).rename(tmp_path / "eraser_movies/movies.tar.gz")
    corpus = load("eraser_movies", data_dir=tmp_path)
    first, second = corpus["dev"]
    assert (first.label, first.text, marked(first)) == ("negative", "a dull film . no !", ["dull", "film"])
    assert (second.label, marked(second)) == ("positive", [])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"classification": "GOOD"}, "classification NEG or POS"),
        (
            {"evidences": [[{"docid": "a.txt", "start_token": 5, "end_token": 9}]]},
            "a.txt has 6 words, and evidence beyond",
        ),
        ({"evidences": [[{"docid": "c.txt", "start_token": 0, "end_token": 1}]]}, "a document in docs/ was expected"),
    ],
)
def test_a_damaged_movie_review_is_said(tmp_path, changes, says):
    written(tmp_path / "eraser_movies", "movies.tar", movies(**changes)).rename(
        tmp_path / "eraser_movies/movies.tar.gz"
    )
    with pytest.raises(BadData, match=says):
        load("eraser_movies", data_dir=tmp_path)


HEADER = "pairID,gold_label,Sentence1,Sentence2," + ",".join(
    f"Explanation_{n},Sentence1_marked_{n},Sentence2_marked_{n},x_{n},y_{n}" for n in (1, 2, 3)
)
SENTENCES = [
    ("Two *women* hug.", "They eat *lunch.*"),
    ("Two women hug.", "They *eat* *lunch.*"),
    ("*Two* *women* hug.", "They eat lunch."),
]
PAIR = "1,neutral,Two women hug.,They eat lunch.," + ",".join(f"why,{one},{two},," for one, two in SENTENCES)


@pytest.mark.parametrize(
    ("name", "ours", "theirs"), [("", ["women"], ["lunch"]), (":any", ["Two", "women"], ["eat", "lunch"])]
)
def test_esnli_marks_what_enough_annotators_marked(tmp_path, name, ours, theirs):
    for split in ("dev", "test"):
        written(tmp_path / "esnli", f"esnli_{split}.csv", f"{HEADER}\r\n{PAIR}\r\n")
    corpus = load(f"esnli{name}", data_dir=tmp_path)
    (pair,) = corpus["test"]
    assert (pair.text, pair.pair, pair.label) == ("Two women hug .", "They eat lunch .", "neutral")
    assert (marked(pair), marked(pair, pair=True)) == (ours, theirs)
    assert "train" not in corpus.splits


def test_a_damaged_pair_of_esnli_is_said(tmp_path):
    for split in ("dev", "test"):
        written(tmp_path / "esnli", f"esnli_{split}.csv", f"{HEADER}\n{PAIR.replace('*women* hug.', '*women*', 1)}\n")
    with pytest.raises(BadData, match="line 2: Sentence1_marked_1 has 2 words, Sentence1 3"):
        load("esnli", data_dir=tmp_path)


def test_hatexplain_takes_majorities(tmp_path):
    def post(labels, rationales):
        return {
            "annotators": [{"label": label} for label in labels],
            "rationales": rationales,
            "post_tokens": ["a", "b", "c"],
        }

    posts = {
        "1": post(["hatespeech", "hatespeech", "normal"], [[1, 1, 0], [1, 0, 0]]),
        "2": post(["normal", "offensive", "hatespeech"], [[1, 0, 0]]),
        "3": post(["normal"] * 3, []),
    }
    written(tmp_path / "hatexplain", "dataset.json.gz", json.dumps(posts))
    written(tmp_path / "hatexplain", "post_id_divisions.json", json.dumps({"val": ["1", "2", "9"], "test": ["3"]}))
    corpus = load("hatexplain", data_dir=tmp_path)
    (hateful,), (normal,) = corpus["dev"], corpus["test"]
    assert (hateful.label, hateful.rationale) == ("hatespeech", (True, True, False))  # half of two are enough
    assert (normal.label, normal.rationale) == ("normal", None)
    assert "skipped 1 posts with three different labels" in corpus.notes
    assert "1 posts of the official splits are not there" in corpus.notes


def test_toxic_spans_are_tags_and_rationale(tmp_path):
    for name in ("train", "trial", "test"):
        written(tmp_path / "toxic_spans", f"tsd_{name}.csv", 'spans,text\n"[4, 5]",You fool.\n[],Well.\n')
    corpus = load("toxic_spans", data_dir=tmp_path)
    first, second = corpus["dev"]
    assert (first.words, first.tags) == (("You", "fool", "."), ("other", "toxic", "other"))
    assert marked(first) == ["fool"]
    assert (second.tags, second.rationale) == (("other", "other"), None)
    written(tmp_path / "toxic_spans", "tsd_test.csv", "spans,text\nx,You\n")
    with pytest.raises(BadData, match=r"line 2: offsets like \[1, 2\] and a text were expected; there is 'x'"):
        load("toxic_spans", data_dir=tmp_path)


def test_deceptive_attention_has_its_marks_line_by_line(tmp_path):
    folder = tmp_path / "deceptive_attention"
    for split in ("train", "dev", "test"):
        for task, label in (("pronoun", "F"), ("sst-wiki", "1")):
            written(folder, f"{task}/{split}.txt", f"{label}\tshe sings .\n")
            written(folder, f"{task}/{split}.txt.block", "1 0 0\n")
    (text,) = load("deceptive_attention", data_dir=tmp_path)["train"]
    assert (text.label, marked(text)) == ("female", ["she"])
    written(folder, "pronoun/dev.txt.block", "1 0\n")
    with pytest.raises(BadData, match="line 1: one of F, M, a tab and a text of 2 words"):
        load("deceptive_attention", data_dir=tmp_path)
    with pytest.raises(BadConfig, match="has the tasks pronoun and sst-wiki"):
        load("deceptive_attention", data_dir=tmp_path, task="biographies")


def test_counterfactual_reviews_and_pairs(tmp_path):
    reviews = "Sentiment\tText\tbatch_id\nNegative\tA dull<br />film.\t7\nPositive\tA fine film.\t7\n"
    pairs = "sentence1\tsentence2\tgold_label\n"
    pairs += "A man eats.\tHe dines.\tentailment\nA man sings.\tHe dines.\tneutral\nAlone.\tNo.\tneutral\n"
    for split in ("train", "dev", "test"):
        written(tmp_path / "cf_data", f"sentiment/combined/paired/{split}_paired.tsv", reviews)
        written(tmp_path / "cf_data", f"NLI/all_combined/{split}.tsv", pairs)
    bad, good = load("cf_data", data_dir=tmp_path)["test"]
    assert (bad.text, bad.label, marked(bad), marked(good)) == ("A dull film .", "negative", ["dull"], ["fine"])
    first, second, alone = load("cf_data:nli", data_dir=tmp_path)["test"]
    assert (marked(first), marked(second)) == (["eats"], ["sings"])
    assert (first.pair_rationale, alone.rationale, alone.pair_rationale) == (None, None, None)
    written(tmp_path / "cf_data", "sentiment/combined/paired/dev_paired.tsv", reviews + "Positive\tx\t8\n")
    with pytest.raises(BadData, match="these are no pairs: 8"):
        load("cf_data", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "sizes", "marked"),
    [
        ("eraser_movies", (1600, 200, 199), 1999),
        ("hatexplain", (1922, 1924), 2283),
        ("toxic_spans", (7939, 690, 2000), 9707),
        ("deceptive_attention:sst-wiki", (6920, 872, 1821), 9613),
    ],
)
def test_the_real_ones(name, sizes, marked):
    corpus = load(name, data_dir=real(name.partition(":")[0]))
    assert tuple(len(corpus[split]) for split in corpus.splits) == sizes
    assert sum(e.rationale is not None for split in corpus.splits for e in corpus[split]) == marked
