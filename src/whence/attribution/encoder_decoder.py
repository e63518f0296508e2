"""An encoder and a decoder as one network: from a target token through cross-attention to the source tokens.

A decoder position is composed of target positions (self-attention), of encoder outputs (cross-attention), and of itself
(the residual paths). With the heads of each attention fused to one matrix:

    self-attention    (A + I), rows divided by their sum           target → target; in the encoder source → source
    cross-attention   (C | I), rows divided by the sum of both     target → source, or the same target

With the mean of heads, one half of a position goes across and one half stays, as rollout halves every layer (Abnar &
Zuidema 2020, §3). Without residual paths everything goes across in the topmost layer, and layers below it are not seen.
The share that reaches the target's own tokens, the words generated before, is not a score of a source token, and is
stated. Chefer et al. 2021 (§3) and Ferrando et al. 2022 (ALTI+, §3) join encoder and decoder in the same way, with
other matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.layer_stack import Followed, follow, layered
from whence.attribution.read_rows import automatic, refuse_row, refuse_unattending, shares
from whence.attribution.sinks import sparing
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.core.streaming import Fusion, Rollout, augmented, fused
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@dataclass
class RolloutAcross:
    """A watcher that multiplies the layers as the model runs: the weight of each token in each decoder position.

    `across` [batch target source] are the weights of source tokens, `own` [batch target target] those of target tokens.
    """

    residual: bool = True
    heads: Fusion = "mean"
    across: Float[Tensor, "batch target source"] | None = None
    own: Float[Tensor, "batch target target"] | None = None

    def __post_init__(self) -> None:
        self.encoder = Rollout(self.residual, self.heads)

    def __call__(self, call: Call) -> None:
        if call.site.kind == "self":
            self.encoder(call)
            return
        source = self.encoder.product
        assert source is not None
        across, own = of_decoder(call, self.residual, self.heads)
        if self.across is None or self.own is None:
            n_target = call.weights.shape[2]
            self.own = torch.eye(n_target).to(source).expand(len(source), -1, -1)
            self.across = source.new_zeros(len(source), n_target, source.shape[-1])
        if across is None:
            self.across, self.own = own @ self.across, own @ self.own
        else:
            self.across, self.own = across @ source + own * self.across, own * self.own

    def read_from(self, places: Float[Tensor, "batch target"]) -> Float[Tensor, "batch source"]:
        """The weight of each source token in these decoder positions."""
        assert self.across is not None
        return torch.einsum("bt,bts->bs", places.to(self.across), self.across)


@dataclass
class LayersAcross:
    """A watcher that keeps the matrices of all layers, in the order in which they run."""

    residual: bool = True
    heads: Fusion = "mean"
    layers: list[tuple[Tensor | None, Tensor]] = field(default_factory=list)  # across, own; of the encoder: own
    depth: int = 0  # of the encoder

    def __call__(self, call: Call) -> None:
        if call.site.kind == "self":
            self.depth += 1
            self.layers.append((None, _self(call, self.residual, self.heads)))
        else:
            self.layers.append(of_decoder(call, self.residual, self.heads))

    @property
    def matrices(self) -> list[Float[Tensor, "batch token token"]]:
        """One square matrix per layer, over the source tokens followed by the target tokens."""
        n_source, n_target = self.layers[0][1].shape[-1], self.layers[-1][1].shape[1]
        source, target = slice(0, n_source), slice(n_source, None)
        found = []
        for number, (across, own) in enumerate(self.layers):
            whole = torch.eye(n_source + n_target).to(own).repeat(len(own), 1, 1)
            if number < self.depth:
                whole[:, source, source] = own
            elif across is None:
                whole[:, target, target] = own
            else:
                whole[:, target, source] = across
                whole[:, target, target] *= own
            found.append(whole)
        return found


def _self(call: Call, residual: bool, heads: Fusion) -> Float[Tensor, "batch query key"]:
    weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
    return augmented(fused(weights, heads), residual, call.n_heads if heads == "mean" else 1)


def of_decoder(call: Call, residual: bool, heads: Fusion) -> tuple[Tensor | None, Float[Tensor, "batch target _"]]:
    """The matrix that goes across, [batch target source], if it is a cross-attention, and the one that stays: [batch
    target target], or [batch target 1] where each position has only itself.
    """
    if call.site.kind != "cross":
        return None, _self(call, residual, heads)
    weights = call.weights.to(torch.promote_types(call.weights.dtype, torch.float32))
    look = fused(weights, heads)
    stays = float(residual) * (call.n_heads if heads == "mean" else 1)
    total = (look.sum(-1, keepdim=True) + stays).clamp_min(torch.finfo(look.dtype).tiny)
    return look / total, stays / total


@runtime_checkable
class FusingWatcher(Protocol):
    """A watcher of layers whose heads are fused to one matrix, with or without the residual path."""

    residual: bool
    heads: Fusion

    def __call__(self, call: Call) -> None: ...


def follow_fused(
    subject: Subject,
    batch: Batch,
    target: Target,
    method: str,
    watcher: FusingWatcher,
    row: int | str,
    without_sinks: bool | float,
) -> tuple[Followed, str]:
    """Run the model once and pass every layer to the watcher: down one stack, or across from decoder to encoder.
    Returns where tracing starts, and the choices as a phrase.
    """
    watch, spared = sparing(subject, batch, watcher, without_sinks, layered(subject))
    follow_either = follow_across if subject.model.config.is_encoder_decoder else follow
    followed = follow_either(subject, batch, target, row, method, watch)
    return followed, phrase(followed, watcher.residual, watcher.heads) + spared


def phrase(followed: Followed, residual: bool, heads: str) -> str:
    """What was followed, and how heads and residual paths are fused."""
    return f"{followed.how}, heads: {heads}, residual: {'yes' if residual else 'no'}"


@torch.no_grad()
def follow_across(
    subject: Subject, batch: Batch, target: Target, row: int | str, method: str, watcher: Callable[[Call], None]
) -> Followed:
    """Run the model once, pass every layer to the watcher, and return where in the decoder tracing starts (`row`)."""
    refuse_row(row)
    refuse_single(subject, method)
    following = _FollowingAcross(method, batch.special.shape[1], watcher)
    with attending(subject.model, watch=following):
        subject.model(**batch.inputs)
    assert following.attended is not None
    row = automatic(subject, batch, "cross", row)
    start = shares(batch, target, row, following.n_target).to(subject.device)
    attended = following.attended & batch.mask.to(subject.device)
    kinds = [site.kind for site in subject.sites.values()]
    layers = f"down {kinds.count('cross')} layers of the decoder and {kinds.count('self')} of the encoder"
    return Followed(start, attended, row, len(kinds), following.heads, f"{layers}, of {following.heads} heads")


def refuse_single(subject: Subject, method: str) -> None:
    """Refuse a model without encoder self-attention, decoder self-attention and cross-attention."""
    refuse_unattending(subject)
    kinds = {site.kind for site in subject.sites.values()}
    if kinds != {"self", "causal", "cross"} or any(site.keys == "parts" for site in subject.sites.values()):
        raise BadConfig(
            f"{method} follows a decoder's self-attention, its cross-attention and the encoder's self-attention"
            f" down to the tokens; this model has: {', '.join(sorted(kinds))}. See raw_attention for what"
            " it attends to"
        )


@dataclass
class _FollowingAcross:
    method: str
    n_source: int
    watcher: Callable[[Call], None]
    n_target: int = 0
    heads: int = 1
    attended: Bool[Tensor, "batch token"] | None = None

    def __call__(self, call: Call) -> None:
        if call.sinks:
            raise BadConfig(
                f"{self.method} follows weights to tokens, and {call.site.name} gives part of its weight to"
                " a sink, which is no token; see raw_attention"
            )
        if call.site.kind != "causal" and call.weights.shape[-1] != self.n_source:
            there = f"{call.weights.shape[-1]} keys for {self.n_source} tokens"
            raise BadConfig(
                f"{self.method} follows weights to tokens, and {call.site.name} has {there}; see gradient_x_input"
            )
        if self.attended is None:
            self.heads, self.attended = call.n_heads, call.mask.flatten(1, 2).any(1)
        if call.site.kind != "self":
            self.n_target = call.weights.shape[2]
        self.watcher(call)


def staying(scores: Float[Tensor, "batch source"]) -> str:
    """The share that did not reach the source, as a phrase."""
    return f", {1 - float(scores.sum(1).mean()):.0%} stays with the decoder's own tokens"
