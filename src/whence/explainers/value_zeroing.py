"""Value zeroing: how far a layer's output turns when a token's value vector is zero. Mohebbi et al. 2023, §3.

    C(i, j) = 1 − cos(x̃_i, x̃_i without the value of token j), rows divided by their sum     Eq. 4, 5

x̃ is the output of the whole layer, feed-forward and norms too; weights stay as they were, so a zero value is the same
as a zero weight that is not redistributed. Layers are multiplied (`layer`), as the paper does by rollout.

The model runs once; then each layer runs alone, on its recorded input, on as many copies of a text as it has
tokens: all its tokens cost what a few dozen layers cost, where one pass for each token and layer runs all of the model.

Differs from the paper: a local attention, and an RNN's look at its source, are no layer: what turns is the context.

When not to use it: it has no sign and does not know the predicted class. It cannot be used on models whose layers
cannot run alone; these are refused in a sentence.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.layerwise import Matrices, rows_to_one, scored
from whence.attribution.single_layers import LayerAlone, layers_alone
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

TOKENS = 4096  # of all copies of a text that run at once


@torch.no_grad()
def explain(
    subject: Subject, batch: Batch, target: Target, *, layer: int | str = "auto", row: int | str = "auto"
) -> Attribution:
    """Score each token by how far what is read turns without its value, in each layer; a text's scores sum to one.

    `layer`: `rollout` (multiplied), `last`, `mean` or a number; `auto` multiplies where there is one stack, else takes
    the mean. `row`: see `raw_attention`.
    """

    def made(names: list[str], texts: Batch) -> Matrices:
        found: dict[str, list[Tensor]] = {name: [] for name in names}
        for text in range(len(batch)):
            inputs = {name: tensor[text : text + 1] for name, tensor in texts.inputs.items()}
            for name, one in layers_alone(subject, inputs, names).items():
                found[name].append(rows_to_one(turned(one)))
        return {name: torch.cat(rows) for name, rows in found.items()}

    scores, how = scored(subject, batch, target, "value_zeroing", layer, row, made)
    return attribution(scores, batch, "value_zeroing", how)


def turned(layer: LayerAlone) -> Float[Tensor, "row query key"]:
    """How far each query's output turns without the value of each key that anybody may see."""
    n_row, n_query, n_key = layer.permitted.shape
    found = torch.zeros(n_row, n_query, n_key, dtype=torch.float64, device=layer.permitted.device)
    keys = layer.permitted.flatten(0, 1).any(0).nonzero()[:, 0]  # [key]
    whole = layer.output.double()  # [row query width]
    together = max(1, TOKENS // max(1, n_row * max(n_query, n_key)))
    for some in keys.split(together) if len(keys) else ():
        changed = layer.without(some).double()  # [copy row query width]
        found[..., some] = 1 - torch.cosine_similarity(whole[None], changed, -1).movedim(0, -1)
    return (found * layer.permitted).clamp_min(0)
