"""Ten thousand reviews from a zip, and Tatoeba's pairs, split by the English sentence."""

import io
import zipfile

import pytest

from support.corpora import real, written
from whence.core.errors import BadData
from whence.data.registry import load

ROWS = "".join(f'b,2011,r{n},{n % 5 + 1},"visit {n},\n fine",review,u,0,0,0\n' for n in range(20))
CSV = f"business_id,date,review_id,stars,text,type,user_id,cool,useful,funny\n{ROWS}"


@pytest.mark.parametrize("zipped", [False, True])
def test_reviews_fall_into_splits_by_a_fixed_draw(tmp_path, zipped):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("yelp.csv", CSV)
    written(tmp_path / "yelp10k", "yelp.csv.zip" if zipped else "yelp.csv", buffer.getvalue() if zipped else CSV)
    corpus = load("yelp10k", data_dir=tmp_path)
    assert {split: len(corpus[split]) for split in corpus.splits} == {"train": 16, "dev": 2, "test": 2}
    every = [example for split in corpus.splits for example in corpus[split]]
    assert sorted(e.text for e in every) == sorted(f"visit {n}, fine" for n in range(20))
    assert all(e.label == str(int(e.text.split(",")[0].split()[1]) % 5 + 1) for e in every)


def test_damaged_reviews_are_said(tmp_path):
    written(tmp_path / "yelp10k", "yelp.csv", CSV.replace("r3,4", "r3,9"))
    with pytest.raises(BadData, match="cells and stars from 1 to 5 were expected"):
        load("yelp10k", data_dir=tmp_path)
    (tmp_path / "yelp10k" / "yelp.csv").unlink()
    written(tmp_path / "yelp10k", "yelp.csv.zip", b"no zip")
    with pytest.raises(BadData, match=r"an archive with yelp\.csv in UTF-8 was expected"):
        load("yelp10k", data_dir=tmp_path)


def test_no_english_sentence_is_in_two_splits(tmp_path):
    lines = "".join(f"Go {n}.\tGeh {n}.\nGo {n}.\tGehen Sie {n}.\n" for n in range(30))
    written(tmp_path / "tatoeba_deu", "deu.txt.gz", lines)
    corpus = load("tatoeba_deu", data_dir=tmp_path)
    english = {split: {example.text for example in corpus[split]} for split in corpus.splits}
    assert {split: len(those) for split, those in english.items()} == {"train": 24, "dev": 3, "test": 3}
    assert len(set().union(*english.values())) == 30
    assert all(len(corpus[split]) == 2 * len(those) for split, those in english.items())
    back = load("tatoeba_deu:de-en", data_dir=tmp_path)
    assert {(e.target, e.text) for e in back["test"]} == {(e.text, e.target) for e in corpus["test"]}
    written(tmp_path / "tatoeba_deu", "deu.txt.gz", "Go.\n")
    with pytest.raises(BadData, match="line 1: an English sentence, a tab and a German one"):
        load("tatoeba_deu", data_dir=tmp_path)


def test_the_real_reviews():
    corpus = load("yelp10k", data_dir=real("yelp10k"))
    assert [len(corpus[split]) for split in ("train", "dev", "test")] == [8000, 1000, 1000]
    counts = [sum(e.label == label for split in corpus.splits for e in corpus[split]) for label in corpus.labels]
    assert counts == [749, 927, 1461, 3526, 3337]
