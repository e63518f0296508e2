"""`additive`: a recurrent, convolutional or averaging encoder, read by one attention. Jain & Wallace 2019, §3.

    x = embed(tokens) · h = encode(x) · α = softmax(score(h)) over the tokens · ŷ = W Σ α h

The only path from the text to the prediction is the attention. With `pairs`, a second text (a question, a hypothesis)
is read by an encoder of its own and is the query: score(h, q), Vashishth et al. 2019, Eq. 2. With `conditional`, that
encoder starts from the last state of the first text's (Rocktäschel et al. 2016; Vashishth et al. 2019, Eq. 3). Sizes
are those of Jain & Wallace's code.
"""

import math
from typing import Any, Literal, no_type_check

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.core.errors import BadConfig
from whence.core.site import AttentionSite
from whence.models.parts.encoders import ENCODERS, LSTMEncoder, PlainModel, real_tokens, specials, to_the_front
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class AdditiveConfig(PreTrainedConfig):
    """`hidden_size` is per direction of the LSTM. The first and last token of a text (`bos`, `eos`) get no attention
    unless `attend_specials`. With `pairs` the second text is the query; with `bypass` it is also an input of the
    decoder, as in Jain & Wallace's question answering (in Vashishth et al. 2019 the decoder sees the attended text
    alone). With `conditional` the second text's LSTM starts from the first text's last state, hidden and cell of each
    direction. `frozen_vectors` are not trained.
    """

    model_type = "whence-additive"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 128
    encoder: Literal["lstm", "cnn", "average"] = "lstm"
    attention: Literal["additive", "dot"] = "additive"
    pairs: bool = False
    bypass: bool = False
    conditional: bool = False
    attend_specials: bool = False
    frozen_vectors: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class AdditiveScore(nn.Module):
    """vᵀ tanh(W h + b) (Bahdanau et al. 2015; Vashishth et al. 2019 Eq. 1), with a question vᵀ tanh(W₁ h + b + W₂ q)
    (Vashishth et al. 2019 Eq. 2).

    Differs from the paper: Eq. 2 has no b, Jain & Wallace's code has. Without `bias` there is none (Vashishth et al.
    2019 Eq. 3).
    """

    def __init__(self, width: int, pairs: bool, bias: bool = True) -> None:
        super().__init__()
        self.project = nn.Linear(width, width // 2, bias=bias)
        self.ask = nn.Linear(width, width // 2, bias=False) if pairs else None
        self.v = nn.Linear(width // 2, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token width"], question: Float[Tensor, "batch width"] | None = None
    ) -> Float[Tensor, "batch token"]:
        projected = self.project(hidden)  # [batch token width/2]
        if self.ask is not None and question is not None:
            projected = projected + self.ask(question)[:, None]  # (2)
        return self.v(torch.tanh(projected)).squeeze(-1)

    @torch.no_grad()
    def enlarge(self, projections: float, v: float) -> None:
        """Multiply the initial W (W₁, W₂) and v."""
        for linear, factor in ((self.project, projections), (self.ask, projections), (self.v, v)):
            if linear is not None:
                linear.weight *= factor


class DotScore(nn.Module):
    """vᵀ h / √width (the scaled dot product with a learned query), with a question (W q + b)ᵀ h / √width."""

    def __init__(self, width: int, pairs: bool, bias: bool = True) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=bias) if pairs else nn.Linear(width, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token width"], question: Float[Tensor, "batch width"] | None = None
    ) -> Float[Tensor, "batch token"]:
        scores = self.query(hidden) if question is None else hidden @ self.query(question)[..., None]
        return scores.squeeze(-1) / math.sqrt(hidden.shape[-1])

    @torch.no_grad()
    def enlarge(self, projections: float, v: float) -> None:
        """Multiply the initial W, or v if there is no question."""
        self.query.weight *= projections * v


SCORES: dict[str, type[AdditiveScore] | type[DotScore]] = {"additive": AdditiveScore, "dot": DotScore}


class Decoder(nn.Module):
    """W c; with the question on a path of its own, W₃ tanh(W₁ c + W₂ q) (Jain & Wallace's code for questions)."""

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
        asked = asked.repeat_interleave(context.shape[0] // asked.shape[0], dim=0)  # several queries per text
        return self.classify(torch.tanh(self.of_context(context) + asked))


class AdditiveForSequenceClassification(PlainModel):
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
        if config.conditional and not (config.pairs and config.encoder == "lstm"):
            raise ValueError(
                "conditional=True passes the state of one text on to the other; that needs pairs=True and an lstm"
            )
        encoder = ENCODERS[config.encoder]
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.embeddings.weight.requires_grad_(not config.frozen_vectors)
        self.encoder = encoder(config.embedding_size, config.hidden_size)
        self.question = encoder(config.embedding_size, config.hidden_size) if config.pairs else None
        self.score = SCORES[config.attention](self.encoder.width, config.pairs, bias=not config.conditional)
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
        mask = real_tokens(input_ids, attention_mask, self.config)
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        text, asked = self._texts(mask, token_type_ids)
        hidden, question = self._read(x, text, asked)  # [batch token width], [batch width]
        scores = self.score(hidden, question)[:, None, None, :]  # [batch 1 1 token]
        values = hidden[:, None]  # [batch 1 token width]
        attendable = text if self.config.attend_specials else text & ~specials(input_ids, self.config)
        weights = self.attention(scores, attendable[:, None, None, :], values)
        context = (weights @ values).flatten(0, 2)  # [batch width]: a query is a text
        logits = self.decoder(context, question)  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def has_no_decay(self, name: str) -> bool:
        """What scores the attention is exempt, and so is the encoder of the query: its gradient is faint at first, and
        Adam makes of the decay of a parameter without gradient a step of full length.
        """
        return super().has_no_decay(name) or name.startswith("question.")

    def _texts(self, mask: Tensor, token_type_ids: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Which tokens are the first text's, and which the second's, where pairs are read."""
        if self.question is None:
            return mask, None
        second = torch.zeros_like(mask) if token_type_ids is None else token_type_ids.bool() & mask
        if not bool(second.any(1).all()):
            raise ValueError("this model reads pairs; expected token_type_ids that are 1 for a second text")
        return mask & ~second, second

    def _read(self, x: Tensor, text: Tensor, asked: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """The hidden states of the first text, and the vector of the second, which is the query."""
        if self.question is None or asked is None:
            return self.encoder(x, text)[0], None
        second = to_the_front(x, asked)
        if self.config.conditional and isinstance(self.encoder, LSTMEncoder) and isinstance(self.question, LSTMEncoder):
            hidden, state = self.encoder.with_state(x, text)
            return hidden, self.question(*second, start=state)[1]
        return self.encoder(x, text)[0], self.question(*second)[1]


AutoConfig.register(AdditiveConfig.model_type, AdditiveConfig)
AutoModelForSequenceClassification.register(AdditiveConfig, AdditiveForSequenceClassification)


class AdditiveOptions(ModelOptions):
    """Defaults are those of Jain & Wallace's code."""

    encoder: Literal["lstm", "cnn", "average"] = Field("lstm", description="encoder of the words")
    attention: Literal["additive", "dot"] = Field("additive", description="how attention scores a word")
    bypass: bool = Field(False, description="pairs: let the second text reach the decoder past the attention")
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(128, gt=0, description="width of the encoder (per direction of the lstm)")
    freeze: bool = Field(False, description="do not train the given word vectors")
    projection_scale: float = Field(
        1.0, gt=0, description="multiplies the initial W (W₁, W₂) of the attention's scores"
    )
    v_scale: float = Field(1.0, gt=0, description="multiplies the initial v of the attention's scores")

    @property
    def freezes_vectors(self) -> bool:
        """The option `freeze`."""
        return self.freeze


def build(options: AdditiveOptions, inputs: BuildInputs) -> AdditiveForSequenceClassification:
    """A classifier of texts, or of pairs if the corpus has them."""
    if options.bypass and not inputs.has_pairs:
        raise BadConfig(f"bypass is for corpora of pairs; {inputs.corpus.name} has single texts")
    return build_additive(options, inputs, encoder=options.encoder, pairs=inputs.has_pairs)


def build_additive(options: Any, inputs: BuildInputs, **given: Any) -> AdditiveForSequenceClassification:
    """A model with the options that all forms share, and those that are given."""
    model = AdditiveForSequenceClassification(
        AdditiveConfig(
            attention=options.attention,
            bypass=options.bypass,
            hidden_size=options.hidden_size,
            embedding_size=inputs.vector_width or options.embedding_size,
            frozen_vectors=options.freeze and inputs.vector_width is not None,
            **given,
            **inputs.config_values,
        )
    )
    model.score.enlarge(options.projection_scale, options.v_scale)
    return model


MODEL = ReferenceModel("additive", __doc__, AdditiveOptions, ("sequence-classification",), build)
