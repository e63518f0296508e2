"""`pooled`: a self-attention encoder, pooled by one more attention. Wu et al. 2020, §2.

    A = softmax(Q Kᵀ / √d) in 8 heads, 6 layers (Eq. 1-4) · α = softmax(MLP(x)) over the tokens (Eq. 5)
    c = Σ α x (Eq. 6) · ŷ = MLP(c)

Text and authors' code disagree; each disagreement is an option of the config, and `presets/wu2020.py` bundles them.
Sizes are those of the authors' code: the paper's D = 512 is 8 heads of 64, while the hidden states are as wide as the
word vectors, 300. `pooled_series.py` is the form for time series; both read a text with `PooledModel.context`.
"""

import math
from itertools import pairwise
from typing import Any, Literal, no_type_check

import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.core.site import AttentionSite
from whence.models.parts.encoders import PlainModel, specials
from whence.models.presets import wu2020
from whence.models.transformer import MultiHeadAttention, Sublayer, feed_forward, sinusoids
from whence.reference_model import BuildInputs, Mode, ModelOptions, ReferenceModel

EPS = 1e-6  # of every layer norm, as in the authors' code
Hidden = Float[Tensor, "batch token width"]
Tokens = Bool[Tensor, "batch token"]


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class PooledConfig(PreTrainedConfig):
    """Where text and code of Wu et al. 2020 disagree, the first is the text, the second the code:

    - `positions`: `sinusoidal` ("identical to the Transformer encoder"; words are scaled by √width before) or `none`
      (a bag of words).
    - `norm`, what is normalised: `post`, the sum after each sub-layer, as Vaswani et al. 2017; or `query`, before
      attention the queries alone, keys and values coming from the input as it is; or, neither's, `pre`: all three.
    - `loss`: `cross_entropy`, or `binary`, binary cross-entropy for each class (sigmoids), summed over classes and
      texts.

    `dropout` is that of the layers, `readout_dropout` that of local attention and decoder. Word vectors that are not as
    wide as `hidden_size` are projected to it by a linear map; `frozen_vectors` are not trained. The first and last
    token of a text (`bos`, `eos`) get no attention unless `attend_specials`: the paper's texts have words only.
    """

    model_type = "whence-pooled"

    vocab_size: int = 10_000
    embedding_size: int = 300
    hidden_size: int = 300
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    head_size: int = 64
    intermediate_size: int = 64
    positions: Literal["none", "sinusoidal"] = "none"
    norm: Literal["post", "pre", "query"] = "pre"
    loss: Literal["cross_entropy", "binary"] = "cross_entropy"
    dropout: float = 0.1
    readout_dropout: float = 0.3
    frozen_vectors: bool = False
    attend_specials: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class Layer(GradientCheckpointingLayer):
    """Self-attention and feed-forward, each with a residual path (Eq. 1-4). Queries, keys, values and output are plain
    matrices without bias, as in Vaswani et al. 2017 and in the authors' code.
    """

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()
        width, heads, dropout = config.hidden_size, config.num_attention_heads, config.dropout
        first = config.norm != "post"
        self.attention = MultiHeadAttention(width, heads, "self", dropout, config.head_size, bias=False)
        self.around_attention = Sublayer(width, first, dropout, EPS)
        self.feed_forward = feed_forward(width, config.intermediate_size)
        self.around_feed_forward = Sublayer(width, first, dropout, EPS)
        self.queries_alone = config.norm == "query"

    def forward(self, x: Hidden, mask: Bool[Tensor, "batch 1 1 token"]) -> Hidden:
        given = self.around_attention.before(x)
        source = x if self.queries_alone else given
        x = self.around_attention.after(x, self.attention(given, source, mask))
        return self.around_feed_forward.after(x, self.feed_forward(self.around_feed_forward.before(x)))


def readout(sizes: tuple[int, ...], dropout: float) -> nn.Sequential:
    """Linear maps with ReLU and dropout between them."""
    parts: list[nn.Module] = []
    for wide, narrow in pairwise(sizes):
        parts += [nn.Linear(wide, narrow), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*parts[:-2])


class LocalAttention(nn.Module):
    """α = softmax(MLP(x)) over the tokens, c = Σ α x (Eq. 5, 6); the MLP's hidden layers have 128 and 64 units."""

    def __init__(self, width: int, dropout: float, terminal: bool) -> None:
        super().__init__()
        self.score = readout((width, 128, 64, 1), dropout)
        self.attention_site = AttentionSite("pool", terminal=terminal)

    def forward(self, hidden: Hidden, tokens: Tokens) -> Float[Tensor, "copies width"]:
        scores = self.score(hidden).squeeze(-1)[:, None, None, :]  # [batch 1 1 token]
        values = hidden[:, None]  # [batch 1 token width]
        weights = self.attention_site(scores, tokens[:, None, None, :], values)
        return (weights @ values).flatten(0, 2)  # [batch width]: a query is a text


