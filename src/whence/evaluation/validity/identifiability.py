"""What there is to ask of the attention that `raw_attention` shows: how much weight can be moved, and over what.

Of each text the row of the last layer that the prediction is read from. Its heads count by how much the prediction
depends on where their weight is, so that heads which nothing reads change nothing:

    I_h = mean over the keys k of |g_h(k) − Σ_j α_h(j) g_h(j)|,   g = ∂y/∂α

the change of the explained margin y, to first order, if all weight of the head went to one key.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from whence.attribution.read_rows import asking, automatic, readable, shares
from whence.attribution.registry import explainer
from whence.attribution.sinks import Sinks
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import Free, Override, Weights
from whence.core.site import Call, Kind
from whence.core.tape import Tape
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

ByHead = Float[Tensor, "batch head"]
Keys = Bool[Tensor, "batch head key"]
Measured = Mapping[str, ndarray]  # one value for each text
SMALL = 1e-5  # of the largest singular value: what is smaller is rounding


class Row(NamedTuple):
    """What one site does in the row that is read, and how much each head counts (`share`, which sums to one)."""

    weights: Float[Tensor, "batch head key"]
    permitted: Keys
    sink: Keys  # tokens with much weight and short values
    beyond: ByHead  # weight on sinks that are no tokens
    values: Float[Tensor, "batch head key width"] | None
    share: ByHead


def measured(subject: Subject, batch: Batch, target: Target) -> tuple[Measured, str]:
    """The measures of each text, and which weights were taken; the target is a margin.

    Of a model that attends to parts of a text only the weight of each token is known, and the rest is NaN.
    """
    if hasattr(subject.model, "token_weights"):
        return _of_parts(subject, batch, target)
    name = readable(subject)[-1]
    row = automatic(subject, batch, subject.sites[name].kind, "auto") if subject.sites[name].kind != "pool" else "first"
    explained, one = read_row(subject, batch, target, name, row)
    special = batch.special.to(one.weights.device)[:, None]  # [batch 1 token]
    free = one.permitted & ~special & ~one.sink  # [batch head key]

    def mass(keys: Keys) -> ByHead:
        return (one.weights * keys).sum(-1)

    found = {
        "keys": one.permitted.any(1).sum(-1),
        "free_keys": free.any(1).sum(-1),
        "free_mass": over_heads(mass(free), one.share),
        "special_mass": over_heads(mass(one.permitted & special), one.share),
        "sink_mass": over_heads(mass(one.permitted & one.sink & ~special) + one.beyond, one.share),
        "width": torch.full((len(batch),), torch.nan if one.values is None else one.values.shape[-1]),
        "rank": torch.full((len(batch),), torch.nan)
        if one.values is None
        else rank(one.values, one.permitted, one.share),
        "conicity": torch.full((len(batch),), torch.nan)
        if one.values is None
        else over_heads(conicity(one.values, free), one.share),
        "moved": _moved(subject, batch, target, name, explained),
    }
    how = f"{name}, from: {row}"
    return {key: value.double().cpu().numpy() for key, value in found.items()}, how


def _of_parts(subject: Subject, batch: Batch, target: Target) -> tuple[Measured, str]:
    shown = explainer("raw_attention")(subject, batch, target)
    words = ~shown.special
    known = {
        "keys": words.sum(1),
        "free_keys": words.sum(1),
        "free_mass": (shown.scores * words).sum(1),
        "special_mass": (shown.scores * shown.special).sum(1),
        "sink_mass": np.zeros(len(batch)),
    }
    return {
        **known,
        **{name: np.full(len(batch), np.nan) for name in ("width", "rank", "conicity", "moved")},
    }, shown.how


def read_row(
    subject: Subject, batch: Batch, target: Target, name: str, row: int | str
) -> tuple[Float[Tensor, " batch"], Row]:
    """What is explained, and the row of a site from which it is read."""
    explained, calls, gradients = _with_gradients(subject, batch, target, name)
    sinks, first = calls[0].sinks, calls[0]
    whole = torch.cat([call.weights.detach() for call in calls], 2)  # [batch head query key]
    mask = torch.cat([call.mask.expand_as(call.weights) for call in calls], 2)
    n_key = whole.shape[-1] - sinks
    if n_key != batch.special.shape[1]:
        raise BadConfig(
            f"the keys at {name} are not the tokens of the text ({n_key} for {batch.special.shape[1]} tokens), so"
            " their share of the attention is not known"
        )
    weights, seen = whole[..., :n_key], mask[..., :n_key]
    read = shares(batch, target, row, whole.shape[2]).to(weights)  # [batch query]
    values = None if first.values is None else first.values.detach().expand(-1, weights.shape[1], -1, -1)
    beyond = torch.einsum("bq,bhqk->bh", read, whole[..., n_key:])
    return explained, Row(
        torch.einsum("bq,bhqk->bhk", read, weights),
        (seen & (read > 0)[:, None, :, None]).any(2),
        token_sinks(weights, seen, values, batch, first.site.kind),
        beyond,
        values,
        importance(weights, torch.cat(gradients, 2)[..., :n_key], seen),
    )


def _with_gradients(
    subject: Subject, batch: Batch, target: Target, name: str
) -> tuple[Float[Tensor, " batch"], list[Call], list[Tensor]]:
    """What is explained, every call of a site, and ∂y/∂α there: zero where the prediction does not depend on it."""
    tape = Tape(keep=("values",))
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, torch.enable_grad(), subject.embedded(), attending(subject.model, watch={name: tape}):
        explained = target.of(subject.logits(batch))  # [batch]
        calls = tape[name]
        gradients = torch.autograd.grad(explained.sum(), [call.weights for call in calls], allow_unused=True)
    pairs = zip(gradients, calls, strict=True)
    return explained.detach(), calls, [torch.zeros_like(call.weights) if g is None else g for g, call in pairs]


def importance(
    weights: Float[Tensor, "batch head query key"],
    gradient: Float[Tensor, "batch head query key"],
    seen: Bool[Tensor, "batch head query key"],
) -> ByHead:
    """The share of each head: how much the prediction depends on where its weight is; equal if it depends on none."""
    own = (weights * gradient).sum(-1, keepdim=True)
    each = ((gradient - own).abs() * seen).sum(-1) / seen.sum(-1).clamp_min(1)  # [batch head query]
    total = each.sum(-1)  # [batch head]
    even = torch.full_like(total, 1 / total.shape[1])
    whole = total.sum(-1, keepdim=True)
    return torch.where(whole > 0, total / whole.clamp_min(torch.finfo(total.dtype).tiny), even)


def token_sinks(
    weights: Float[Tensor, "batch head query key"],
    seen: Bool[Tensor, "batch head query key"],
    values: Float[Tensor, "batch head key width"] | None,
    batch: Batch,
    kind: Kind,
) -> Keys:
    """Tokens with much weight from the average query, and so short values that it brings little (Gu et al. 2025).

    Where there is one query, its weight is never merely parked, and nothing is a sink. The lengths are those of the
    values, before the head's part of the output matrix.
    """
    if values is None or weights.shape[2] == 1:
        return torch.zeros_like(seen[:, :, 0])
    real = asking(batch, kind).to(seen.device)
    asked = seen & real[:, None, :, None] if real.shape[1] == seen.shape[2] else seen
    count = asked.sum(2)  # [batch head key]
    weight = (weights * asked).sum(2) / count.clamp_min(1)
    length, there = values.norm(dim=-1), count > 0
    mean = (length * there).sum(-1, keepdim=True) / there.sum(-1, keepdim=True).clamp_min(1)
    return Sinks(weight, weight * length / mean.clamp_min(torch.finfo(length.dtype).tiny)).where()


def rank(values: Float[Tensor, "batch head key width"], permitted: Keys, share: ByHead) -> Float[Tensor, " batch"]:
    """How many weights the context determines in the head that counts most: the rank of its keys' values, each with a
    one added, as the weights sum to one (Brunner et al. 2020, §3.1). With more keys, other weights give the same.
    """
    every, most = torch.arange(len(values), device=values.device), share.argmax(-1)
    there = permitted[every, most][..., None]  # [batch key 1]
    vectors = values[every, most].double() * there
    size = vectors.norm(dim=-1).amax(-1).clamp_min(torch.finfo(torch.float64).tiny)  # [batch]
    rows = torch.cat([vectors / size[:, None, None], there.double()], -1)
    return torch.linalg.matrix_rank(rows, rtol=SMALL).double()


def conicity(values: Float[Tensor, "batch head key width"], keys: Keys) -> ByHead:
    """The mean cosine of some vectors with their mean (Mohankumar et al. 2020, §3.1); NaN of fewer than two.

    A vector of length zero has no direction and is left out.
    """
    vectors = values.double()
    counted = keys & (vectors.norm(dim=-1) > 0)
    n = counted.sum(-1)  # [batch head]
    mean = (vectors * counted[..., None]).sum(-2, keepdim=True) / n.clamp_min(1)[..., None, None]
    cosines = torch.nn.functional.cosine_similarity(vectors, mean, dim=-1, eps=1e-300)  # [batch head key]
    return ((cosines * counted).sum(-1) / n.clamp_min(1)).masked_fill(n < 2, torch.nan)


def over_heads(values: ByHead, share: ByHead) -> Float[Tensor, " batch"]:
    """The mean over the heads, each by its share; heads where nothing could be measured are left out."""
    known = values.isfinite()
    weight = (share * known).sum(-1)
    total = (values.nan_to_num(0.0) * share * known).sum(-1)
    return torch.where(weight > 0, total / weight.clamp_min(torch.finfo(total.dtype).tiny), torch.nan)


def _all_on_one(call: Call, free: Free) -> Weights:
    """All weight of a row's free keys on the one of them that has least."""
    own = call.weights
    free = free.expand_as(own)
    least = own.masked_fill(~free, torch.inf).argmin(-1, keepdim=True)
    mass = (own * free).sum(-1, keepdim=True)
    return own.masked_fill(free, 0.0).scatter_add(-1, least, mass)


ALL_ON_ONE = Override("all_on_one", _all_on_one)


@torch.no_grad()
def _moved(
    subject: Subject, batch: Batch, target: Target, name: str, explained: Float[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """How far the margin moves, as a share of itself, if all free weight goes to the word with least of it."""
    rule = ALL_ON_ONE.sparing(batch.special.to(subject.device))
    with attending(subject.model, override={name: rule}, watch=None):
        after = target.of(subject.logits(batch))
    return ((after - explained).abs() / explained.abs()).masked_fill(explained == 0, torch.nan)
