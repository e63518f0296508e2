"""The parts of a Transformer layer (Vaswani et al. 2017), with the attention written out.

A = softmax(Q Kᵀ / √d) · z = A V, in several heads (Eq. 1)
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from whence.core.site import AttentionSite, Kind

Hidden = Float[Tensor, "batch token width"]


def sinusoids(length: int, width: int) -> Float[Tensor, "token width"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/width)), PE(pos, 2i+1) = cos of the same (§3.5)."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(length)[:, None] * rates  # [token width/2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]


class MultiHeadAttention(nn.Module):
    """Several heads of softmax(Q Kᵀ / √d) V, side by side (Eq. 1, §3.2.2); without `head_size` they share the width."""

    def __init__(
        self, width: int, heads: int, kind: Kind, dropout: float, head_size: int | None = None, bias: bool = True
    ) -> None:
        super().__init__()
        if head_size is None and width % heads:
            raise ValueError(f"hidden_size {width} must be a multiple of num_attention_heads {heads}")
        inner, self.heads = heads * (head_size or width // heads), heads
        self.queries, self.keys, self.values = (nn.Linear(width, inner, bias=bias) for _ in range(3))
        self.attention_site = AttentionSite(kind)
        self.output = nn.Linear(inner, width, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Hidden, source: Tensor, mask: Bool[Tensor, "batch 1 #query key"]) -> Hidden:
        queries = self._split(self.queries(hidden))  # [batch head query d]
        keys, values = self._split(self.keys(source)), self._split(self.values(source))  # [batch head key d]
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])  # [batch head query key]
        weights = self.dropout(self.attention_site(scores, mask, values))
        context = (weights @ values).transpose(1, 2).flatten(2)  # [batch query head*d]
        return self.output(context)

    def _split(self, x: Tensor) -> Float[Tensor, "batch head token d"]:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Sublayer(nn.Module):
    """Residual path and layer norm around attention or feed-forward: x + f(norm(x)), or norm(x + f(x)) (§3.1).

    Dropout is on f, or, if `drops_sum`, on the whole sum.
    """

    def __init__(self, width: int, first: bool, dropout: float, eps: float = 1e-5, drops_sum: bool = False) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps)
        self.dropout = nn.Dropout(dropout)
        self.first, self.drops_sum = first, drops_sum

    def before(self, x: Hidden) -> Hidden:
        """The input of the sub-layer."""
        return self.norm(x) if self.first else x

    def after(self, x: Hidden, result: Hidden) -> Hidden:
        """The output, from the sub-layer's result."""
        x = self.dropout(x + result) if self.drops_sum else x + self.dropout(result)
        return x if self.first else self.norm(x)


def feed_forward(width: int, inner: int) -> nn.Sequential:
    """W₂ max(0, W₁ x + b₁) + b₂ (Eq. 2)."""
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


def rectified_feed_forward(width: int, inner: int, dropout: float) -> nn.Sequential:
    """max(0, W₂ max(0, W₁ x + b₁) + b₂), with dropout after each maximum, as in torchnlp: never negative."""
    maps = [nn.Linear(width, inner), nn.Linear(inner, width)]
    return nn.Sequential(*(part for linear in maps for part in (linear, nn.ReLU(), nn.Dropout(dropout))))
