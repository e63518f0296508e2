"""The contribution of each key to each query of a layer: vectors whose sum is the layer's output. Kobayashi et al.
2020, 2021.

    y_i = Σ_j Σ_h α_h(i, j) f_h(x_j) + b,   f_h(x) = (x W_V + b_V) W_O                      (2020, Eq. 3)
    y_i = LN(Σ_j Σ_h α_h(i, j) f_h(x_j) + b + x_i)                                          (2021, Eq. 8)

The parts are found without knowing the architecture. W_O is the first linear map after the site whose input is the
context Σ α v. The residual path is found from the input of the next layer norm: that input minus the attention's output
must equal the attention's input (norm after the sum), or the input of the norm before it (norm first).
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.subject.batch import Batch
from whence.subject.subject import Subject

RECENT = 8  # linear maps and norms before an attention: those of its queries, keys, values are among them


@dataclass(eq=False)
class Layer:
    """One call of a site, and the layer around it: `mapped` [batch head key width] is f_h(x_j).

    `residual` [batch query width] bypasses the attention and is added to its output; `norm`, if any, is applied to the
    sum.
    """

    call: Call
    mapped: Float[Tensor, "batch head key width"]
    bias: Float[Tensor, " width"] | None = None
    made: Float[Tensor, "batch query width"] | None = None
    residual: Float[Tensor, "batch query width"] | None = None
    norm: nn.LayerNorm | None = None

    @property
    def weights(self) -> Float[Tensor, "batch head query key"]:
        """The weights on the keys, without those on sinks that are not tokens."""
        return self.call.weights[..., : self.call.weights.shape[-1] - self.call.sinks].to(self.mapped)

    def sum(self) -> Float[Tensor, "batch query width"]:
        """The output of the attention plus the residual, before the norm."""
        made = torch.einsum("bhqk,bhkw->bqw", self.weights, self.mapped)
        made = made if self.bias is None else made + self.bias
        return made if self.residual is None else made + self.residual


class Observing:
    """Hooks on the linear maps and norms of a model, and a watcher at its sites; passes on each layer when complete."""

    def __init__(self, finished: Callable[[Layer], None], residual: bool) -> None:
        self.finished, self.wants_residual = finished, residual
        self.waiting: Layer | None = None
        self.mapped_before: deque[Tensor] = deque(maxlen=RECENT)  # inputs of the last linear maps
        self.normed_before: deque[Tensor] = deque(maxlen=RECENT)  # inputs of the last norms
        self.made_last: Tensor | None = None  # by the last linear map
        self.summed: Tensor | None = None  # what a norm was given that may belong to the waiting layer

    def at_site(self, call: Call) -> None:
        self.close()
        if call.values is None:
            raise BadConfig(
                f"{call.site.name} does not expose the values that its weights mix (it is adopted by its"
                " softmax alone); see raw_attention, gradient_x_input"
            )
        values = call.values.expand(-1, call.weights.shape[1], -1, -1).double()
        self.waiting = Layer(call, values)
        if call.site.kind == "pool":
            self.close()  # its context is read as it is

    def at_linear(self, module: Any, args: tuple[Any, ...], output: Tensor) -> None:
        layer, given, self.made_last = self.waiting, args[0], output
        if layer is None or layer.made is not None:
            self.mapped_before.append(given)
        elif is_context(given, layer):
            matrix = (module.weight if isinstance(module, Conv1D) else module.weight.T).double()  # [head*width out]
            by_head = matrix.unflatten(0, (layer.mapped.shape[1], -1))  # [head width out]
            layer.mapped = torch.einsum("bhkw,hwo->bhko", layer.mapped, by_head)
            layer.bias = None if module.bias is None else module.bias.double()
            layer.made = output.double().reshape(len(layer.mapped), -1, output.shape[-1])
            if not self.wants_residual:
                self.close()

    def at_norm(self, module: nn.Module, args: tuple[Any, ...], output: Tensor) -> None:
        layer, given = self.waiting, args[0]
        if layer is not None and self.summed is not None:
            last = self.made_last
            if last is not None and last.shape == self.summed.shape and near(self.summed + last.double(), given):
                layer.norm = None  # its sum went on without it: it was the norm before what came next
            self.close()
        elif layer is not None and layer.made is not None and given.numel() == layer.made.numel():
            past = given.double().reshape(layer.made.shape) - layer.made
            first = any(near(past, other) for other in self.normed_before)
            if first or any(near(past, other) for other in self.mapped_before):
                layer.residual, layer.norm = past, None if first else _layer_norm(module, layer)
                self.summed = None if first else given.double()
                if first:
                    self.close()
        if self.waiting is None:
            self.normed_before.append(given)

    def close(self) -> None:
        """Pass on the current layer: it is complete."""
        layer, self.waiting, self.summed = self.waiting, None, None
        if layer is None:
            return
        as_it_is = layer.made is None and layer.call.n_heads == 1  # a pooling, or an RNN's attention to its source
        if not as_it_is and (layer.made is None or (self.wants_residual and layer.residual is None)):
            known = layer.made is not None
            why = "its residual path was not found" if known else "no linear map takes its context"
            do = "residual=False leaves the path out" if known else "see value_zeroing"
            where = layer.call.site.name
            raise BadConfig(f"the output of {where} cannot be decomposed: {why} (a layer of another form); {do}")
        self.finished(layer)


def is_context(given: Tensor, layer: Layer) -> bool:
    """Whether the input of a linear map was Σ α v with the heads concatenated."""
    context = torch.einsum("bhqk,bhkw->bqhw", layer.weights, layer.mapped).flatten(2)
    if given.numel() != context.numel():
        return False
    asked = layer.call.mask.any(-1).any(1).expand(context.shape[:2])  # [batch query]; else the model keeps its own
    return near(context[asked], given.reshape(context.shape)[asked])


def near(ours: Float[Tensor, "..."], theirs: Tensor) -> bool:
    """Whether two tensors are equal up to rounding in the precision of the second."""
    if ours.numel() != theirs.numel() or ours.shape[-1] != theirs.shape[-1]:
        return False
    theirs = theirs.reshape(ours.shape)
    allowed = 1e-4 if theirs.dtype in (torch.float32, torch.float64) else 5e-2
    return bool((ours - theirs).abs().max() <= allowed * theirs.abs().max().clamp_min(1e-6))


def _layer_norm(module: nn.Module, layer: Layer) -> nn.LayerNorm:
    if not isinstance(module, nn.LayerNorm):
        raise BadConfig(
            f"the norm after {layer.call.site.name} is a {type(module).__name__}, not a LayerNorm, and"
            " cannot be decomposed; residual=False leaves it out"
        )
    return module


def linear_norm(norm: nn.LayerNorm | None, parts: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The linear part of a layer norm: subtract the mean, multiply by γ; without the division by the deviation."""
    if norm is None:
        return parts
    centred = parts - parts.mean(-1, keepdim=True)
    return centred if norm.weight is None else centred * norm.weight.double()


