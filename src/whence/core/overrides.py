"""Overrides: attention weights in place of the model's own.

An override is a function from a `Call` to weights. Those here act on the *free* keys of a row: permitted, not a sink,
not spared. They share out the mass that the row has on its free keys; every other key keeps the weight it had. So each
result is a distribution again (but for `without`, which may leave nothing to share out), and the share that a model
gives to a sink or to a spared [CLS] stays what it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.errors import InvalidWeights
from whence.core.permutations import shuffled
from whence.core.read_rows import take_rows
from whence.core.seeds import generator_from
from whence.core.selection import Indices, Where, key_mask
from whence.core.site import Call, masked_softmax, row_tolerance
from whence.core.tape import Tape

Weights = Float[Tensor, "batch head query key"]
Proportions = Float[Tensor, "#batch #head #query key"]
Free = Bool[Tensor, " batch #head #query key"]
Shared = Literal["none", "heads", "rows", "all"]


@dataclass(frozen=True)
class Override:
    """A rule for new weights and where it applies.

    `only` confines it to layers, heads, queries or examples; `sparing` keeps it away from some keys, such as special
    tokens. Both give a new override: `permuted(0).only(heads=[3]).sparing(special)`.
    """

    name: str
    rule: Callable[[Call, Free], Weights]
    generator: torch.Generator | None = None
    where: Where = field(default_factory=Where)
    spared: Indices | None = None
    whole_rows: bool = False  # gives the share of a sink too, unless something is spared
    trusted = True  # gives distributions by construction: the result need not be checked

    def __call__(self, call: Call) -> Weights:
        if not self.where.holds_at(call.site):
            return call.weights
        weights = self.rule(call, self._free(call))
        region = self.where.region(call)
        return weights if region is None else torch.where(region, weights, call.weights)

    def only(
        self,
        *,
        layers: int | Sequence[int] | None = None,
        heads: Indices | None = None,
        queries: Indices | None = None,
        examples: Indices | None = None,
    ) -> "Override":
        """The same override, confined to these indices; queries also as truth values [batch query].

        A second `only` confines further: `.only(heads=0).only(layers=1)` is head 0 of layer 1.
        """
        given = {
            "layers": (layers,) if isinstance(layers, int) else layers,
            "heads": heads,
            "queries": queries,
            "examples": examples,
        }
        chosen: dict[str, Any] = {axis: indices for axis, indices in given.items() if indices is not None}
        again = [axis for axis in chosen if getattr(self.where, axis) is not None]
        if again:
            raise ValueError(f"{self.name} is already confined to some {again[0]}; name them all in one `only`")
        return replace(self, where=replace(self.where, **chosen))

    def sparing(self, keys: Indices) -> "Override":
        """The same override, but these keys keep their weights: special tokens, say, as truth values [batch key]."""
        if self.spared is not None:
            raise ValueError(f"{self.name} already spares some keys; name them all in one `sparing`")
        return replace(self, spared=keys)

    def _free(self, call: Call) -> Free:
        if self.spared is None and (self.whole_rows or not call.sinks):
            return call.mask
        bound = torch.zeros_like(call.mask[:, 0, 0]) if self.spared is None else key_mask(self.spared, call).clone()
        bound[:, bound.shape[-1] - call.sinks :] = True
        return call.mask & ~bound[:, None, None, :]


def _distribute(call: Call, free: Free, proportions: Proportions) -> Weights:
    """The mass of a row's free keys, shared out in the given proportions; the other keys keep their weight."""
    own = call.weights
    proportions = proportions.to(torch.promote_types(own.dtype, torch.float32)) * free  # sums of halves lose too much
    shares = proportions / proportions.sum(-1, keepdim=True).clamp_min(torch.finfo(proportions.dtype).tiny)
    if free is call.mask:
        return shares.to(own.dtype).expand_as(own)
    mass = (own * free).sum(-1, keepdim=True, dtype=shares.dtype)
    return own.masked_fill(free, 0.0) + (mass * shares).to(own.dtype)


