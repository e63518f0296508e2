import json

import pytest

from support.corpora import labels, real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import yelp, yelp_sentences
from whence.data.registry import get, load

LINES = [
    json.dumps({"review_id": str(i), "stars": i % 5 + 1, "text": f"visit {i}\nfine", "cool": 0}) for i in range(50)
]


def test_reviews_fall_into_splits_by_a_fixed_draw(tmp_path):
    written(tmp_path / "yelp", "review.json", "\n".join(LINES) + "\n")
    corpus = load("yelp", data_dir=tmp_path)
    assert {split: len(examples) for split, examples in corpus.splits.items()} == {"train": 40, "dev": 5, "test": 5}
    texts = [e.text for split in ("train", "dev", "test") for e in corpus[split]]
    assert sorted(texts) == sorted(f"visit {i}\nfine" for i in range(50))
    assert all(e.label == str(int(e.text.split()[1]) % 5 + 1) for e in corpus["train"])
    assert corpus.checksum == load("yelp", data_dir=tmp_path).checksum
    assert corpus.labels == ("1", "2", "3", "4", "5")


def test_a_limit_draws_some_of_them(tmp_path):
    written(
        tmp_path / "yelp",
        "yelp_academic_dataset_review.json.gz",
        "\n".join(LINES).replace('"stars": 5', '"stars": 5.0'),
    )
    corpus = yelp.load(tmp_path, limit=20)
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [16, 2, 2]
    assert "drew 20 of 50 reviews, and the splits among them, with a fixed seed" in corpus.notes
    assert {e.label for e in corpus["train"]} <= set(yelp.LABELS)
    with pytest.raises(BadConfig, match="limit of 10 reviews or more"):
        yelp.load(tmp_path, limit=3)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"stars": 6, "text": "a"}', r"review\.json, line 51: stars from 1 to 5"),
        ('{"stars": 3, "text": " "}', "line 51: stars from 1 to 5 and a text"),
        ("[]", "line 51: a JSON object was expected"),
        ('{"stars": 3,', "line 51: not JSON"),
    ],
)
def test_a_damaged_review_is_said_with_its_line(tmp_path, line, says):
    written(tmp_path / "yelp", "review.json", "\n".join([*LINES, line]))
    with pytest.raises(BadData, match=says):
        yelp.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"), [("", "is empty"), ("\n".join(LINES[:9]), "holds 9 reviews; ten are needed")]
)
def test_too_few_reviews_are_refused(tmp_path, text, says):
    written(tmp_path / "yelp", "review.json", text)
    with pytest.raises(BadData, match=says):
        yelp.load(tmp_path)


def test_it_is_to_be_got_by_hand(tmp_path):
    with pytest.raises(
        BadData, match=r"yelp cannot be downloaded automatically. Yelp gives it .*put review\.json into a folder"
    ):
        get("yelp", tmp_path)
    with pytest.raises(BadData, match=r"licence: Yelp's.*accept its terms at https://www\.yelp\.com/dataset"):
        load("yelp", data_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def sentences(tmp_path):
    for split in ("dev", "test"):
        written(tmp_path / "yelp_sentences", f"sentiment.{split}.0.gz", "never again .\n\n")
        written(tmp_path / "yelp_sentences", f"sentiment.{split}.1", "i love it .\nso good !\n")
    return tmp_path


def test_sentences_without_a_training_set(sentences):
    corpus = yelp_sentences.load(sentences)
    assert [(e.words, e.label) for e in corpus["dev"]] == [
        (("never", "again", "."), "negative"),
        (("i", "love", "it", "."), "positive"),
        (("so", "good", "!"), "positive"),
    ]
    assert list(corpus.splits) == ["dev", "test"]
    assert corpus.notes == ("sentiment.train.0 is missing", "sentiment.train.1 is missing")


def test_sentences_with_a_training_set(sentences):
    written(sentences / "yelp_sentences", "sentiment.train.0", "bad .\n")
    written(sentences / "yelp_sentences", "sentiment.train.1", "good .\n")
    assert [e.text for e in yelp_sentences.load(sentences)["train"]] == ["bad .", "good ."]


def test_a_missing_or_empty_file_of_sentences_is_said(sentences):
    written(sentences / "yelp_sentences", "sentiment.dev.1", "")
    with pytest.raises(BadData, match=r"sentiment\.dev\.1 is empty"):
        yelp_sentences.load(sentences)
    (sentences / "yelp_sentences" / "sentiment.dev.1").unlink()
    with pytest.raises(BadData, match=r"no sentiment\.dev\.1 in"):
        load("yelp_sentences", data_dir=sentences)


def test_the_real_sentences():
    corpus = load("yelp_sentences", data_dir=real("yelp_sentences"))
    assert labels(corpus, "dev") == (25278, 38205)
    assert labels(corpus, "test") == (50278, 76392)
    assert max(len(e.words) for e in corpus["dev"]) <= 15
    assert not any("official" in note for note in corpus.notes)
