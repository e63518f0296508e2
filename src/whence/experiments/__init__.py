"""Experiments: one file is one question. `Config`, `COLUMNS`, `run`, `figure`, `verdict`, read top to bottom.

Nothing here needs torch to be imported: a saved table is drawn and judged without it. What runs a model comes through
the subject that `run` is given, and through `whence`'s window, which fetches names when they are used.
"""

import difflib
import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from whence.core.errors import BadConfig


@cache
def names() -> tuple[str, ...]:
    """The experiments there are: the files of this folder."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def experiment(name: str) -> Any:
    """An experiment's module by its name."""
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise BadConfig(f"no experiment {name!r}{hint}; there are: {', '.join(names())}")
    return import_module(f"{__name__}.{name}")


def about(name: str) -> str:
    """The first line of an experiment's file: its question."""
    return (experiment(name).__doc__ or "").splitlines()[0]
