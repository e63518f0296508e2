"""The rows of a large CSV or TSV file, found without parsing most of them."""

import csv
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import BinaryIO, NamedTuple

from whence.data.formats.csv_tsv import TSV


class Record(NamedTuple):
    """A row: its cells, made when they are asked for, how many there are, where it ends, and the number of its last
    line.
    """

    cells: Callable[[], list[str]]
    width: int
    end: int
    line: int


class Lines:
    """The lines of a file, and where the one that was read last ends."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.end, self.number = file, 0, 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self.file:
            self.end += len(line)
            self.number += 1
            yield line


def separated_records(file: BinaryIO, separator: str, tabs: bool) -> Iterator[Record]:
    """Every row that is not empty. A line without quotes is a row; only the others are parsed."""
    lines, between = Lines(file), separator.encode()
    rest = iter(lines)
    for line in rest:
        if (tabs or b'"' not in line) and b"\r" not in line[:-2]:
            cells, width = partial(_split, line, separator), line.count(between) + 1
            if not line.isascii():
                line.decode("utf-8")  # what is no UTF-8 is refused
            if not line.strip(b"\r\n"):
                width = 0
        else:
            texts = (one.decode("utf-8") for one in chain([line], rest))
            row = next(csv.reader(texts, TSV if tabs else csv.excel, delimiter=separator, strict=True))
            cells, width = partial(list, row), len(row)
        if width:
            yield Record(cells, width, lines.end, lines.number)


def _split(line: bytes, separator: str) -> list[str]:
    return line.decode("utf-8").rstrip("\r\n").split(separator)
