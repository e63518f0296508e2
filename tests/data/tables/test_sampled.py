"""Samples of large tables: the rows that the whole table has at these places, whatever the format."""

import csv
import json

import pandas as pd
import pytest

from whence.core.errors import BadData
from whence.data.tables import sampled
from whence.data.tables.columns import Columns
from whence.data.tables.reader import read_table
from whence.data.tables.sampled import is_large, sample_table

ROWS = [(f'text {n}, "so" it goes é' + ("\nand on" if n % 5 == 0 else ""), f"class {n % 3}") for n in range(40)]
SPLITS = ["train" if n % 4 else "valid" for n in range(40)]


def write(path, split: bool):
    names = ["text", "label", *["Split"] * split]
    rows = [(*row, *[name] * split) for row, name in zip(ROWS, SPLITS, strict=True)]
    if path.suffix == ".parquet":
        pd.DataFrame(rows, columns=names).to_parquet(path, row_group_size=7)
    elif path.suffix == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]
        path.write_text("\n\n".join(lines), encoding="utf-8")
    elif path.suffix == ".tsv":
        lines = ["\t".join(cell.replace("\n", " ") for cell in row) for row in [tuple(names), *rows]]
        path.write_text("\n".join(lines), encoding="utf-8-sig")
    else:
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows([names, *rows])
    return path


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_the_rows_are_those_of_the_whole_table(ending, split, tmp_path):
    path = write(tmp_path / f"a.{ending}", split)
    whole, wanted = read_table(path), "dev" if split else "test"
    seen: dict[str, int] = {}

    def pick(counts):
        seen.update(counts)
        return wanted

    n = len(whole[wanted])
    chosen = [0, 3, 5, n - 1]
    found = sample_table(path, Columns(), pick, lambda count: chosen if count == n else [])
    assert seen == {name: len(examples) for name, examples in whole.splits.items()}
    assert found[wanted] == tuple(whole[wanted][number] for number in chosen)
    assert found.numbers_of(wanted, [1, 3]) == [3, n - 1]
    assert found.name == whole.name
    assert f"read 4 of the {n} rows of {wanted}; the others were not looked at" in found.notes


def test_only_large_tables_are_sampled(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv", False)
    assert not is_large(path)
    monkeypatch.setattr(sampled, "LARGE", 100)
    assert is_large(path)
    assert not is_large(tmp_path / "b.csv")
    assert not is_large(write(tmp_path / "a.csv", False).rename(tmp_path / "a.csv.gz"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "text,label\na,1\nb\n", "line 3: 2 cells were expected, as in the header; there are 1"),
        ("a.csv", 'text,label\n"a,1\n', "cannot be read"),
        ("a.jsonl", '{"text": "a"}\n{"text": "b", "split": "test"}\n', "the split. is empty in 1 rows"),
        ("a.parquet", "no", "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_read(name, content, words, tmp_path):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=words):
        sample_table(path, Columns(), lambda counts: "test", lambda n: [0])
