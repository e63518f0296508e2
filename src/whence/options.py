"""Options: pydantic classes, whose wrong values get a sentence."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from tyro.conf import Fixed, Suppress, arg

from whence.core.errors import BadConfig

Kind = TypeVar("Kind", bound=BaseModel)
Answer = TypeVar("Answer")
Unspoken = Suppress[Fixed[Answer]]  # an option that the command line does not have


def usually(what: str, metavar: str | None = None) -> object:
    """How the command line shows an option that may be left out: what it then is, and what it takes."""
    return arg(help_behavior_hint=f"(default: {what})", metavar=metavar)


def checked(kind: type[Kind], values: dict[str, object]) -> Kind:
    """The options, or an error that names the one that is wrong."""
    try:
        return kind(**values)
    except ValidationError as error:
        raise BadConfig(sentence(error)) from error


def sentence(error: ValidationError) -> str:
    """What is wrong with which option: of several ways to write one, the first."""
    found = {_option(dict(one)): _one(dict(one)) for one in reversed(error.errors())}
    return "; ".join(reversed(found.values()))


def _one(wrong: dict[str, Any]) -> str:
    message = wrong["msg"]
    return f"{_option(wrong)}: {message[0].lower()}{message[1:]}, got {wrong['input']!r}"


def _option(wrong: dict[str, Any]) -> str:
    """The option's name, without the kinds of value that pydantic tried (constrained-int, literal['auto'])."""
    return ".".join(str(place) for place in wrong["loc"] if isinstance(place, int) or place.isidentifier())
