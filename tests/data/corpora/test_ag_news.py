import pytest

from support.corpora import labels, real, written
from whence.core.errors import BadConfig, BadData
from whence.data.corpora import ag_news
from whence.data.registry import load

ROWS = '"3","Oil, again","Prices\\rise ""fast"""\n"1","Talks","in\\\\Geneva"\n"2","Goal","!"\n"4","","a title less"\n'


@pytest.fixture
def made(tmp_path):
    written(tmp_path / "ag_news", "train.csv", ROWS * 10)
    written(tmp_path / "ag_news", "test.csv.gz", ROWS)
    return tmp_path


def test_business_or_world(made):
    corpus = ag_news.load(made)
    assert corpus.labels == ("world", "business")
    assert [(e.text, e.label) for e in corpus["test"]] == [
        ('Oil, again Prices rise "fast"', "business"),
        ("Talks in Geneva", "world"),
    ]
    assert (len(corpus["train"]), len(corpus["dev"])) == (17, 3)
    assert "drew 3 of 20 training rows as dev" in corpus.notes


def test_all_four_classes(made):
    corpus = load("ag_news:all", data_dir=made)
    assert [e.label for e in corpus["test"]] == ["business", "world", "sports", "sci/tech"]
    assert corpus["test"][3].text == "a title less"
    assert "train.csv is not the official file, by its sha256" in corpus.notes
    assert len(load("ag_news:all", data_dir=made, longer_than=2)["test"]) == 3


def test_parts_stand_in_for_the_whole(made):
    (made / "ag_news" / "train.csv").unlink()
    written(made / "ag_news", "train.head2000.csv.gz", ROWS * 5)
    written(made / "ag_news", "train.sample.csv.gz", ROWS * 5)
    corpus = ag_news.load(made)
    assert len(corpus["train"]) + len(corpus["dev"]) == 20
    assert corpus.notes[0] == "train.csv is missing; read train.head2000.csv.gz and train.sample.csv.gz instead"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (ROWS + '"5","a","b"\n', r"train\.csv, line 5: a class from 1 to 4.*3 cells, the first being '5'"),
        (ROWS + '"1","a"\n', r"line 5: .*there are 2 cells"),
        (ROWS + '"1","","\\"\n', r"line 5: title and description are both empty"),
        (ROWS + '"1","a" b,"c"\n', r"line 5: .*stray or missing double quote"),
        ("", r"train\.csv is empty"),
    ],
)
def test_a_damaged_row_is_said_with_its_line(made, rows, says):
    written(made / "ag_news", "train.csv", rows)
    with pytest.raises(BadData, match=says):
        ag_news.load(made)


def test_an_unknown_task_is_refused(made):
    with pytest.raises(BadConfig, match="ag_news has the tasks business and all; 'sports' is neither"):
        ag_news.load(made, "sports")


def test_the_real_news():
    folder = real("ag_news")
    every = load("ag_news:all", data_dir=folder)
    assert labels(every, "test") == (1900,) * 4
    whole = (folder / "ag_news" / "train.csv").exists() or (folder / "ag_news" / "train.csv.gz").exists()
    published = (30000,) * 4 if whole else (477 + 4176, 338 + 2488, 408 + 2420, 777 + 4112)
    assert tuple(map(sum, zip(labels(every, "train"), labels(every, "dev"), strict=True))) == published
    assert not any("official" in note for note in every.notes)  # test.csv.gz holds the official test.csv
    two = load("ag_news", data_dir=folder)
    assert labels(two, "test") == (1900, 1900)
    assert not any("\\" in e.text for e in two["test"])
