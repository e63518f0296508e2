"""`reader`: reads a text once, left to right; its last state predicts, or an attention over all states.

    x = embed(tokens) · h_t = cell(x_t, h_{t-1}) · ŷ = W h_T    or, with attention, ŷ = W Σ α h, α = softmax(score(h))

The cell is an Elman network (`rnn`: tanh, Elman 1990), an LSTM (Hochreiter & Schmidhuber 1997) or a GRU (Cho et al.
2014). In the first form whatever is known of the first word has to be carried through every later one: it has no
attention, no sites, and nothing to be audited. It is the baseline for the second form, in which attention is the only
path from the states to the prediction, as in `additive`.

Differs from `additive`: one direction. A bidirectional reader reads the first word last, and need not remember it.
"""

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
from whence.models.additive import SCORES
from whence.models.parts.encoders import Hidden, PlainModel, Tokens, Vectors, Whole, real_tokens, specials
from whence.models.parts.recurrence import Extent, read
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel

CELLS: dict[str, type[nn.RNN] | type[nn.LSTM] | type[nn.GRU]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
Carried = Float[Tensor, "batch state"]  # the full state, passed on to the next word


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class ReaderConfig(PreTrainedConfig):
    """The first and last token of a text (`bos`, `eos`) are read, but get no attention unless `attend_specials`."""

    model_type = "whence-reader"

    vocab_size: int = 10_000
    embedding_size: int = 64
    hidden_size: int = 64
    cell: Literal["rnn", "lstm", "gru"] = "lstm"
    attention: Literal["none", "additive", "dot"] = "none"
    attend_specials: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


class ReaderForSequenceClassification(PlainModel):
    """A recurrent network of one direction and a linear read-out. Its site, if it attends, is `attention`,
    [batch 1 1 token].
    """

    config_class = ReaderConfig
    config: ReaderConfig
    base_model_prefix = "reader"

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.cell = CELLS[config.cell](config.embedding_size, config.hidden_size, batch_first=True)
        if self.attends:
            self.score = SCORES[config.attention](config.hidden_size, pairs=False)
            self.attention = AttentionSite(kind="pool", terminal=True)
        self.classify = nn.Linear(config.hidden_size, config.num_labels or 2)
        self.post_init()

    @property
    def attends(self) -> bool:
        """Whether an attention reads all states, and not only the last."""
        return self.config.attention != "none"

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        inputs_embeds: Float[Tensor, "batch token embedding"] | None = None,
        labels: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """`attention_mask` is 1 for tokens and 0 for padding, which must stand at the end of a text."""
        mask = real_tokens(input_ids, attention_mask, self.config)
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        hidden, last = self.read(x, mask)  # [batch token width], [batch width]
        context = self._attended(hidden, mask, input_ids) if self.attends else last
        logits = self.classify(context)  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def read(self, x: Vectors, mask: Tokens) -> tuple[Hidden, Whole]:
        """The hidden state after every token, and after the last one of each text."""
        hidden, (last,) = read(self.cell, x, Extent.of(mask))
        return hidden, last[-1]

    def _attended(self, hidden: Hidden, mask: Tokens, input_ids: Tensor) -> Float[Tensor, "copies width"]:
        attendable = mask if self.config.attend_specials else mask & ~specials(input_ids, self.config)
        values = hidden[:, None]  # [batch 1 token width]
        scores = self.score(hidden)[:, None, None, :]  # [batch 1 1 token]
        weights = self.attention(scores, attendable[:, None, None, :], values)
        return (weights @ values).flatten(0, 2)  # [batch width]: a query is a text

    def step(self, x: Float[Tensor, "batch embedding"], state: Carried | None = None) -> Carried:
        """The full state after one more word: the hidden state, and of an LSTM hidden and cell state concatenated."""
        before = None if state is None else [part[None].contiguous() for part in state.split(self.cell.hidden_size, 1)]
        given: Any = None if before is None else tuple(before) if len(before) > 1 else before[0]
        _, after = self.cell(x[:, None], given)
        return torch.cat(after if isinstance(after, tuple) else (after,), -1)[0]


AutoConfig.register(ReaderConfig.model_type, ReaderConfig)
AutoModelForSequenceClassification.register(ReaderConfig, ReaderForSequenceClassification)


class ReaderOptions(ModelOptions):
    """A reader without attention, unless one is named."""

    encoder: Literal["rnn", "lstm", "gru"] = Field("lstm", description="recurrent cell")
    attention: Literal["additive", "dot", "none"] = Field(
        "none", description="how attention scores a word (none: the last state predicts)"
    )
    embedding_size: int = Field(64, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(64, gt=0, description="width of the state")


def build(options: ReaderOptions, inputs: BuildInputs) -> ReaderForSequenceClassification:
    """A classifier of single texts."""
    if inputs.has_pairs:
        raise BadConfig(
            f"reader reads one text; {inputs.corpus.name} has pairs, for which there are additive and conditional"
        )
    return ReaderForSequenceClassification(
        ReaderConfig(
            cell=options.encoder,
            attention=options.attention,
            embedding_size=inputs.vector_width or options.embedding_size,
            hidden_size=options.hidden_size,
            **inputs.config_values,
        )
    )


MODEL = ReferenceModel(
    "reader",
    __doc__,
    ReaderOptions,
    ("sequence-classification",),
    build,
    presets={"epochs": 30, "patience": 5, "clip": 1.0},
)
