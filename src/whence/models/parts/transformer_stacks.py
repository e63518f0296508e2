"""Stacks of Transformer layers (Vaswani et al. 2017): the config, the embeddings, the encoder and the decoder."""

import math
from functools import partial
from typing import Any, Literal, no_type_check

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutput

from whence.models.parts.transformer_layers import (
    Hidden,
    MultiHeadAttention,
    Sublayer,
    feed_forward,
    rectified_feed_forward,
    sinusoids,
)


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class TransformerConfig(PreTrainedConfig):
    """One config for both; `num_decoder_layers` is used by the encoder–decoder only. `pool` says what the classifier
    reads: the first token, or the mean over tokens.

    Word vectors of `embedding_size` are projected to `hidden_size` by a linear map without bias (None: they are that
    wide); `frozen_vectors` are not trained. Unless `masks_padding`, the encoder's tokens also attend to padding, and
    the prediction for a text depends on the others in its batch. `form` is Vaswani et al.'s, or `torchnlp`'s, whose
    encoder Yang 2019 used: words are not scaled by √width, their dropout comes before they are projected, and attention
    has no biases. `rectified`: its errors, ReLU and dropout also after the second map of the feed-forward, and dropout
    on whole sums.
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
    embedding_size: int | None = None
    frozen_vectors: bool = False
    masks_padding: bool = True
    form: Literal["vaswani", "torchnlp"] = "vaswani"
    rectified: bool = False


class Embeddings(nn.Module):
    """Word vectors times √width, plus positions (§3.4, §3.5)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        vectors, width = config.embedding_size or config.hidden_size, config.hidden_size
        self.words = nn.Embedding(config.vocab_size, vectors, padding_idx=config.pad_token_id)
        self.words.weight.requires_grad_(not config.frozen_vectors)
        self.project = None if config.embedding_size is None else nn.Linear(vectors, width, bias=False)
        self.learned = None
        if config.positions == "learned":
            self.learned = nn.Embedding(config.max_position_embeddings, width)
        self.positions, self.limit = config.positions, config.max_position_embeddings
        self.dropout, self.form = nn.Dropout(config.dropout), config.form

    def forward(self, input_ids: Tensor | None, inputs_embeds: Tensor | None = None) -> Hidden:
        """`inputs_embeds` are word vectors before they are projected."""
        x = self.words(input_ids) if inputs_embeds is None else inputs_embeds
        x = self.dropout(x) if self.form == "torchnlp" else x
        x = x if self.project is None else self.project(x)  # [batch token width]
        if self.form == "torchnlp":
            return x + self.place(x)
        return self.dropout(x * math.sqrt(x.shape[-1]) + self.place(x))

    def place(self, x: Hidden) -> Tensor | float:
        """The encoding of each position."""
        if self.learned is not None:
            if x.shape[1] > self.limit:
                raise ValueError(
                    f"a text of {x.shape[1]} tokens is longer than the {self.limit} positions this model has learned;"
                    " cut it, or train with a larger max_position_embeddings"
                )
            return self.learned(torch.arange(x.shape[1], device=x.device))  # [token width]
        return sinusoids(x.shape[1], x.shape[2]).to(x) if self.positions == "sinusoidal" else 0.0


class Layer(GradientCheckpointingLayer):
    """Self-attention, cross-attention in a decoder, and feed-forward (§3.1)."""

    def __init__(self, config: TransformerConfig, decoder: bool = False) -> None:
        super().__init__()
        width, heads, dropout = config.hidden_size, config.num_attention_heads, config.dropout
        around = partial(Sublayer, width, config.norm == "pre", dropout, drops_sum=config.rectified)
        attention = partial(MultiHeadAttention, width, heads, dropout=dropout, bias=config.form == "vaswani")
        self.self_attention = attention("causal" if decoder else "self")
        self.around_self = around()
        if decoder:
            self.cross_attention = attention("cross")
            self.around_cross = around()
        inner = config.intermediate_size
        self.feed_forward = (
            rectified_feed_forward(width, inner, dropout) if config.rectified else feed_forward(width, inner)
        )
        self.around_feed_forward = around()

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
    """Embeddings and layers; with layer norm first, one more norm at the end."""

    def __init__(self, config: TransformerConfig, decoder: bool = False) -> None:
        super().__init__()
        depth = config.num_decoder_layers if decoder else config.num_hidden_layers
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config, decoder) for _ in range(depth))
        self.norm = nn.LayerNorm(config.hidden_size) if config.norm == "pre" else nn.Identity()
        self.masks_padding = config.masks_padding


class Encoder(Stack):
    """Every token attends to every token."""

    main_input_name = "input_ids"  # read by `generate`

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Hidden | None = None,
        **kwargs: Any,
    ) -> BaseModelOutput:
        x = self.embeddings(input_ids, inputs_embeds)
        mask = tokens(attention_mask if self.masks_padding else None, x)[:, None, None, :]
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
