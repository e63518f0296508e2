"""Single layers, rerun on their recorded inputs with some attention weights set to zero."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from whence.attribution.contributions import near
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.model_sites import site_module
from whence.core.replay.copies import Once, session_at
from whence.core.site import Call, repeated
from whence.subject.subject import Subject

ALONE = "value_zeroing runs each layer by itself"
CANNOT_RUN = (RuntimeError, ValueError, IndexError, TypeError)


@dataclass(eq=False)
class LayerAlone:
    """One layer on one text (of a narrative: on its windows, one row each): its output, with and without some keys.

    Where a site is in no layer, `module` is None, and the output is the context that its weights compute from its
    values. During the recorded pass the batch holds `times` copies of the text, so that the batch axis is not mistaken
    for an axis of length one.
    """

    subject: Subject
    call: Call
    output: Float[Tensor, "row query width"]
    module: nn.Module | None = None
    given: Any = None  # the layer's arguments
    times: int = 1
    takes_contexts: bool = False  # whether a context can be handed to its site, so that weights need not be mixed again

    @property
    def rows(self) -> int:
        """The number of rows of the text at the site: one, or one per window."""
        return len(self.call.weights) // self.times

    @property
    def permitted(self) -> Bool[Tensor, "row query key"]:
        """The keys that a query may attend to."""
        n_key = self.call.weights.shape[-1] - self.call.sinks
        return self.call.mask[: self.rows, ..., :n_key].any(1).expand(-1, self.call.weights.shape[2], -1)

    def without(self, keys: Int[Tensor, " copy"]) -> Float[Tensor, "copy row query width"]:
        """The layer's output with no weight on one key, for each of some keys."""
        if self.module is None:
            return self.contexts_without(keys).flatten(-2)
        if self.takes_contexts:
            made = self.run(len(keys), context=self.contexts_without(keys).flatten(0, 1))
        else:
            made = self.run(len(keys), Zeroed(keys, self.rows))
        return made.unflatten(0, (len(keys), self.rows))

    def contexts_without(self, keys: Int[Tensor, " copy"] | None) -> Float[Tensor, "copy row query head width"]:
        """The context without each of some keys: what a key adds is its weight times its value, so nothing is mixed
        again. None: the whole context.
        """
        weights, values, whole = self._mixed
        if keys is not None:
            added = weights[..., keys].movedim(-1, 0)[..., None] * values[:, :, keys].movedim(2, 0)[..., None, :]
            whole = whole - added
        return whole.transpose(2, 3)

    @cached_property
    def _mixed(self) -> tuple[Tensor, Tensor, Tensor]:
        """The weights, the values, and the context that they give: [copy row head query width]."""
        assert self.call.values is not None
        values = self.call.values[: self.rows].expand(-1, self.call.weights.shape[1], -1, -1).to(self.call.weights)
        weights = self.call.weights[: self.rows, ..., : values.shape[2]]
        return weights, values, (weights @ values)[None]

    def run(
        self, copies: int, override: "Zeroed | None" = None, context: Tensor | None = None
    ) -> Float[Tensor, "batch query width"]:
        """The layer on `copies` copies of its input, with an override, or with a context in place of its own."""
        rows, recorded = self.rows, len(self.call.weights)

        def copied(tensor: Tensor) -> Tensor:
            axis = axis_of(tensor, recorded)
            return tensor if axis is None else repeated(tensor.narrow(axis, 0, rows), copies, axis)

        assert self.module is not None
        args, kwargs = tree_map_only(Tensor, copied, self.given)
        with self._attended(override, context):
            return batch_first(self.module(*args, **kwargs), rows * copies)

    @contextmanager
    def _attended(self, override: "Zeroed | None", context: Tensor | None) -> Iterator[None]:
        model, path = self.subject.model, self.call.site.path
        if context is None:
            names = [name for name, site in self.subject.sites.items() if site.path == path]
            with attending(model, dict.fromkeys(names, override) if override else None, watch=None):
                yield
            return
        once = Once(None, context)
        with session_at(site_module(model, self.call.site.name)[0], once):
            yield
        if once.ready_context is not None:
            raise RuntimeError(f"the site {path} does not take a context that is ready")

    def reproduces(self, contexts: bool) -> bool:
        """Whether running it again gives the output that was recorded, its context computed again or given."""
        copies = self.times + 1
        context = self.contexts_without(None)[0].repeat(copies, 1, 1, 1) if contexts else None
        return near(self.run(copies, context=context).double(), repeated(self.output, copies))


