"""Attention rollout: attention with residual connections, multiplied over the layers. Abnar & Zuidema 2020, §3.

    R_l = Â_l R_(l−1), where Â = (mean over heads of A + I), rows divided by their sum

The score of token i is the i-th column of R at the row that is read; where a local attention reads all rows, it weighs
them. Without `residual` the identity is left out. Of an encoder-decoder, scores go down the decoder's layers and
across to the source tokens; what stays on the decoder's own tokens is stated (`attribution.encoder_decoder`).

Differs from the paper: it does not say what to do with a local attention, with a decoder that looks across, nor which
row is read elsewhere ([CLS] in its classifiers); here `row`, stated. It takes the mean of heads; `heads` may also be
their `max` or `min`.

When not to use it: it knows neither values nor the predicted class: all classes get the same scores. Where sinks hold
most of the weight, so does the rollout (`without_sinks`).
"""

from functools import partial

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.downwards import read_down
from whence.attribution.encoder_decoder import RolloutAcross, follow_fused, phrase, staying
from whence.attribution.fuse_heads import fusion
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
    residual: bool = True,
    heads: str = "mean",
    row: int | str = "auto",
    without_sinks: bool | float = False,
) -> Attribution:
    """Score each token by its share of what is read (`row`: see `attribution.layer_stack.follow`); a text's scores sum
    to one, those of a translator's source to what does not stay with the target.

    `heads`: how a layer's heads are fused, weight by weight: by their `mean`, `max`, or `min`.
    `without_sinks`: see `sinks`.
    """
    if subject.model.config.is_encoder_decoder:
        across = RolloutAcross(residual=residual, heads=fusion(heads))
        followed, how = follow_fused(subject, batch, target, "rollout", across, row, without_sinks)
        scores = across.read_from(followed.start)
        return attribution(scores, batch, "rollout", how + staying(scores))
    make = partial(Rollout, residual=residual, heads=fusion(heads))
    followed, scores, spared = read_down(
        subject, batch, target, row, "rollout", make, waiting=WAITING, without_sinks=without_sinks
    )
    return attribution(scores, batch, "rollout", phrase(followed, residual, heads) + spared)
