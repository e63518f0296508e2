"""A linear classifier of a model's own input vectors that a planted token decides, where no copy can be fine-tuned.

    y = Σ_i w·x_i − b,   w = (E[x xᵀ] + ε I)⁻¹ x_token,   x_i the word vectors of a text

Of all w with a given w·x_token this one has the smallest mean square on the vectors of the texts: the token counts much
and other words little. b is halfway between the mean of texts without the token and that with it.
"""

from collections.abc import Sequence
from typing import Any, no_type_check

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.evaluation.validity.planted_token import Planted
from whence.models.parts.encoders import PlainModel
from whence.subject.subject import Subject

RIDGE = 1e-3  # ε, as a share of the mean square of a vector's components
LABELS = ("without the token", "with the token")


@no_type_check  # `strict` checks a config's values
@strict
class SumConfig(PreTrainedConfig):
    """A linear classifier of the sum of word vectors."""

    model_type = "whence-sum-of-vectors"

    pad_token_id: int | None = None


class SumOfVectors(PlainModel):
    """y = Σ_i w·x_i − b over the tokens of a text; the logits are 0 and y."""

    config_class = SumConfig

    def __init__(self, config: SumConfig, vectors: Float[Tensor, "token width"]) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding.from_pretrained(vectors)
        self.weight, self.bias = nn.Parameter(torch.zeros(vectors.shape[1])), nn.Parameter(torch.zeros(()))

    @property
    def attends(self) -> bool:
        """It has no attention."""
        return False

    def forward(
        self, input_ids: Int[Tensor, "batch token"], attention_mask: Int[Tensor, "batch token"], **kwargs: Any
    ) -> SequenceClassifierOutput:
        """The logits [batch 2]."""
        given = (self.embeddings(input_ids) @ self.weight) * attention_mask  # [batch token]
        y = given.sum(1) - self.bias
        return SequenceClassifierOutput(logits=torch.stack([torch.zeros_like(y), y], 1))  # type: ignore[arg-type]


@torch.no_grad()
def planted_probe(subject: Subject, learned: Sequence[Planted], token: str) -> Subject:
    """The classifier as a subject, with the model's tokenizer and word vectors."""
    vectors = subject.model.get_input_embeddings().weight.detach().float().cpu()  # [token width]
    config = SumConfig(id2label=dict(enumerate(LABELS)), pad_token_id=subject.tokenizer.pad_token_id)
    model = SumOfVectors(config, vectors)
    probe = Subject(model, subject.tokenizer, "sequence-classification", f"a linear probe of {subject.name}")
    plain = [text.plain for text in learned]
    ids = torch.cat([batch.inputs["input_ids"][batch.mask] for batch in probe.batches(plain)])
    seen = vectors[ids].double()  # [token width], as often as they occur
    moment = seen.T @ seen / len(seen)
    ridge = RIDGE * float(moment.diagonal().mean()) * torch.eye(len(moment), dtype=moment.dtype)
    number = subject.tokenizer(f"a {token}", add_special_tokens=False)["input_ids"][-1]
    weight = torch.linalg.solve(moment + ridge, vectors[number].double())
    model.weight.copy_(weight / (weight @ vectors[number].double()))  # the token itself counts 1
    sums = torch.cat([probe.logits(batch)[:, 0, 1] for batch in probe.batches(plain)])
    model.bias.copy_(sums.mean() + 0.5)
    return probe
