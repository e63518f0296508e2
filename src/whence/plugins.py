"""Registries: what is found by name in a folder of Whence, by an entry point of another package, or as `module:object`.

Explainers, experiments, corpora and reference models are all found this way. A package adds one by an entry point in
the group `whence.explainers`, `whence.experiments`, `whence.corpora` or `whence.models`. A script needs no package: it
gives `module:object` where a name is expected; the module may be in the current folder. What a plug-in is made of is in
`whence.plugin_api`.
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
    """The plug-ins of one kind, by name.

    Each file of `package` defines one as `attribute`. What an entry point or a script gives must pass `is_valid`.
    """

    kind: str  # "explainer"; the entry points' group is then whence.explainers
    package: str
    attribute: str
    is_valid: Callable[[Any], bool]
    expected: str  # what a plug-in must be, for the error message
    plural: str = ""
    other_packages: tuple[str, ...] = ()  # folders with more of them

    @property
    def group(self) -> str:
        """The group of entry points that other packages use."""
        return f"whence.{self.plural or self.kind + 's'}"

    @cached_property
    def built_in(self) -> tuple[str, ...]:
        """The names of the files in the folder."""
        return tuple(self._package_of)

    @cached_property
    def _package_of(self) -> dict[str, str]:
        packages = (self.package, *self.other_packages)
        return {name: package for package in packages for name in _files_of(package)}

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """The entry points of other packages; they cannot replace a built-in name."""
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.built_in}

    def names(self) -> tuple[str, ...]:
        """All names, the built-in ones first."""
        return (*self.built_in, *sorted(self.installed))

    def get(self, name: str) -> Plugin:
        """The plug-in with this name, or the one that `module:object` points to."""
        if ":" in name:
            return self._checked(_from_script(self.kind, name), name)
        wanted = name.replace("-", "_")
        if wanted in self.built_in:
            found: Plugin = getattr(import_module(f"{self._package_of[wanted]}.{wanted}"), self.attribute)
            return found
        point = self.installed.get(name) or self.installed.get(wanted)
        if point is not None:
            return self._checked(_from_package(self.kind, point), name)
        near = difflib.get_close_matches(wanted, self.names(), n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise BadConfig(f"no {self.kind} {name!r}{hint}; choose from: {', '.join(self.names())}, or module:object")

    def about(self, name: str) -> str:
        """Its first sentence: of a built-in one the file's first line, without importing it.

        A plug-in that cannot be loaded says so here, so that a list shows all the others.
        """
        wanted = name.replace("-", "_")
        if wanted in self.built_in:
            return _first_line(self._package_of[wanted], wanted)
        try:
            found: Any = self.get(name)
        except BadConfig as error:
            return f"(cannot be used: {error})"
        text = getattr(found, "about", None) or found.__doc__ or ""
        return text.strip().partition("\n")[0]

    def _checked(self, found: Any, name: str) -> Plugin:
        if not self.is_valid(found):
            raise BadConfig(f"{name} is not a valid {self.kind}: expected {self.expected}, got {type(found).__name__}")
        valid: Plugin = found
        return valid


def _from_package(kind: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # a package may fail in any way when it is imported
        package = f" of the package {point.dist.name}" if point.dist else ""
        raise BadConfig(
            f"the {kind} {point.name}{package} cannot be loaded from {point.value}: {type(error).__name__}: {error};"
            " fix or uninstall the package"
        ) from error


def names_an_object(name: str) -> bool:
    """Whether the name is `module:object` with a module that Python finds; the module itself is not imported."""
    module, colon, attribute = name.partition(":")
    if not colon or not attribute or not all(part.isidentifier() for part in module.split(".")):
        return False
    _look_in_current_folder()
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a parent package is not there
        return False


def _from_script(kind: str, name: str) -> Any:
    module, _, attribute = name.partition(":")
    _look_in_current_folder()
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # a script may fail in any way when it is imported
        raise BadConfig(
            f"no {kind} {name!r}: {type(error).__name__}: {error}; expected module:object, with a module that is"
            " installed or in the current folder"
        ) from error


def _look_in_current_folder() -> None:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


@cache
def _files_of(package: str) -> tuple[str, ...]:
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders) if not module.ispkg))


@cache
def _first_line(package: str, name: str) -> str:
    spec = find_spec(package)
    folder = Path(next(iter(spec.submodule_search_locations or ()))) if spec else Path()
    text = ast.get_docstring(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
