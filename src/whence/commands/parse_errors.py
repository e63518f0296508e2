"""What is wrong with a command line, in one sentence: tyro's error boxes reworded, without their copy of the help."""

import re

KINDS = {"INT": "a whole number", "FLOAT": "a number", "STR": "text", "PATH": "a path"}
NO_MATCH = re.compile(r"Error parsing (\S+): no type matching (.+?) could be instantiated from \[(.*)\]")
NO_NUMBER = re.compile(
    r"Error parsing (\S+): (?:invalid literal for (int)\(\) with base 10|could not convert string to (float)): (.+)"
)
NO_CHOICE = re.compile(r"invalid choice (.+?) for argument '(.+?)'\. Expected one of \((.*?),?\)")
UNKNOWN = re.compile(r"Unrecognized options: (.+?)(?: Perhaps you meant: (.*))?")
MISSING = re.compile(r"Missing from whence [^:]*: (.+)")
NO_VALUE = re.compile(r"Missing value for argument '(.+?)'.*")


def one_line(box: str) -> str:
    """The message in an error box of tyro as one sentence, and where the help is.

    A terminal without box characters gets the title on a line of its own and rules of dashes around the message.
    """
    lines = [line.strip(" │") for line in box.splitlines() if not set(line) & set("╭╰─")]
    rules = [number for number, line in enumerate(lines) if len(line) > 3 and set(line) == {"-"}]
    if rules:
        lines = [line for number, line in enumerate(lines) if number > rules[0] and number not in rules]
    words, _, hint = " ".join(line for line in lines if line).partition("For full helptext, ")
    words = words.partition("Argument helptext:")[0].partition("Got errors:")[0].strip(" .")
    where = hint.removeprefix("run: ").removeprefix("run ").removeprefix("see ").strip()
    return f"{reworded(words)}; see `{where}`" if where else reworded(words)


def reworded(words: str) -> str:
    """The message in plain words, if it is one of those that tyro has; else as it is."""
    if found := NO_MATCH.fullmatch(words):
        return f"{found[1]}: expected {alternatives(found[2])}, got {found[3]}"
    if found := NO_NUMBER.fullmatch(words):
        return f"{found[1]}: expected {KINDS['INT' if found[2] else 'FLOAT']}, got {found[4]}"
    if found := NO_CHOICE.fullmatch(words):
        choices = sorted({choice.strip(" '") for choice in found[3].split(",")} - {"None"})
        return f"{found[2]}: expected one of {', '.join(choices)}, got {found[1]}"
    if found := UNKNOWN.fullmatch(words):
        return unknown(found[1].split(", "), found[2] or "")
    if found := MISSING.fullmatch(words):
        return " and ".join(missing(one) for one in re.split(r"\(required\)", found[1]) if one.strip())
    if found := NO_VALUE.fullmatch(words):
        return f"{found[1]} needs a value"
    return words


def alternatives(kinds: str) -> str:
    """What may be given, from tyro's `{None,last,mean}|INT`: last, mean or a whole number."""
    named = [one for part in kinds.split("|") for one in part.strip("{}").split(",")]
    plain = [KINDS.get(one, one) for one in named if one != "None"]
    return " or ".join([", ".join(plain[:-1]), plain[-1]]) if len(plain) > 1 else plain[0]


def unknown(given: list[str], near: str) -> str:
    """An option that does not exist, with those of similar names; or words that nothing asks for."""
    options = [one for one in given if one.startswith("-")]
    if not options:
        return f"did not expect {', '.join(map(repr, given))} here; a text of several words needs quotes around it"
    meant = list(dict.fromkeys(re.findall(r"(?<!\S)--[a-z][\w.-]*", near)))
    return f"there is no option {', '.join(options)}" + (f"; perhaps you meant {' or '.join(meant)}" if meant else "")


def missing(one: str) -> str:
    """An argument that must be given: its name and what it is."""
    parts = one.split(maxsplit=2 if one.strip().startswith("--") else 1)
    return f"expected {' '.join(parts[:-1])} ({parts[-1].strip()})"
