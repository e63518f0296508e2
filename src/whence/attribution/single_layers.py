"""Single layers, rerun on their recorded inputs with some attention weights set to zero."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from whence.attribution.contributions import near
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call, repeated
from whence.subject.subject import Subject

ALONE = "value_zeroing runs each layer by itself"


@dataclass(eq=False)
class LayerAlone:
    """One layer of one text (of a narrative: of its windows, which are rows): its output, and that without some keys.

    Where a site is in no layer, `module` is None, and the output is the context that its weights mix of its values.
    During the pass the batch has `times` copies of the text, so that its axis differs from axes of length one.
    """

    subject: Subject
    call: Call
    output: Float[Tensor, "row query width"]
    module: nn.Module | None = None
    given: Any = None  # the layer's arguments
    times: int = 1

    @property
    def rows(self) -> int:
        """How many rows the text has at the site: one, or one a window."""
        return len(self.call.weights) // self.times

    @property
    def permitted(self) -> Bool[Tensor, "row query key"]:
        """Which keys a query may see."""
        n_key = self.call.weights.shape[-1] - self.call.sinks
        return self.call.mask[: self.rows, ..., :n_key].any(1).expand(-1, self.call.weights.shape[2], -1)

    def without(self, keys: Int[Tensor, " copy"]) -> Float[Tensor, "copy row query width"]:
        """The layer's output with no weight on one key, for each of some keys."""
        zeroed, call = Zeroed(keys, self.rows), self.call
        if self.module is None:
            assert call.values is not None
            weights = zeroed.of(repeated(call.weights, len(keys)))[..., : call.values.shape[2]]
            made = _context(weights, repeated(call.values, len(keys)))
        else:
            made = self.run(len(keys), zeroed)
        return made.unflatten(0, (len(keys), self.rows))

    def run(self, copies: int, override: "Zeroed | None" = None) -> Float[Tensor, "batch query width"]:
        """The layer on `copies` copies of its input."""
        rows, stood = self.rows, len(self.call.weights)

        def copied(tensor: Tensor) -> Tensor:
            axis = axis_of(tensor, stood)
            return tensor if axis is None else repeated(tensor.narrow(axis, 0, rows), copies, axis)

        assert self.module is not None
        args, kwargs = tree_map_only(Tensor, copied, self.given)
        base = self.call.site.name.partition("#")[0]
        names = [name for name in self.subject.sites if name.partition("#")[0] == base]
        with attending(self.subject.model, dict.fromkeys(names, override) if override else None, watch=None):
            return batch_first(self.module(*args, **kwargs), rows * copies)


