"""The site: the one place where a model turns scores into attention weights.

Every attention is three lines: *scores* e, *weights* α = normalise(e, mask), *context* Σ α·v. Only the middle line is
the same everywhere, so it is a separate module, without parameters. A model that computes its weights through an
`AttentionSite` can be watched and overridden by `attending` without knowing it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from whence.core.errors import CannotAttend
from whence.core.replaced import Replaced, Wrap
from whence.core.scope import Scope, scopes_here

Kind = Literal["self", "causal", "cross", "pool"]
Keys = Literal["tokens", "parts"]


def module_path(name: str) -> str:
    """The path of a site's module in the model, from the site's name."""
    return name.partition("#")[0]


@dataclass(frozen=True)
class Site:
    """Where a call took place: `name` is the site's path in the model (`path#k` for the k-th call of a shared module),
    `layer` its place in execution order among the sites of its stack. `keys` says what is attended: the `tokens` of a
    text in their order, or `parts` of it in another layout (the words of each sentence; the sentences).
    """

    name: str
    layer: int
    kind: Kind
    keys: Keys = "tokens"

    @property
    def path(self) -> str:
        """The path of its module in the model, without the number of the call."""
        return module_path(self.name)

    @property
    def ordinal(self) -> int:
        """Which call of its module it is, counted from 0; above 0 only where a layer is shared over depth."""
        return int(self.name.partition("#")[2] or 0)

    @property
    def layer_path(self) -> str | None:
        """The path of the layer that it is in: up to the first part that is a number; None if it is in no layer."""
        numbered = re.match(r"(.*?(?:^|\.)\d+)(?:\.|$)", self.path)
        return numbered and numbered[1]

    @property
    def stack(self) -> str:
        """The stack of layers that the site belongs to: its path with every number replaced by `*`."""
        return re.sub(r"\d+", "*", self.path)


@dataclass(frozen=True, eq=False)
class Call:
    """One computation of weights from scores.

    `mask` is True where a key may be attended; it is never None. `scores` are what the softmax was given. `values` are
    what the weights average, where the site knows them, and `mix` computes the context of other weights, with any
    number of rows per head. The last `sinks` columns of `weights` stand for no key: they hold the share that the model
    gives to an attention sink. `heads` says which of the site's `n_heads` heads these are. `step` counts the calls of
    this site since the block began. `copies` is how often the batch is repeated in the call, one copy after another
    (partial recomputation puts many overrides into one batch); the first of them is copy number `first_copy`. `rows`
    says which of the `n_queries` queries of each example these are, if not all.
    """

    site: Site
    weights: Float[Tensor, "batch head query key"]
    mask: Bool[Tensor, " batch #head #query key"]
    scores: Float[Tensor, "batch head query key"] | None
    values: Float[Tensor, " batch #head _ width"] | None
    sinks: int
    heads: tuple[int, ...]
    n_heads: int
    mix: Callable[[Tensor], Tensor] | None = None
    step: int = 0
    copies: int = 1
    first_copy: int = 0
    rows: Int[Tensor, "example picked"] | None = None
    n_queries: int | None = None

    def per_example(self, tensor: Tensor) -> Tensor:
        """A tensor with one entry per example, or one for all, repeated for every copy of the batch."""
        return tensor if tensor.shape[0] == 1 else repeated(tensor, self.copies)


@runtime_checkable
class Session(Protocol):
    """What watches or replaces weights at a site."""

    def streams(self, site: "AttentionSite") -> bool:
        """Whether it accepts the heads one at a time, so that no tensor of all heads is needed."""
        ...

    def override(self, site: "AttentionSite", call: Call) -> Call: ...
    def watch(self, site: "AttentionSite", call: Call) -> None: ...


def row_tolerance(weights: Tensor) -> float:
    """How far from one the sum of a row may be, in the precision of these weights."""
    return 1e-4 if weights.dtype in (torch.float32, torch.float64) else 2e-2


def repeated(tensor: Tensor, times: int, axis: int = 0) -> Tensor:
    """The batch `times` times over, one copy after another; a batch of one costs no memory, being a view."""
    return tensor.expand(times, *tensor.shape).movedim(0, axis).flatten(axis, axis + 1)


def masked_softmax(
    scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, " batch #head #query key"] | None = None
) -> Float[Tensor, "batch head query key"]:
    """Softmax over the permitted keys; a forbidden key gets zero, and a row without permitted keys is all zero.

    Forbidden scores become -inf, which is exact in every precision; empty rows are left unmasked until after the
    softmax, because a row of -inf would give NaN, in the weights or in the gradient.
    """
    if mask is None:
        return scores.softmax(-1)
    empty = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~(mask | empty), float("-inf")).softmax(-1)
    return weights.masked_fill(empty, 0.0)


class AttentionSite(nn.Module):
    """Where a model turns scores into attention weights: the one place to watch or replace them.

    `kind` says what attends to what: `self`, `causal`, `cross`, or `pool` (one query reads a whole text). A site is
    `terminal` when nothing after it mixes its queries, so that many overrides can run as many queries. `keys` says
    whether the keys are the `tokens` of a text in their order, which a mask of tokens fits, or `parts` of it.
    `calls` is how often one forward pass of the model calls it (a layer shared over depth: more than once), and
    `order` when, where that is known; by default sites run in the order of `named_modules`.
    """

    def __init__(self, kind: Kind = "self", terminal: bool = False, keys: Keys = "tokens") -> None:
        super().__init__()
        self.kind: Kind = kind
        self.keys, self.terminal = keys, terminal
        self.calls = 1
        self.order: tuple[int, ...] = ()
        self.attended: list[Attendance] = []  # of all threads; not every one of them concerns this call

    def forward(
        self,
        scores: Float[Tensor, "batch head query key"],
        mask: Bool[Tensor, " batch #head #query key"] | None = None,
        values: Float[Tensor, " batch #head key width"] | None = None,
    ) -> Float[Tensor, "batch head _ key"]:
        weights = masked_softmax(scores, mask)
        return self.deliver(weights, scores, mask, values) if self.attended else weights

    def deliver(
        self,
        weights: Float[Tensor, "batch head query key"],
        scores: Float[Tensor, "batch head query key"] | None,
        mask: Bool[Tensor, " batch #head #query key"] | None,
        values: Tensor | None = None,
        sinks: int = 0,
        heads: range | None = None,
        n_heads: int | None = None,
        mix: Callable[[Tensor], Tensor] | None = None,
    ) -> Float[Tensor, "batch head _ key"]:
        """Show the weights to every session, let each replace them, and return what the model is to use.

        All overrides come first, the outermost block's before the inner ones', then all watchers: every tape holds what
        the model used. A row without permitted keys cannot be overridden: sessions see zeros there, and the model
        keeps its own (Hugging Face models spread such rows over forbidden keys).
        """
        if torch.compiler.is_compiling():
            raise CannotAttend(
                "attention is being watched or overridden while torch.compile traces the model; expected plain"
                " execution. Call the uncompiled model inside `attending`."
            )
        sessions = self.sessions
        if not sessions:
            return weights
        batch, n_head, _, n_key = weights.shape
        empty = None if mask is None else ~mask.any(-1, keepdim=True)  # [batch #head #query 1]
        any_empty = empty is not None and bool(empty.any())
        shown = weights if empty is None or not any_empty else weights.masked_fill(empty, 0.0)
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=weights.device).expand(batch, 1, 1, n_key)
        own_heads = tuple(heads if heads is not None else range(n_head))
        call = Call(NOWHERE, shown, mask, scores, values, sinks, own_heads, n_heads or n_head, mix)
        for session in sessions:
            call = session.override(self, call)
        shown_call = self._shown(call)
        for session in sessions:
            session.watch(self, shown_call)
        if empty is not None and any_empty and call.weights.shape == weights.shape:
            return torch.where(empty, weights, call.weights)
        return call.weights.contiguous()  # an override may have expanded; some models take a view of their weights

    @property
    def sessions(self) -> list[Session]:
        """The sessions that attend here, in this thread or task, outermost first."""
        scopes = [scope for scope in scopes_here(Attendance) if self in scope.sites] if self.attended else []
        return list({id(scope.session): scope.session for scope in scopes}.values())

    @property
    def streams_heads(self) -> bool:
        """Whether every session accepts the heads one at a time."""
        return not self._renumberings() and all(session.streams(self) for session in self.sessions)

    @property
    def checkpoints_heads(self) -> bool:
        """Whether this site can checkpoint its heads one by one, so that the module around it need not be."""
        return False

    def _renumberings(self) -> list["Renumbered"]:
        return [scope for scope in scopes_here(Renumbered) if self in scope.shown]

    def _shown(self, call: Call) -> Call:
        """The call as watchers see it: the innermost renumbering of its heads, if there is one."""
        renumberings = self._renumberings()
        return renumberings[-1].shown[self](call) if renumberings else call

    def refuse_unattendable(self) -> None:
        """Raise if the model, as it is set now, cannot be attended here. Our own models always can."""

    def wrappers(self) -> Mapping[nn.Module, Wrap]:
        """The modules whose `forward` runs differently while this site is attended. Our own models need none."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"attended": []}  # a copy has no sessions yet

    def extra_repr(self) -> str:
        return f"kind={self.kind!r}"


class Attendance(Scope):
    """A session attends at some sites, in one thread or task."""

    def __init__(self, session: Session, sites: Sequence[AttentionSite]) -> None:
        super().__init__()
        self.session, self.sites = session, frozenset(sites)
        self.replaced = Replaced({module: wrap for site in sites for module, wrap in site.wrappers().items()})

    def begin(self) -> None:
        """Open, and tell the sites."""
        for site in self.sites:
            site.refuse_unattendable()
        super().begin()
        self.replaced.begin()
        for site in self.sites:
            site.attended.append(self)

    def close(self) -> None:
        """Close, and leave nothing at the sites."""
        super().close()
        self.replaced.close()
        for site in self.sites:
            if self in site.attended:
                site.attended.remove(self)


class Renumbered(Scope):
    """The heads of some sites are shown to watchers under other numbers, in one thread or task."""

    def __init__(self, shown: Mapping[AttentionSite, Callable[[Call], Call]]) -> None:
        super().__init__()
        self.shown = shown


NOWHERE = Site("", 0, "self")
