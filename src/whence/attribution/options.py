"""Options of explainers: which there are, and how they are written on a command line."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from whence.attribution.registry import EXPLAINERS, explainer
from whence.core.errors import BadConfig

KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a name"}
NUMBER = re.compile(r"-?\d*\.\d+(e-?\d+)?")


def refuse_options(options: Mapping[str, Mapping[str, Any]], methods: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse options of methods that are not selected, unknown options, and values of the wrong type."""
    for method, given in options.items():
        if method not in methods:
            raise BadConfig(f"options were given for {method}, which is not among the methods: {', '.join(methods)}")
        has = options_of(methods[method])
        for name in given:
            if name not in has:
                raise BadConfig(f"{method} has no option {name!r}; it has: {', '.join(has) or 'none'}")
            _refuse_kind(
                f"{method}.{name}", given[name], inspect.signature(methods[method]).parameters[name].annotation
            )


def _refuse_kind(option: str, value: Any, taken: Any) -> None:
    """Refuse a value of the wrong type; truth values are no numbers."""
    kinds = get_args(taken) or (taken,)
    if isinstance(value, bool) and bool in kinds:
        return
    numbers = (int,) if float in kinds else ()
    if isinstance(value, bool) or not isinstance(value, (*kinds, *numbers)):
        there = " or ".join(KINDS[kind] for kind in kinds)
        raise BadConfig(f"{option} takes {there}; got {value!r}")


def options_of(explain: Callable[..., Any]) -> list[str]:
    """The options that a method has."""
    return [name for name, one in inspect.signature(explain).parameters.items() if one.kind == one.KEYWORD_ONLY]


def spread(given: Mapping[str, Any], methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Options given once, for each of the methods that has them; an option that none of them has is refused."""
    found: dict[str, dict[str, Any]] = {}
    for option, value in given.items():
        having = [method for method in methods if option in options_of(explainer(method))]
        if not having:
            there = ", ".join(name for name in EXPLAINERS.built_in if option in options_of(explainer(name)))
            raise BadConfig(f"{option} is an option of {there}: not among the methods: {', '.join(methods)}")
        for method in having:
            found.setdefault(method, {})[option] = value
    return found


def written_options(methods: Sequence[str], written: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The options of each method, from words like `lat.normalize=l1`; refused if a method has no such option."""
    options: dict[str, dict[str, Any]] = {}
    for word in written:
        where, equals, value = word.partition("=")
        method, dot, name = where.rpartition(".")  # a module may have dots too
        if not (equals and dot and value):
            raise BadConfig(
                f"an explainer's option is written METHOD.OPTION=VALUE, as in lat.normalize=l1; got {word!r}"
            )
        options.setdefault(method.replace("-", "_"), {})[name] = _value(value)
    refuse_options(options, {method.replace("-", "_"): explainer(method) for method in methods})
    return options


def _value(text: str) -> Any:
    """A truth value, a number, or text."""
    if text in ("true", "false"):
        return text == "true"
    if text.removeprefix("-").isdecimal():
        return int(text)
    return float(text) if NUMBER.fullmatch(text) else text
