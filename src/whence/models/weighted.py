"""`weighted`: a tagger that reads each word by itself; other words reach it only through imposed weights.

    h_j = ReLU(W x_j + b) · c_i = [Σ_j α¹_ij h_j ; … ; Σ_j αᴴ_ij h_j] · y_i = softmax(V c_i + d)

The stricter probe that Yang 2019 proposes in §6: no positions, no residual path, no attention of its own. The site
`attention` is uniform unless others are imposed (`whence run guide --into words`).

Differs from the paper, which only says "a feed forward layer": it is one layer, with a head for each head of the
attention that guides it.
"""

from typing import Any, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForTokenClassification, PreTrainedConfig
from transformers.modeling_outputs import TokenClassifierOutput

from whence.core.site import AttentionSite
from whence.models.parts.encoders import PlainModel
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class WeightedConfig(PreTrainedConfig):
    """`num_attention_heads` is how many weightings of the words there are. Unless `masks_padding`, padding may get
    weight too, as from a model that attends to it.
    """

    model_type = "whence-weighted"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 128
    num_attention_heads: int = 4
    dropout: float = 0.0
    frozen_vectors: bool = False
    masks_padding: bool = True
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2


class WeightedForTokenClassification(PlainModel):
    """One class for each token, from a weighted mean of all words. Its site is `attention`."""

    config_class = WeightedConfig
    config: WeightedConfig
    base_model_prefix = "weighted"

    def __init__(self, config: WeightedConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.embeddings.weight.requires_grad_(not config.frozen_vectors)
        self.project = nn.Linear(config.embedding_size, config.hidden_size)
        self.attention = AttentionSite("self")
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.num_attention_heads * config.hidden_size, config.num_labels or 2)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token width"] | None = None,
        labels: Int[Tensor, "batch token"] | None = None,
        **kwargs: Any,
    ) -> TokenClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding; `labels` are -100 at positions without a label."""
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        hidden = F.relu(self.project(self.dropout(x)))  # [batch token hidden]
        length, heads = x.shape[1], self.config.num_attention_heads
        given = attention_mask if self.config.masks_padding else None
        mask = (x.new_ones(x.shape[:2]) if given is None else given).bool()[:, None, None, :]
        scores = x.new_zeros(
            len(x), heads, length, length, requires_grad=torch.is_grad_enabled()
        )  # explainers take their gradients
        values = hidden[:, None].expand(-1, heads, -1, -1)
        context = (
            (self.attention(scores, mask, values) @ values).transpose(1, 2).flatten(2)
        )  # [batch token head*hidden]
        logits = self.classifier(self.dropout(context))
        loss = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return TokenClassifierOutput(loss=loss, logits=logits)  # type: ignore[arg-type]


AutoConfig.register("whence-weighted", WeightedConfig)
AutoModelForTokenClassification.register(WeightedConfig, WeightedForTokenClassification)


class WeightedOptions(ModelOptions):
    """The sizes are usually taken from the model that guides this one."""

    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of a hidden state")
    heads: int = Field(4, gt=0, description="attention heads")
    masks_padding: bool = Field(True, description="give no weight to padding")
    dropout: float = Field(0.0, ge=0, lt=1, description="dropout rate")


def build(options: WeightedOptions, inputs: BuildInputs) -> WeightedForTokenClassification:
    """A tagger of words."""
    return WeightedForTokenClassification(
        WeightedConfig(
            embedding_size=inputs.vector_width or options.embedding_size,
            hidden_size=options.hidden_size,
            num_attention_heads=options.heads,
            dropout=options.dropout,
            masks_padding=options.masks_padding,
            **inputs.config_values,
        )
    )


MODEL = ReferenceModel(
    "weighted",
    __doc__,
    WeightedOptions,
    ("token-classification",),
    build,
    presets={"batch_size": 64, "epochs": 20},
)
