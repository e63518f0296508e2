"""`hierarchical`: words make sentences and sentences make the text, each read by an attention. Yang et al. 2016, §2.

    of each sentence: h = GRU(words) · α = softmax(score(h)) over its words · s = Σ α h
    of the text:      h = GRU(sentences) · β = softmax(score(h)) over its sentences · ŷ = W Σ β h

Both levels score by Eq. 1 of Vashishth et al. 2019 (§3.1). Sizes are those of Yang et al.; the dropout rates of Serrano
& Smith's code are .44 (words), .22 (sentences), .25 (output). A text comes as one sequence of tokens, as for the other
models, and is cut into sentences here.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int, Shaped
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from whence.core.site import AttentionSite
from whence.core.tape import Tape
from whence.models.parts.encoders import GRUEncoder, PlainModel, Tokens, real_tokens, specials
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class HierarchicalConfig(PreTrainedConfig):
    """`hidden_size` is per direction of the GRUs, `attention_size` the width of u and c in Eq. 1. A sentence ends with
    one of `sentence_end_ids` (the numbers of . ! ?, say). The first and last token of a text (`bos`, `eos`) get no
    attention unless `attend_specials`. `frozen_vectors` are not trained.
    """

    model_type = "whence-hierarchical"

    vocab_size: int = 10_000
    embedding_size: int = 200
    hidden_size: int = 50
    attention_size: int = 100
    word_dropout: float = 0.0
    sentence_dropout: float = 0.0
    output_dropout: float = 0.0
    sentence_end_ids: list[int] = field(default_factory=list)
    attend_specials: bool = False
    frozen_vectors: bool = False
    pad_token_id: int | None = 0
    bos_token_id: int | None = None
    eos_token_id: int | None = None


@dataclass(frozen=True, eq=False)
class Layout:
    """The position of each token of a text when its sentences are rows: [batch sentence word].

    `place` counts along the rows, one row after another; padding is one place past the last.
    """

    place: Int[Tensor, "batch token"]
    sentences: int
    words: int

    def lay(self, tokens: Shaped[Tensor, "batch token *rest"]) -> Shaped[Tensor, "batch sentence word *rest"]:
        """A value for each token, arranged in rows of sentences; zero where there is no token."""
        rest = tokens.shape[2:]
        laid = tokens.new_zeros(len(tokens), self.sentences * self.words + 1, *rest)
        place = self.place.view(*self.place.shape, *(1 for _ in rest)).expand_as(tokens)
        return laid.scatter(1, place, tokens)[:, :-1].unflatten(1, (self.sentences, self.words))

    def back(self, laid: Float[Tensor, "batch sentence word"]) -> Float[Tensor, "batch token"]:
        """The inverse of `lay`: the value of each token; zero for padding."""
        return F.pad(laid.flatten(1), (0, 1)).gather(1, self.place)


def cut_into_sentences(ends: Tokens, mask: Tokens, special: Tokens) -> Layout:
    """A sentence goes up to its end token; end tokens in a row (`?!`) end it together, and the special token that ends
    a text is part of its last sentence.
    """
    begins = F.pad(ends[:, :-1], (1, 0)) & ~ends & ~special & mask
    sentence = begins.cumsum(1)  # [batch token]
    position = torch.arange(mask.shape[1], device=mask.device)
    word = position - torch.where(begins, position, 0).cummax(1).values  # [batch token]
    n_sentence, n_word = (int(number.masked_fill(~mask, 0).max()) + 1 for number in (sentence, word))
    place = (sentence * n_word + word).masked_fill(~mask, n_sentence * n_word)
    return Layout(place, n_sentence, n_word)


class Level(nn.Module):
    """The words of each sentence, or the sentences of the text: h = GRU(x), and the scores cᵀ tanh(W h + b) (Vashishth
    et al. 2019 Eq. 1; Yang et al. Eq. 5 and 8).
    """

    def __init__(self, size: int, config: HierarchicalConfig, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.encoder = GRUEncoder(size, config.hidden_size)
        self.project = nn.Linear(self.encoder.width, config.attention_size)
        self.context = nn.Linear(config.attention_size, 1, bias=False)

    def forward(
        self, x: Float[Tensor, "batch row part size"], mask: Bool[Tensor, "batch row part"]
    ) -> tuple[Float[Tensor, "batch row part width"], Float[Tensor, "batch row part"]]:
        rows = mask.any(-1)
        rows[:, 0] = True  # also of an empty text: the GRU needs one row
        states, _ = self.encoder(self.dropout(x[rows]), mask[rows])  # only rows with tokens
        hidden = states.new_zeros(*mask.shape, self.encoder.width)
        hidden[rows] = states
        return hidden, self.context(torch.tanh(self.project(hidden))).squeeze(-1)


class HierarchicalForSequenceClassification(PlainModel):
    """Two levels of GRU and attention, and a linear read-out.

    Its sites are `word_attention` [batch 1 sentence word] and `sentence_attention` [batch 1 1 sentence]. A sentence
    without a word to attend to, and the rows beyond a text's last sentence, get no weight.

    Differs from the paper: weights have torch's initialisation, as in `additive`.
    """

    config_class = HierarchicalConfig
    config: HierarchicalConfig
    base_model_prefix = "hierarchical"
    token_weights_are: ClassVar[str] = "word × sentence"

    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.embeddings.weight.requires_grad_(not config.frozen_vectors)
        self.words = Level(config.embedding_size, config, config.word_dropout)
        self.word_attention = AttentionSite(kind="pool", keys="parts")
        self.sentences = Level(self.words.encoder.width, config, config.sentence_dropout)
        self.sentence_attention = AttentionSite(kind="pool", keys="parts", terminal=True)
        self.dropout = nn.Dropout(config.output_dropout)
        self.classifier = nn.Linear(self.sentences.encoder.width, config.num_labels or 2)
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
        layout, tokens, attendable = self._layout(input_ids, attention_mask)
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        present, permitted = layout.lay(tokens), layout.lay(attendable)  # [batch sentence word]
        hidden, scores = self.words(layout.lay(x), present)  # [batch sentence word width], [batch sentence word]
        weights = self.word_attention(scores[:, None], permitted[:, None])  # [batch 1 sentence word]
        sentences = torch.einsum("bsw,bswd->bsd", weights[:, 0], hidden)  # [batch sentence width]
        values, scores = self.sentences(sentences[:, None], present.any(-1)[:, None])  # [batch 1 sentence width]
        weights = self.sentence_attention(scores[:, None], permitted.any(-1)[:, None, None], values)
        context = (weights @ values).flatten(0, 2)  # [batch width]: a query is a text
        logits = self.classifier(self.dropout(context))  # [batch class]
        loss = None if labels is None else self.loss_function(labels, logits, self.config)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def token_weights(
        self,
        tape: Tape,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        **inputs: Any,
    ) -> Float[Tensor, "batch token"]:
        """The weight of each token in the text's vector, from the recorded sites: its weight in the sentence times the
        weight of the sentence. Over the tokens of a text that may be attended these sum to one.
        """
        layout, _, _ = self._layout(input_ids, attention_mask)
        in_sentence = tape.only("word_attention").weights[:, 0]  # [batch sentence word]
        of_sentence = tape.only("sentence_attention").weights[:, 0, 0]  # [batch sentence]
        return layout.back(in_sentence * of_sentence[..., None])

    def sentence_layout(
        self, input_ids: Int[Tensor, "batch token"], attention_mask: Int[Tensor, "batch token"] | None = None, **_: Any
    ) -> Layout:
        """Which sentence each token is in, and its place there: what the axes of the sites mean."""
        return self._layout(input_ids, attention_mask)[0]

    def _layout(self, input_ids: Tensor, attention_mask: Tensor | None) -> tuple[Layout, Tokens, Tokens]:
        """The layout of the tokens, which are real, and which may be attended to."""
        tokens, special = real_tokens(input_ids, attention_mask, self.config), specials(input_ids, self.config)
        end_ids = torch.tensor(self.config.sentence_end_ids, dtype=input_ids.dtype, device=input_ids.device)
        layout = cut_into_sentences(torch.isin(input_ids, end_ids) & tokens, tokens, special)
        return layout, tokens, tokens if self.config.attend_specials else tokens & ~special


AutoConfig.register(HierarchicalConfig.model_type, HierarchicalConfig)
AutoModelForSequenceClassification.register(HierarchicalConfig, HierarchicalForSequenceClassification)


class HierarchicalOptions(ModelOptions):
    """Defaults are those of Yang et al. 2016."""

    embedding_size: int = Field(200, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(50, gt=0, description="width of both encoders, per direction")
    dropout: float = Field(0.0, ge=0, lt=1, description="of words; half of it of sentences and of the output")
    freeze: bool = Field(False, description="do not train the given word vectors")

    @property
    def freezes_vectors(self) -> bool:
        """The option `freeze`."""
        return self.freeze


def build(options: HierarchicalOptions, inputs: BuildInputs) -> HierarchicalForSequenceClassification:
    """A classifier of texts of several sentences."""
    return HierarchicalForSequenceClassification(
        HierarchicalConfig(
            embedding_size=inputs.vector_width or options.embedding_size,
            hidden_size=options.hidden_size,
            word_dropout=options.dropout,
            sentence_dropout=options.dropout / 2,
            output_dropout=options.dropout / 2,
            sentence_end_ids=sentence_ends(inputs.tokenizer),
            frozen_vectors=options.freeze and inputs.vector_width is not None,
            **inputs.config_values,
        )
    )


def sentence_ends(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The tokens that end a sentence: punctuation with a full stop, a question mark or an exclamation mark."""
    return sorted(
        number
        for token, number in tokenizer.get_vocab().items()
        if set(token) & set(".!?") and not any(letter.isalnum() for letter in token)
    )


MODEL = ReferenceModel(
    "hierarchical",
    __doc__,
    HierarchicalOptions,
    ("sequence-classification",),
    build,
    presets={"epochs": 15, "patience": 5, "clip": 10.0},
)
