r"""Strings that are not Unicode text: they hold half a surrogate pair, which no file, tokenizer or terminal can take.

Python puts one where a command's argument is not UTF-8 (U+DC80 to U+DCFF stand for single bytes), and JSON may spell
one out (`\ud800`).
"""

from collections.abc import Iterable

from whence.core.errors import BadConfig, BadData


def refuse_surrogates(text: str, what: str) -> None:
    """Refuse a text that is not Unicode; `what` names it in the error."""
    place = surrogate_place(text)
    if place is not None:
        raise BadData(
            f"{what} is not Unicode text: expected whole characters, and there is U+{ord(text[place]):04X}, half a"
            f" surrogate pair, in {around(text, place)}; write the whole character, or remove it"
        )


def refuse_undecoded(arguments: Iterable[str]) -> None:
    """Refuse a command's argument whose bytes are not UTF-8."""
    for number, argument in enumerate(arguments, start=1):
        place = surrogate_place(argument)
        if place is not None:
            code = ord(argument[place])
            came = f"the byte 0x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"U+{code:04X}"
            raise BadConfig(
                f"argument {number} is not UTF-8: expected Unicode text, and character {place + 1} is {came}, in"
                f" {around(argument, place)}; write it in UTF-8 (a file: rename it)"
            )


def surrogate_place(text: str) -> int | None:
    """Where the first half of a surrogate pair is; None in a proper text."""
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None


def around(text: str, place: int, width: int = 20) -> str:
    """What stands around a character, quoted, with what cannot be printed spelled out."""
    return ascii(text[max(0, place - width) : place + width])
