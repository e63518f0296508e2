"""`recurrent`: a translator of LSTMs with one attention. Bahdanau et al. 2015; Luong et al. 2015.

    h = encode(source) · c_t = f(c_{t-1}, y_{t-1}, h_α^t) · h_α^t = Σ_i α_{t,i} h_i · ŷ_t = W tanh(W_c [h_α^t; c_t])

`additive` (Bahdanau et al.): α_t = softmax of vᵀ tanh(W_a c_{t-1} + U_a h_i), from the state before the step. So a
target is read step by step, and the site `attention` is called once a step, [batch 1 1 source].
`dot` (Luong et al., global): c_t comes first and α_t = softmax of c_tᵀ U_a h_i. So a target is read at once, and the
site is called once, [batch 1 target source].

Differs from the papers: U_a also stands in the dot product, since h_i (two directions) is twice as wide as c_t. The dot
form has no input feeding: h_α^t reaches ŷ_t, but not c_{t+1}. The read-out of both forms is Luong et al.'s (Eq. 5);
Bahdanau et al. have a maxout layer. f is an LSTM, and the query of α_t is the state of its top layer.

It is the translator of Vashishth et al. 2019, §3.3. Attention is not the only path from the source: the decoder starts
with tanh(W_s ←h_1) (Bahdanau et al., A.2.2).
"""

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, no_type_check

import torch
import torch.nn.functional as F
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForSeq2SeqLM, GenerationMixin, PreTrainedConfig
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from whence.core.site import AttentionSite
from whence.models.parts.encoders import LSTMEncoder, PlainModel, State, padded_at_the_end
from whence.models.transformer import TwoVocabularies, decoder_inputs, tokens
from whence.reference_model import BuildInputs, ModelOptions, ReferenceModel

Source = Float[Tensor, "batch source width"]
Keys = Float[Tensor, "batch source hidden"]
Mask = Bool[Tensor, "batch 1 1 source"]
Steps = Float[Tensor, "batch target _"]


@no_type_check  # `strict` checks a config's values, in the tests as elsewhere
@strict
class RecurrentConfig(PreTrainedConfig):
    """`hidden_size` is the decoder's width, and the encoder's per direction. Source and target have word vectors of
    their own; nothing is tied.
    """

    model_type = "whence-recurrent"

    vocab_size: int = 10_000
    embedding_size: int = 256
    hidden_size: int = 256
    num_layers: int = 2
    attention: Literal["additive", "dot"] = "additive"
    dropout: float = 0.0
    pad_token_id: int | None = 0
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    decoder_start_token_id: int | None = 1
    use_cache: bool = True
    tie_word_embeddings: bool = False


@dataclass
class Memory:
    """The cache of generation: the decoder's state, and the keys of the source, computed once."""

    state: State
    keys: Keys
    is_compileable: ClassVar[bool] = False  # read by `generate`

    def reorder_cache(self, beams: Int[Tensor, " batch"]) -> None:
        """Select beams. The keys stay: all beams of a text have the same source."""
        hidden, cell = self.state
        self.state = hidden.index_select(1, beams), cell.index_select(1, beams)


class Encoder(nn.Module):
    """Word vectors and a bidirectional LSTM; the states of both directions, concatenated, are h."""

    main_input_name = "input_ids"  # read by `generate`

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.dropout = nn.Dropout(config.dropout)
        self.lstm = LSTMEncoder(config.embedding_size, config.hidden_size, config.num_layers, config.dropout)

    def forward(
        self,
        input_ids: Int[Tensor, "batch source"] | None = None,
        attention_mask: Int[Tensor, "batch source"] | None = None,
        inputs_embeds: Float[Tensor, "batch source embedding"] | None = None,
        **kwargs: Any,
    ) -> BaseModelOutput:
        x = self.embeddings(input_ids) if inputs_embeds is None else inputs_embeds
        hidden, _ = self.lstm(self.dropout(x), padded_at_the_end(tokens(attention_mask, x)))  # [batch source width]
        return BaseModelOutput(last_hidden_state=hidden)


class Decoder(nn.Module):
    """The base of both forms: the initial state, and the keys."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        size, self.layers = config.hidden_size, config.num_layers
        self.begin = nn.Linear(size, self.layers * size)
        self.keys = nn.Linear(2 * size, size, bias=False)

    def start(self, source: Source) -> Memory:
        """The state before the first step, hidden tanh(W_s ←h_1) and cell 0, and the keys U_a h."""
        backward = source[:, 0, source.shape[-1] // 2 :]  # [batch hidden]
        hidden = torch.tanh(self.begin(backward)).unflatten(1, (self.layers, -1)).transpose(0, 1).contiguous()
        return Memory((hidden, torch.zeros_like(hidden)), self.keys(source))


class AdditiveDecoder(Decoder):
    """Weights from the state before the step: vᵀ tanh(W_a c_{t-1} + U_a h_i) (Bahdanau et al. 2015, A.1.2)."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(config)
        size = config.hidden_size
        self.query = nn.Linear(size, size)
        self.v = nn.Linear(size, 1, bias=False)
        fed = config.embedding_size + 2 * size  # y_{t-1} and h_α^t
        self.cells = nn.ModuleList(nn.LSTMCell(size if layer else fed, size) for layer in range(self.layers))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Steps, source: Source, mask: Mask, memory: Memory, attention: AttentionSite
    ) -> tuple[Steps, Steps]:
        hidden, cell = (list(of_layers.unbind()) for of_layers in memory.state)
        values, contexts, states = source[:, None], [], []  # [batch 1 source width]
        for word in x.unbind(1):
            query = self.query(hidden[-1])  # [batch hidden], of the top layer
            scores = self.v(torch.tanh(memory.keys + query[:, None])).mT[:, None]  # [batch 1 1 source]
            contexts.append((attention(scores, mask, values) @ values)[:, 0, 0])  # [batch width]
            given = torch.cat([word, contexts[-1]], dim=-1)
            for layer, lstm in enumerate(self.cells):
                hidden[layer], cell[layer] = lstm(given, (hidden[layer], cell[layer]))
                given = self.dropout(hidden[layer])
            states.append(hidden[-1])
        memory.state = torch.stack(hidden), torch.stack(cell)
        return torch.stack(contexts, dim=1), torch.stack(states, dim=1)


