"""Attention sinks: the share of heads in which a token gets much weight but contributes little. Gu et al. 2025, §3.

    weight(j) = mean over the queries i that may see j of α(i, j)                            Gu et al., §3.2
    given(j)  = the same mean of ‖α(i, j) f(x_j)‖, in units of the head's mean ‖f(x)‖         Kobayashi et al., Eq. 4
    j is a sink of the head if weight(j) > ε ≥ given(j),   ε = 0.3

A token is a sink if its weight is large (Gu et al.) and the vector that this weight contributes is small (Kobayashi
et al. 2020, §4). [CLS], [SEP], a
first token or a full stop often are, and then attention says little about the words. The score of a token is the share
of heads whose sink it is. All explainers of weights (`raw_attention`, `lat`,
`lat_mixed`, `rollout`, `flow`, `attention_gradient`, `effective_attention`) leave sinks out with the
option `without_sinks`, and state it; those based on contributed vectors (such as `attention_norm`) need no such option.

Differs from the papers: Gu et al. go by weight alone, most of all the first token's in decoders, and show that its
values are small; here that is asked of every token and head. Kobayashi et al. compare the two and set no limit.

When not to use it: it scores what to distrust, not what decides: a token that is no sink need not matter.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Bool
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.sinks import LEAST, found, limit
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@torch.no_grad()
def explain(subject: Subject, batch: Batch, target: Target, *, least: float = LEAST) -> Attribution:
    """Score each token by the share of heads whose sink it is; `least` is ε."""
    layers = {name: layer.where(limit(least)) for name, layer in found(subject, batch).items()}
    where = torch.cat(list(layers.values()), 1).float()  # [batch heads key]
    having = where.any(2).float().mean()
    how = f"{having:.0%} of {where.shape[1]} heads have a sink: mean weight above {least:g}, of which less is given"
    return attribution(
        where.mean(1), batch, "sinks", how + (describe_sinks(subject, layers, batch) if len(where) == 1 else "")
    )


def describe_sinks(subject: Subject, layers: Mapping[str, Bool[Tensor, "1 head key"]], batch: Batch) -> str:
    """Of one text, which tokens are sinks of which heads, special ones too; those of most heads first."""
    total = torch.cat(list(layers.values()), 1)[0].sum(0)  # [key]
    text = ""
    for token in total.argsort(descending=True, stable=True)[: int((total > 0).sum())].tolist():
        heads = {name: where[0, :, token].nonzero()[:, 0].tolist() for name, where in layers.items()}
        places = [
            f"layer {subject.sites[name].layer} ({_heads(of, layers[name].shape[1])})"
            for name, of in heads.items()
            if of
        ]
        text += f"; {batch.tokens[0][token]!r} in {', '.join(places)}"
    return text


def _heads(heads: list[int], n_heads: int) -> str:
    if len(heads) == n_heads:
        return "all heads" if n_heads > 1 else "its only head"
    return f"{'heads' if len(heads) > 1 else 'head'} {' '.join(map(str, heads))}"
