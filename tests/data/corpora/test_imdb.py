import pytest

from support.corpora import labels, packed, real, written
from whence.core.errors import BadData
from whence.data.corpora import imdb
from whence.data.corpora.shared.length_filter import filter_by_length
from whence.data.registry import load

REVIEWS = {
    f"aclImdb/{split}/{side}/{number}_{9 if side == 'pos' else 2}.txt": f"{split} {side} {number}" + " word" * number
    for split in ("train", "test")
    for side in ("pos", "neg")
    for number in (10, 2, 0, 1, 3)
}
OTHERS = {"aclImdb/README": "read me", "aclImdb/train/unsup/0_0.txt": "unlabelled", "aclImdb/train/urls_pos.txt": "x"}


@pytest.fixture(params=["official", "labelled", "folder"])
def made(request, tmp_path):
    """The same reviews in the official archive, in the one without unlabelled reviews, and unpacked."""
    if request.param == "folder":
        for name, text in {**REVIEWS, **OTHERS}.items():
            written(tmp_path / "imdb", name, text)
    else:
        name = "aclImdb_v1.tar.gz" if request.param == "official" else "aclImdb_labelled.tar.gz"
        (tmp_path / "imdb").mkdir()
        (tmp_path / "imdb" / name).write_bytes(packed({**REVIEWS, **OTHERS}))
    return tmp_path


def test_reviews_are_read_alike_from_an_archive_and_a_folder(made):
    corpus = imdb.load(made)
    assert [e.text.split()[:3] for e in corpus["test"]] == [
        ["test", side, number] for number in ("0", "1", "2", "3", "10") for side in ("neg", "pos")
    ]
    assert {e.label for e in corpus["test"] if " pos " in e.text} == {"positive"}
    assert (len(corpus["train"]), len(corpus["dev"])) == (8, 2)
    assert {e.text for e in corpus["train"] + corpus["dev"]} == {t for n, t in REVIEWS.items() if "/train/" in n}


def test_the_container_makes_no_difference(tmp_path):
    for name, text in REVIEWS.items():
        written(tmp_path / "a" / "imdb", name, text)
    (tmp_path / "b" / "imdb").mkdir(parents=True)
    (tmp_path / "b" / "imdb" / "aclImdb_v1.tar.gz").write_bytes(packed(dict(reversed(REVIEWS.items()))))
    assert imdb.load(tmp_path / "a").checksum == imdb.load(tmp_path / "b").checksum
    assert "aclImdb_v1.tar.gz is missing; read aclImdb instead" in imdb.load(tmp_path / "a").notes
    assert (
        load("imdb", data_dir=tmp_path / "b").notes[-1] == "aclImdb_v1.tar.gz is not the official file, by its sha256"
    )


def test_lengths_are_strict(made):
    corpus = imdb.load(made, longer_than=3, shorter_than=6)
    assert sorted({len(e.text.split()) for e in corpus["test"]}) == [4, 5]
    assert any(note.startswith("dropped texts of 3 words or fewer") and "2 of test" in note for note in corpus.notes)
    assert any(note.startswith("dropped texts of 6 words or more") and "4 of test" in note for note in corpus.notes)


def test_line_breaks_become_spaces(tmp_path):
    reviews = {**REVIEWS, "aclImdb/test/neg/0_2.txt": " One.<br /><br />Two<br/>three <br> four "}
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "aclImdb_v1.tar.gz").write_bytes(packed(reviews))
    assert imdb.load(tmp_path)["test"][0].text == "One. Two three four"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (packed(REVIEWS)[:200], "cannot be read as a tar archive"),
        (b"", "cannot be read as a tar archive"),
        (packed({"aclImdb/train/pos/0_9.txt": "good"}), "holds no test reviews; files like aclImdb/test/pos/0_9.txt"),
        (packed({**REVIEWS, "aclImdb/test/neg/7_1.txt": b"caf\xe9"}), r"7_1\.txt is not UTF-8 at byte 3"),
        (packed({**REVIEWS, "aclImdb/test/neg/7_1.txt": " <br />"}), r"7_1\.txt is empty; a review was expected"),
    ],
)
def test_a_damaged_archive_is_said(tmp_path, content, says):
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "aclImdb_v1.tar.gz").write_bytes(content)
    with pytest.raises(BadData, match=says):
        imdb.load(tmp_path)


def test_a_wrong_path_says_how_to_get_it(tmp_path):
    with pytest.raises(BadData, match=r"imdb is not in .* \(no aclImdb_v1\.tar\.gz in .*`whence data get imdb`"):
        imdb.load(tmp_path)


def test_the_real_reviews():
    corpus = load("imdb", data_dir=real("imdb"))
    assert labels(corpus, "test") == (12500, 12500)
    assert tuple(a + b for a, b in zip(labels(corpus, "train"), labels(corpus, "dev"), strict=True)) == (12500, 12500)
    assert len(corpus["dev"]) == 5000
    assert (
        len({e.text for e in corpus["train"] + corpus["dev"]}) == 24902
    )  # 24,904 are known; some differ in breaks only
    assert not any("<br" in e.text for e in corpus["test"])
    short, _ = filter_by_length(corpus.splits, None, 400)
    assert all(len(e.text.split()) < 400 for e in short["test"])
    assert 0.8 < len(short["test"]) / 25000 < 0.95
