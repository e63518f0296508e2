"""The Transformer as a tagger: its encoder, and a linear read-out at every token."""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import AutoModelForTokenClassification
from transformers.modeling_outputs import TokenClassifierOutput

from whence.models.transformer import Encoder, TransformerConfig, TransformerModel


class TransformerForTokenClassification(TransformerModel):
    """One class for each token. Its sites are `encoder.layers.<i>.self_attention`."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels or 2)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"] | None = None,
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token width"] | None = None,
        labels: Int[Tensor, "batch token"] | None = None,
        **kwargs: Any,
    ) -> TokenClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding; `labels` are -100 where nothing is to be learned."""
        hidden = self.encoder(input_ids, attention_mask, inputs_embeds).last_hidden_state  # [batch token width]
        logits = self.classifier(hidden)  # [batch token class]
        loss = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return TokenClassifierOutput(loss=loss, logits=logits)  # type: ignore[arg-type]


AutoModelForTokenClassification.register(TransformerConfig, TransformerForTokenClassification)
