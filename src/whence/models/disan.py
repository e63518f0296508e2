"""`disan`: the Directional Self-Attention Network of Shen et al. 2018, whose attention Varano 2019 sets beside trees.

    h = ELU(W x + b) · s_ij = c tanh((W₁ h_j + W₂ h_i + b₁) / c), c = 5 · α = softmax(s) over the j that i may see
    context_i = Σ α_ij h_j, each feature by itself · u = F h + (1 - F) context, F = σ(W₃ h + W₄ context + b₂)
    sentence = Σ β_j u_j, β = softmax(W₅ ELU(W₆ u + b₃) + b₄) over the tokens, u = both directions side by side

A feature is a head of width one. In `sees_past` a token attends to those before it, in `sees_future` to those after it,
in neither to itself; the first token of a text in the one and the last in the other attend to nothing, and their
context is zero. The authors call these forward and backward, and the code that Varano 2019 agrees with the other way
round. A pair is classified by [s₁; s₂; s₁-s₂; s₁ s₂], both texts read by the same encoder; a single text by s.

Differs from the paper: the score has no outer matrix Wᵀ (Varano 2019, §3.1), as in the authors' code; the gate has one
bias and not three. `hidden_size` may differ from the width of the word vectors. In training no pair is dropped for its
length (theirs: the longest 3 %), and a word without a vector begins like the others (theirs: smaller).
"""

from typing import Any, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    PreTrainedConfig,
)
from transformers.modeling_outputs import SequenceClassifierOutput, TokenClassifierOutput

from whence.core.site import AttentionSite, masked_softmax
from whence.models.parts.disan_kernel import CAP, Layout, Tokens, attended, pooled
from whence.models.parts.encoders import PlainModel, specials

