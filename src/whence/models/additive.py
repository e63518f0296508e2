"""`additive`: a recurrent, convolutional or averaging encoder, read by one attention. Jain & Wallace 2019, §3.

    x = embed(tokens) · h = encode(x) · α = softmax(score(h)) over the tokens · ŷ = W Σ α h

The only road from the text to the prediction leads through the attention. Sizes are those of the authors' code.
"""

import math
from typing import Any, Literal, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.core.site import AttentionSite


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class AdditiveConfig(PreTrainedConfig):
    """`hidden_size` is per direction of the LSTM. The first and last token of a text (`bos`, `eos`) get no attention
    unless `attend_specials`.
    """

    model_type = "whence-additive"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 128
    encoder: Literal["lstm", "cnn", "average"] = "lstm"
    attention: Literal["additive", "dot"] = "additive"
    attend_specials: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class LSTMEncoder(nn.Module):
    """One bidirectional LSTM layer."""

    def __init__(self, config: AdditiveConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, bidirectional=True, batch_first=True)
        self.width = 2 * config.hidden_size

    def forward(
        self, x: Float[Tensor, "batch token embedding"], mask: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token width"]:
        lengths = mask.sum(1).clamp_min(1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=x.shape[1])
        return hidden


class CNNEncoder(nn.Module):
    """Convolutions of several widths side by side, with ReLU."""

    widths = (1, 3, 5, 7)

    def __init__(self, config: AdditiveConfig) -> None:
        super().__init__()
        channels = config.hidden_size // len(self.widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(config.embedding_size, channels, width, padding=width // 2) for width in self.widths
        )
        self.width = channels * len(self.widths)

    def forward(
        self, x: Float[Tensor, "batch token embedding"], mask: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token width"]:
        channels_first = (x * mask[..., None]).transpose(1, 2)  # [batch embedding token]
        hidden = torch.cat([convolve(channels_first) for convolve in self.convolutions], dim=1)
        return F.relu(hidden).transpose(1, 2)


class AverageEncoder(nn.Module):
    """Each token on its own: tanh of a projection."""

    def __init__(self, config: AdditiveConfig) -> None:
        super().__init__()
        self.project = nn.Linear(config.embedding_size, config.hidden_size)
        self.width = config.hidden_size

    def forward(
        self, x: Float[Tensor, "batch token embedding"], mask: Bool[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token width"]:
        return torch.tanh(self.project(x))


ENCODERS: dict[str, type[LSTMEncoder] | type[CNNEncoder] | type[AverageEncoder]] = {
    "lstm": LSTMEncoder,
    "cnn": CNNEncoder,
    "average": AverageEncoder,
}


class AdditiveScore(nn.Module):
    """vᵀ tanh(W h + b) (Bahdanau et al. 2015, without a query)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, width // 2)
        self.v = nn.Linear(width // 2, 1, bias=False)

    def forward(self, hidden: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token"]:
        return self.v(torch.tanh(self.project(hidden))).squeeze(-1)


class DotScore(nn.Module):
    """vᵀ h / √width (the scaled dot product with a learned query)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.v = nn.Linear(width, 1, bias=False)

    def forward(self, hidden: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token"]:
        return self.v(hidden).squeeze(-1) / math.sqrt(hidden.shape[-1])


class AdditiveForSequenceClassification(PreTrainedModel):
    """Encoder, one attention over the tokens, and a linear read-out. Its site is `attention`, [batch 1 1 token]."""

    config_class = AdditiveConfig
    config: AdditiveConfig
    base_model_prefix = "additive"

    def __init__(self, config: AdditiveConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.encoder = ENCODERS[config.encoder](config)
        self.score = (
            AdditiveScore(self.encoder.width) if config.attention == "additive" else DotScore(self.encoder.width)
        )
        self.attention = AttentionSite(kind="pool", terminal=True)
        self.decoder = nn.Linear(self.encoder.width, config.num_labels or 2)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding, which must stand at the end of a text."""
        mask = self._tokens(input_ids, attention_mask)
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        hidden = self.encoder(x, mask)  # [batch token width]
        scores = self.score(hidden)[:, None, None, :]  # [batch 1 1 token]
        values = hidden[:, None]  # [batch 1 token width]
        weights = self.attention(scores, self._attendable(input_ids, mask)[:, None, None, :], values)
        context = (weights @ values).flatten(0, 2)  # [batch width]: a query is a text
        logits = self.decoder(context)  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def _tokens(self, input_ids: Tensor, attention_mask: Tensor | None) -> Bool[Tensor, "batch token"]:
        pad = -1 if self.config.pad_token_id is None else self.config.pad_token_id
        mask = input_ids != pad if attention_mask is None else attention_mask.bool()
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise ValueError("padding must stand at the end of each text; this batch has padding before a token")
        return mask

    def _attendable(self, input_ids: Tensor, mask: Tensor) -> Bool[Tensor, "batch token"]:
        specials = [i for i in (self.config.bos_token_id, self.config.eos_token_id) if i is not None]
        if self.config.attend_specials or not specials:
            return mask
        return mask & ~torch.isin(input_ids, torch.tensor(specials, device=input_ids.device))

    def get_input_embeddings(self) -> nn.Module:
        """The word vectors."""
        return self.embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Other word vectors."""
        self.embeddings = value  # type: ignore[assignment]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        reset = getattr(module, "reset_parameters", None)
        if reset is not None:  # torch's own beginnings, as in the authors' code
            reset()


AutoConfig.register(AdditiveConfig.model_type, AdditiveConfig)
AutoModelForSequenceClassification.register(AdditiveConfig, AdditiveForSequenceClassification)