class DotDecoder(Decoder):
    """Weights from the state of the step itself: c_tᵀ U_a h_i (Luong et al. 2015, Eq. 8)."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(config)
        between = config.dropout if self.layers > 1 else 0.0
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, self.layers, batch_first=True, dropout=between)

    def forward(
        self, x: Steps, source: Source, mask: Mask, memory: Memory, attention: AttentionSite
    ) -> tuple[Steps, Steps]:
        states, memory.state = self.lstm(x, memory.state)  # [batch target hidden]
        scores = (states @ memory.keys.mT)[:, None]  # [batch 1 target source]
        values = source[:, None]  # [batch 1 source width]
        return (attention(scores, mask, values) @ values)[:, 0], states


DECODERS: dict[str, type[AdditiveDecoder] | type[DotDecoder]] = {"additive": AdditiveDecoder, "dot": DotDecoder}


class RecurrentForConditionalGeneration(TwoVocabularies, PlainModel, GenerationMixin):
    """Encoder, decoder and one attention, the site `attention`. Generation keeps the decoder's state between steps."""

    config_class = RecurrentConfig
    config: RecurrentConfig
    base_model_prefix = "recurrent"
    _is_stateful = True  # a state cannot go back to an earlier step

    def __init__(self, config: RecurrentConfig) -> None:
        config = copy.deepcopy(config)
        config.is_encoder_decoder = True
        super().__init__(config)
        size = config.hidden_size
        self.encoder = Encoder(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.attention = AttentionSite("cross")
        self.decoder = DECODERS[config.attention](config)
        self.combine = nn.Linear(3 * size, size, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.lm_head = nn.Linear(size, config.vocab_size)
        self.post_init()

    def forward(
        self,
        input_ids: Int[Tensor, "batch source"] | None = None,
        attention_mask: Int[Tensor, "batch source"] | None = None,
        decoder_input_ids: Int[Tensor, "batch target"] | None = None,
        decoder_attention_mask: Int[Tensor, "batch target"] | None = None,
        encoder_outputs: BaseModelOutput | None = None,
        past_key_values: Memory | None = None,
        labels: Int[Tensor, "batch target"] | None = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
        **kwargs: Any,
    ) -> Seq2SeqLMOutput:
        """Teacher-forced logits, of the last `logits_to_keep` steps or of all (0); with `labels` (-100 for padding)
        also the loss, with the shifted labels as the decoder's input.

        `past_key_values` is the memory of the steps before these. A target is padded at its end, where no later
        step reads it: `decoder_attention_mask` is not needed.
        """
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask)
        source, target = encoder_outputs[0], decoder_inputs(decoder_input_ids, labels, self.config)
        memory = self.decoder.start(source) if past_key_values is None else past_key_values
        x = self.dropout(self.embeddings(target))  # [batch target embedding]
        mask = tokens(attention_mask, source)[:, None, None, :]
        context, states = self.decoder(x, source, mask, memory, self.attention)
        kept = torch.cat([context, states], dim=-1)[:, -logits_to_keep:]  # [batch kept width+hidden]
        logits = self.lm_head(self.dropout(torch.tanh(self.combine(kept))))  # [batch kept vocabulary]
        loss: Any = None if labels is None else F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        cache: Any = memory if use_cache else None
        return Seq2SeqLMOutput(loss=loss, logits=logits, past_key_values=cache, encoder_last_hidden_state=source)

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        return False  # so that `generate` takes the memory from the first step's output

    def get_input_embeddings(self) -> nn.Module:
        """The word vectors of the source."""
        return self.encoder.embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Other word vectors for the source."""
        self.encoder.embeddings = value  # type: ignore[assignment]


AutoConfig.register(RecurrentConfig.model_type, RecurrentConfig)
AutoModelForSeq2SeqLM.register(RecurrentConfig, RecurrentForConditionalGeneration)


class RecurrentOptions(ModelOptions):
    """A small translator."""

    attention: Literal["additive", "dot"] = Field("additive", description="how attention scores a source word")
    embedding_size: int = Field(256, gt=0, description="width of a word vector, where no vectors are given")
    hidden_size: int = Field(256, gt=0, description="width of encoder (per direction) and decoder")
    layers: int = Field(2, gt=0, description="layers of encoder and decoder")
    dropout: float = Field(0.3, ge=0, lt=1, description="dropout rate")


def build(options: RecurrentOptions, inputs: BuildInputs) -> RecurrentForConditionalGeneration:
    """A translator."""
    return RecurrentForConditionalGeneration(
        RecurrentConfig(
            embedding_size=inputs.vector_width or options.embedding_size,
            hidden_size=options.hidden_size,
            num_layers=options.layers,
            attention=options.attention,
            dropout=options.dropout,
            decoder_start_token_id=inputs.tokenizer.bos_token_id,
            **inputs.config_values,
        )
    )


MODEL = ReferenceModel(
    "recurrent",
    __doc__,
    RecurrentOptions,
    ("seq2seq",),
    build,
    presets={"batch_size": 64, "epochs": 20, "clip": 1.0, "weight_decay": 0.0},
)
