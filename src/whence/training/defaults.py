"""The defaults of each model, and the split of flat options into shared ones and the model's own."""

import difflib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from whence.core.errors import BadConfig
from whence.reference_model import REFERENCE_MODELS, ModelOptions, find_model

FINE_TUNING: dict[str, Any] = {  # of a saved model, as usual for BERT
    "epochs": 3,
    "learning_rate": 5e-5,
    "schedule": "linear",
    "optimizer": "adamw",
    "weight_decay": 0.01,
    "clip": 1.0,
}


class FineTuningOptions(ModelOptions):
    """A saved model has its architecture already."""


def split_options(given: Mapping[str, Any], shared: set[str]) -> dict[str, Any]:
    """Options with the model's defaults filled in, the model's own ones together under `options`.

    `given` are flat; `options` among them may hold some of the model's own.
    """
    name = str(given.get("model", "additive"))
    reference = find_model(name)
    kind = reference.options if reference else FineTuningOptions
    nested = given.get("options") or {}
    named = {**dict(nested), **{option: value for option, value in given.items() if option != "options"}}
    defaults = reference.defaults(named.get("mode")) if reference else FINE_TUNING
    flat = {**defaults, **named}
    own = set(kind.model_fields)
    refuse_unknown(name, flat, own, shared - {"model", "options"})
    options = kind(**{option: value for option, value in flat.items() if option in own})
    return {**{option: value for option, value in flat.items() if option not in own}, "options": options}


def refuse_unknown(name: str, given: Mapping[str, Any], own: set[str], shared: set[str]) -> None:
    """Refuse options that neither this model nor every training has."""
    if own & shared:
        raise BadConfig(
            f"{name} has options with the names of shared ones: {', '.join(sorted(own & shared))}; rename them"
        )
    has = f"it has: {', '.join(sorted(own))}" if own else _no_own_options(name)
    wrong = []
    for option in sorted(set(given) - own - shared - {"model"}):
        near = difflib.get_close_matches(option, own | shared, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        message = f"{name} has no such option{hint}; {has}; every training has: {', '.join(sorted(shared))}"
        kind = PydanticCustomError("unknown_option", "{message}", {"message": message})
        wrong.append(InitErrorDetails(type=kind, loc=(option,), input=given[option]))
    if wrong:
        raise ValidationError.from_exception_data("Training", wrong)


def _no_own_options(name: str) -> str:
    """Why a name has no options of its own: it is a saved model, or no model at all."""
    near = difflib.get_close_matches(name, REFERENCE_MODELS.names(), n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"{name} is no reference model{hint}, and a saved model that is fine-tuned has none of its own"
