"""`transformer`: the encoder, and the encoder–decoder, of Vaswani et al. 2017, with their attention written out.

    A = softmax(Q Kᵀ / √d) · z = A V, in several heads (Eq. 1)

Layer norm before or after each sub-layer; positions none, sinusoidal (§3.5) or learned. The parts are in `layers.py`,
the stacks in `stacks.py`; here is what answers. `tagger.py` is the form for tags.
"""

import copy
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    GenerationMixin,
    PreTrainedModel,
)
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput, SequenceClassifierOutput

from whence.models.parts.transformer_layers import Hidden, MultiHeadAttention, Sublayer, feed_forward, sinusoids
from whence.models.parts.transformer_stacks import Decoder, Embeddings, Encoder, Layer, Stack, TransformerConfig, tokens

__all__ = [
    "Decoder", "Embeddings", "Encoder", "Hidden", "Layer", "MultiHeadAttention", "Stack", "Sublayer",
    "TransformerConfig", "TransformerForConditionalGeneration", "TransformerForSequenceClassification",
    "TransformerModel", "feed_forward", "shifted", "sinusoids", "tokens",
]  # fmt: skip


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
