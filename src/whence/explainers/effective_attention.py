"""Effective attention: the weights without the part that cannot change the output. Brunner et al. 2020, §3.

    A⊥ = A − A's projection on {u : u T = 0},   T = the values that a head mixes, [key width]

Whatever is added to a row of weights from that null space gives the same context, so weights are not identifiable
once there are more keys than a head is wide: `how` states how many dimensions are free. Effective attention is the
part of the weights that matters. It may be negative, and rows need not sum to one.

Differs from the paper: T are the values before the head's part of the output matrix, which has the same null space
unless that part has lost rank. A row of a decoder sees the keys up to its own, and its null space is theirs.

When not to use it: it removes what cannot change this layer's output, not what later layers ignore. In short texts
(fewer keys than a head is wide) nothing is removed, and `raw_attention` says the same.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.layerwise import Matrices, scored
from whence.attribution.sinks import sparing
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    layer: int | str = "last",
    row: int | str = "auto",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by its effective weight, the mean over the heads.

    `layer`: `last`, `mean` or a number. `row`: see `raw_attention`. `without_sinks`: see `sinks`.
    """
    if layer in ("auto", "rollout"):
        raise BadConfig(f"effective_attention has no layer {layer!r}; choose from: last, mean, or a number")
    seen: list[tuple[int, int]] = []  # keys, width
    notes: list[str] = []

    def made(names: list[str], texts: Batch) -> Matrices:
        found: dict[str, list[Tensor]] = {name: [] for name in names}

        def watch(call: Call) -> None:
            permitted, values = _permitted(call), _values(call)
            seen.append((int(permitted.sum(-1).max()), values.shape[-1]))
            found[call.site.name].append(mean_effective(call.weights[..., : values.shape[-2]], values, permitted))

        watcher, spared = sparing(subject, texts, watch, without_sinks, names)
        notes.append(spared)
        with attending(subject.model, watch=dict.fromkeys(names, watcher)):
            subject.model(**texts.inputs)
        return {name: torch.cat(calls, 1) for name, calls in found.items()}

    scores, how = scored(subject, batch, target, "effective_attention", layer, row, made)
    keys, width = max(seen, key=lambda pair: pair[0] - pair[1])
    free = f"{keys} keys for heads {width} wide, " + (
        f"so the weights are NOT identifiable: {keys - width} dimensions of each row change nothing"
        if keys > width
        else "so the weights are identifiable"
    )
    return attribution(scores, batch, "effective_attention", f"{how}, heads: mean, {free}{notes[0]}", signed=True)


def mean_effective(
    weights: Float[Tensor, "batch head query key"],
    values: Float[Tensor, "batch head key width"],
    permitted: Bool[Tensor, " batch #head query key"],
) -> Float[Tensor, "batch query key"]:
    """The mean over the heads, one after another, so that a single head's weights are held in double precision."""
    n_head, total = weights.shape[1], None
    for head in range(n_head):
        own = slice(head, head + 1)
        seen = permitted[:, own] if permitted.shape[1] > 1 else permitted
        one = effective(weights[:, own].double(), values[:, own], seen)
        total = one if total is None else total.add_(one)
    assert total is not None
    return total[:, 0] / n_head


def effective(
    weights: Float[Tensor, "batch head query key"],
    values: Float[Tensor, "batch head key width"],
    permitted: Bool[Tensor, " batch #head query key"],
) -> Float[Tensor, "batch head query key"]:
    """A U Uᵀ, where the columns of U span those of the values at the keys that a row may see."""
    shared = bool((permitted == permitted[:, :, :1]).all())
    rows = [slice(None)] if shared else [slice(row, row + 1) for row in range(weights.shape[2])]
    found = []
    for some in rows:
        seen = values * permitted[:, :, some][:, :, 0, :, None]  # [batch head key width]
        basis, sizes, _ = torch.linalg.svd(seen, full_matrices=False)  # [batch head key rank]
        kept = sizes > sizes[..., :1] * max(seen.shape[-2:]) * torch.finfo(torch.float32).eps
        basis = basis * kept[..., None, :]
        found.append(weights[:, :, some] @ basis @ basis.mT)
    return torch.cat(found, 2) * permitted


def _permitted(call: Call) -> Bool[Tensor, " batch #head query key"]:
    """The keys of each row, one set for all rows of a text unless the attention is causal or local."""
    n_key = call.weights.shape[-1] - call.sinks
    return call.mask[..., :n_key].expand(-1, -1, call.weights.shape[2], -1)


def _values(call: Call) -> Float[Tensor, "batch head key width"]:
    if call.values is None:
        raise BadConfig(
            f"{call.site.name} does not expose the values that its weights mix (it is adopted by its softmax"
            " alone); see raw_attention, gradient_x_input"
        )
    return call.values.expand(-1, call.weights.shape[1], -1, -1).double()
