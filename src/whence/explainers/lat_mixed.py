"""Layer-wise attention tracing with heads averaged at every layer, so that the order of heads does not matter.

    A_h(i)^(L+1) = α_i · A_h(i)^l = Σ_j α_h(i→j)^l (1/H) Σ_g A_g(j)^(l+1) · A_i = Σ_h A_h(i)^1

What comes down to a token is shared out by all heads of the layer below alike, since all of them read the whole of the
hidden state that all heads above wrote. Of one layer it is `lat`. But for a factor H it is the attention rollout of
Abnar & Zuidema 2020 without residual paths, from one row.

Differs from Wu et al. 2020, whose heads pass on to the heads of the same number only (Eq. 10).
"""

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.layer_stack import follow, layered
from whence.attribution.normalize import normalized, refuse_normalize
from whence.attribution.sinks import sparing
from whence.core.streaming import Rollout
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


@torch.no_grad()
def explain(
    subject: Subject,
    batch: Batch,
    target: Target,
    *,
    normalize: str = "softmax_sum",
    row: int | str = "auto",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by the attention that is traced to it, each layer's heads being averaged; options as of `lat`.

    Raw scores sum to the number of heads (of the lowest layer, where they differ), so that they compare with `lat`.
    """
    refuse_normalize(normalize)
    mean = Rollout(residual=False)
    watcher, spared = sparing(subject, batch, mean, without_sinks, layered(subject))
    followed = follow(subject, batch, target, row, "lat_mixed", watcher)
    scores = followed.start
    if mean.product is not None:
        scores = followed.heads * torch.einsum("bq,bqk->bk", scores.to(mean.product), mean.product)
    scores = normalized(scores, followed.attended, normalize, followed.heads)
    return attribution(scores, batch, "lat_mixed", f"{followed.how}, mixed, normalize: {normalize}{spared}")
