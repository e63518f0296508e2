"""From narratives to batches: windows of words, with a value predicted for each (Wu et al. 2020, §5.2)."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.encoding import UNKNOWN, Encoder


class WindowEncoder(Encoder):
    """Turns narratives into batches: the model's inputs are [batch window token], its `labels` [batch window].

    Every window is read as a separate text. Windows are padded to the longest of the batch, narratives with empty
    windows at their end. A text without windows is one window.
    """

    def encode(self, examples: Sequence[Example], numbers: Sequence[int], *, ahead: bool = False) -> Batch:
        """One batch; the model gets the values of the windows if all are known."""
        if any(example.pair is not None for example in examples):
            raise BadData("a narrative is one text, and this one has a second; leave it out")
        narratives = [_windows(example) for example in examples]
        rows = self.read(
            [window for windows in narratives for window in windows],
            [number for number, windows in zip(numbers, narratives, strict=True) for _ in windows],
        )
        return self._laid_out(rows, narratives, _values(examples), torch.tensor(list(numbers)))

    def spelled(self, batch: Batch, examples: Sequence[Example]) -> list[list[str]]:
        """The word of every token of a batch of these narratives; empty for special tokens."""
        narratives = [_windows(example) for example in examples]
        texts = [window for windows in narratives for window in windows]
        words = super().spelled(self.read(texts, range(len(texts))), texts)
        n_window = batch.predicted_positions.shape[1]
        padding = [""] * (batch.special.shape[1] // n_window)
        return list(_joined(words, [len(windows) for windows in narratives], n_window, padding))

    def offsets(self, batch: Batch, examples: Sequence[Example]) -> Int[Tensor, "batch token 2"]:
        """Unknown: windows are read one by one."""
        return torch.full((*batch.word.shape, 2), UNKNOWN)

    def _laid_out(self, rows: Batch, narratives: list[list[Example]], labels: Tensor, numbers: Tensor) -> Batch:
        """The rows of all windows, joined to one row per narrative."""
        lengths, n_window, n_token = [len(windows) for windows in narratives], labels.shape[1], rows.special.shape[1]
        place = torch.tensor([n_window * i + w for i, length in enumerate(lengths) for w in range(length)])

        def lay(tensor: Shaped[Tensor, " row *rest"], padding: int) -> Shaped[Tensor, "batch window *rest"]:
            laid = tensor.new_full((n_window * len(lengths), *tensor.shape[1:]), padding)
            return laid.index_copy(0, place, tensor).unflatten(0, (len(lengths), n_window))

        pad = int(self.tokenizer.pad_token_id)
        inputs = {name: lay(tensor, pad if name == "input_ids" else 0) for name, tensor in rows.inputs.items()}
        if not (positions := lay(torch.ones(len(place), dtype=torch.bool), 0)).logical_and(labels.isnan()).any():
            inputs["labels"] = labels.nan_to_num()
        word = rows.word + _words_before(rows.word, narratives)[:, None] * (rows.word >= 0)
        padding = (str(self.tokenizer.pad_token),) * n_token
        tokens = tuple(tuple(row) for row in _joined(rows.tokens, lengths, n_window, padding))
        return Batch(
            inputs,
            numbers,
            tokens,
            lay(rows.special, 1).flatten(1),
            lay(word, -1).flatten(1),
            lay(rows.segment, 0).flatten(1),
            positions,
            labels,
            lay(rows.truncated, 0).any(1),
            torch.arange(n_window).repeat_interleave(n_token).repeat(len(lengths), 1),
        )


def _joined(
    rows: Sequence[Sequence[str]], lengths: Sequence[int], n_window: int, padding: Sequence[str]
) -> Iterator[list[str]]:
    """The entries of all windows, joined to one row per narrative and padded to `n_window` windows."""
    left = iter(rows)
    for length in lengths:
        yield [token for window in range(n_window) for token in (next(left) if window < length else padding)]


def _windows(example: Example) -> list[Example]:
    """The windows of a narrative as texts, in words if the narrative is."""
    texts = example.windows or (example.text,)
    return [Example(text, words=None if example.words is None else tuple(text.split())) for text in texts]


def _values(examples: Sequence[Example]) -> Tensor:
    """The values of the windows, [batch window]; NaN where there is none."""
    values = [torch.tensor(e.values or [float("nan")] * len(_windows(e))) for e in examples]
    return torch.nn.utils.rnn.pad_sequence(values, batch_first=True, padding_value=float("nan"))


def _words_before(word: Tensor, narratives: list[list[Example]]) -> Tensor:
    """For each window the number of words before it in its narrative."""
    found = iter((word.amax(1) + 1).tolist())
    before: list[int] = []
    for windows in narratives:
        counts = [len(one.words) if one.words is not None else n for one, n in zip(windows, found, strict=False)]
        before += [0, *accumulate(counts)][:-1]
    return torch.tensor(before)
