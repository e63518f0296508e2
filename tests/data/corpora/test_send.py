import pytest

from support.corpora import real, written
from whence.core.errors import BadData
from whence.data.corpora import send
from whence.data.registry import get, load

GLOVE = "\t".join(["0.1", "nan"] * 150)


def transcript(*words: tuple[float | str, str]) -> str:
    header = "\t".join(["", "time-offset", "word", *(f"glove{number}" for number in range(300))])
    return "\n".join([header, *(f"{row}\t{time}\t{word}\t{GLOVE}" for row, (time, word) in enumerate(words))])


def ratings(*rated: tuple[float | str, float | str]) -> str:
    return "\n".join(["time,other,evaluatorWeightedEstimate", *(f"{time},x,{value}" for time, value in rated)])


def steadily(until: float, value: float = 75) -> str:
    return ratings(*((half / 2, value) for half in range(1, int(2 * until) + 1)))


def put(folder, split: str, words: str | None, rated: str | None, person: int = 101, video: int = 1):
    if words is not None:
        place = f"send/features/{split}/linguistic-word-level/ID{person}_vid{video}_aligned.tsv"
        written(folder, place, words)
    if rated is not None:
        written(folder, f"send/ratings/{split}/observer_EWE/results_{person}_{video}.csv", rated)


LONG = transcript((1, "We"), (4, "met"), (6, "once"), (11, "and"), (16, "parted"))


@pytest.fixture
def folder(tmp_path):
    for split in ("Train", "Valid", "Test"):
        put(tmp_path, split, LONG, steadily(20))
    return tmp_path


def only(folder, empty="repeat"):
    (example,) = send.load(folder, empty)["test"]
    return example


def test_words_and_ratings_in_windows(folder):
    corpus = load("send", data_dir=folder)
    assert {split: len(examples) for split, examples in corpus.splits.items()} == {"train": 1, "dev": 1, "test": 1}
    example = corpus["test"][0]
    assert example.windows == ("We met", "once", "and"), "the window of the last word may be unfinished"
    assert example.values == (0.5, 0.5, 0.5), "75 / 50 − 1"
    assert example.words == ("We", "met", "once", "and")
    assert corpus.notes == ()


def test_a_window_ends_with_its_last_second_included(folder):
    put(folder, "Test", transcript((0, "a"), (5.0, "b"), (5.001, "c"), (10, "d"), (10.5, "e")), steadily(20))
    assert only(folder).windows == ("a b", "c d")


def test_a_value_is_the_mean_of_the_windows_ratings(folder):
    rated = ratings((0, 0), (2.5, 50), (5, 100), (5.5, 25), (10, 25), (10.5, 90))
    put(folder, "Test", LONG, rated)
    example = only(folder)
    assert example.windows == ("We met", "once"), "cut to the ratings, whose last window may be unfinished"
    assert example.values == pytest.approx((0, -0.5))


def test_the_longer_one_is_cut(folder):
    put(folder, "Test", LONG, steadily(300))
    assert len(only(folder).windows) == 3
    put(folder, "Test", LONG, steadily(8))
    assert only(folder).windows == ("We met",)


GAPS = transcript((1, "We"), (4, "met"), (16, "parted"), (26, "there"))


def test_a_window_without_words_repeats_the_last_word(folder):
    put(folder, "Test", GAPS, steadily(40))
    corpus = send.load(folder)
    assert corpus["test"][0].windows == ("We met", "met", "met", "parted", "parted")
    assert corpus.notes == ("3 windows without words repeat the last word before them",)


def test_or_it_is_left_out(folder):
    put(folder, "Test", GAPS, ratings(*((second, second) for second in range(41))))
    corpus = load("send:drop", data_dir=folder)
    example = corpus["test"][0]
    assert example.windows == ("We met", "parted")
    assert example.values == pytest.approx(((0 + 1 + 2 + 3 + 4 + 5) / 6 / 50 - 1, 18 / 50 - 1))
    assert corpus.notes == ("3 windows without words were left out",)


def test_windows_before_the_first_word_and_without_ratings_are_left_out(folder):
    rated = ratings((1, 50), (6, 50), (11, "nan"), (12, ""), (16, 60), (21, 50), (26, 50))
    put(folder, "Test", transcript((7, "a"), (12, "b"), (17, "c"), (22, "d"), (30, "e")), rated)
    corpus = send.load(folder)
    assert corpus["test"][0].windows == ("a", "c", "d")
    assert corpus["test"][0].values == pytest.approx((0, 0.2, 0))
    assert corpus.notes == ("1 windows without words were left out", "1 windows without ratings were left out")


def test_blank_words_are_passed_over_and_quotes_are_letters(folder):
    put(folder, "Test", transcript((1, '"We'), (2, " "), (3, 'met"'), (6, "once")), steadily(20))
    assert only(folder).windows == ('"We met"',)


def test_narratives_in_one_folder_alone_are_counted(folder):
    put(folder, "Test", LONG, None, person=7)
    put(folder, "Test", None, steadily(20), person=8)
    put(folder, "Test", LONG.replace("once", "twice"), steadily(20), person=9, video=10)
    put(folder, "Test", transcript((1, "Brief")), steadily(20), person=9, video=2)
    written(folder, "send/features/Test/linguistic-word-level/notes.txt", "not a transcript")
    corpus = send.load(folder)
    assert [example.words[2] for example in corpus["test"]] == ["twice", "once"], "by person and video, as numbers"
    assert corpus.notes == (
        "2 narratives of Test have words or ratings alone and were left out",
        "1 narratives ended before their first window and were left out",
    )


@pytest.mark.parametrize(
    ("words", "rated", "says"),
    [
        (transcript(("soon", "a"), (6, "b")), None, r"ID101_vid1_aligned\.tsv, line 2: a time in seconds.*'soon'"),
        (transcript((1, "a"), ("nan", "b")), None, "line 3: a time in seconds was expected; got 'nan'"),
        (transcript((-1, "a")), None, "a time in seconds was expected; got '-1'"),
        ("\ttime-offset\tword\n0\t1", None, "line 2: a number, a time and a word were expected.*there are 2 cells"),
        ("", None, "is empty"),
        (None, ratings((1, 101)), r"results_101_1\.csv, row 1: a rating from 0 to 100 was expected; got '101'"),
        (None, ratings((1, 50), ("?", 50)), r"row 2: a time in seconds was expected; got '\?'"),
        (None, "time,value\n1,2", "has no column 'evaluatorWeightedEstimate'; it has: time, value"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(folder, words, rated, says):
    put(folder, "Test", words, rated)
    with pytest.raises(BadData, match=says):
        send.load(folder)


def test_an_empty_split_is_said(folder):
    for path in (folder / "send/ratings/Valid/observer_EWE").iterdir():
        path.unlink()
    with pytest.raises(
        BadData, match=r"no narrative of Valid with words and ratings; expected files like features/Val"
    ):
        send.load(folder)


def test_a_missing_corpus_says_where_to_ask(tmp_path):
    with pytest.raises(BadData, match=r"licence: SEND's end-user licence.*ask there.*folder send"):
        load("send", data_dir=tmp_path)
    with pytest.raises(BadData, match="send is not in"):
        send.load(tmp_path)
    with pytest.raises(BadData, match="send cannot be downloaded automatically"):
        get("send", tmp_path)


def test_the_real_one():
    corpus = load("send", data_dir=real("send"))
    assert len(corpus["train"]) <= 114
    assert len(corpus["dev"]) <= 40
    assert len(corpus["test"]) <= 39
