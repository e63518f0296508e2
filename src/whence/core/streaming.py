"""Watchers that reduce while the model runs, so that depth × heads × N × N weights are never kept.

Each takes the calls as they come and holds one running result. All can take a layer's heads one at a time, so that
an adopted model need not form the weights of all heads at once (only outside autograd; within it they come together).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.site import Call

Fusion = Literal["mean", "max", "min"]
IN_PLACE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": Tensor.add_,
    "max": lambda so_far, head: torch.maximum(so_far, head, out=so_far),
    "min": lambda so_far, head: torch.minimum(so_far, head, out=so_far),
}
WAITING = 5  # layers of a rollout that are held unmultiplied: each saves a product and takes the room of a layer


@dataclass
class Summary:
    """Per site: the weight each key gets from the average query, and each row's entropy (nats) and largest weight.

    `mean` [batch head key], `entropy` and `maximum` [batch head query], one tensor a call, listed by site name.
    """

    mean: dict[str, list[Tensor]] = field(default_factory=dict)
    entropy: dict[str, list[Tensor]] = field(default_factory=dict)
    maximum: dict[str, list[Tensor]] = field(default_factory=dict)
    streams_heads = True

    def __call__(self, call: Call) -> None:
        weights = call.weights
        rows = call.mask.any(-1).expand(weights.shape[:-1]).sum(-1, keepdim=True)  # [batch head 1], without empty rows
        self._add(self.mean, call, weights.sum(-2) / rows.clamp_min(1))
        self._add(self.entropy, call, torch.special.entr(weights).sum(-1))
        self._add(self.maximum, call, weights.amax(-1))

    @staticmethod
    def _add(results: dict[str, list[Tensor]], call: Call, result: Tensor) -> None:
        calls = results.setdefault(call.site.name, [])
        if call.heads[0] == 0:
            calls.append(result)
        else:
            calls[-1] = torch.cat([calls[-1], result], dim=1)


@dataclass
class Rollout:
    """Attention rollout: the running product of the layers' head means, each with its residual path.

    R_l = Â_l R_(l-1), where Â = (mean over heads of A + I), rows divided by their sum (Abnar & Zuidema 2020, §3).
    `heads` says how a layer's heads are fused: their `mean`, or weight by weight the `max` or `min`.
    `product` is [batch query key]: how much of each input token is in each position of the last layer seen. To read
    a few positions only, use `read_from`, which is cheap: the last layers are multiplied on request, and a row times a
    matrix costs less than a matrix times a matrix.
    """

    residual: bool = True
    heads: Fusion = "mean"
    _waiting: list[Float[Tensor, "batch query key"]] = field(default_factory=list)  # the last layers, lowest first
    _below: Float[Tensor, "batch query key"] | None = None
    _heads_so_far: Float[Tensor, "batch query key"] | None = None
    _stack: str | None = None
    streams_heads = True

    def __call__(self, call: Call) -> None:
        before = self._waiting[-1] if self._waiting else self._below
        self._stack = _fitting(call, self._stack, before, "rollout")
        weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
        if self._heads_so_far is None or call.heads[0] == 0:
            self._multiply(WAITING - 1)  # these are no longer the last
            self._heads_so_far = fused(weights, self.heads)  # [batch query key]
        else:
            for head in weights.unbind(1):  # in place: a copy of N × N costs more than the sum
                IN_PLACE[self.heads](self._heads_so_far, head)
        if call.heads[-1] == call.n_heads - 1:
            parts = call.n_heads if self.heads == "mean" else 1
            self._waiting.append(augmented(self._heads_so_far, self.residual, parts))
            self._heads_so_far = None

    @property
    def product(self) -> Float[Tensor, "batch query key"] | None:
        """The product of all layers seen; None before the first."""
        self._multiply(0)
        return self._below

    def _multiply(self, left: int) -> None:
        """Take the lowest of the waiting layers into the product, until so many are left."""
        while len(self._waiting) > left:
            layer = self._waiting.pop(0)
            self._below = layer if self._below is None else layer @ self._below

    def read_from(self, positions: Float[Tensor, "batch query"]) -> Float[Tensor, "batch key"]:
        """How much of each input token is in these positions, weighted: a row vector times the product."""
        rows = positions[:, None]  # [batch 1 query]
        below = [] if self._below is None else [self._below]
        for layer in (*reversed(self._waiting), *below):
            rows = rows.to(layer.dtype) @ layer
        return rows[:, 0]


def fused(weights: Float[Tensor, "batch head query key"], heads: Fusion) -> Float[Tensor, "batch query key"]:
    """A layer's heads as one: their sum (a mean, once it is divided), or weight by weight the largest or least."""
    return weights.sum(1) if heads == "mean" else weights.amax(1) if heads == "max" else weights.amin(1)


