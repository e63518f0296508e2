"""Recurrent networks over packed texts, as torch does it: the slow oracle of `whence.models.parts.recurrence`."""

from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from whence.models.parts.recurrence import Extent


def read(rnn, x, extent, start=None, *, cells=False):
    """The hidden states, zero at padding, and the last state of every layer and direction."""
    packed = pack_padded_sequence(x, extent.lengths.cpu(), batch_first=True, enforce_sorted=False)
    begin = start[0] if start is not None and rnn.mode != "LSTM" else start
    states, last = rnn(packed, begin)
    hidden, _ = pad_packed_sequence(states, batch_first=True, total_length=extent.n_token)
    found = last if isinstance(last, tuple) else (last,)
    return hidden, found if cells else found[:1]


def read_by_steps(rnn, x, lengths):
    """One layer of a GRU."""
    hidden, (last,) = read(rnn, x, Extent(lengths, x.shape[1]))
    return hidden, last