def _uniform(call: Call, free: Free) -> Weights:
    return _distribute(call, free, free.to(call.weights.dtype))


uniform = Override("uniform", _uniform)
"""Equal weight on every free key (Vashishth et al. 2019 §4.1 "uniform"; Wiegreffe & Pinter 2019 §3.1)."""


def random(seed: int | torch.Generator = 0) -> Override:
    """A draw from U(0, 1) for every free key, divided by the row's sum; new at every call (Vashishth et al. 2019)."""
    generator = generator_from(seed, "random")

    def rule(call: Call, free: Free) -> Weights:
        draws = torch.rand(call.weights.shape, generator=generator, device=generator.device).to(call.weights.device)
        return _distribute(call, free, draws.clamp_min(torch.finfo(torch.float32).eps))

    return Override("random", rule, generator)


def permuted(seed: int | torch.Generator = 0, shared: Shared = "none", before: int = 0) -> Override:
    """The row's own weights, shuffled among its free keys; new at every call (Jain & Wallace 2019, Algorithm 2).

    `shared` says which rows get the same permutation: `none` (each row its own), `heads`, `rows` (all queries of a
    head) or `all`. Rows with different free keys share a random order of the keys, each restricted to its own.
    `before`: these texts follow so many others in a batch that runs in parts, and are shuffled as in the whole batch.
    """
    generator = generator_from(seed, "permuted")
    if shared not in get_args(Shared):
        raise ValueError(f"shared must be one of {', '.join(get_args(Shared))}; it is {shared!r}")

    def rule(call: Call, free: Free) -> Weights:
        batch, n_head, n_query, n_key = call.weights.shape
        drawn = (batch, 1 if shared in ("heads", "all") else n_head, 1 if shared in ("rows", "all") else n_query, n_key)
        return shuffled(call.weights, free, drawn, generator, before)

    return Override("permuted", rule, generator)


def temperature(degrees: float | Float[Tensor, ""]) -> Override:
    """softmax(log α / T), which is softmax(scores / T): above one flatter, below one sharper."""
    value = float(degrees.detach()) if isinstance(degrees, Tensor) and degrees.numel() == 1 else degrees
    if not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"temperature must be a number above 0, it is {value!r}")

    def rule(call: Call, free: Free) -> Weights:
        weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
        logs = weights.clamp_min(torch.finfo(weights.dtype).tiny).log()
        return _distribute(call, free, masked_softmax(logs / degrees, free))

    return Override(f"temperature({value:g})", rule)


def scaled(keys: Indices, factor: float) -> Override:
    """The weights of these keys times a factor, then the row divided by its sum."""
    if not isinstance(factor, int | float) or not 0 <= factor < float("inf"):
        raise ValueError(f"factor must be a number, 0 or more, and finite; it is {factor!r}")

    def rule(call: Call, free: Free) -> Weights:
        multiplied = torch.where(key_mask(keys, call)[:, None, None, :], factor, 1.0)
        return _distribute(call, free, call.weights * multiplied)

    return Override(f"scaled({factor:g})", rule)


def without(keys: Indices, renormalise: bool = True) -> Override:
    """No weight on these keys; the rest of the row is divided by its sum, or with `renormalise=False` left unchanged.

    Serrano & Smith 2019 §4; Vashishth et al. 2019 §4.2. Where no weight is left to share out, that mass is lost.
    `Replay` takes other keys each time as truth values [times batch key].
    """

    def rule(call: Call, free: Free) -> Weights:
        erased = call.weights.masked_fill(key_mask(keys, call)[:, None, None, :] & free, 0.0)
        return _distribute(call, free, erased) if renormalise else erased

    return Override("without", rule)


