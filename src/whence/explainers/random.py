"""Random baseline: for each token a score drawn uniformly at random.

When not to use it: never as an explanation: it is what every other explainer has to beat.
"""

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.core.seeds import stream
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


def explain(subject: Subject, batch: Batch, target: Target, *, seed: int = 0) -> Attribution:
    """Score each token by a draw from U(0, 1) that depends on the seed and the example's number alone."""
    rows = [
        torch.rand(batch.special.shape[1], generator=stream(seed, f"random explainer {number}"))
        for number in batch.examples.tolist()
    ]
    return attribution(torch.stack(rows), batch, "random", f"U(0, 1), seed {seed}")
