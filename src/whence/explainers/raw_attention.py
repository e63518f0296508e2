"""Raw attention: the weights themselves, of one layer or their mean. What attention maps show.

With many layers and heads the weights must be reduced, and the choice matters (paper 004): it is always stated.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.core.tape import Tape
from whence.explainers._attribution import Attribution, attribution
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target

Layer = Literal["last", "mean"] | int
Heads = Literal["mean", "max"] | int
Row = Literal["auto", "first", "last", "mean", "answer"]


@torch.no_grad()
def explain(
    subject: Subject, batch: Batch, target: Target, *, layer: Layer = "last", heads: Heads = "mean", row: Row = "auto"
) -> Attribution:
    """Score each token by the weight it gets, from one query (`row`), in one layer or the mean of all, over the heads.

    `row`: the pooling attention's only query; else `first` ([CLS]), `last`, the token that is `answer`ed, or the `mean`
    of all tokens. `auto` takes what the model's answer is read from.
    """
    sites = _readable(subject)
    chosen = sites if layer == "mean" else [sites[-1] if layer == "last" else _numbered(sites, layer)]
    tape = Tape()
    with attending(subject.model, watch=dict.fromkeys(chosen, tape)):
        subject.model(**batch.inputs)
    calls = [tape.only(name) for name in chosen]
    row = _automatic(subject, calls[0], row)
    per_layer = torch.stack([_one_row(_over_heads(call, heads), batch, target, row) for call in calls])
    how = f"layer: {layer if len(sites) > 1 else 'the only one'}, heads: {heads}, from: {row}"
    return attribution(per_layer.mean(0), batch, "raw_attention", how)


def _readable(subject: Subject) -> list[str]:
    """The sites whose keys are the tokens of the input: of a translator those that look across, else all."""
    sites = subject.sites
    across = [name for name, site in sites.items() if site.kind == "cross"]
    return across or list(sites)


def _numbered(sites: list[str], layer: int) -> str:
    if not -len(sites) <= layer < len(sites):
        raise BadConfig(f"no layer {layer}; there are {len(sites)}, counted from 0")
    return sites[layer]


def _over_heads(call: Call, heads: Heads) -> Float[Tensor, "batch query key"]:
    weights = call.weights[..., : call.weights.shape[-1] - call.sinks]
    if isinstance(heads, int):
        if heads >= weights.shape[1]:
            raise BadConfig(f"no head {heads}; there are {weights.shape[1]}, counted from 0")
        return weights[:, heads]
    return weights.mean(1) if heads == "mean" else weights.amax(1)


def _automatic(subject: Subject, call: Call, row: Row) -> Row:
    if call.weights.shape[-2] == 1:
        return "first"
    if row != "auto":
        return row
    if subject.task.name != "sequence-classification":
        return "answer"
    if call.site.kind == "causal":
        return "last"
    return "first" if subject.tokenizer.cls_token_id is not None else "mean"


def _one_row(
    weights: Float[Tensor, "batch query key"], batch: Batch, target: Target, row: Row
) -> Float[Tensor, "batch key"]:
    rows = torch.arange(len(weights), device=weights.device)
    if row == "first":
        return weights[:, 0]
    if row == "answer":
        return weights[rows, target.positions.to(weights.device)]
    mask = batch.mask.to(weights.device)
    if row == "last":
        order = torch.arange(mask.shape[1], device=mask.device)
        return weights[rows, (mask * (order + 1)).argmax(1)]
    return (weights * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
