"""Layer-wise attention tracing with heads averaged at every layer, so that the order of heads does not matter.

    A_h(i)^(L+1) = α_i · A_h(i)^l = Σ_j α_h(i→j)^l (1/H) Σ_g A_g(j)^(l+1) · A_i = Σ_h A_h(i)^1

What comes down to a token is passed on equally by all heads of the layer below, since all of them read the whole of the
hidden state that all heads above wrote. For one layer it is `lat`. Up to a factor H it is the attention rollout of
Abnar & Zuidema 2020 without residual paths, from one row.

Differs from Wu et al. 2020, whose heads pass on to the heads of the same number only (Eq. 10).

When not to use it: residual paths are left out: where each layer mostly passes its input on, as in deep pretrained
encoders, `rollout` is nearer to what happens.
"""

from functools import partial

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.downwards import read_down
from whence.attribution.normalize import normalized, refuse_normalize
from whence.core.streaming import WAITING, Rollout
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
    mean = partial(Rollout, residual=False)
    followed, reached, spared = read_down(
        subject, batch, target, row, "lat_mixed", mean, waiting=WAITING, without_sinks=without_sinks
    )
    scores = normalized(
        reached * (followed.heads if followed.depth else 1), followed.attended, normalize, followed.heads
    )
    return attribution(scores, batch, "lat_mixed", f"{followed.how}, mixed, normalize: {normalize}{spared}")
