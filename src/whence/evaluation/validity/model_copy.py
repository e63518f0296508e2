"""A copy of a model that can be changed without touching the user's own."""

import torch

from whence.core.errors import BadConfig
from whence.evaluation.retraining import with_random_weights
from whence.subject.batch import Batch
from whence.subject.subject import Subject

NEAR = 1e-3  # largest difference of the logits of a model and its copy


def copied(subject: Subject, batch: Batch) -> Subject:
    """A model with the same weights, in float32; refused if it does not predict the same for the batch."""
    copy = with_random_weights(subject, 0)
    copy.model.to(torch.float32)
    copy.model.load_state_dict(subject.model.state_dict())
    copy.name = subject.name
    half = subject.model.dtype in (torch.float16, torch.bfloat16)
    with torch.no_grad():
        ours, theirs = subject.logits(batch).float(), copy.logits(batch)
    apart = float((ours - theirs).abs().max())
    if not apart <= (1.0 if half else NEAR) * max(1.0, float(theirs.abs().max())):
        raise BadConfig(
            f"a copy of {subject.name} with the same weights predicts something else (logits differ by {apart:.3g}), so"
            " it cannot be tested with changed weights; expected a model that its class, config and weights determine"
        )
    return copy