def deviation(layer: Layer) -> Float[Tensor, "batch query 1"] | float:
    """The standard deviation that a layer norm divides by."""
    if layer.norm is None:
        return 1.0
    return (layer.sum().var(-1, unbiased=False, keepdim=True) + layer.norm.eps).sqrt()


def parts(layer: Layer, step: int | None = None) -> Iterator[Float[Tensor, "batch query key width"]]:
    """The contribution of each key to each query, `step` queries at a time (None: all at once); with the biases (and,
    in cross-attention, the residual) they sum to y.
    """
    weights, mapped, scale = layer.weights, linear_norm(layer.norm, layer.mapped), deviation(layer)
    passed = layer.residual is not None and layer.call.site.kind != "cross"
    residual = linear_norm(layer.norm, layer.residual) if passed and layer.residual is not None else None
    places = torch.arange(weights.shape[2], device=mapped.device)
    for own in places.split(step or len(places)):
        given = torch.einsum("bhqk,bhkw->bqkw", weights[:, :, own], mapped)
        if residual is not None:
            given[:, torch.arange(len(own)), own] += residual[:, own]
        yield given / (scale if isinstance(scale, float) else scale[:, own, None])


@contextmanager
def observing(subject: Subject, observer: Observing) -> Iterator[None]:
    """While open, the observer records the model's linear maps and norms."""
    hooks = []
    for module in subject.model.modules():
        if isinstance(module, nn.Linear | Conv1D):
            hooks.append(module.register_forward_hook(observer.at_linear))
        elif type(module).__name__.endswith("Norm"):
            hooks.append(module.register_forward_hook(observer.at_norm))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def taken_apart(
    subject: Subject, batch: Batch, names: list[str], residual: bool, finished: Callable[[Layer], None]
) -> None:
    """Run the model once and pass on each of these layers as soon as it is complete."""
    observer = Observing(finished, residual)
    with observing(subject, observer), attending(subject.model, watch=dict.fromkeys(names, observer.at_site)):
        subject.model(**batch.inputs)
        observer.close()