@dataclass(eq=False)
class Zeroed:
    """An override: in copy c no weight on key c of these; the other weights stay."""

    keys: Int[Tensor, " copy"]
    rows: int
    trusted = True  # rows need not sum to one

    def of(self, weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        """The changed weights."""
        chosen = nn.functional.one_hot(self.keys, weights.shape[-1]).bool().repeat_interleave(self.rows, 0)
        return weights.masked_fill(chosen[:, None, None], 0.0)

    def __call__(self, call: Call) -> Tensor:
        return self.of(call.weights)


def layers_alone(subject: Subject, inputs: Mapping[str, Tensor], names: list[str]) -> dict[str, LayerAlone]:
    """Run the model once on one text, and return each layer with its input; a rerun must give the same output."""
    modules = {name: module_of(subject, name) for name in names}
    times = _times(subject, inputs)
    given: dict[nn.Module, list[tuple[Any, Any]]] = {}
    calls: dict[str, list[Call]] = {name: [] for name in names}
    takes = inspect.signature(subject.model.forward).parameters
    uncached = {"use_cache": False} if "use_cache" in takes else {}
    stood = {name: tensor.repeat(times, *[1] * (tensor.dim() - 1)) for name, tensor in inputs.items()}
    watch = {name: calls[name].append for name in names}
    with _noting({module for module in modules.values() if module}, given), attending(subject.model, watch=watch):
        subject.model(**stood, **uncached)
    return {name: _alone(subject, name, modules[name], calls[name], given, times) for name in names}


def _times(subject: Subject, inputs: Mapping[str, Tensor]) -> int:
    """How many copies of a text to put in a batch: no axis of texts, targets or heads may be as long as the batch."""
    windows = inputs["input_ids"].flatten(0, -2).shape[0]
    config = subject.model.config.to_dict()
    lengths = {length for tensor in inputs.values() for length in tensor.shape}
    lengths |= {value for name, value in config.items() if "head" in name and isinstance(value, int)}
    return next(times for times in count(2) if not {times, times * windows} & lengths)


def _alone(
    subject: Subject,
    name: str,
    module: nn.Module | None,
    calls: list[Call],
    given: Mapping[nn.Module, list[tuple[Any, Any]]],
    times: int,
) -> LayerAlone:
    if module is None:
        return _context_alone(subject, calls, times)
    if module not in given:  # a list of layers, or one that the model does not call as a module
        raise BadConfig(f"{ALONE}, and around {name} there is no module that the model calls as one; see raw_attention")
    arguments, output = given[module][int(name.partition("#")[2] or 0)]
    rows = len(calls[0].weights)
    recorded = batch_first(output, rows)[: rows // times]
    layer = LayerAlone(subject, calls[0], recorded, module, arguments, times)
    try:
        same = near(layer.run(times + 1).double(), repeated(recorded, times + 1))
    except (
        RuntimeError,
        ValueError,
        IndexError,
        TypeError,
    ) as error:  # a layer that depends on more than its arguments
        raise BadConfig(f"{ALONE}, and the one around {name} cannot: {error}") from error
    if not same:
        raise BadConfig(f"{ALONE}, and the one around {name} does not give the same output again; see attention_norm")
    return layer


def _context_alone(subject: Subject, calls: list[Call], times: int) -> LayerAlone:
    """A site in no layer: a local attention, or one that is called once per step, whose steps are its queries."""
    first = calls[0]
    if first.values is None:
        raise BadConfig(f"{first.site.name} is in no layer and does not expose its values; see raw_attention")
    rows = len(first.weights) // times
    weights = torch.cat([call.weights[:rows] for call in calls], 2)
    mask = torch.cat([call.mask[:rows].expand(-1, -1, call.weights.shape[2], -1) for call in calls], 2)
    values = first.values[:rows]
    call = Call(first.site, weights, mask, None, values, first.sinks, first.heads, first.n_heads)
    return LayerAlone(subject, call, _context(weights[..., : values.shape[2]], values))


def _context(weights: Tensor, values: Tensor) -> Float[Tensor, "row query width"]:
    return (weights @ values.to(weights)).transpose(1, 2).flatten(2)


def module_of(subject: Subject, name: str) -> nn.Module | None:
    """The layer that a site is in: the first on its path that has a number; None if there is none."""
    path = name.partition("#")[0]
    numbered = re.match(r"(.*?(?:^|\.)\d+)(?:\.|$)", path)
    if numbered is None:
        return None
    if numbered[1] == path:
        raise BadConfig(f"{ALONE}, and around {path} there is no module that is a whole layer; see attention_norm")
    return subject.model.get_submodule(numbered[1])


def axis_of(tensor: Tensor, length: int) -> int | None:
    """The axis of the batch: the first of its length, else the second (XLNet's), else none."""
    return next((axis for axis in range(min(2, tensor.dim())) if tensor.shape[axis] == length), None)


def batch_first(output: Any, length: int) -> Float[Tensor, "batch query width"]:
    """A layer's hidden states, whatever else it returns."""
    states = output if isinstance(output, Tensor) else output[0]
    return states.movedim(axis_of(states, length) or 0, 0)


@contextmanager
def _noting(modules: set[nn.Module], given: dict[nn.Module, list[tuple[Any, Any]]]) -> Iterator[None]:
    def note(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        given.setdefault(module, []).append(((args, kwargs), output))

    hooks = [module.register_forward_hook(note, with_kwargs=True) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
