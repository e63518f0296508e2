"""Rows found by numpy: those that the csv module finds, or none at all."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.data.tables import scan as scanning
from whence.data.tables.scan import scan


def parsed(content: bytes, separator=","):
    """The rows by the csv module, and where each ends."""
    return [row for row in csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator) if row]


def scanned(path, content, width, column=None, separator=",", tabs=False):
    path.write_bytes(content)
    return scan(path, separator, tabs, width, column)


def rows_at(content, ends):
    begins = [0, *ends[:-1]]
    return [row for b, e in zip(begins, ends, strict=True) for row in parsed(content[b:e])]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 4096])
def test_quotes_line_breaks_and_empty_lines(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(scanning, "CHUNK", chunk)
    content = 'text,split\r\n"a, ""b""\nc",train\r\n\r\nü,"te""st"\n\nlast,dev'.encode()
    found = scanned(tmp_path / "t.csv", content, 2, 1)
    assert rows_at(content, found.ends.tolist()) == parsed(content)
    assert found.column == ["split", "train", 'te"st', "dev"]


@pytest.mark.parametrize(
    "content",
    [
        b'text,label\n5" tape,a\nor 7",b\n',  # quotes within cells
        b'text,label\n"a"b,c\n',
        b"text,label\na\rb,c\n",  # a carriage return alone
        b"text,label\na,b,c\n",  # too wide
        b"text,label\na\n",
        b'text,label\n"a,b\n',  # a quote that is never closed
        b"text,label\n\xff,b\n",  # no UTF-8
    ],
)
def test_what_is_not_plain_is_left_to_the_csv_module(tmp_path, content):
    assert scanned(tmp_path / "t.csv", content, 2) is None


def test_quotes_mean_nothing_in_tsv(tmp_path):
    found = scanned(tmp_path / "t.tsv", b'text\tsplit\n5" tape\ttest\n"\tdev\n', 2, 1, "\t", True)
    assert found.column == ["split", "test", "dev"]


CELLS = st.text(st.sampled_from('ab,"\n\rü 7'), max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_whatever_is_written_is_found(tmp_path_factory, rows, ending):
    folder = tmp_path_factory.getbasetemp()
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator=ending).writerows(rows)
    content = written.getvalue().encode()
    found = scanned(folder / "scanned.csv", content, 3, 1)
    if found is not None:
        expected = parsed(content)  # a carriage return at the end of a line is the line's
        assert rows_at(content, found.ends.tolist()) == expected
        assert [cell.strip("\r\n") for cell in found.column] == [row[1].strip("\r\n") for row in expected]
    else:
        assert any("\r" in cell for row in rows for cell in row)  # alone
