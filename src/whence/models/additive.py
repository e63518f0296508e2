"""`additive`: a recurrent, convolutional or averaging encoder, read by one attention. Jain & Wallace 2019, §3.

    x = embed(tokens) · h = encode(x) · α = softmax(score(h)) over the tokens · ŷ = W Σ α h

The only road from the text to the prediction leads through the attention. With `pairs`, a second text (a question, a
hypothesis) is read by an encoder of its own and asks: score(h, q), paper 003, Eq. 2. Sizes are those of Jain &
Wallace's code.
"""

import math
from typing import Any, Literal, no_type_check

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.core.site import AttentionSite
from whence.models.encoders import ENCODERS


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class AdditiveConfig(PreTrainedConfig):
    """`hidden_size` is per direction of the LSTM. The first and last token of a text (`bos`, `eos`) get no attention
    unless `attend_specials`. With `pairs` the second text asks; with `bypass` it also goes straight to the decoder, as
    in Jain & Wallace's question answering (in paper 003 the decoder sees the attended text alone).
    """

    model_type = "whence-additive"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 128
    encoder: Literal["lstm", "cnn", "average"] = "lstm"
    attention: Literal["additive", "dot"] = "additive"
    pairs: bool = False
    bypass: bool = False
    attend_specials: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class AdditiveScore(nn.Module):
    """vᵀ tanh(W h + b) (Bahdanau et al. 2015; 003 Eq. 1), with a question vᵀ tanh(W₁ h + b + W₂ q) (003 Eq. 2)."""

    def __init__(self, width: int, pairs: bool) -> None:
        super().__init__()
        self.project = nn.Linear(width, width // 2)
        self.ask = nn.Linear(width, width // 2, bias=False) if pairs else None
        self.v = nn.Linear(width // 2, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token width"], question: Float[Tensor, "batch width"] | None = None
    ) -> Float[Tensor, "batch token"]:
        projected = self.project(hidden)  # [batch token width/2]
        if self.ask is not None and question is not None:
            projected = projected + self.ask(question)[:, None]  # (2)
        return self.v(torch.tanh(projected)).squeeze(-1)


class DotScore(nn.Module):
    """vᵀ h / √width (the scaled dot product with a learned query), with a question (W q)ᵀ h / √width."""

    def __init__(self, width: int, pairs: bool) -> None:
        super().__init__()
        self.query = nn.Linear(width, width) if pairs else nn.Linear(width, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token width"], question: Float[Tensor, "batch width"] | None = None
    ) -> Float[Tensor, "batch token"]:
        scores = self.query(hidden) if question is None else hidden @ self.query(question)[..., None]
        return scores.squeeze(-1) / math.sqrt(hidden.shape[-1])


SCORES: dict[str, type[AdditiveScore] | type[DotScore]] = {"additive": AdditiveScore, "dot": DotScore}


class Decoder(nn.Module):
    """W c; with the question on a road of its own, W₃ tanh(W₁ c + W₂ q) (Jain & Wallace's code for questions)."""

    def __init__(self, width: int, classes: int, bypass: bool) -> None:
        super().__init__()
        self.of_question = nn.Linear(width, width // 2) if bypass else None
        self.of_context = nn.Linear(width, width // 2) if bypass else nn.Identity()
        self.classify = nn.Linear(width // 2 if bypass else width, classes)

    def forward(
        self, context: Float[Tensor, "copies width"], question: Float[Tensor, "batch width"] | None
    ) -> Float[Tensor, "copies class"]:
        if self.of_question is None or question is None:
            return self.classify(context)
        asked = self.of_question(question)  # [batch width/2]
        asked = asked.repeat_interleave(context.shape[0] // asked.shape[0], dim=0)  # many queries to a text
        return self.classify(torch.tanh(self.of_context(context) + asked))


class AdditiveForSequenceClassification(PreTrainedModel):
    """Encoder, one attention over the tokens, and a linear read-out. Its site is `attention`, [batch 1 1 token].

    A pair is one sequence, the first text before the second; `token_type_ids` is 1 for the tokens of the second.
    """

    config_class = AdditiveConfig
    config: AdditiveConfig
    base_model_prefix = "additive"

    def __init__(self, config: AdditiveConfig) -> None:
        super().__init__(config)
        if config.bypass and not config.pairs:
            raise ValueError("bypass=True lets the decoder see the second text; that needs pairs=True")
        encoder = ENCODERS[config.encoder]
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.encoder = encoder(config.embedding_size, config.hidden_size)
        self.question = encoder(config.embedding_size, config.hidden_size) if config.pairs else None
        self.score = SCORES[config.attention](self.encoder.width, config.pairs)
        self.attention = AttentionSite(kind="pool", terminal=True)
        self.decoder = Decoder(self.encoder.width, config.num_labels or 2, config.bypass)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        token_type_ids: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding, which must stand at the end of a text."""
        mask = self._tokens(input_ids, attention_mask)
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        text, question = mask, None
        if self.question is not None:
            text, asked = self._texts(mask, token_type_ids)
            _, question = self.question(*to_the_front(x, asked))  # [batch width]
        hidden, _ = self.encoder(x, text)  # [batch token width]
        scores = self.score(hidden, question)[:, None, None, :]  # [batch 1 1 token]
        values = hidden[:, None]  # [batch 1 token width]
        weights = self.attention(scores, self._attendable(input_ids, text)[:, None, None, :], values)
        context = (weights @ values).flatten(0, 2)  # [batch width]: a query is a text
        logits = self.decoder(context, question)  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def _tokens(self, input_ids: Tensor, attention_mask: Tensor | None) -> Bool[Tensor, "batch token"]:
        pad = -1 if self.config.pad_token_id is None else self.config.pad_token_id
        mask = input_ids != pad if attention_mask is None else attention_mask.bool()
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise ValueError("padding must stand at the end of each text; this batch has padding before a token")
        return mask

    def _texts(self, mask: Tensor, token_type_ids: Tensor | None) -> tuple[Tensor, Tensor]:
        """Which tokens are the first text's, and which the second's."""
        second = torch.zeros_like(mask) if token_type_ids is None else token_type_ids.bool() & mask
        if not bool(second.any(1).all()):
            raise ValueError("this model reads pairs; expected token_type_ids that are 1 for a second text")
        return mask & ~second, second

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


def to_the_front(
    x: Float[Tensor, "batch token embedding"], mask: Bool[Tensor, "batch token"]
) -> tuple[Float[Tensor, "batch picked embedding"], Bool[Tensor, "batch picked"]]:
    """The tokens that a mask picks, moved to the front of each row, in their order."""
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)[:, : int(mask.sum(1).max())]  # [batch picked]
    return x.gather(1, order[..., None].expand(-1, -1, x.shape[-1])), mask.gather(1, order)


AutoConfig.register(AdditiveConfig.model_type, AdditiveConfig)
AutoModelForSequenceClassification.register(AdditiveConfig, AdditiveForSequenceClassification)
