"""The explainers by name: built-in ones, those of other packages, and `module:function`."""

from collections.abc import Callable
from typing import Any

from whence.plugins import Registry

USUAL = ("raw_attention", "gradient_x_input", "leave_one_out", "random")
EXPLAINERS: Registry[Callable[..., Any]] = Registry(
    "explainer", "whence.explainers", "explain", callable, "a function explain(subject, batch, target) -> Attribution"
)
names, explainer, about = EXPLAINERS.names, EXPLAINERS.get, EXPLAINERS.about
