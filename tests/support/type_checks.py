"""Types and shapes checked at some calls of every function, since checks at all calls are a third of the suite's time.

In each test, a function's first calls are checked, then one in many: what is checked follows from the test alone, not
from what ran before. `--all-families` checks all calls. A function is prepared when it is first checked, not when its
module is imported, and one that is defined within another is prepared at its first definitions only.
"""

import dataclasses
import functools
import inspect
from collections import Counter
from collections.abc import Callable
from types import CodeType
from typing import Any

import jaxtyping

FIRST = 5
EVERY = 50
checking_fully = jaxtyping.jaxtyped
defined: Counter[CodeType] = Counter()
tests = 0


def begin_test() -> None:
    """From here on, the first calls are checked again."""
    global tests
    tests += 1
    defined.clear()


def check_some_calls() -> None:
    """Let the import hook of jaxtyping mark functions with `checked_at_some_calls`; before whence is imported."""
    made: Any = lambda *, typechecker: functools.partial(checked_at_some_calls, typechecker=typechecker)  # noqa: E731
    jaxtyping.jaxtyped = made


def checked_at_some_calls(given: Any, typechecker: Callable[..., Any]) -> Any:
    """A function, or a class whose initialiser dataclass wrote, with its checks; anything else as jaxtyping has it."""
    if inspect.isclass(given):
        if dataclasses.is_dataclass(given) and not hasattr(given.__init__, "checked"):
            setattr(given, "__init__", some_calls(given.__init__, typechecker))  # noqa: B010
        return given
    return (
        some_calls(given, typechecker) if inspect.isfunction(given) else checking_fully(given, typechecker=typechecker)
    )


def some_calls(function: Callable[..., Any], typechecker: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose first calls in a test, and one in many after them, are checked."""
    if "<locals>" in function.__qualname__:
        defined[function.__code__] += 1
        if defined[function.__code__] > FIRST:
            return function
    test, calls, checked = tests, 0, None

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        nonlocal test, calls, checked
        __tracebackhide__ = True
        if test != tests:
            test, calls = tests, 0
        calls += 1
        if calls > FIRST and calls % EVERY:
            return function(*args, **kwargs)
        if checked is None:
            checked = checking_fully(function, typechecker=typechecker)
        return checked(*args, **kwargs)

    wrapped.checked = True  # type: ignore[attr-defined]
    return wrapped