CELLS = 2**22  # weights that exist at a time, where those who look are content with some heads after others


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class DisanConfig(PreTrainedConfig):
    """`hidden_size` is the number of features of each direction (300, or 50 in Varano 2019's DiSAN-50). `dropout` is
    that of whatever a matrix is given. The first and last token of a text (`bos`, `eos`) are not there for the
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


def looked_at(site: AttentionSite, config: DisanConfig) -> bool:
    """Whether weights must be there to be seen."""
    return bool(site.sessions) or config._attn_implementation == "eager"


class DirectionalAttention(nn.Module):
    """Token-to-token attention to one side, a distribution for each feature, and the fusion gate.

    Where somebody looks, or with `attn_implementation="eager"`, attention is written out as [batch feature query key];
    if those who look are content with heads one after another, some features at a time. Where nobody looks,
    `directional.py` does the same without that tensor; the two differ by rounding. Training with altered attention is
    the dear case: all weights of a batch are kept.
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
        if looked_at(self.attention_site, self.config):
            hidden, queries, keys = self._mapped(x)  # [batch token width]
            context = self._written_out(queries, keys, hidden, layout.seen(self.future))
            return self.fuse(hidden, context) * layout.words[..., None]
        hidden, queries, keys = self._mapped(layout.alone(x))  # [word width]
        context = attended(queries, keys, hidden, layout.grid(backwards=self.future))
        return layout.in_places(self.fuse(hidden, context))

    def _mapped(self, x: Float[Tensor, "*place embedding"]) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden states, and what they score as queries and as keys."""
        hidden = F.elu(self.project(self.dropout(x)))
        dropped = self.dropout(hidden)
        return hidden, self.score_queries(dropped), self.score_keys(dropped)

    def _written_out(
        self, queries: Tokens, keys: Tokens, values: Tokens, mask: Bool[Tensor, "batch 1 query key"]
    ) -> Tokens:
        """Σ α h by way of all weights of some features at a time, or of all features."""
        site, width = self.attention_site, values.shape[-1]
        in_parts = site.sessions and site.streams_heads and not torch.is_grad_enabled()
        at_once = max(1, CELLS // mask.numel()) if in_parts else width
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
        if not looked_at(self.attention_site, self.config):
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
    """Both directions side by side, and the vectors of the texts that are made of them, if there are to be any."""

    def __init__(self, config: DisanConfig, pooling: bool) -> None:
        super().__init__()
        self.sees_past = DirectionalAttention(config, future=False)
        self.sees_future = DirectionalAttention(config, future=True)
        self.source2token = SourceToToken(config) if pooling else None

    def forward(self, x: Float[Tensor, "batch token embedding"], layout: Layout) -> Float[Tensor, "*place width"]:
        both = torch.cat([self.sees_past(x, layout), self.sees_future(x, layout)], -1)  # [batch token 2width]
        return both if self.source2token is None else self.source2token(both, layout)


class DisanModel(PlainModel):
    """What both forms share. Sites: `encoder.sees_past` and `encoder.sees_future`, [batch feature query key]. The texts
    of a pair are one sequence, the first before the second (`token_type_ids` 1); no token attends to the other text.
    """

    config_class = DisanConfig
    config: DisanConfig
    base_model_prefix = "disan"
    pooling = True
    _supports_sdpa = True  # so that `attn_implementation` is eager only where that is asked for

    def __init__(self, config: DisanConfig) -> None:
        super().__init__(config)
        if config.pairs and not self.pooling:
            raise ValueError("tags are for the words of single texts; expected pairs=False")
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.encoder = DisanEncoder(config, self.pooling)
        self.dropout = nn.Dropout(config.dropout)
        self.combine = nn.Linear((8 if config.pairs else 2) * config.hidden_size, config.hidden_size)
        self.classify = nn.Linear(config.hidden_size, config.num_labels or 2)
        self.post_init()

    def classified(self, vectors: Float[Tensor, "*place width"]) -> Float[Tensor, "*place class"]:
        """One hidden layer, and the classes."""
        return self.classify(self.dropout(F.elu(self.combine(self.dropout(vectors)))))

    def layout(self, input_ids: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None) -> Layout:
        """Which tokens are words, and of which text."""
        pad = -1 if self.config.pad_token_id is None else self.config.pad_token_id
        words = input_ids != pad if attention_mask is None else attention_mask.bool()
        text = torch.zeros_like(input_ids)
        if self.config.pairs:
            text = text if token_type_ids is None else token_type_ids.clamp(0, 1)
            if not bool((text.bool() & words).any(1).all()):
                raise ValueError("this model reads pairs; expected token_type_ids that are 1 for a second text")
        words = words if self.config.attend_specials else words & ~specials(input_ids, self.config)
        return Layout(words, text, 2 if self.config.pairs else 1)

    def spared(self, name: str) -> bool:
        """Whether a parameter is without weight decay: word vectors, biases, what scores token by token (as theirs)."""
        return "embeddings" in name or name.endswith("bias") or "score_" in name

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, nn.Linear):  # as TensorFlow begins, in which the authors wrote
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class DisanForSequenceClassification(DisanModel):
    """A text's or a pair's class. One more site, `encoder.source2token`, [batch feature 1 key]."""

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        token_type_ids: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding."""
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        layout = self.layout(input_ids, attention_mask, token_type_ids)
        sentences = self.encoder(x, layout)  # [batch text*2width]
        if self.config.pairs:
            one, two = sentences.chunk(2, -1)
            sentences = torch.cat([one, two, one - two, one * two], -1)
        logits: Any = self.classified(sentences)  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)


class DisanForTokenClassification(DisanModel):
    """A tag for each word of a text, from what both directions make of it; not the paper's."""

    pooling = False

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> TokenClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding."""
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        logits: Any = self.classified(self.encoder(x, self.layout(input_ids, attention_mask, None)))
        loss = None if labels is None else self.loss_function(logits, labels, self.config)
        return TokenClassifierOutput(loss=loss, logits=logits)


AutoConfig.register(DisanConfig.model_type, DisanConfig)
AutoModelForSequenceClassification.register(DisanConfig, DisanForSequenceClassification)
AutoModelForTokenClassification.register(DisanConfig, DisanForTokenClassification)
