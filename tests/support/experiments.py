"""Experiments whose run is replaced."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pandas as pd
import pytest


def replace_run(monkeypatch: pytest.MonkeyPatch, module: ModuleType, run: Callable[..., Any]) -> None:
    """Let the experiment of this file run something else; the rest of it stays."""
    monkeypatch.setattr(module, "EXPERIMENT", replace(module.EXPERIMENT, run=run))


def never(*_: object) -> pd.DataFrame:
    """A run that must not happen."""
    pytest.fail("the experiment was run")