def augmented(
    heads: Float[Tensor, "batch query key"], residual: bool = True, parts: int = 1
) -> Float[Tensor, "batch query key"]:
    """A + I, rows divided by their sum; of a sum of so many parts, + parts × I. In place where no graph forbids it."""
    if heads.requires_grad:
        identity = torch.eye(heads.shape[-1], dtype=heads.dtype, device=heads.device)
        heads = heads + parts * identity if residual else heads
        return heads / heads.sum(-1, keepdim=True).clamp_min(torch.finfo(heads.dtype).tiny)
    if residual:
        heads.diagonal(dim1=-2, dim2=-1).add_(parts)
    return heads.div_(heads.sum(-1, keepdim=True).clamp_min(torch.finfo(heads.dtype).tiny))


@dataclass
class HeadProduct:
    """The running product of each head's weights over the layers, head h of one layer with head h of the next.

    P_l[h] = A_l[h] P_(l-1)[h]; `product` is [batch head query key]. Layer-wise attention tracing (Wu et al. 2020, Eq. 8
    and 10) is a row vector times this product.
    """

    product: Float[Tensor, "batch head query key"] | None = None
    _seen: bool = False
    _stack: str | None = None
    streams_heads = True

    def __call__(self, call: Call) -> None:
        self._stack = _fitting(call, self._stack, self.product, "the head-wise product")
        weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
        if not self._seen:
            first = self.product is None or call.heads[0] == 0
            self.product = weights if first or self.product is None else torch.cat([self.product, weights], dim=1)
        elif self.product is None or self.product.shape[1] != call.n_heads:
            raise ValueError(
                f"site {call.site.name!r} has {call.n_heads} heads, the layers before it had"
                f" {0 if self.product is None else self.product.shape[1]}; a head-wise product needs one number"
            )
        elif len(call.heads) == call.n_heads:
            self.product = weights @ self.product
        else:
            part = slice(call.heads[0], call.heads[-1] + 1)
            self.product[:, part] = weights @ self.product[:, part]
        self._seen = self._seen or call.heads[-1] == call.n_heads - 1

    def read_from(self, positions: Float[Tensor, "batch *head query"]) -> Float[Tensor, "batch head key"]:
        """How much of each input token each head brings to these positions, weighted: a row vector times the product.

        The positions are the same for all heads, or each head has its own; before the first layer they are returned.
        """
        rows = positions if positions.dim() == 3 else positions[:, None]  # [batch #head query]
        if self.product is None:
            return rows
        return (rows.to(self.product).expand(-1, self.product.shape[1], -1)[:, :, None] @ self.product)[:, :, 0]


def _fitting(call: Call, stack: str | None, product: Tensor | None, what: str) -> str:
    """The stack of a call that can be multiplied onto what was seen before; an error if it cannot."""
    n_query, n_key = call.weights.shape[-2:]
    own_stack = call.site.stack
    before = n_key if product is None else product.shape[-2]
    problem = None
    if call.step:
        problem = "it is called a second time; take a new watcher for each forward pass"
    elif call.sinks:
        problem = "it gives part of its weight to a sink, which is no token"
    elif call.site.kind in ("cross", "pool") or own_stack != (stack or own_stack):
        problem = (
            f"it ({call.site.kind}) is not of the stack before it, {stack}" if stack else f"it is {call.site.kind}"
        )
    elif n_query != n_key or n_key != before:
        problem = f"it has {n_query} queries and {n_key} keys, the layers before it {before} queries"
    if problem is not None:
        raise ValueError(
            f"{what} multiplies the self-attention of successive layers of one stack in one forward pass; site"
            f" {call.site.name!r} does not fit: {problem}. Choose sites, as in watch={{'encoder.*': watcher}}."
        )
    return own_stack
