"""Route 3: models that call torch's fused attention themselves. The tap writes it out, so that weights exist."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from whence.core.site import masked_softmax
from whence.huggingface.base_site import permitted_by
from whence.huggingface.eager_site import TappedSite
from whence.huggingface.softmax_tap import Tap


class FusedSite(TappedSite):
    """A site in a module that calls `scaled_dot_product_attention`."""

    def tap(self) -> Tap:
        return Tap(on_fused=self._written_out)

    def _written_out(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """What torch documents that its fused attention computes."""
        if enable_gqa:
            key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], dim=-3) for t in (key, value))
        scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        mask = None
        if is_causal:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        elif attn_mask is not None:
            mask = attn_mask if attn_mask.dtype == torch.bool else permitted_by(attn_mask)
            scores = scores if attn_mask.dtype == torch.bool else scores + attn_mask
        if mask is not None:
            mask = mask.expand(query.shape[0], *mask.shape[-3:] if mask.dim() > 2 else (1, *mask.shape))
        added = attn_mask is not None and attn_mask.dtype != torch.bool  # then rows that see nothing are uniform
        weights = self.deliver(_safe_softmax(scores) if added else masked_softmax(scores, mask), scores, mask, value)
        return F.dropout(weights, dropout_p) @ value


def _safe_softmax(scores: Tensor) -> Tensor:
    """Torch's own softmax, but zeros in a row of nothing but -inf."""
    return scores.softmax(-1).masked_fill(scores.isneginf().all(-1, keepdim=True), 0.0)
