"""The layers of DiSAN (Shen et al. 2018): attention to one side, the fusion gate, and the vector of a text."""

from typing import no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import PreTrainedConfig

from whence.core.site import AttentionSite, masked_softmax
from whence.models.parts.disan_kernel import CAP, Layout, Tokens, attended, pooled

MAX_CELLS = 2**22  # weights in memory at a time, where all watchers accept some heads at a time


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class DisanConfig(PreTrainedConfig):
    """`hidden_size` is the number of features of each direction (300, or 50 in Varano 2019's DiSAN-50). `dropout` is
    applied to the input of every linear map. The first and last token of a text (`bos`, `eos`) are masked in
    attention unless `attend_specials`: the paper's texts have words only. With `pairs` there are two texts.
    """

    model_type = "whence-disan"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 300
    pairs: bool = False
    dropout: float = 0.25
    attend_specials: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class FusionGate(nn.Module):
    """u = F h + (1 - F) context, with F = σ(W₃ h + W₄ context + b₂), for each feature."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.of_hidden = nn.Linear(width, width)
        self.of_context = nn.Linear(width, width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, hidden: Float[Tensor, "*place width"], context: Float[Tensor, "*place width"]
    ) -> Float[Tensor, "*place width"]:
        gate = torch.sigmoid(self.of_hidden(self.dropout(hidden)) + self.of_context(self.dropout(context)))
        return torch.lerp(context, hidden, gate)


def is_watched(site: AttentionSite, config: DisanConfig) -> bool:
    """Whether the weights are needed as a tensor."""
    return bool(site.sessions) or config._attn_implementation == "eager"


class DirectionalAttention(nn.Module):
    """Token-to-token attention to one side, a distribution for each feature, and the fusion gate.

    While attention is recorded or overridden, or with `attn_implementation="eager"`, it is computed as [batch feature
    query key]; if all watchers accept some heads at a time, in groups of features. Otherwise `disan_kernel.py` computes
    the same without that tensor; the two differ by rounding. Training with an override is expensive: all weights of a
    batch are kept.
    """

    def __init__(self, config: DisanConfig, future: bool) -> None:
        super().__init__()
        width = config.hidden_size
        self.config, self.future = config, future
        self.project = nn.Linear(config.embedding_size, width)
        self.score_keys = nn.Linear(width, width, bias=False)  # W₁
        self.score_queries = nn.Linear(width, width)  # W₂, b₁
        self.attention_site = AttentionSite("self")
        self.fuse = FusionGate(width, config.dropout)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Float[Tensor, "batch token embedding"], layout: Layout) -> Tokens:
        """Zero where there is no word."""
        if is_watched(self.attention_site, self.config):
            hidden, queries, keys = self._mapped(x)  # [batch token width]
            context = self._eager(queries, keys, hidden, layout.seen(self.future))
            return self.fuse(hidden, context) * layout.words[..., None]
        hidden, queries, keys = self._mapped(layout.alone(x))  # [word width]
        context = attended(queries, keys, hidden, layout.grid(backwards=self.future))
        return layout.in_places(self.fuse(hidden, context))

    def _mapped(self, x: Float[Tensor, "*place embedding"]) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden states, and their scores as queries and as keys."""
        hidden = F.elu(self.project(self.dropout(x)))
        dropped = self.dropout(hidden)
        return hidden, self.score_queries(dropped), self.score_keys(dropped)

    def _eager(self, queries: Tokens, keys: Tokens, values: Tokens, mask: Bool[Tensor, "batch 1 query key"]) -> Tokens:
        """Σ α h by way of all weights of some features at a time, or of all features."""
        site, width = self.attention_site, values.shape[-1]
        in_parts = site.sessions and site.streams_heads and not torch.is_grad_enabled()
        at_once = max(1, MAX_CELLS // mask.numel()) if in_parts else width
        contexts = []
        for first in range(0, width, at_once):
            q, k, v = (part[..., first : first + at_once].transpose(1, 2) for part in (queries, keys, values))
            scores = CAP * torch.tanh((q[..., None] + k[:, :, None]) / CAP)  # [batch feature query key]
            weights = masked_softmax(scores, mask)
            if site.sessions:
                heads = range(first, first + q.shape[1])
                weights = site.deliver(weights, scores, mask, v[..., None], heads=heads, n_heads=width)
            contexts.append((weights @ v[..., None]).squeeze(-1))  # [batch feature query]
        return torch.cat(contexts, 1).transpose(1, 2)


class SourceToToken(nn.Module):
    """One vector for a text, Σ β u, with a distribution over its words for each feature.

    The features of a pair are those of its first text and then those of its second: [batch text*feature 1 key].
    """

    def __init__(self, config: DisanConfig) -> None:
        super().__init__()
        width = 2 * config.hidden_size
        self.config = config
        self.inner, self.score = nn.Linear(width, width), nn.Linear(width, width)
        self.attention_site = AttentionSite("pool", terminal=True)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, hidden: Tokens, layout: Layout) -> Float[Tensor, "copies textfeature"]:
        if not is_watched(self.attention_site, self.config):
            words = layout.alone(hidden)
            return pooled(self._scored(words), words, layout)
        scores, values = (
            part.transpose(1, 2).repeat(1, layout.n_texts, 1) for part in (self._scored(hidden), hidden)
        )  # [batch text*feature key]
        mask = layout.of_texts().repeat_interleave(hidden.shape[-1], 1)[:, :, None]  # [batch text*feature 1 key]
        weights = self.attention_site(scores[:, :, None], mask, values[..., None])  # [batch text*feature 1 key]
        return (weights @ values[..., None]).squeeze(-1).transpose(1, 2).flatten(0, 1)  # a query is an example

    def _scored(self, hidden: Float[Tensor, "*place width"]) -> Float[Tensor, "*place width"]:
        return self.score(self.dropout(F.elu(self.inner(self.dropout(hidden)))))


class DisanEncoder(nn.Module):
    """Both directions concatenated, and with `pooling` the vectors of the texts."""

    def __init__(self, config: DisanConfig, pooling: bool) -> None:
        super().__init__()
        self.sees_past = DirectionalAttention(config, future=False)
        self.sees_future = DirectionalAttention(config, future=True)
        self.source2token = SourceToToken(config) if pooling else None

    def forward(self, x: Float[Tensor, "batch token embedding"], layout: Layout) -> Float[Tensor, "*place width"]:
        both = torch.cat([self.sees_past(x, layout), self.sees_future(x, layout)], -1)  # [batch token 2width]
        return both if self.source2token is None else self.source2token(both, layout)
