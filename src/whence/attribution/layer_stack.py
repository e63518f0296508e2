"""The stack that an explainer follows: from the position read, down the self-attention layers, to the tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.read_rows import automatic, refuse_row, refuse_unattending, shares
from whence.attribution.single_layers import uncached
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call, Kind
from whence.core.tape import Tape
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

LONG = 64  # tokens: for shorter texts, all heads of a layer at once are faster than one at a time


@dataclass(frozen=True)
class Stack:
    """The self-attention layers of a model from the bottom up, and the local attention above them, if there is one."""

    layers: tuple[str, ...]
    pool: str | None


@dataclass(frozen=True, eq=False)
class Followed:
    """Where tracing starts, [batch place], and which tokens it can reach; `row` names the place.

    Places are the tokens, or of a translator those of the target.
    """

    start: Float[Tensor, "batch place"]
    attended: Bool[Tensor, "batch token"]
    row: int | str
    depth: int
    heads: int
    layers: str = ""  # as a phrase, if they are not one stack

    @property
    def how(self) -> str:
        """The choices, as a phrase."""
        one_stack = f"down {self.depth} layers of {self.heads} heads" if self.depth else "no self-attention below it"
        return f"from: {f'token {self.row}' if isinstance(self.row, int) else self.row}, {self.layers or one_stack}"


def layered(subject: Subject) -> list[str]:
    """The sites that are followed down: all but a local attention, where tracing starts."""
    return [name for name, site in subject.sites.items() if site.kind != "pool"]


def stack_of(subject: Subject, method: str) -> Stack:
    """The one stack of a model; otherwise an error that names what it has."""
    refuse_unattending(subject)
    sites = subject.sites
    pools = [name for name, site in sites.items() if site.kind == "pool"]
    layers = tuple(name for name in sites if name not in pools)
    depth = getattr(subject.model.config, "num_hidden_layers", None) or 0
    across = [name for name, site in sites.items() if site.kind == "cross"]
    if subject.model.config.is_encoder_decoder:
        _refuse(method, "this model has an encoder and a decoder; see rollout and flow, which follow both")
    if across:
        _refuse(method, f"{across[0]} attends from one sequence to another; see raw_attention")
    if any(site.keys == "parts" for site in sites.values()):
        _refuse(method, f"what is attended at {', '.join(sites)} are parts of the text; see raw_attention")
    if len({sites[name].stack for name in layers}) > 1 or pools not in ([], list(sites)[-1:]):
        _refuse(method, f"the attention of this model is in several places: {', '.join(sites)}")
    if layers and len(layers) < depth:
        _refuse(method, f"{depth - len(layers)} of this model's {depth} layers mix tokens without attention weights")
    return Stack(layers, pools[0] if pools else None)


def unwatched(call: Call) -> None:
    """Take no note of a call."""


unwatched.streams_heads = True  # type: ignore[attr-defined]


@torch.no_grad()
def follow(
    subject: Subject,
    batch: Batch,
    target: Target | None,
    row: int | str,
    method: str,
    watcher: Callable[[Call], None],
    same_heads: bool = False,
) -> Followed:
    """Run the model once, pass its self-attention to the watcher layer by layer, and return where tracing starts.

    It starts from the local attention. A model without one is read at a `row`: the `first` token ([CLS]), the `last`,
    that of the `prediction`, one by its number, or the `mean` of all; `auto` takes where the prediction is read. Of a
    narrative every window is followed separately: rows are windows.
    """
    refuse_row(row)
    batch = batch.by_window()
    stack = stack_of(subject, method)
    if stack.pool is not None and row != "auto":
        _refuse(method, f"it starts from the local attention {stack.pool}; leave row at auto")
    n_token = batch.special.shape[1]
    streams = n_token > LONG and getattr(watcher, "streams_heads", False)
    following = Following(method, n_token, watcher, same_heads, streams)
    pooling = Tape()
    watch = {name: pooling if name == stack.pool else following for name in (*stack.layers, stack.pool) if name}
    with attending(subject.model, watch=watch):
        subject.model(**batch.inputs, **uncached(subject))
    if stack.pool is not None:
        return _from_pool(pooling.only(stack.pool), batch, following, len(stack.layers), method)
    row = automatic(subject, batch, following.kind, row)
    if row == "prediction" and target is None:
        target = predicted(subject, batch)
    start = shares(batch, target, row, n_token).to(subject.device)
    attended = following.attended_tokens(batch)
    if following.kind == "causal":  # nothing after the last token that is read
        attended = attended & ((start > 0).flip(1).cumsum(1).flip(1) > 0)
    return Followed(start, attended, row, len(stack.layers), following.heads)


def _from_pool(call: Call, batch: Batch, following: "Following", depth: int, method: str) -> Followed:
    if call.weights.shape[1:] != (1, 1, batch.special.shape[1]):
        shape = list(call.weights.shape[1:])
        _refuse(method, f"the local attention {call.site.name} has weights {shape} [head query key], not one per token")
    start = call.weights[:, 0, 0].to(torch.promote_types(call.weights.dtype, torch.float32))
    attended = following.attended_tokens(batch) if depth else call.mask[:, 0, 0] & batch.mask.to(start.device)
    return Followed(start, attended, f"local attention ({call.site.name})", depth, following.heads)


@dataclass
class Following:
    """A watcher that passes on what can be followed: each layer's weights from every token to every token."""

    method: str
    n_token: int
    watcher: Callable[[Call], None]
    same_heads: bool
    streams_heads: bool
    kind: Kind = "self"
    heads: int = 1
    attended: Bool[Tensor, "batch token"] | None = None

    def __call__(self, call: Call) -> None:
        name, (n_query, n_key) = call.site.name, call.weights.shape[-2:]
        if call.sinks:
            _refuse(self.method, f"{name} gives part of its weight to a sink, which is no token; see raw_attention")
        if (n_query, n_key) != (self.n_token, self.n_token):
            _refuse(
                self.method, f"{name} attends from {n_query} places to {n_key}, and there are {self.n_token} tokens"
            )
        if self.attended is None:
            self.kind, self.heads = call.site.kind, call.n_heads
            self.attended = call.mask.flatten(1, 2).any(1)  # [batch token]
        if self.same_heads and call.n_heads != self.heads:
            _refuse(self.method, f"{name} has {call.n_heads} heads, the lowest layer {self.heads}; see lat_mixed")
        self.watcher(call)

    def attended_tokens(self, batch: Batch) -> Bool[Tensor, "batch token"]:
        """The tokens that the lowest layer may attend to, padding left out."""
        assert self.attended is not None
        return self.attended & batch.mask.to(self.attended.device)


def _refuse(method: str, why: str) -> NoReturn:
    raise BadConfig(f"{method} follows one stack of self-attention down to the tokens, and cannot here: {why}")
