"""CSV and TSV files, read with precise error messages."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.core.errors import BadData
from whence.data.formats.text import Table, read_text


def read_separated(path: Path, tabs: bool) -> Table:
    """CSV with quotes, or TSV, where a line is a row and quotes mean nothing unless they are used throughout."""
    return read_separated_lines(path, read_text(path), tabs)


def read_separated_lines(path: Path, text: str, tabs: bool) -> Table:
    """The same for the text of a file, or for its header and some of its rows."""
    notes = []
    first = text.lstrip().splitlines()[0]
    separator = "\t" if tabs else ";" if ";" in first and "," not in first else ","
    if separator == ";":
        notes.append("took semicolons as the separators, since the header has no comma")
    lines = list(separated_lines(path, text, separator))
    (_, header), body = lines[0], lines[1:]
    for number, cells in body:
        if len(cells) != len(header):
            hint = "a TSV cell cannot hold a tab or a line break" if tabs else "a cell with a comma needs quotes"
            raise BadData(
                f"{path}, line {number}: {len(header)} cells were expected, as in the header; "
                f"there are {len(cells)} ({hint})"
            )
    if tabs and quoted_throughout([cells for _, cells in lines]):
        lines = [(number, [unquoted(cell) for cell in cells]) for number, cells in lines]
        (_, header), body = lines[0], lines[1:]
        notes.append("took the double quotes around cells as quoting and removed them")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise BadData(f"{path} has more than one column named {', '.join(map(repr, twice))}; give each its own name")
    return Table(tuple(header), [dict(zip(header, cells, strict=True)) for _, cells in body], tuple(notes))


class TSV(csv.excel_tab):
    """Cells with tabs between, in which quotes are like other letters."""

    quoting = csv.QUOTE_NONE


def separated_lines(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of all lines that are not empty."""
    dialect = TSV if separator == "\t" else csv.excel
    reader = csv.reader(io.StringIO(text, newline=""), dialect, delimiter=separator, strict=True)
    with long_cells():
        try:
            yield from ((reader.line_num, cells) for cells in reader if cells)
        except csv.Error as error:
            raise BadData(
                f"{path}, line {reader.line_num}: {error}; look for a stray or missing double quote"
            ) from error


@contextmanager
def long_cells() -> Iterator[None]:
    """Let cells be longer than the csv module's 131,072 characters, and put its limit back afterwards."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def quoted_throughout(lines: list[list[str]]) -> bool:
    """Whether some cells begin with a double quote, and all those also end with one and double those inside."""
    begun = [cell for cells in lines for cell in cells if cell.startswith('"')]
    return bool(begun) and all(
        len(cell) > 1 and cell.endswith('"') and '"' not in cell[1:-1].replace('""', "") for cell in begun
    )


def unquoted(cell: str) -> str:
    """The cell without the quotes around it."""
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
