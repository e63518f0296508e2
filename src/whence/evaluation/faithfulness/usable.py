"""Which explainers and which kinds of removal a model allows."""

from typing import TYPE_CHECKING, Any

from whence.attribution.options import spread, written_options
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig, NoAttention
from whence.evaluation.context import Context
from whence.evaluation.faithfulness.erasers import Erase, erasable_sites
from whence.evaluation.faithfulness.measure import LEAVE_ONE_OUT, RANDOM, mask_token
from whence.subject.targets import predicted

if TYPE_CHECKING:
    from whence.experiments.faithfulness import Config


def usable_kinds(config: "Config", context: Context) -> list[Erase]:
    """The kinds of removal that the config names. Of its default, or with `leave_out`, those that this model does not
    allow are left out, as long as one remains.
    """
    lenient = config.leave_out or config.erase == type(config).model_fields["erase"].default
    found: list[Erase] = []
    why = ""
    for kind in dict.fromkeys(config.erase):
        why = _why_not(kind, config, context)
        if why and not lenient:
            raise BadConfig(why)
        found += [] if why else [kind]
    if not found:
        raise BadConfig(why)
    return found


def _why_not(kind: Erase, config: "Config", context: Context) -> str:
    """Why this model does not allow a kind of removal, else empty."""
    if kind == "mask" and mask_token(context.subject.tokenizer) is None:
        return f"{context.subject.name} has neither a mask token nor one for unknown words; delete words instead"
    if kind in ("attention", "zero"):
        try:
            erasable_sites(context.subject, config.sites)
        except BadConfig as error:
            return str(error)
    return ""


def usable_methods(config: "Config", context: Context) -> dict[str, dict[str, Any]]:
    """The explainers that the config names, with their options. Of its default, or with `leave_out`, those that refuse
    this model are left out, except the first.
    """
    options = written_options(config.method, config.options)
    given = {name: value for name, value in (("layer", config.layer), ("heads", config.head)) if value is not None}
    for method, more in spread(given, config.method).items():
        options[method] = {**options.get(method, {}), **more}
    lenient = config.leave_out or config.method == type(config).model_fields["method"].default
    batch = context.first_batch()
    found = {}
    for position, method in enumerate(config.method):
        try:
            if method not in (RANDOM, LEAVE_ONE_OUT):
                target = predicted(context.subject, batch, "margin")
                explainer(method)(context.subject, batch, target, **options.get(method, {}))
        except (BadConfig, NoAttention):
            if position == 0 or not lenient:
                raise
            continue
        found[method] = options.get(method, {})
    return found
