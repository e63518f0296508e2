"""Attention flow: how much could flow from where the answer is read down to a token. Abnar & Zuidema 2020, §3.

Layers are a network: from token i of a layer to token j of the one below goes an edge of capacity Â_l(i, j), where
Â = (mean over heads of A + I), rows divided by their sum. The score of token j is the maximum flow from the node that
is read to j among the inputs; each token's flow is taken by itself, so that a text's scores do not sum to one.

Flow often says no more than the lowest layer does: what enters token j cannot exceed its column there, nor all there
is. That bound, min(1, Σ_i Â_1(i, j)), is the baseline: `how` says for how many tokens the flow just equals it, and with
`baseline` the bound itself is the score.

Differs from the paper: a local attention is a node above the topmost layer, its weights the capacities; so is a mean of
rows. Capacities are whole multiples of 2⁻³⁰ (scipy's maximum flow takes 32-bit integers), which moves a flow by no more
than its cut has edges, times 2⁻³¹. The authors' code divides each text's flows by their sum; here they are as they are.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from whence.explainers._attribution import Attribution, attribution
from whence.explainers._fusing import Layers, fusion
from whence.explainers._stack import follow
from whence.explainers.sinks import sparing
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target

WHOLE = 1 << 30  # a capacity of one; scipy cuts 64-bit capacities down without a word
EQUAL = 1e-5  # flows this near to their bound are at it: weights are of single precision


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    residual: bool = True,
    heads: str = "mean",
    row: int | str = "auto",
    without_sinks: bool = False,
    baseline: bool = False,
) -> Attribution:
    """Score each token by the maximum flow from what is read to it (`row`: see `_stack.follow`), from 0 to 1.

    `heads`: what is made of a layer's heads, weight by weight: their `mean`, `max`, or `min`.
    `without_sinks`: see `sinks`.
    """
    layers = Layers(fusion(heads), residual)
    watcher, spared = sparing(subject, batch, layers) if without_sinks else (layers, "")
    followed = follow(subject, batch, target, row, "flow", watcher)
    matrices = [matrix.double().cpu().numpy() for matrix in layers.matrices]
    start, tokens = followed.start.double().cpu().numpy(), followed.attended.cpu().numpy()
    bound = np.stack([bounds([m[text] for m in matrices], start[text]) for text in range(len(start))]) * tokens
    how = f"{followed.how}, heads: {heads}, residual: {'yes' if residual else 'no'}{spared}"
    if baseline:
        return attribution(torch.from_numpy(bound), batch, "flow", f"{how}, the bound min(1, column of layer 1) alone")
    flow = np.stack([flows([m[t] for m in matrices], start[t], tokens[t]) for t in range(len(start))])
    at_bound = (np.abs(flow - bound) <= EQUAL)[tokens].mean() if tokens.any() else 1.0
    how += f", {at_bound:.0%} of tokens at the bound min(1, column of layer 1)"
    return attribution(torch.from_numpy(flow), batch, "flow", how)


def flows(
    layers: list[Float[ndarray, "query key"]],
    start: Float[ndarray, " token"],
    tokens: Bool[ndarray, " token"] | None = None,
) -> Float[ndarray, " token"]:
    """The maximum flow of one text from a node above all layers to each token, the lowest layer first.

    `start` are the capacities out of that node; only to these `tokens` is it computed.
    """
    n_token = len(start)
    if not layers:
        return start.copy()
    network, source = _network(layers, start)
    wanted = range(n_token) if tokens is None else np.flatnonzero(tokens)
    found = np.zeros(n_token)
    for token in wanted:
        found[token] = maximum_flow(network, source, int(token), method="dinic").flow_value / WHOLE
    return found


def _network(layers: list[Float[ndarray, "query key"]], start: Float[ndarray, " token"]) -> tuple[csr_array, int]:
    """Nodes are numbered token by token from the inputs up; the last is the one that is read."""
    n_token, depth = len(start), len(layers)
    source = (depth + 1) * n_token
    rows, columns, capacities = [np.full(n_token, source)], [depth * n_token + np.arange(n_token)], [start]
    for layer, matrix in enumerate(layers):
        upper, lower = np.nonzero(matrix)
        rows.append((layer + 1) * n_token + upper)
        columns.append(layer * n_token + lower)
        capacities.append(matrix[upper, lower])
    whole = np.rint(np.concatenate(capacities) * WHOLE).astype(np.int32)
    where = (np.concatenate(rows), np.concatenate(columns))
    return csr_array((whole, where), shape=(source + 1, source + 1)), source


def bounds(layers: list[Float[ndarray, "query key"]], start: Float[ndarray, " token"]) -> Float[ndarray, " token"]:
    """min(1, Σ_i Â_1(i, j)): what the lowest layer alone lets through to each token j."""
    return np.minimum(start.sum(), layers[0].sum(0)) if layers else start.copy()