def from_logits(logits: Float[Tensor, "*times batch #head #query key"]) -> Override:
    """softmax(logits) over the free keys; the logits may be a parameter that learns (Jain & Wallace 2019 §4.2.2).

    `Replay` takes other logits each time as [times batch head query key].
    """
    _refuse_no_numbers(logits, "logits")

    def rule(call: Call, free: Free) -> Weights:
        given = _fit_to_call(logits, call, "logits").expand_as(call.weights)
        weights = _distribute(call, free, masked_softmax(given, free))
        if not bool(torch.isfinite(weights.detach()).all()):
            raise InvalidWeights(
                f"the logits given for site {call.site.name!r} hold NaN or infinity, so their softmax is no"
                " distribution; expected finite numbers"
            )
        return weights

    return Override("from_logits", rule)


def imposed(weights: Float[Tensor, "*times batch #head #query key"] | Tape) -> Override:
    """Given weights: a tensor for every call, or a tape, whose calls are imposed site by site and step by step.

    Given rows are whole: where the model has a sink, its share comes last. `Replay` takes other weights each time as
    [times batch head query key].
    """
    if not isinstance(weights, Tape):
        _refuse_no_numbers(weights, "weights")

    def rule(call: Call, free: Free) -> Weights:
        given = weights if isinstance(weights, Tensor) else _recorded(weights, call)
        given = _fit_to_call(given, call, "weights").to(call.weights.dtype)
        _refuse_no_distribution(given, call)
        return given.expand_as(call.weights) if free is call.mask else _distribute(call, free, given)

    return Override("imposed", rule, whole_rows=True)


def _refuse_no_numbers(given: object, what: str) -> None:
    if not isinstance(given, Tensor) or given.is_complex():
        came = f"a tensor of {given.dtype}" if isinstance(given, Tensor) else f"a {type(given).__name__}"
        raise InvalidWeights(f"{what} to impose must be a tensor of real numbers [batch head query key]; got {came}")


def _recorded(tape: Tape, call: Call) -> Tensor:
    calls = tape[call.site.name]
    if call.step >= len(calls):
        raise InvalidWeights(
            f"the tape holds {len(calls)} calls of site {call.site.name!r}, and this is call {call.step + 1}"
        )
    return calls[call.step].weights


def _fit_to_call(given: Tensor, call: Call, what: str) -> Tensor:
    """A given tensor, repeated for every copy of the batch and cut to the rows of the call; an error if it does not
    fit.
    """
    came, given = list(given.shape), given.to(call.weights.device)
    given = given if given.is_floating_point() else given.to(call.weights.dtype)
    if given.dim() not in (4, 5):
        raise _misfit(came, call, what)
    if given.dim() == 5 and len(given) >= call.first_copy + call.copies:  # each copy of the batch has its own
        given = given[call.first_copy : call.first_copy + call.copies].flatten(0, 1)
    else:
        given = call.per_example(given)  # one for all stays one
    if call.rows is not None and call.n_queries is not None:
        rows = call.per_example(call.rows)
        given = take_rows(given, rows if len(rows) > 1 else rows.expand(len(given), -1), call.n_queries)
    fits = given.dim() == 4 and all(g in (1, w) for g, w in zip(given.shape[:3], call.weights.shape[:3], strict=True))
    if not fits or given.shape[-1] != call.weights.shape[-1]:
        raise _misfit(came, call, what)
    return given


def _misfit(came: list[int], call: Call, what: str) -> InvalidWeights:
    return InvalidWeights(
        f"{what} given for site {call.site.name!r} are {came}; expected {list(call.weights.shape)} [batch head query"
        " key], where batch, head and query may be 1"
    )


def _refuse_no_distribution(given: Tensor, call: Call) -> None:
    values, mask = given.detach().float(), call.mask
    off = (values.sum(-1) - 1).abs().masked_fill(~mask.any(-1), 0.0).max()
    forbidden = values.masked_fill(mask, 0.0).abs().max()
    if not float(off) <= row_tolerance(call.weights) or not float(values.min()) >= 0 or float(forbidden) > 0:
        raise InvalidWeights(
            f"the weights imposed at site {call.site.name!r} are not a distribution over the permitted keys: rows are"
            f" off one by up to {float(off):.3g}, the smallest weight is {float(values.min()):.3g}, and a forbidden key"
            f" gets up to {float(forbidden):.3g}"
        )
