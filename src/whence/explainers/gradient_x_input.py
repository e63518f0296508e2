"""Gradient × input: how the prediction changes as a word's vector grows. Jain & Wallace 2019, Algorithm 1.

Differs from the paper: the gradient also flows through the attention weights, unless `through_attention=False`; and the
sign is kept, where their code takes |·|.

When not to use it: where the model is saturated or its word vectors are nearly zero, scores vanish though words decide;
take `integrated_gradients` or `leave_one_out`.
"""

import torch

from whence.attribution.attribution import Attribution, attribution
from whence.core.attending import attending
from whence.core.site import Call
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target


def explain(subject: Subject, batch: Batch, target: Target, *, through_attention: bool = True) -> Attribution:
    """Score each token by Σ_d x_d · ∂y/∂x_d, y being what is explained and x the token's word vector."""
    override = None if through_attention else _detached
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, torch.enable_grad(), subject.embedded() as leaves, attending(subject.model, override, watch=None):
        explained = target.of(subject.logits(batch))  # [batch]
        (gradient,) = torch.autograd.grad(explained.sum(), leaves[:1])
    scores = (gradient * leaves[0]).sum(-1)  # [batch token]
    how = f"of the {target.name}; attention {'follows' if through_attention else 'held fixed'}"
    return attribution(scores, batch, "gradient_x_input", how, signed=True)


def _detached(call: Call) -> torch.Tensor:
    return call.weights.detach()
