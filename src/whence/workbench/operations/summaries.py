"""A few numbers for each head, by which a map of all heads is coloured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from whence.attribution import sinks as sink_tokens
from whence.core.errors import WhenceError
from whence.explaining.head_importance import head_importance
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@dataclass(frozen=True)
class HeadSummary:
    """Of every head of a layer: the mean over queries of a row's entropy (nats), of its weight on special tokens, of
    its largest weight, of its weight on the token before, and of the distance in tokens; the last two only where
    queries and keys are the same tokens (else None).
    """

    entropy: list[float]
    special_share: list[float]
    largest: list[float]
    previous: list[float] | None
    distance: list[float] | None
    NAMES: ClassVar = ("entropy", "special_share", "largest", "previous", "distance")


def summarise(weights: Float[ndarray, "head query key"], special: Sequence[int], square: bool) -> HeadSummary:
    """The numbers of one layer. Rows without weight (a first token that sees nothing) do not count."""
    rows = torch.from_numpy(np.ascontiguousarray(weights)).float()  # [head query key]
    asking = rows.sum(-1) > 0.5  # [head query]
    count = asking.sum(-1).clamp_min(1)

    def mean(values: torch.Tensor) -> list[float]:
        return [round(float(one), 6) for one in (values * asking).sum(-1) / count]

    previous = distance = None
    if square:
        places = torch.arange(rows.shape[1], dtype=torch.float32)
        apart = (places[:, None] - torch.arange(rows.shape[2])).abs()  # [query key]
        before = torch.nn.functional.pad(rows.diagonal(-1, 1, 2), (1, 0))[:, : rows.shape[1]]
        previous, distance = mean(before), mean(torch.einsum("hqk,qk->hq", rows, apart))
    return HeadSummary(
        mean(torch.special.entr(rows).sum(-1)),
        mean(rows[..., list(special)].sum(-1)),
        mean(rows.amax(-1)),
        previous,
        distance,
    )


def slow_summaries(
    subject: Subject, batch: Batch, target: Target, stacks: Sequence[tuple[str, Sequence[str], Sequence[int]]]
) -> dict[str, Any]:
    """Head importance (Michel et al. 2019) and the share of attention sinks (`whence.explainers.sinks`), by stack.

    `stacks` are ids with their sites and the number of heads of each layer.
    """
    answer: dict[str, Any] = {"importance": {}, "sink_share": {}, "sinks": {}, "errors": {}}
    try:
        found = {(one.site, one.head): one.share for one in head_importance(subject, batch, target)}
        for stack, sites, heads in stacks:
            answer["importance"][stack] = [
                [found.get((site, head)) for head in range(n)] for site, n in zip(sites, heads, strict=True)
            ]
    except WhenceError as error:
        answer["errors"]["importance"] = str(error)
    try:
        drawn = sink_tokens.found(subject, batch)
        for stack, sites, _ in stacks:
            if all(site in drawn for site in sites):
                layers = [drawn[site] for site in sites]
                answer["sinks"][stack] = [_places(layer) for layer in layers]
                answer["sink_share"][stack] = [
                    (layer.weight[0] * layer.where()[0]).sum(-1).tolist() for layer in layers
                ]
    except WhenceError as error:
        answer["errors"]["sink_share"] = str(error)
    return answer


def _places(layer: sink_tokens.Sinks) -> list[list[int]]:
    """The sinks of each head of a layer."""
    return [head.nonzero().flatten().tolist() for head in layer.where()[0]]
