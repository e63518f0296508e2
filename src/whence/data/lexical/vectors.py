"""Word vectors in the text format of GloVe and fastText: `word v1 ... vn`, one word a line."""

from collections.abc import Collection
from pathlib import Path

import numpy as np
from jaxtyping import Float

from whence.core.errors import BadData
from whence.data.formats.text import each_line


def read_vectors(path: str | Path, words: Collection[str]) -> dict[str, Float[np.ndarray, " width"]]:
    """The vectors of the wanted words that the file has; the first, where a word comes twice.

    A first line `count width`, as fastText writes, is skipped. A word may hold spaces, as some in GloVe's larger
    files do; but a line with too many numbers is an error, as is one with too few.
    """
    wanted, found, width = set(words), dict[str, Float[np.ndarray, " width"]](), 0
    for number, ended in each_line(Path(path)):
        line = ended.rstrip(" ")
        parts = line.count(" ")
        if not width:
            width = header_width(line) or parts
            if header_width(line):
                continue
        if parts != width:
            check_ragged(line, width, f"{path}, line {number}")
        word = line.split(" ", 1)[0] if parts == width else line.rsplit(" ", width)[0]
        if word in wanted and word not in found:
            found[word] = as_vector(line, width, f"{path}, line {number}")
    if not width:
        raise BadData(f"{path} is empty; lines with a word and its numbers were expected")
    return found


def header_width(line: str) -> int:
    """The width that a header `count width` states; 0 if the line is no header."""
    parts = line.split(" ")
    return int(parts[1]) if len(parts) == 2 and all(part.isdecimal() for part in parts) else 0


def check_ragged(line: str, width: int, where: str) -> None:
    """Raise unless the line is a word with spaces in it, followed by as many numbers as the others have."""
    word, *numbers = line.rsplit(" ", width)
    beyond = word.split(" ")[1:]
    if len(numbers) < width or all(map(is_number, beyond)):
        there = len(numbers) + len(beyond)
        raise BadData(f"{where}: {width} numbers were expected after the word, as in the lines before; got {there}")


def is_number(part: str) -> bool:
    """Whether this reads as a number."""
    try:
        float(part)
    except ValueError:
        return False
    return True


def as_vector(line: str, width: int, where: str) -> Float[np.ndarray, " width"]:
    """The numbers at the end of a line."""
    numbers = line.rsplit(" ", width)[1:]
    try:
        return np.array([float(part) for part in numbers], dtype=np.float32)
    except ValueError:
        wrong = next(part for part in numbers if not is_number(part))
        raise BadData(f"{where}: a number was expected; got {wrong!r}") from None
