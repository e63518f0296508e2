"""`transformer`: the encoder, and the encoder–decoder, of Vaswani et al. 2017, with their attention written out.

    A = softmax(Q Kᵀ / √d) · z = A V, in several heads (Eq. 1)

Layer norm before or after each sub-layer; positions none, sinusoidal (§3.5) or learned.
"""

import copy
import math
from typing import Any, Literal, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    GenerationMixin,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput, SequenceClassifierOutput

from whence.core.site import AttentionSite, Kind

Hidden = Float[Tensor, "batch token width"]


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class TransformerConfig(PreTrainedConfig):
    """One config for both forms; `num_decoder_layers` is used by the encoder–decoder only. `pool` says what the
    classifier reads: the first token, or the mean over tokens.
    """

    model_type = "whence-transformer"

    vocab_size: int = 10_000
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_decoder_layers: int = 2
    num_attention_heads: int = 4
    intermediate_size: int = 256
    positions: Literal["none", "sinusoidal", "learned"] = "sinusoidal"
    norm: Literal["pre", "post"] = "pre"
    pool: Literal["first", "mean"] = "first"
    dropout: float = 0.1
    max_position_embeddings: int = 512
    initializer_range: float = 0.02
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    decoder_start_token_id: int | None = 1
    use_cache: bool = False
    tie_word_embeddings: bool = True


class Embeddings(nn.Module):
    """Word vectors times √width, plus positions (§3.4, §3.5)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.learned = None
        if config.positions == "learned":
            self.learned = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.positions, self.limit = config.positions, config.max_position_embeddings
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, input_ids: Tensor | None, inputs_embeds: Tensor | None = None) -> Hidden:
        x = self.words(input_ids) if inputs_embeds is None else inputs_embeds
        x = x * math.sqrt(x.shape[-1])
        if self.learned is not None:
            if x.shape[1] > self.limit:
                raise ValueError(
                    f"a text of {x.shape[1]} tokens is longer than the {self.limit} positions this model has learned;"
                    " cut it, or train with a larger max_position_embeddings"
                )
            x = x + self.learned(torch.arange(x.shape[1], device=x.device))
        elif self.positions == "sinusoidal":
            x = x + sinusoids(x.shape[1], x.shape[2]).to(x)
        return self.dropout(x)


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
    """Residual path and layer norm around attention or feed-forward: x + f(norm(x)), or norm(x + f(x)) (§3.1)."""

    def __init__(self, width: int, first: bool, dropout: float, eps: float = 1e-5) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps)
        self.dropout = nn.Dropout(dropout)
        self.first = first

    def before(self, x: Hidden) -> Hidden:
        """What the sub-layer is given."""
        return self.norm(x) if self.first else x

    def after(self, x: Hidden, result: Hidden) -> Hidden:
        """What comes out, given the sub-layer's result."""
        x = x + self.dropout(result)
        return x if self.first else self.norm(x)


def feed_forward(width: int, inner: int) -> nn.Sequential:
    """W₂ max(0, W₁ x + b₁) + b₂ (Eq. 2)."""
    return nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))


class Layer(GradientCheckpointingLayer):
    """Self-attention, cross-attention in a decoder, and feed-forward (§3.1)."""

    def __init__(self, config: TransformerConfig, decoder: bool = False) -> None:
        super().__init__()
        width, heads, dropout = config.hidden_size, config.num_attention_heads, config.dropout
        first = config.norm == "pre"
        self.self_attention = MultiHeadAttention(width, heads, "causal" if decoder else "self", dropout)
        self.around_self = Sublayer(width, first, dropout)
        if decoder:
            self.cross_attention = MultiHeadAttention(width, heads, "cross", dropout)
            self.around_cross = Sublayer(width, first, dropout)
        self.feed_forward = feed_forward(width, config.intermediate_size)
        self.around_feed_forward = Sublayer(width, first, dropout)

    def forward(
        self, x: Hidden, mask: Tensor, source: Tensor | None = None, source_mask: Tensor | None = None
    ) -> Hidden:
        given = self.around_self.before(x)
        x = self.around_self.after(x, self.self_attention(given, given, mask))
        if source is not None:
            given = self.around_cross.before(x)
            x = self.around_cross.after(x, self.cross_attention(given, source, source_mask))
        return self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x)))


class Stack(nn.Module):
    """Words, and layers one above the other; with layer norm first, one more norm at the end."""

    def __init__(self, config: TransformerConfig, decoder: bool = False) -> None:
        super().__init__()
        depth = config.num_decoder_layers if decoder else config.num_hidden_layers
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config, decoder) for _ in range(depth))
        self.norm = nn.LayerNorm(config.hidden_size) if config.norm == "pre" else nn.Identity()


class Encoder(Stack):
    """Every token attends to every token."""

    main_input_name = "input_ids"  # `generate` asks the encoder for it

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Hidden | None = None,
        **kwargs: Any,
    ) -> BaseModelOutput:
        x = self.embeddings(input_ids, inputs_embeds)
        mask = tokens(attention_mask, x)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return BaseModelOutput(last_hidden_state=self.norm(x))


