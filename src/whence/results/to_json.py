"""Values that JSON can hold, and the canonical text of a cache key."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import pandas as pd

from whence.core.errors import BadData


def canonical(cache_key: Mapping[str, Any]) -> str:
    """The cache key as JSON with sorted keys and no spaces, floats as Python's repr: equal keys, equal text."""
    _check(cache_key, "cache_key")
    return json.dumps(cache_key, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _check(value: Any, where: str) -> None:
    """Raise for values that JSON cannot round-trip."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise BadData(f"{where} has the key {name!r}; keys must be text: write {str(name)!r}")
            _check(inner, f"{where}[{name!r}]")
    elif isinstance(value, (list, tuple)):
        for number, inner in enumerate(value):
            _check(inner, f"{where}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise BadData(f"{where} is {value!r}, which JSON does not have; leave it out or write None")
    elif not (value is None or isinstance(value, (str, bool, int, float))):
        came = f"{type(value).__module__}.{type(value).__name__}"
        raise BadData(
            f"{where} is a {came}; a folder's name is made from text, numbers, true, false, None, lists and mappings "
            f"only: turn it into one of those first"
        )


def plain(value: Any) -> Any:
    """The nearest JSON value: arrays become lists, NaN becomes None, unknown objects become text."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in (sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)]
    if value is pd.NA:
        return None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)
