"""Squared gradient: how steeply the prediction changes with a word's vector, without sign. Wu et al. 2020, Eq. 13.

    G_w(d) = (∂f/∂w_d)²

The paper says neither which output f is, nor how dimensions d become one score. `of` chooses f: `predicted`, what is
to be explained; `paper`, the logit of that class; `code`, as in the authors' code, the sum of all the model's
outputs, which end in sigmoids there. The sum over dimensions and the softmax over tokens are their code's too.

Differs from the paper: `code` takes the sigmoid of each logit also where a model ends in a softmax. Probabilities that
sum to one have no gradient together, and a softmax does not fix the sum of its logits.

When not to use it: it has no sign, and the softmax makes most scores look alike or one look like everything. For
ranking words take `gradient_x_input` or `leave_one_out`.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.attribution.attribution import Attribution, attribution
from whence.attribution.normalize import normalized, refuse_normalize
from whence.core.errors import BadConfig
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

OF = ("predicted", "paper", "code")


def explain(
    subject: Subject, batch: Batch, target: Target, *, of: str = "predicted", normalize: str = "softmax_sum"
) -> Attribution:
    """Score each token by Σ_d (∂f/∂x_d)², x being its word vector.

    `normalize`: `softmax_sum` (softmax of the sums over dimensions), `softmax_mean`, `l1`, or `none`.
    """
    refuse_normalize(normalize)
    if of not in OF:
        raise BadConfig(f"no gradient of {of!r}; choose from: {', '.join(OF)}")
    slow = torch.backends.cudnn.flags(enabled=False)  # cuDNN LSTMs have no gradient in eval mode
    with slow, torch.enable_grad(), subject.embedded() as leaves:
        explained, name = _explained(subject, subject.logits(batch), batch, target, of)
        (gradient,) = torch.autograd.grad(explained.sum(), leaves[:1])
    tokens = batch.by_window().mask.to(gradient.device)
    gradient = gradient.reshape(*tokens.shape, -1)  # of a narrative: a row for each window
    squared = gradient.to(torch.promote_types(gradient.dtype, torch.float32)) ** 2  # [batch token width]
    scores = normalized(squared.sum(-1) * tokens, _looked_at(gradient, tokens), normalize, gradient.shape[-1])
    return attribution(scores, batch, "gradient_squared", f"of the {name}, normalize: {normalize}")


def _looked_at(
    gradient: Float[Tensor, "batch token width"], tokens: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch token"]:
    """The tokens that the model looks at: not padding, nor the ends of a text where they get no attention."""
    moving = tokens & (gradient != 0).any(-1)
    return torch.where(moving.any(1, keepdim=True), moving, tokens)


def _explained(
    subject: Subject, logits: Float[Tensor, "batch position class"], batch: Batch, target: Target, of: str
) -> tuple[Float[Tensor, " batch"], str]:
    """The number whose gradient is taken, and its name."""
    if of == "predicted":
        return target.of(logits), target.name
    if of == "paper":
        return Target(target.classes, target.positions, "logit").of(logits), "logit"
    answered = batch.predicted_positions.to(logits.device)[..., None]  # [batch position 1]
    if subject.task.predicts_values:
        return (logits * answered).flatten(1).sum(1), "sum of all windows' values"
    ends_in_sigmoids = getattr(subject.model.config, "loss", None) == "binary"  # ours, whose logits are log σ
    outputs = logits.exp() if ends_in_sigmoids else logits.sigmoid()
    return (outputs * answered).flatten(1).sum(1), "sum of all classes' sigmoids"
