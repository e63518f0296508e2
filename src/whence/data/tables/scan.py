"""Where the rows of a large CSV or TSV file end, found by numpy for the whole file at once.

A line break ends a row, and a separator a cell, where the number of quotes before it is even. That is what the csv
module finds too, if every quote that opens stands at the beginning of a cell and every quote that closes at its end (or
next to another quote). Files of which this is not true, or whose rows differ in width, are not scanned: `None`.
"""

import codecs
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy import ndarray

CHUNK = 4 * 2**20  # bytes that are looked at together
QUOTE, LINE_FEED, RETURN = b'"\n\r'


class Scan(NamedTuple):
    """Where each row of a file ends, header included, and the cells of one column, where that was asked for."""

    ends: ndarray
    column: list[str] | None


def scan(path: Path, separator: str, tabs: bool, width: int, column: int | None) -> Scan | None:
    """The ends of all rows that are not empty; None where rows cannot be found in this way."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    data = np.frombuffer(mapped, np.uint8)
    found = _marks(data, ord(separator), not tabs, mapped)
    if found is None:
        return None
    breaks, separators = found
    if not len(breaks) or breaks[-1] != len(data) - 1:
        breaks = np.append(breaks, len(data) - 1)  # the last row has no line break
    ends = breaks + 1
    begins = np.concatenate(([0], ends[:-1]))
    empty = ends - begins <= 2
    short = np.flatnonzero(empty)
    lengths, first = (ends - begins)[short], data[begins[short]]
    empty[short] = (lengths == 1) & (first == LINE_FEED) | (lengths == 2) & (first == RETURN)
    widths = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    if (widths[~empty] != width).any():
        return None
    if column is None:
        return Scan(ends[~empty], None)
    cells = separators.reshape(-1, width - 1) if width > 1 else np.zeros((int((~empty).sum()), 0), np.int64)
    begin = cells[:, column - 1] + 1 if column else begins[~empty]
    end = cells[:, column] if column < width - 1 else ends[~empty]
    return Scan(ends[~empty], list(_texts(data, begin, end, tabs)))


def _marks(data: ndarray, separator: int, quoting: bool, mapped: mmap.mmap) -> tuple[ndarray, ndarray] | None:
    """The positions of line breaks and of separators that are outside quotes; None where quotes are stray, or where a
    carriage return stands alone. What is no UTF-8 is None too.
    """
    breaks: list[ndarray] = []
    separators: list[ndarray] = []
    seen = 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin in range(0, len(data), CHUNK):
        part = np.asarray(data[begin : begin + CHUNK])
        if part.max() > 127 or decoder.getstate()[0]:
            try:
                decoder.decode(part.tobytes(), begin + CHUNK >= len(data))
            except UnicodeDecodeError:
                return None
        returns = np.flatnonzero(part == RETURN) + begin
        if (data[np.minimum(returns + 1, len(data) - 1)] != LINE_FEED).any():
            return None
        quotes = np.flatnonzero(part == QUOTE) if quoting else np.zeros(0, np.int64)
        if not _well_placed(data, quotes + begin, seen, separator):
            return None
        for positions, byte in ((breaks, LINE_FEED), (separators, separator)):
            places = np.flatnonzero(part == byte)
            outside = (np.searchsorted(quotes, places) + seen) % 2 == 0 if quoting else slice(None)
            positions.append(places[outside] + begin)
        seen += len(quotes)
        if hasattr(mapped, "madvise") and begin % mmap.PAGESIZE == 0 == CHUNK % mmap.PAGESIZE:
            mapped.madvise(mmap.MADV_DONTNEED, begin, len(part))  # what was looked at need not stay in memory
    return (np.concatenate(breaks), np.concatenate(separators)) if breaks and seen % 2 == 0 else None


def _well_placed(data: ndarray, quotes: ndarray, before: int, separator: int) -> bool:
    """Whether quotes that open stand at the beginning of a cell, and those that close at its end."""
    opens = (np.arange(len(quotes)) + before) % 2 == 0
    allowed = np.array([separator, LINE_FEED, RETURN, QUOTE], np.uint8)
    first = quotes[opens]
    ahead = data[np.maximum(first - 1, 0)]
    at_begin = np.isin(ahead, allowed) | (first == 0)
    last = quotes[~opens]
    at_end = np.isin(data[np.minimum(last + 1, len(data) - 1)], allowed) | (last == len(data) - 1)
    return bool(at_begin.all() and at_end.all())


def _texts(data: ndarray, begins: ndarray, ends: ndarray, tabs: bool) -> Iterator[str]:
    content = memoryview(data)  # type: ignore[arg-type]  # arrays are buffers
    known: dict[bytes, str] = {}
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        cell = bytes(content[begin:end])
        if cell not in known:
            text = cell.decode("utf-8").rstrip("\r\n")
            quoted = not tabs and text.startswith('"')
            known[cell] = text[1:-1].replace('""', '"') if quoted else text
        yield known[cell]
