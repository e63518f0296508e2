import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.data.tables.reader import Columns, read_table

ROWS = [("a fine, long film", "good"), ('he said "no" twice', "bad"), ("naïve – but fun", "good"), ("meh it is", "bad")]


def frame(**columns: list) -> pd.DataFrame:
    return pd.DataFrame(columns or {"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]})


def write(table: pd.DataFrame, path: Path) -> Path:
    match path.name.removesuffix(".gz").rpartition(".")[2]:
        case "csv":
            table.to_csv(path, index=False)
        case "tsv":
            table.to_csv(path, index=False, sep="\t")
        case "jsonl":
            table.to_json(path, orient="records", lines=True, force_ascii=False)
        case "parquet":
            table.to_parquet(path)
    return path


def put(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.tsv.gz", "a.jsonl.gz", "A.CSV"]
)
def test_every_format_gives_the_same_examples(tmp_path, name):
    path = tmp_path / name
    write(frame(), tmp_path / name.lower()).rename(path)
    corpus = read_table(path)
    assert [(e.text, e.label) for e in corpus["test"]] == ROWS
    assert list(corpus.splits) == ["test"]
    assert corpus.labels == ("bad", "good")
    assert "took column 'text' as the text" in corpus.notes
    assert "took column 'label' as the label" in corpus.notes


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"])).filter(str.strip), min_size=1, max_size=5))
def test_any_text_comes_back_from_csv_and_json_lines(tmp_path_factory, texts):
    table, folder = frame(text=texts), tmp_path_factory.mktemp("any")
    for name in ("a.csv", "a.jsonl"):
        assert [e.text for e in read_table(write(table, folder / name))["test"]] == texts


def test_unquoted_tsv_keeps_its_quotes(tmp_path):
    path = put(tmp_path, "a.tsv", 'sentence\tlabel\n"odd" start here\t1\nends with "odd\t0\n')
    assert [e.text for e in read_table(path)["test"]] == ['"odd" start here', 'ends with "odd']


def test_words_that_pandas_takes_for_missing_are_texts(tmp_path):
    path = put(tmp_path, "a.csv", "text,label\nNA,null\nNone,nan\n")
    assert [(e.text, e.label) for e in read_table(path)["test"]] == [("NA", "null"), ("None", "nan")]


def test_a_cell_may_be_longer_than_the_csv_module_allows_by_itself(tmp_path):
    path = put(tmp_path, "a.csv", "text,label\n" + "very " * 50_000 + "long,1\nb,0\n")
    assert len(read_table(path)["test"][0].text) == 250_004


def test_semicolons_are_seen_and_said(tmp_path):
    corpus = read_table(put(tmp_path, "a.csv", "\ufefftext;label\r\nyes, well;1\r\n"))
    assert (corpus["test"][0].text, corpus["test"][0].label) == ("yes, well", "1")
    assert any("semicolons" in note for note in corpus.notes)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_whole_numbers_written_as_floats_become_whole_labels_in_the_order_of_numbers(tmp_path, name):
    corpus = read_table(write(frame(text=list("abc"), label=[10.0, 2.0, 1.0]), tmp_path / name))
    assert [e.label for e in corpus["test"]] == ["10", "2", "1"]
    assert corpus.labels == ("1", "2", "10")


def test_halves_stay_as_they_are(tmp_path):
    assert read_table(write(frame(text=list("ab"), label=[1.0, 0.5]), tmp_path / "a.parquet")).labels == ("0.5", "1.0")


def test_a_row_without_a_label_is_kept_and_said(tmp_path):
    corpus = read_table(put(tmp_path, "a.csv", "text,label\na,1.0\nb,\nc,0.0\n"))
    assert [e.label for e in corpus["test"]] == ["1", None, "0"]
    assert "1 of 3 rows have no label (row 2, header not counted); they are kept without one" in corpus.notes


def test_a_column_split_makes_splits(tmp_path):
    table = frame(text=list("abc"), label=["x", "y", "x"], split=["train", "dev", "train"])
    corpus = read_table(write(table, tmp_path / "a.csv"))
    assert {split: [e.text for e in examples] for split, examples in corpus.splits.items()} == {
        "train": ["a", "c"],
        "dev": ["b"],
    }


def test_pairs_and_usual_names(tmp_path):
    table = frame(idx=[0, 1], Premise=["p", "q"], hypothesis=["h", "i"], gold_label=["x", "y"])
    example = read_table(write(table, tmp_path / "a.csv"))["test"][0]
    assert (example.text, example.pair, example.label) == ("p", "h", "x")


def test_named_columns_come_before_usual_names(tmp_path):
    table = frame(text=["old"], clean=["new"], label=["x"], stars=["5"], summary=["s"])
    columns = Columns(text="clean", label="stars", target="summary")
    corpus = read_table(write(table, tmp_path / "a.csv"), columns)
    assert (corpus["test"][0].text, corpus["test"][0].label, corpus["test"][0].target) == ("new", "5", "s")
    assert corpus.notes == ()


def test_columns_are_guessed_from_what_they_hold_and_the_guess_is_said(tmp_path):
    table = frame(nr=[1, 2, 3, 4], verbatim=[text for text, _ in ROWS], mood=["x", "y", "x", "y"])
    corpus = read_table(write(table, tmp_path / "a.csv"))
    assert [(e.text, e.label) for e in corpus["test"]] == [
        (row[0], mood) for row, mood in zip(ROWS, "xyxy", strict=True)
    ]
    assert any("'verbatim'" in note for note in corpus.notes)
    assert any("'mood'" in note for note in corpus.notes)


def test_two_columns_of_long_texts_are_not_guessed_between(tmp_path):
    long = [text for text, _ in ROWS]
    path = write(frame(one=long, two=long, mood=list("xyxy")), tmp_path / "a.csv")
    with pytest.raises(BadData, match=r"'one', 'two', 'mood'.*--columns\.text NAME"):
        read_table(path)


def test_no_label_is_guessed_where_two_columns_could_be_it(tmp_path):
    corpus = read_table(write(frame(text=list("abcd"), p=list("xyxy"), q=list("uuvv")), tmp_path / "a.csv"))
    assert corpus.labels == ()
    assert any("--columns.label" in note for note in corpus.notes)


@pytest.mark.parametrize("as_cell", [json.dumps, lambda cells: " ".join(str(cell) for cell in cells)])
def test_words_tags_and_rationales(tmp_path, as_cell):
    table = frame(
        tokens=[as_cell(["Ann", "sleeps"])], ner_tags=[as_cell(["PER", "O"])], rationale=[as_cell([1, 0])], label=["x"]
    )
    corpus = read_table(write(table, tmp_path / "a.tsv"))
    example = corpus["test"][0]
    assert (example.text, example.words, example.tags) == ("Ann sleeps", ("Ann", "sleeps"), ("PER", "O"))
    assert example.rationale == (True, False)


def test_lists_in_parquet_and_json_lines_are_lists(tmp_path):
    table = frame(tokens=[["a", "b c"]], tags=[[3, 10]])
    for name in ("a.parquet", "a.jsonl"):
        corpus = read_table(write(table, tmp_path / name))
        assert corpus["test"][0].words == ("a", "b c")
        assert corpus["test"][0].tags == ("3", "10")
        assert corpus.labels == ("3", "10")


def test_a_rationale_without_words_splits_the_text(tmp_path):
    corpus = read_table(write(frame(text=["not  bad"], label=["x"], rationale=["1 1"]), tmp_path / "a.csv"))
    assert corpus["test"][0].words == ("not", "bad")
    assert corpus["test"][0].text == "not bad"
    assert any("at spaces" in note for note in corpus.notes)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.jsonl", b" \n", "is empty"),
        ("a.csv", b"text,label\n", r"has a header \('text', 'label'\) but no rows"),
        ("a.csv", b"text,label\nab\xe9c,1\n", r"byte 13 \(0xe9, in line 2\).*as UTF-8"),
        ("a.csv", b"text,label\na,b,1\n", r"line 2: 2 cells were expected.*there are 3"),
        ("a.tsv", b"text\tlabel\na\n", r"line 2: 2 cells were expected.*there are 1"),
        ("a.csv", b'text,label\n"a,1\n', r"line 2: .*double quote"),
        ("a.csv", b"text,text\na,1\n", "more than one column named 'text'"),
        ("a.csv", b"text,label\na,1\n ,1\nb,0\n,0\n", r"is empty in 2 of 4 rows \(rows 2, 4"),
        ("a.csv", b"text,label,split\na,1,\n", r"'split' \(the split\) is empty in 1 of 1"),
        ("a.jsonl", b'{"text": "a"}\n\n{"text": \n', r"line 3: not JSON"),
        ("a.jsonl", b'{"text": "a"}\n[1]\n', r"line 2: a JSON object was expected"),
        ("a.jsonl", b'{"text": "a"}\n{"text": null}\n{"text": NaN}\n{"label": 1}\n', r"in 3 of 4 rows \(rows 2, 3, 4"),
        ("a.jsonl", b'{"text": 7}\n', "must hold strings"),
        ("a.jsonl", b'{"tokens": ["a"], "tags": ["x", "y"]}\n', "row 1: tags needs one value for each word; it has 2"),
        ("a.parquet", b"PAR1 no", "cannot be read as Parquet"),
        ("a.csv.gz", b"text,label\n", "cannot be gunzipped"),
        ("a.csv.gz", gzip.compress(b"text,label\na,1\n" * 99, mtime=0)[:40], "cannot be gunzipped"),
        ("a.xlsx", b"text", r"no known format.*\.csv, \.tsv, \.jsonl"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, content, says):
    with pytest.raises(BadData, match=says):
        read_table(put(tmp_path, name, content))


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_a_missing_file_is_said(tmp_path, name):
    with pytest.raises(BadData, match=f"there is no file .*{name}"):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"words": ["a"], "why": [2]}, r"'why' must hold 0 or 1 .* in 1 of 1 rows"),
        ({"words": [], "why": [1]}, r"'words' \(the tokens\) has no list in 1 of 1 rows"),
        ({"words": ["a"], "why": [1, 0]}, r"row 1: rationale needs one value for each word; it has 2, for 1 words"),
    ],
)
def test_named_columns_of_marks_must_hold_marks(tmp_path, row, says):
    with pytest.raises(BadData, match=says):
        read_table(put(tmp_path, "a.jsonl", json.dumps(row)), Columns(tokens="words", rationale="why"))


