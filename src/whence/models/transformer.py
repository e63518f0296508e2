"""`transformer`: the encoder, and the encoder–decoder, of Vaswani et al. 2017, with their attention written out.

    A = softmax(Q Kᵀ / √d) · z = A V, in several heads (Eq. 1)

Layer norm before or after each sub-layer; positions none, sinusoidal (§3.5) or learned. The layers are in
`parts/transformer_layers.py`, the stacks in `parts/transformer_stacks.py`; here are the forms for
labels, tags and texts.
"""

import copy
from typing import Annotated, Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    GenerationMixin,
    PreTrainedModel,
)
from transformers.modeling_outputs import (
    BaseModelOutput,
    Seq2SeqLMOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

from whence.core.errors import BadConfig
from whence.models.parts.transformer_layers import Hidden, MultiHeadAttention, Sublayer, feed_forward, sinusoids
from whence.models.parts.transformer_stacks import Decoder, Embeddings, Encoder, Layer, Stack, TransformerConfig, tokens
from whence.models.presets import yang2019
from whence.options import usually
from whence.reference_model import BuildInputs, Mode, ModelOptions, ReferenceModel

__all__ = [
    "Decoder",
    "Embeddings",
    "Encoder",
    "Hidden",
    "Layer",
    "MultiHeadAttention",
    "Stack",
    "Sublayer",
    "TransformerConfig",
    "TransformerForConditionalGeneration",
    "TransformerForSequenceClassification",
    "TransformerForTokenClassification",
    "TransformerModel",
    "TwoVocabularies",
    "decoder_inputs",
    "feed_forward",
    "shifted",
    "sinusoids",
    "tokens",
]


class TransformerModel(PreTrainedModel):
    """The base of all forms."""

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


class TransformerClassifier(TransformerModel):
    """An encoder and a linear read-out. Its sites are `encoder.layers.<i>.self_attention`."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels or 2)
        self.post_init()


class TransformerForSequenceClassification(TransformerClassifier):
    """One class for each text."""

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


class TransformerForTokenClassification(TransformerClassifier):
    """One class for each token."""

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token width"] | None = None,
        labels: Int[Tensor, "batch token"] | None = None,
        **kwargs: Any,
    ) -> TokenClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding; `labels` are -100 at positions without a label."""
        hidden = self.encoder(input_ids, attention_mask, inputs_embeds).last_hidden_state  # [batch token width]
        logits = self.classifier(hidden)  # [batch token class]
        loss = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return TokenClassifierOutput(loss=loss, logits=logits)  # type: ignore[arg-type]


class TwoVocabularies:
    """Source and target have word vectors of their own."""

    def resize_token_embeddings(self, *args: Any, **kwargs: Any) -> nn.Embedding:
        """Not offered, since it would resize one of the two."""
        raise NotImplementedError("make a new model with another vocab_size; source and target words are separate here")


class TransformerForConditionalGeneration(TwoVocabularies, TransformerModel, GenerationMixin):
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
        also the loss, with the shifted labels as the decoder's input.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask)
        source = encoder_outputs[0]
        target = decoder_inputs(decoder_input_ids, labels, self.config)
        hidden = self.decoder(target, decoder_attention_mask, source, attention_mask)
        logits = self.lm_head(hidden[:, -logits_to_keep:])  # [batch kept vocabulary]
        loss: Any = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return Seq2SeqLMOutput(loss=loss, logits=logits, encoder_last_hidden_state=source)


def decoder_inputs(given: Tensor | None, labels: Tensor | None, config: Any) -> Int[Tensor, "batch target"]:
    """What the decoder reads: what is given, or the shifted labels."""
    if given is not None:
        return given
    if labels is None:
        raise ValueError("expected decoder_input_ids or labels, got neither")
    return shifted(labels, config)


def shifted(labels: Int[Tensor, "batch target"], config: Any) -> Int[Tensor, "batch target"]:
    """The decoder's input for these labels: the labels shifted by one, with the start token first."""
    pad, start = config.pad_token_id or 0, config.decoder_start_token_id
    return F.pad(labels, (1, 0), value=start)[:, :-1].masked_fill(F.pad(labels, (1, 0))[:, :-1] == -100, pad)


AutoConfig.register(TransformerConfig.model_type, TransformerConfig)
AutoModelForSequenceClassification.register(TransformerConfig, TransformerForSequenceClassification)
AutoModelForSeq2SeqLM.register(TransformerConfig, TransformerForConditionalGeneration)
AutoModelForTokenClassification.register(TransformerConfig, TransformerForTokenClassification)


class TransformerOptions(ModelOptions):
    """The sizes of a small translator; the modes are those of Yang 2019's tagger."""

    mode: Annotated[Mode | None, usually("none", "paper|author-code|corrected")] = Field(
        None, description="tagger: defaults of the other options: those of Yang 2019, of its code, or corrected"
    )
    hidden_size: int = Field(256, gt=0, description="width of a hidden state")
    layers: int = Field(3, gt=0, description="layers of the encoder, and of the decoder")
    heads: int = Field(4, gt=0, description="heads of a layer")
    feed_forward_size: Annotated[int | None, usually("twice hidden_size", "INT")] = Field(
        None, gt=0, description="width inside the feed-forward layers"
    )
    form: Literal["vaswani", "torchnlp"] = Field(
        "vaswani", description="an encoder as in Vaswani et al., or as in torchnlp, which Yang 2019 used"
    )
    rectified: bool = Field(False, description="ReLU and dropout also where Vaswani et al. have none, as in torchnlp")
    masks_padding: bool = Field(True, description="mask padding in attention")
    norm: Literal["post", "pre"] = Field("pre", description="layer norm after each sub-layer, or before it")
    freeze: bool = Field(False, description="do not train the given word vectors")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout rate")

    @property
    def freezes_vectors(self) -> bool:
        """The option `freeze`."""
        return self.freeze


def build(options: TransformerOptions, inputs: BuildInputs) -> TransformerModel:
    """A translator, a tagger of words or a classifier of texts."""
    if options.mode is not None and inputs.task != "token-classification":
        raise BadConfig(
            "the modes of transformer are readings of Yang 2019's tagger; this corpus has no tags of words. Leave mode"
            " out"
        )
    if inputs.task == "seq2seq":
        if inputs.vector_width is not None:
            raise BadConfig(
                "as a translator, the transformer's word vectors are as wide as its layers and start at random; leave"
                " vectors out"
            )
        start = inputs.tokenizer.bos_token_id
        return TransformerForConditionalGeneration(_config(options, inputs, decoder_start_token_id=start))
    if inputs.task == "token-classification":
        return TransformerForTokenClassification(_config(options, inputs))
    return TransformerForSequenceClassification(_config(options, inputs))


def _config(options: TransformerOptions, inputs: BuildInputs, **more: Any) -> TransformerConfig:
    """The layers of torchnlp have the standard deviation of torch's initialisation."""
    width = options.hidden_size
    if options.form == "torchnlp":
        more |= {"initializer_range": (3 * width) ** -0.5}
    return TransformerConfig(
        hidden_size=width,
        intermediate_size=options.feed_forward_size or 2 * width,
        norm=options.norm,
        dropout=options.dropout,
        num_hidden_layers=options.layers,
        num_decoder_layers=options.layers,
        num_attention_heads=options.heads,
        masks_padding=options.masks_padding,
        form=options.form,
        rectified=options.rectified,
        embedding_size=inputs.vector_width,
        frozen_vectors=options.freeze and inputs.vector_width is not None,
        **inputs.config_values,
        **more,
    )


MODEL = ReferenceModel(
    "transformer",
    __doc__,
    TransformerOptions,
    ("sequence-classification", "token-classification", "seq2seq"),
    build,
    presets={
        "batch_size": 64,
        "epochs": 20,
        "clip": 1.0,
        "learning_rate": 5e-4,
        "schedule": "linear",
        "optimizer": "adamw",
        "weight_decay": 1e-4,
    },
    modes=yang2019.MODES,
)
