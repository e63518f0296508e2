"""Two models compared, example by example: how far apart their attention is, and their predictions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from whence.core.attending import attending
from whence.core.site import Call
from whence.measures.divergence import js_divergence, kl_divergence, total_variation
from whence.subject.batch import Batch
from whence.subject.metrics import Rules
from whence.subject.subject import Subject, probabilities
from whence.training.adversarial import Observed, observe, real_rows
from whence.training.train import trained_override

if TYPE_CHECKING:
    from whence.evaluation.context import Context

Each = Float[ndarray, " example"]
MEASURES = ("jsd", "jsd_matched", "kl", "kl_cells", "tvd", "same", "nll")
ENOUGH = 64  # texts by which heads are put in order
Orders = dict[str, list[int]]  # for each site the other model's head that is compared with each of the base's


@dataclass(frozen=True, eq=False)
class Comparison:
    """One number for each example. `jsd` and `kl`, KL(other ‖ base), are means over sites, heads and the rows of real
    tokens; `jsd_matched` is that with the other's heads in the order that comes nearest to the base's; `kl_cells` is
    divided by the number of keys too, as Yang 2019 does. `tvd` and `same`, whether the prediction is
    the same class, are means over the predictions; `nll` is the other's, of the labels.
    """

    jsd: Each
    jsd_matched: Each
    kl: Each
    kl_cells: Each
    tvd: Each
    same: Each
    nll: Each


def compare(context: "Context", other: "Context", sites: Sequence[str] = ("*",)) -> Comparison:
    """The model of another context compared with this one's; the other attends as it was trained."""
    found = {name: np.zeros(len(context.examples)) for name in MEASURES}
    rules = None if other.training is None else trained_override(other.training)
    orders = nearest_orders(context, other.subject, sites, rules)
    for batch in context.batches():
        own, base = recorded_by_both(context.subject, other.subject, batch, sites, rules)
        for name, values in {**_attention(own, base, batch, orders), **_predictions(own, base, batch)}.items():
            found[name][batch.examples.numpy()] = values
    return Comparison(**found)


@torch.no_grad()
def recorded_by_both(
    subject: Subject, other: Subject, batch: Batch, sites: Sequence[str], rules: Rules | None = None
) -> tuple[Observed, Observed]:
    """What is recorded of a batch: of the other model, and of the subject."""
    base = observe(subject, batch, sites)
    with attending(other.model, override=rules, watch=None):
        return observe(other, batch, sites), base


def nearest_orders(context: "Context", other: Subject, sites: Sequence[str], rules: Rules | None = None) -> Orders:
    """The order of the other model's heads that comes nearest to the base's, by JSD on some of the texts.

    The assignment of least cost (Kuhn 1955), by scipy. The order of heads is arbitrary.
    """
    costs: dict[str, ndarray] = {}
    done = 0
    for batch in context.all_batches():
        own, base = recorded_by_both(context.subject, other, batch, sites, rules)
        for site, call in own.calls.items():
            costs[site] = costs.get(site, 0.0) + _costs(call, base.calls[site], batch)
        done += len(batch)
        if done >= ENOUGH:
            break
    return {site: linear_sum_assignment(cost)[1].tolist() for site, cost in costs.items()}


def _costs(call: Call, base: Call, batch: Batch) -> Float[ndarray, "head head"]:
    """The summed JSD of each of the base's heads and each of the other's."""
    rows = real_rows(call, batch)[:, None].cpu().numpy()  # [batch 1 query]
    p, q = _double(call.weights), _double(base.weights)
    return np.stack(
        [
            np.where(rows, js_divergence(p, np.broadcast_to(q[:, head : head + 1], p.shape)), 0.0).sum((0, 2))
            for head in range(q.shape[1])
        ]
    )


def _attention(own: Observed, base: Observed, batch: Batch, orders: Orders) -> dict[str, Float[ndarray, " batch"]]:
    """Divergences of one batch, mean over sites."""
    sums = {name: np.zeros(len(batch)) for name in ("jsd", "jsd_matched", "kl", "kl_cells")}
    for site, call in own.calls.items():
        rows = real_rows(call, batch)[:, None].expand(-1, call.weights.shape[1], -1).cpu().numpy()
        p, q = (_double(weights) for weights in (call.weights, base.calls[site].weights))
        kl = _mean(kl_divergence(p, np.maximum(q, np.finfo(np.float32).tiny)), rows)
        keys = call.mask.any(1).any(1).sum(-1).cpu().numpy()  # [batch]
        found = {"jsd": _mean(js_divergence(p, q), rows), "kl": kl, "kl_cells": kl / keys.clip(1)}
        found["jsd_matched"] = _mean(js_divergence(p[:, orders[site]], q), rows)
        for name, values in found.items():
            sums[name] += values / len(own.calls)
    return sums


def _predictions(own: Observed, base: Observed, batch: Batch) -> dict[str, Float[ndarray, " batch"]]:
    """Differences of the predictions of one batch."""
    ours, theirs = (_double(probabilities(one.logits)) for one in (own, base))  # [batch position class]
    at, labels = batch.predicted_positions.numpy(), batch.labels.numpy()
    chosen = np.take_along_axis(ours, np.maximum(labels, 0)[..., None], -1)[..., 0]
    surprise = np.where(labels >= 0, -np.log(np.maximum(chosen, np.finfo(np.float32).tiny)), 0.0)
    return {
        "tvd": _mean(total_variation(ours, theirs), at),
        "same": _mean((ours.argmax(-1) == theirs.argmax(-1)).astype(float), at),
        "nll": _mean(surprise, at & (labels >= 0)),
    }


def _mean(values: ndarray, at: ndarray) -> Float[ndarray, " batch"]:
    """The mean of each example over the places that count."""
    rest = tuple(range(1, values.ndim))
    return np.asarray((np.where(at, values, 0.0)).sum(rest) / at.sum(rest).clip(1))


def _double(tensor: Tensor) -> ndarray:
    return np.asarray(tensor.detach().double().cpu().numpy())