def test_a_column_of_usual_name_that_holds_something_else_is_left_and_that_is_said(tmp_path):
    table = frame(
        text=["a b", "c d"], label=list("xy"), tokens=[2, 2], question=["", "why ?"], rationale=["it is", "so"]
    )
    corpus = read_table(write(table, tmp_path / "a.csv"), Columns(text="text"))
    assert corpus["test"] == (Example("a b", "x"), Example("c d", "y"))
    assert {note for note in corpus.notes if "did not take" in note} == {
        "did not take column 'question' as the pair, since not every row holds one",
        "did not take column 'rationale' as the rationale, since not every row holds one",
    }


def test_a_number_of_tokens_is_not_taken_for_the_words(tmp_path):
    corpus = read_table(write(frame(text=["a b", "c d"], label=list("xy"), tokens=[2, 2]), tmp_path / "a.csv"))
    assert corpus["test"] == (Example("a b", "x"), Example("c d", "y"))


def test_a_question_without_another_text_is_the_text(tmp_path):
    table = frame(question=["who is it ?", "what is it ?", "why is it ?", "is it so ?"], label=list("xyxy"))
    assert read_table(write(table, tmp_path / "a.csv"))["test"][0] == Example("who is it ?", "x")


def test_many_columns_are_not_all_listed(tmp_path):
    table = frame(**{f"c{i}": [1] for i in range(20)})
    with pytest.raises(BadData, match=r"'c11' and 8 more\. Name it"):
        read_table(write(table, tmp_path / "a.csv"))


def test_a_missing_column_names_those_there_are(tmp_path):
    with pytest.raises(BadData, match=r"a\.csv has no column 'stars' for the label; it has: 'text', 'label'"):
        read_table(write(frame(), tmp_path / "a.csv"), Columns(label="stars"))


def test_a_split_called_validation_is_dev(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label,split\na b c,x,train\nd e f,y,validation\ng h i,x,test\n")
    corpus = read_table(path)
    assert list(corpus.splits) == ["train", "dev", "test"]
    assert "took the split 'validation' as dev" in corpus.notes
    path.write_text("text,label,split\na b c,x,dev\nd e f,y,validation\n")
    assert list(read_table(path).splits) == ["dev", "validation"]
