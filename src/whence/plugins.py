"""Finding things by name: the files of a folder, entry points of other packages, or `module:object` for a script.

Explainers, experiments, corpora and reference models are found alike. A package adds one by an entry point in the group
`whence.explainers`, `whence.experiments`, `whence.corpora` or `whence.models`; a script by naming `module:object` in
the place of a name, with the module found as Python finds it (the current folder included).
"""

import ast
import difflib
import os
import pkgutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from whence.core.errors import BadConfig

Plugin = TypeVar("Plugin")


@dataclass(frozen=True, eq=False)
class Registry(Generic[Plugin]):
    """The things of one kind, by name. `attribute` is what each file of `package` calls its own; `is_valid` refuses
    what an entry point or a script gives in its place.
    """

    kind: str  # "explainer"; the entry points' group is whence.explainers
    package: str
    attribute: str
    is_valid: Callable[[Any], bool]
    expected: str  # what a plug-in must be, for the error message
    plural: str = ""

    @property
    def group(self) -> str:
        """The group of entry points that other packages use."""
        return f"whence.{self.plural or self.kind + 's'}"

    @cached_property
    def built_in(self) -> tuple[str, ...]:
        """The names of our own: the files of the folder."""
        spec = find_spec(self.package)
        folders = list(spec.submodule_search_locations or ()) if spec else []
        return tuple(sorted(module.name for module in pkgutil.iter_modules(folders) if not module.ispkg))

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """What other packages bring; a name of our own is not replaced."""
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.built_in}

    def names(self) -> tuple[str, ...]:
        """All names, our own first."""
        return (*self.built_in, *sorted(self.installed))

    def get(self, name: str) -> Plugin:
        """The thing with this name, or that `module:object` names."""
        if ":" in name:
            return self._checked(_from_script(self.kind, name), name)
        wanted = name.replace("-", "_")
        if wanted in self.built_in:
            found: Plugin = getattr(import_module(f"{self.package}.{wanted}"), self.attribute)
            return found
        point = self.installed.get(name) or self.installed.get(wanted)
        if point is not None:
            return self._checked(point.load(), name)
        near = difflib.get_close_matches(wanted, self.names(), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise BadConfig(f"no {self.kind} {name!r}{hint}; there are: {', '.join(self.names())}, or module:object")

    def about(self, name: str) -> str:
        """The first sentence about it: of our own the first line of the file, without importing it."""
        wanted = name.replace("-", "_")
        if wanted in self.built_in:
            return _first_line(self.package, wanted)
        found: Any = self.get(name)
        text = getattr(found, "about", None) or found.__doc__ or ""
        return text.strip().splitlines()[0] if text.strip() else ""

    def _checked(self, found: Any, name: str) -> Plugin:
        if not self.is_valid(found):
            raise BadConfig(f"{name} is no {self.kind}: expected {self.expected}, came {type(found).__name__}")
        valid: Plugin = found
        return valid


def _from_script(kind: str, name: str) -> Any:
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadConfig(
            f"no {kind} {name!r}: {error}; expected module:object, the module in this folder or installed"
        ) from error


@cache
def _first_line(package: str, name: str) -> str:
    spec = find_spec(package)
    folder = Path(next(iter(spec.submodule_search_locations or ()))) if spec else Path()
    text = ast.get_docstring(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
