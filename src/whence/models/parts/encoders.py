"""Encoders from word vectors to hidden states, for the models that are not transformers."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from whence.models.parts.gru_steps import read_by_steps
from whence.models.parts.recurrence import Extent, read

Hidden = Float[Tensor, "batch token width"]
Vectors = Float[Tensor, "batch token embedding"]
Tokens = Bool[Tensor, "batch token"]  # True for tokens, False for padding, which stands at the end
Whole = Float[Tensor, "batch width"]  # one vector for the whole text
State = tuple[Float[Tensor, "layers batch hidden"], Float[Tensor, "layers batch hidden"]]  # hidden and cell


def real_tokens(
    input_ids: Int[Tensor, "batch token"], attention_mask: Int[Tensor, "batch token"] | None, config: PreTrainedConfig
) -> Tokens:
    """True for tokens, False for padding; an error if padding comes before a token."""
    pad = -1 if config.pad_token_id is None else config.pad_token_id
    mask = input_ids != pad if attention_mask is None else attention_mask.bool()
    return padded_at_the_end(mask)


def padded_at_the_end(mask: Tokens) -> Tokens:
    """The same mask, if padding stands at the end of each text."""
    if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        raise ValueError("padding must stand at the end of each text; this batch has padding before a token")
    return mask


def specials(input_ids: Int[Tensor, "batch token"], config: PreTrainedConfig) -> Tokens:
    """True for the tokens that begin and end a text."""
    ids = [number for number in (config.bos_token_id, config.eos_token_id) if number is not None]
    return torch.isin(input_ids, torch.tensor(ids, dtype=input_ids.dtype, device=input_ids.device))


def to_the_front(
    x: Float[Tensor, "batch token embedding"], mask: Bool[Tensor, "batch token"]
) -> tuple[Float[Tensor, "batch picked embedding"], Bool[Tensor, "batch picked"]]:
    """The tokens that a mask picks, moved to the front of each row, in their order."""
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)[:, : int(mask.sum(1).max())]  # [batch picked]
    return x.gather(1, order[..., None].expand(-1, -1, x.shape[-1])), mask.gather(1, order)


def scores_attention(name: str) -> bool:
    """Whether a parameter of this name scores the attention."""
    return name.startswith("score.")


class PlainModel(PreTrainedModel):
    """A model with word vectors called `embeddings`, whose layers have torch's initialisation (as in the authors'
    code).
    """

    _input_embed_layer = "embeddings"

    @property
    def attends(self) -> bool:
        """Whether the model has attention at all."""
        return True

    @property
    def computes_loss(self) -> bool:
        """Whether the model computes its own loss instead of the cross-entropy of its logits."""
        return False

    def has_no_decay(self, name: str) -> bool:
        """Whether a parameter is exempt from weight decay: those that score the attention (Jain & Wallace 2019)."""
        return scores_attention(name)

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        reset = getattr(module, "reset_parameters", None)
        if reset is not None:
            reset()


class LSTMEncoder(nn.Module):
    """A bidirectional LSTM. The whole text is the last state of each direction (of the top layer)."""

    def __init__(self, embedding_size: int, hidden_size: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(embedding_size, hidden_size, layers, bidirectional=True, batch_first=True, dropout=between)
        self.width = 2 * hidden_size

    def forward(self, x: Vectors, mask: Tokens, start: State | None = None) -> tuple[Hidden, Whole]:
        """The hidden states, and the vector of the whole text; `start` is the state to begin with."""
        hidden, (last,) = read(self.lstm, x, Extent.of(mask), start)
        return hidden, whole(last)

    def with_state(self, x: Vectors, mask: Tokens) -> tuple[Hidden, State]:
        """The hidden states, and the last state of every layer and direction, from which another may begin."""
        hidden, (last, cell) = read(self.lstm, x, Extent.of(mask), cells=True)
        return hidden, (last, cell)


class GRUEncoder(nn.Module):
    """One bidirectional GRU layer. The whole text is the last state of each direction."""

    def __init__(self, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.gru = nn.GRU(embedding_size, hidden_size, bidirectional=True, batch_first=True)
        self.width = 2 * hidden_size

    def forward(self, x: Vectors, mask: Tokens) -> tuple[Hidden, Whole]:
        hidden, last = read_by_steps(self.gru, x, Extent.of(mask).lengths)
        return hidden, whole(last)


def whole(last: Float[Tensor, "layers batch hidden"]) -> Whole:
    """The last states of the top layer's two directions, concatenated."""
    return last[-2:].transpose(0, 1).flatten(1)


class CNNEncoder(nn.Module):
    """Convolutions of several widths side by side, with ReLU. The whole text is the largest value of each channel."""

    widths = (1, 3, 5, 7)

    def __init__(self, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        if hidden_size % len(self.widths):
            raise ValueError(
                f"hidden_size of the cnn encoder must be a multiple of {len(self.widths)}, it is {hidden_size}"
            )
        channels = hidden_size // len(self.widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(embedding_size, channels, width, padding=width // 2) for width in self.widths
        )
        self.width = hidden_size

    def forward(self, x: Vectors, mask: Tokens) -> tuple[Hidden, Whole]:
        channels_first = (x * mask[..., None]).transpose(1, 2)  # [batch embedding token]
        hidden = F.relu(torch.cat([convolve(channels_first) for convolve in self.convolutions], dim=1)).transpose(1, 2)
        return hidden, hidden.masked_fill(~mask[..., None], 0.0).amax(1)


class AverageEncoder(nn.Module):
    """Each token on its own: tanh of a projection. The whole text is the mean over its tokens."""

    def __init__(self, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.project = nn.Linear(embedding_size, hidden_size)
        self.width = hidden_size

    def forward(self, x: Vectors, mask: Tokens) -> tuple[Hidden, Whole]:
        hidden = torch.tanh(self.project(x))
        total = (hidden * mask[..., None]).sum(1)  # [batch width]
        return hidden, total / mask.sum(1, keepdim=True).clamp_min(1)


ENCODERS: dict[str, type[LSTMEncoder] | type[CNNEncoder] | type[AverageEncoder]] = {
    "lstm": LSTMEncoder,
    "cnn": CNNEncoder,
    "average": AverageEncoder,
}