class Decoder(Stack):
    """Every token attends to those before it and to all of the source."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, decoder=True)

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None,
        attention_mask: Int[Tensor, "batch token"] | None,
        source: Float[Tensor, "batch source width"],
        source_mask: Int[Tensor, "batch source"] | None,
        inputs_embeds: Hidden | None = None,
    ) -> Hidden:
        x = self.embeddings(input_ids, inputs_embeds)
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()  # [query key]
        mask = tokens(attention_mask, x)[:, None, None, :] & past
        for layer in self.layers:
            x = layer(x, mask, source, tokens(source_mask, source)[:, None, None, :])
        return self.norm(x)


def tokens(attention_mask: Int[Tensor, "batch token"] | None, x: Hidden) -> Bool[Tensor, "batch token"]:
    """True for tokens, False for padding; without a mask all are tokens."""
    if attention_mask is None:
        return torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
    return attention_mask.bool()


class TransformerModel(PreTrainedModel):
    """What both forms share."""

    config_class = TransformerConfig
    config: TransformerConfig
    base_model_prefix = "transformer"
    supports_gradient_checkpointing = True
    encoder: Encoder

    def get_input_embeddings(self) -> nn.Module:
        """The word vectors of the encoder."""
        return self.encoder.embeddings.words

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Other word vectors for the encoder."""
        self.encoder.embeddings.words = value  # type: ignore[assignment]


class TransformerForSequenceClassification(TransformerModel):
    """An encoder and a linear read-out. Its sites are `encoder.layers.<i>.self_attention`."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels or 2)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Hidden | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding."""
        hidden = self.encoder(input_ids, attention_mask, inputs_embeds).last_hidden_state  # [batch token width]
        logits = self.classifier(self._pooled(hidden, tokens(attention_mask, hidden)))  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def _pooled(self, hidden: Hidden, tokens: Bool[Tensor, "batch token"]) -> Float[Tensor, "batch width"]:
        if self.config.pool == "first":
            return hidden[:, 0]
        shares = tokens.to(hidden) / tokens.sum(1, keepdim=True).clamp_min(1)
        return torch.einsum("bt,btw->bw", shares, hidden)


class TransformerForConditionalGeneration(TransformerModel, GenerationMixin):
    """Encoder and decoder; the read-out is tied to the decoder's word vectors (§3.4).

    Its sites are `encoder.layers.<i>.self_attention`, `decoder.layers.<i>.self_attention` and
    `decoder.layers.<i>.cross_attention`. Generation keeps no cache: each step runs the decoder on the whole prefix.
    """

    _tied_weights_keys = {"lm_head.weight": "decoder.embeddings.words.weight"}  # noqa: RUF012

    def __init__(self, config: TransformerConfig) -> None:
        config = copy.deepcopy(config)
        config.is_encoder_decoder = True
        super().__init__(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch source"] | None = None,
        attention_mask: Int[Tensor, "batch source"] | None = None,
        decoder_input_ids: Int[Tensor, "batch target"] | None = None,
        decoder_attention_mask: Int[Tensor, "batch target"] | None = None,
        encoder_outputs: BaseModelOutput | None = None,
        labels: Int[Tensor, "batch target"] | None = None,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> Seq2SeqLMOutput:
        """Teacher-forced logits, of the last `logits_to_keep` tokens or of all (0); with `labels` (-100 for padding)
        also the loss, the decoder being given the labels shifted by one.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask)
        if decoder_input_ids is None and labels is not None:
            decoder_input_ids = shifted(labels, self.config)
        if decoder_input_ids is None:
            raise ValueError("expected decoder_input_ids or labels, came neither")
        source = encoder_outputs[0]
        hidden = self.decoder(decoder_input_ids, decoder_attention_mask, source, attention_mask)
        logits = self.lm_head(hidden[:, -logits_to_keep:])  # [batch kept vocabulary]
        loss: Any = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return Seq2SeqLMOutput(loss=loss, logits=logits, encoder_last_hidden_state=source)

    def resize_token_embeddings(self, *args: Any, **kwargs: Any) -> nn.Embedding:
        """Not offered: source and target have word vectors of their own."""
        raise NotImplementedError("make a new model with another vocab_size; source and target words are separate here")


def shifted(labels: Int[Tensor, "batch target"], config: Any) -> Int[Tensor, "batch target"]:
    """What a decoder is given so that it predicts these labels: each the one before, and the start first."""
    pad, start = config.pad_token_id or 0, config.decoder_start_token_id
    return F.pad(labels, (1, 0), value=start)[:, :-1].masked_fill(F.pad(labels, (1, 0))[:, :-1] == -100, pad)


AutoConfig.register(TransformerConfig.model_type, TransformerConfig)
AutoModelForSequenceClassification.register(TransformerConfig, TransformerForSequenceClassification)
AutoModelForSeq2SeqLM.register(TransformerConfig, TransformerForConditionalGeneration)
