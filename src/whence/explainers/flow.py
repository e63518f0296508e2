"""Attention flow: the maximum flow from the prediction to a token through all layers. Abnar & Zuidema 2020, §3.

Layers are a network: from token i of a layer to token j of the one below goes an edge of capacity Â_l(i, j), where
Â = (mean over heads of A + I), rows divided by their sum. The score of token j is the maximum flow from the node that
is read to j among the inputs; each token's flow is computed separately, so that a text's scores do not sum to one. Of
an encoder-decoder the network begins in the decoder and crosses to the source (`attribution.encoder_decoder`).

Flow often shows no more than the lowest layer: what enters token j cannot exceed its column there, nor one. That
bound, min(1, Σ_i Â_1(i, j)), is the baseline: `how` states for how many tokens the flow equals it, and `flow_bound`
uses it as the score.

Differs from the paper: a local attention is a node above the topmost layer, its weights the capacities; so is a mean of
rows. Capacities are whole multiples of 2⁻³⁰ (scipy's maximum flow takes 32-bit integers), which moves a flow by no more
than its cut has edges, times 2⁻³¹. The authors' code divides each text's flows by their sum; here they are not
normalized. A maximum flow takes longer than the square of the text's length, and there is one for each token: of a long
text it is computed to the `at_most` tokens of highest bound, and the others are scored by their bound.

When not to use it: without residual paths it is nearly always the bound that the lowest layer sets: where `how` says so
for most tokens, take `rollout`. In long texts it is slow.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.flow_network import Network, network
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

WHOLE = 1 << 30  # a capacity of one; scipy truncates 64-bit capacities without a warning
AT_MOST = 128  # tokens of a text
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
    without_sinks: bool | float = False,
    at_most: int = AT_MOST,
) -> Attribution:
    """Score each token by the maximum flow from what is read to it (`row`: see `attribution.layer_stack.follow`), from
    0 to 1.

    `heads`: how a layer's heads are fused, weight by weight: by their `mean`, `max`, or `min`.
    `without_sinks`: see `sinks`. `at_most`: tokens of a text to which the flow is computed.
    """
    if at_most < 1:
        raise BadConfig(f"the flow is computed to one token of a text at least; at_most is {at_most}")
    found = network(subject, batch, target, "flow", residual, heads, row, without_sinks)
    bound, tokens = bound_of(found), found.tokens
    computed = np.stack([highest(one, there, at_most) for one, there in zip(bound, tokens, strict=True)])
    texts = zip(found.texts(), computed, strict=True)
    flow = np.where(computed, np.stack([flows(layers, start, some) for (layers, start, _), some in texts]), bound)
    at_bound = (np.abs(flow - bound) <= EQUAL)[computed].mean() if computed.any() else 1.0
    how = f"{found.how}, {at_bound:.0%} of tokens at the bound min(1, column of layer 1)"
    left = (tokens & ~computed).sum()
    how += f"; {left} more tokens, of texts longer than {at_most}, have the bound as their score" if left else ""
    return attribution(torch.from_numpy(found.of_text(flow)), batch, "flow", how)


def highest(bound: Float[ndarray, " token"], tokens: Bool[ndarray, " token"], at_most: int) -> Bool[ndarray, " token"]:
    """Of these tokens those with the highest bounds."""
    order = np.argsort(np.where(tokens, -bound, np.inf), kind="stable")
    chosen = np.zeros_like(tokens)
    chosen[order[:at_most]] = True
    return chosen & tokens


def bound_of(found: Network) -> Float[ndarray, "batch token"]:
    """What the lowest layer lets through to the tokens of each text."""
    return np.stack([bounds(*text) for text in found.texts()]) * found.tokens


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
    graph, source = _network(layers, start)
    wanted = range(n_token) if tokens is None else np.flatnonzero(tokens)
    found = np.zeros(n_token)
    for token in wanted:
        found[token] = maximum_flow(graph, source, int(token), method="dinic").flow_value / WHOLE
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


def bounds(
    layers: list[Float[ndarray, "query key"]],
    start: Float[ndarray, " token"],
    tokens: Bool[ndarray, " token"] | None = None,
) -> Float[ndarray, " token"]:
    """min(1, Σ_i Â_1(i, j)): what the lowest layer alone lets through to each token j.

    i are the `tokens` and where one starts: padding attends to tokens too, and nothing comes down to it.
    """
    if not layers:
        return start.copy()
    passed = slice(None) if tokens is None else tokens | (start > 0)
    return np.minimum(start.sum(), layers[0][passed].sum(0))
