"""Flow bound: the most that the lowest layer lets through to a token, min(1, Σ_i Â_1(i, j)); a baseline for `flow`.

The maximum flow to an input token j can be no more than the capacity of the edges into it, nor than all that leaves
the position that is read. Layers and options are those of `flow`; where a text's flows equal these, only the lowest
layer mattered. Â_1 is the lowest layer's weights, heads fused, with the residual path.

When not to use it: it is a baseline, not an explanation: it knows one layer and not what is predicted.
"""

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.flow_network import network
from whence.explainers.flow import bound_of
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


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
) -> Attribution:
    """Score each token by its column of the lowest layer, no more than one; options as of `flow`."""
    found = network(subject, batch, target, "flow_bound", residual, heads, row, without_sinks)
    return attribution(torch.from_numpy(found.of_text(bound_of(found))), batch, "flow_bound", found.how)
