"""The audit: which questions, in which order, within which time, and the rules that turn tables into verdicts."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """`whence.audit` is the verb, and Python makes it this room once anything in here is imported: so it is both."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Audit a model on a corpus or table; see `whence.api.audit`."""
        return import_module("whence.api").audit(*arguments, **options)


sys.modules[__name__].__class__ = _Room