class PooledModel(PlainModel):
    """What both forms share: from tokens to one vector. Sites: `layers.<i>.attention` (self) and `local` (pool)."""

    config_class = PooledConfig
    config: PooledConfig
    base_model_prefix = "pooled"
    supports_gradient_checkpointing = True
    terminal = True  # whether the local attention is the last step that mixes tokens or windows

    def __init__(self, config: PooledConfig) -> None:
        super().__init__(config)
        vectors, width = config.embedding_size, config.hidden_size
        self.embeddings = nn.Embedding(config.vocab_size, vectors, padding_idx=config.pad_token_id)
        self.embeddings.weight.requires_grad_(not config.frozen_vectors)
        self.project = nn.Identity() if vectors == width else nn.Linear(vectors, width)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.Identity() if config.norm == "post" else nn.LayerNorm(width, EPS)
        self.local = LocalAttention(width, config.readout_dropout, self.terminal)

    def context(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
    ) -> Float[Tensor, "copies width"]:
        """The vector of each text (Eq. 6); zeros for a text without tokens."""
        tokens = self.real(input_ids, attention_mask)
        tokens = tokens if self.config.attend_specials else tokens & ~specials(input_ids, self.config)
        x = self.project(self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds)
        if self.config.positions == "sinusoidal":
            x = math.sqrt(x.shape[2]) * x + sinusoids(x.shape[1], x.shape[2]).to(x)  # Vaswani et al. 2017, §3.4, §3.5
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, tokens[:, None, None, :])
        return self.local(self.norm(x), tokens)

    def real(
        self, input_ids: Int[Tensor, "*texts token"], attention_mask: Tensor | None
    ) -> Bool[Tensor, "*texts token"]:
        """True for tokens, False for padding."""
        pad = -1 if self.config.pad_token_id is None else self.config.pad_token_id
        return input_ids != pad if attention_mask is None else attention_mask.bool()


class PooledForSequenceClassification(PooledModel):
    """A text's vector and an MLP of 64 units (§2, Decoder): one class for a text.

    With `loss="binary"` each class has its own sigmoid, σ(z), and these are no distribution. `logits` are then log
    σ(z): their softmax is σ(z) / Σ σ(z), the sigmoids normalised to sum to one, from which probabilities, logits and
    margins are computed as for any classifier; exp(logits) are the sigmoids themselves.
    """

    def __init__(self, config: PooledConfig) -> None:
        super().__init__(config)
        self.decoder = readout((config.hidden_size, 64, config.num_labels or 2), config.readout_dropout)
        self.post_init()

    @property
    def computes_loss(self) -> bool:
        """The binary loss is computed by the model."""
        return self.config.loss == "binary"

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Int[Tensor, " batch"] | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding."""
        outputs = self.decoder(self.context(input_ids, attention_mask, inputs_embeds))  # [batch class]
        logits: Any = F.logsigmoid(outputs) if self.config.loss == "binary" else outputs
        loss = None if labels is None else self._loss(outputs, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def _loss(self, outputs: Float[Tensor, "batch class"], labels: Int[Tensor, " batch"]) -> Any:
        if self.config.loss == "cross_entropy":
            return F.cross_entropy(outputs, labels)
        targets = F.one_hot(labels, outputs.shape[-1]).to(outputs)
        return F.binary_cross_entropy_with_logits(outputs, targets, reduction="sum")


AutoConfig.register(PooledConfig.model_type, PooledConfig)
AutoModelForSequenceClassification.register(PooledConfig, PooledForSequenceClassification)


class PooledSharedOptions(ModelOptions):
    """The options of `pooled` and `pooled_series`; sizes are those of the authors' code."""

    mode: Mode = Field(
        "corrected", description="defaults of the other options: those of the paper, of its authors' code, or corrected"
    )
    embedding_size: int = Field(300, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(300, gt=0, description="width of a hidden state")
    layers: int = Field(6, gt=0, description="layers of the encoder")
    heads: int = Field(8, gt=0, description="heads of a layer")
    head_size: int = Field(64, gt=0, description="width of a head")
    inner_size: int = Field(64, gt=0, description="width inside the feed-forward layers")
    positions: Literal["none", "sinusoidal"] = Field("none", description="position encoding")
    norm: Literal["post", "pre", "query"] = Field(
        "pre", description="layer norm after each sub-layer, before it, or before it on the queries alone"
    )
    freeze: bool = Field(True, description="do not train the given word vectors")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout rate")

    @property
    def freezes_vectors(self) -> bool:
        """The option `freeze`."""
        return self.freeze

    def config_values(self, inputs: BuildInputs) -> dict[str, Any]:
        """The values of a `PooledConfig`."""
        return {
            "embedding_size": inputs.vector_width or self.embedding_size,
            "hidden_size": self.hidden_size,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "head_size": self.head_size,
            "intermediate_size": self.inner_size,
            "positions": self.positions,
            "norm": self.norm,
            "dropout": self.dropout,
            "frozen_vectors": self.freeze and inputs.vector_width is not None,
            **inputs.config_values,
        }


class PooledOptions(PooledSharedOptions):
    """Those of the classifier."""

    loss: Literal["cross_entropy", "binary"] = Field(
        "cross_entropy", description="cross-entropy, or binary cross-entropy of each class, summed"
    )


def build(options: PooledOptions, inputs: BuildInputs) -> PooledModel:
    """A classifier of texts; for narratives with values the form for time series."""
    if inputs.task == "series":
        from whence.models.pooled_series import build as build_series  # which imports this file

        return build_series(options, inputs)
    return PooledForSequenceClassification(PooledConfig(**options.config_values(inputs), loss=options.loss))


MODEL = ReferenceModel(
    "pooled",
    __doc__,
    PooledOptions,
    ("sequence-classification", "series"),
    build,
    presets=wu2020.PRESETS,
    modes=wu2020.MODES,
)
