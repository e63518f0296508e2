"""How much the decision for a text depends on where each head attends: heads that do nothing count for nothing."""

import torch
from jaxtyping import Float
from torch import Tensor

from whence.core.overrides import imposed
from whence.evaluation.exclusivity.editable_attention import SHARP, EditableAttention, Rows

ROUNDING = 16  # times the precision of the model and the size of its logits: what may come of rounding alone
HeadRows = Float[Tensor, "batch head row"]


def importance_shares(there: EditableAttention) -> HeadRows:
    """How much of a mean over heads and rows each is: its importance, divided by the sum over the text.

    The importance of a head is how far the margin (the logit of the decision over the best other class) can be moved by
    its free weights alone: the largest minus the smallest margin of four attentions: the head's own, uniform, and all
    free weight on the key with the largest or with the smallest slope ∂margin/∂α. Where the margin is an affine
    function of the weights, that is mass · (max slope − min slope), and no other attention gives a wider span; where it
    is not, measured margins do not miss a head whose slope happens to be zero. The rows of a head share its importance
    by their own mass · (max slope − min slope).

    A head that does nothing has 0, whatever it attends to, and logits multiplied by a number change nothing. Where no
    head matters, all count alike.
    """
    if there.counted[0].numel() == 1:  # one row of one head is all there is
        return there.share
    slope = margin_slopes(there)
    highest, lowest = (slope.masked_fill(~there.free, -torch.inf) for slope in (slope, -slope))
    linear = (there.mass[..., 0] * (highest.amax(-1) + lowest.amax(-1))).nan_to_num(0.0, neginf=0.0)  # [batch head row]
    by_row = _divided(linear * there.counted, there.counted, -1)
    by_head = margin_spans(there, highest.argmax(-1), lowest.argmax(-1))  # [batch head]
    return _divided(by_head[..., None] * by_row, there.counted, (1, 2))


def margin_slopes(there: EditableAttention) -> Rows:
    """∂margin/∂α at the model's own weights."""
    rows = there.own.clone().requires_grad_()
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():  # whose LSTM has no gradient outside training
        margin = there.margin(there.replay(imposed(there.whole(rows))).float())
        (slope,) = torch.autograd.grad(margin.sum(), [rows])
    return slope


@torch.no_grad()
def margin_spans(there: EditableAttention, *keys: Tensor) -> Float[Tensor, "batch head"]:
    """How far apart the margins are with a head's own attention, with a uniform one, and with all on each of the keys.

    The other heads attend as they do. What may come of rounding counts as 0.
    """
    own = _logits_of(there)  # [batch head row key]
    single = [SHARP * torch.nn.functional.one_hot(at, own.shape[-1]).to(own) for at in keys]
    variants = torch.stack([torch.zeros_like(own), *single])
    spans = []
    for head in range(own.shape[1]):
        tried = torch.cat([own[None], own.expand_as(variants)]).contiguous()
        tried[1:, :, head] = variants[:, :, head]
        margins = there.margin(there.logits_under(tried, there.weights(tried)))  # [times batch]
        spans.append(margins.amax(0) - margins.amin(0))
    found = torch.stack(spans, 1)
    rounding = ROUNDING * torch.finfo(there.replay.output.dtype).eps * there.replay.output.float().abs().amax(-1)
    return torch.where(found > rounding[:, None], found, 0.0)


def _logits_of(there: EditableAttention) -> Rows:
    """Logits whose softmax over the free keys is the model's own attention there."""
    return there.own.clamp_min(torch.finfo(there.own.dtype).tiny).log()


def _divided(values: HeadRows, alike: Tensor, over: int | tuple[int, ...]) -> HeadRows:
    """Values divided by their sum; where that is zero, all of those that are counted alike."""
    values = torch.where(values.sum(over, keepdim=True) > 0, values, alike.to(values))
    return values / values.sum(over, keepdim=True).clamp_min(torch.finfo(values.dtype).tiny)
