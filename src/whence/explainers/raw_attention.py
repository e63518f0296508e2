"""Raw attention: the weights themselves, of one layer or the mean of all layers. What attention maps show.

With many layers and heads the weights must be reduced, and the choice matters (Mrini et al. 2019): it is always stated.
A model that attends to parts of the text (words of a sentence, then sentences) has a method `token_weights` that
returns the weight of each token; this is then its only layer.

When not to use it: for deep models one row of one layer is a small part of what the model does, and often lies on [SEP]
or the first token (`sinks`). Weights have no sign. Do not use it as evidence before an audit's questions 1 to 4 are
answered.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.fuse_heads import fusion
from whence.attribution.read_rows import automatic, readable, refuse_row, shares
from whence.attribution.sinks import sparing
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call, Site
from whence.core.streaming import fused
from whence.core.tape import Tape
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

LAYERS, HEADS = ("last", "mean"), ("mean", "max", "min")


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    layer: int | str = "last",
    heads: int | str = "mean",
    row: int | str = "auto",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by the weight it gets, from one query (`row`), in one layer or the mean of all, over the heads.

    `layer`: `last`, `mean`, or a number. `heads`: `mean`, `max`, `min`, or a number. `row`: the pooling attention's
    only query; else the `first` token ([CLS]), the `last`, the one of the `prediction`, one by its number, or the
    `mean` of all. `auto` takes the row that the prediction is read from. A decoder that attends once a step asks one
    query a step; of a narrative every window is a text. `without_sinks`: see `sinks`.
    """
    for option, value, there in (("layer", layer, LAYERS), ("heads", heads, HEADS)):
        if isinstance(value, str) and value not in there:
            raise BadConfig(f"no {option} {value!r}; choose from: {', '.join(there)}, or a number")
    refuse_row(row)
    whole, batch, layers = batch, batch.by_window(), _layers(subject)
    chosen = layers if layer == "mean" else [layers[-1] if isinstance(layer, str) else _numbered(layers, layer)]
    calls, spared = _calls(subject, batch, chosen, without_sinks)
    row = "first" if calls[0].weights.shape[-2] == 1 else automatic(subject, batch, calls[0].site.kind, row)
    per_layer = torch.stack([_one_row(_over_heads(call, heads, batch), batch, target, row) for call in calls])
    only = "the only one" if chosen[0] in subject.sites else chosen[0]
    how = f"layer: {layer if len(layers) > 1 else only}, heads: {heads}, from: {row}{spared}"
    return attribution(per_layer.mean(0), whole, "raw_attention", how)


def _calls(subject: Subject, batch: Batch, layers: list[str], without_sinks: bool | float) -> tuple[list[Call], str]:
    """What the layers did in one pass, and a note about sinks."""
    whole = not set(layers) <= set(subject.sites)
    tape = Tape()
    watcher, spared = sparing(subject, batch, tape, without_sinks, None if whole else layers)
    with attending(subject.model, watch=watcher if whole else dict.fromkeys(layers, watcher)):
        subject.model(**batch.inputs)
    if not whole:
        return [tape.joined(name) for name in layers], spared
    made: Any = subject.model
    weights = made.token_weights(tape, **batch.inputs)[:, None, None]  # [batch 1 1 token]
    mask = batch.mask.to(weights.device)[:, None, None]
    return [Call(Site(layers[0], 0, "pool"), weights, mask, None, None, 0, (0,), 1)], spared


def _layers(subject: Subject) -> list[str]:
    """The sites that can be shown, or the one distribution that a model computes from them."""
    if hasattr(subject.model, "token_weights"):
        return [str(subject.model.token_weights_are)]
    return readable(subject)


def _numbered(sites: list[str], layer: int) -> str:
    if not -len(sites) <= layer < len(sites):
        raise BadConfig(f"no layer {layer}; there are {len(sites)}, counted from 0")
    return sites[layer]


def _over_heads(call: Call, heads: int | str, batch: Batch) -> Float[Tensor, "batch query key"]:
    weights = call.weights[..., : call.weights.shape[-1] - call.sinks]
    if weights.shape[-1] != batch.special.shape[1]:
        raise BadConfig(
            f"the keys at {call.site.name} are not the tokens of the text ({weights.shape[-1]} for"
            f" {batch.special.shape[1]} tokens); choose another layer by its number"
        )
    if isinstance(heads, str):
        return weights.mean(1) if heads == "mean" else fused(weights, fusion(heads))
    if not -weights.shape[1] <= heads < weights.shape[1]:
        raise BadConfig(f"no head {heads}; there are {weights.shape[1]}, counted from 0")
    return weights[:, heads]


def _one_row(
    weights: Float[Tensor, "batch query key"], batch: Batch, target: Target, row: int | str
) -> Float[Tensor, "batch key"]:
    read = shares(batch, target, row, weights.shape[1]).to(weights)  # [batch query]
    return torch.einsum("bq,bqk->bk", read, weights)