@dataclass(eq=False)
class Zeroed:
    """An override: copy c has no weight on the c-th of these keys; the other weights are unchanged."""

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
    """Run the model once on one text, and return each layer with its input; a rerun must reproduce the output."""
    modules = {name: module_of(subject, name) for name in names}
    times = _times(subject, inputs)
    given: dict[nn.Module, list[tuple[Any, Any]]] = {}
    calls: dict[str, list[Call]] = {name: [] for name in names}
    copied_inputs = {name: tensor.repeat(times, *[1] * (tensor.dim() - 1)) for name, tensor in inputs.items()}
    watch = {name: calls[name].append for name in names}
    with noting({module for module in modules.values() if module}, given), attending(subject.model, watch=watch):
        subject.model(**copied_inputs, **uncached(subject))
    return {name: _alone(subject, name, modules[name], calls[name], given, times) for name in names}


def uncached(subject: Subject) -> dict[str, bool]:
    """Arguments with which a model keeps no keys and values of the pass, which would change its layers' arguments."""
    return {"use_cache": False} if "use_cache" in inspect.signature(subject.model.forward).parameters else {}


def _times(subject: Subject, inputs: Mapping[str, Tensor]) -> int:
    """How many copies of a text to put in a batch: a number that is no length of another axis."""
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
    arguments, output = given[module][subject.sites[name].ordinal]
    rows = len(calls[0].weights)
    recorded = batch_first(output, rows)[: rows // times]
    layer = LayerAlone(subject, calls[0], recorded, module, arguments, times)
    try:
        same = layer.reproduces(contexts=False)
    except CANNOT_RUN as error:  # a layer that depends on more than its arguments
        raise BadConfig(f"{ALONE}, and the one around {name} cannot: {error}") from error
    if not same:
        raise BadConfig(f"{ALONE}, and the one around {name} does not give the same output again; see attention_norm")
    if calls[0].mix is not None and calls[0].values is not None:
        with suppress(*CANNOT_RUN):
            layer.takes_contexts = layer.reproduces(contexts=True)
    return layer


def _context_alone(subject: Subject, calls: list[Call], times: int) -> LayerAlone:
    """A site in no layer: a local attention, or one that is called once per step, the steps being its queries."""
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
    """The layer that a site is in (see `Site.layer_path`); None if there is none."""
    site = subject.sites[name]
    if site.layer_path is None:
        return None
    if site.layer_path == site.path:
        raise BadConfig(f"{ALONE}, and around {site.path} there is no module that is a whole layer; see attention_norm")
    return subject.model.get_submodule(site.layer_path)


def axis_of(tensor: Tensor, length: int) -> int | None:
    """The axis of the batch: the first of its length, else the second (XLNet's), else none."""
    return next((axis for axis in range(min(2, tensor.dim())) if tensor.shape[axis] == length), None)


def batch_first(output: Any, length: int) -> Float[Tensor, "batch query width"]:
    """A layer's hidden states, without its other outputs."""
    states = output if isinstance(output, Tensor) else output[0]
    return states.movedim(axis_of(states, length) or 0, 0)


@contextmanager
def noting(modules: set[nn.Module], given: dict[nn.Module, list[tuple[Any, Any]]]) -> Iterator[None]:
    """While open, the arguments and the output of each call of these modules are put into `given`."""

    def note(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        given.setdefault(module, []).append(((args, kwargs), output))

    hooks = [module.register_forward_hook(note, with_kwargs=True) for module in modules]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
