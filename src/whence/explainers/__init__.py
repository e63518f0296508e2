"""Explainers: one file is one method, `explain(subject, batch, target) -> Attribution`, named after its file."""

import ast
import difflib
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from whence.core.errors import BadConfig

USUAL = ("raw_attention", "gradient_x_input", "leave_one_out", "random")


@cache
def names() -> tuple[str, ...]:
    """The methods there are: the files of this folder."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def explainer(name: str) -> Callable[..., Any]:
    """A method by its name."""
    wanted = name.replace("-", "_")
    if wanted not in names():
        near = difflib.get_close_matches(wanted, names(), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise BadConfig(f"no explainer {name!r}{hint}; there are: {', '.join(names())}")
    return import_module(f"{__name__}.{wanted}").explain


def about(name: str) -> str:
    """The first line of a method's file, without running it."""
    source = (Path(__path__[0]) / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
