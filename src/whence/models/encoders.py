"""What turns word vectors into hidden states, for the models that are not transformers."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Hidden = Float[Tensor, "batch token width"]
Vectors = Float[Tensor, "batch token embedding"]
Tokens = Bool[Tensor, "batch token"]  # True for tokens, False for padding, which stands at the end
Whole = Float[Tensor, "batch width"]  # one vector for the whole text


class LSTMEncoder(nn.Module):
    """One bidirectional LSTM layer. The whole text is the last state of each direction."""

    def __init__(self, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(embedding_size, hidden_size, bidirectional=True, batch_first=True)
        self.width = 2 * hidden_size

    def forward(self, x: Vectors, mask: Tokens) -> tuple[Hidden, Whole]:
        lengths = mask.sum(1).clamp_min(1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, (last, _) = self.lstm(packed)
        hidden, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
        return hidden, last.transpose(0, 1).flatten(1)


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
