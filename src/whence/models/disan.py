"""`disan`: the Directional Self-Attention Network of Shen et al. 2018, which Varano 2019 compares with trees.

    h = ELU(W x + b) · s_ij = c tanh((W₁ h_j + W₂ h_i + b₁) / c), c = 5 · α = softmax(s) over the j that i may see
    context_i = Σ α_ij h_j, each feature by itself · u = F h + (1 - F) context, F = σ(W₃ h + W₄ context + b₂)
    sentence = Σ β_j u_j, β = softmax(W₅ ELU(W₆ u + b₃) + b₄) over the tokens, u = both directions concatenated

A feature is a head of width one. In `sees_past` a token attends to those before it, in `sees_future` to those after it,
in neither to itself; the first token of a text in the one and the last in the other attend to nothing, and their
context is zero. The authors call these forward and backward, and the code that Varano 2019 agrees with the other way
round. A pair is classified by [s₁; s₂; s₁-s₂; s₁ s₂], both texts read by the same encoder; a single text by s.

Differs from the paper: the score has no outer matrix Wᵀ (Varano 2019, §3.1), as in the authors' code; the gate has one
bias and not three. `hidden_size` may differ from the width of the word vectors. In training no pair is dropped for its
length (theirs: the longest 3 %), and a word without a vector is initialised like the others (theirs: smaller).
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)
from transformers.modeling_outputs import SequenceClassifierOutput, TokenClassifierOutput

from whence.models.parts.disan_kernel import Layout
from whence.models.parts.disan_layers import DisanConfig, DisanEncoder
from whence.models.parts.encoders import PlainModel, specials
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel


class DisanModel(PlainModel):
    """What both forms share. Sites: `encoder.sees_past` and `encoder.sees_future`, [batch feature query key]. The texts
    of a pair are one sequence, the first before the second (`token_type_ids` 1); no token attends to the other text.
    """

    config_class = DisanConfig
    config: DisanConfig
    base_model_prefix = "disan"
    pooling = True
    _supports_sdpa = True  # so that `attn_implementation` is eager only on request

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

    def has_no_decay(self, name: str) -> bool:
        """Word vectors, biases and what scores token by token have no weight decay, as in the authors' code."""
        return "embeddings" in name or name.endswith("bias") or "score_" in name

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, nn.Linear):  # TensorFlow's initialisation, as in the authors' code
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
    """A tag for each word of a text, from the states of both directions; not in the paper."""

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


class DisanOptions(ModelOptions):
    """Defaults are those of the authors' code."""

    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(300, gt=0, description="features of each direction")
    dropout: float = Field(0.25, ge=0, lt=1, description="dropout rate")


def build(options: DisanOptions, inputs: BuildInputs) -> DisanModel:
    """A tagger of words, or a classifier of texts or pairs."""
    config = DisanConfig(
        embedding_size=inputs.vector_width or options.embedding_size,
        hidden_size=options.hidden_size,
        dropout=options.dropout,
        pairs=inputs.has_pairs,
        **inputs.config_values,
    )
    tags = inputs.task == "token-classification"
    return DisanForTokenClassification(config) if tags else DisanForSequenceClassification(config)


MODEL = ReferenceModel(
    "disan",
    __doc__,
    DisanOptions,
    ("sequence-classification", "token-classification"),
    build,
    presets={
        "batch_size": 64,
        "epochs": 46,  # the authors' 400,000 steps on SNLI
        "patience": 10,
        "optimizer": "adadelta",
        "learning_rate": 0.5,
        "weight_decay": 5e-5,
    },
)
