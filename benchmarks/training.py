"""Training: examples per second as it was before and as it is, in turn, in one run.

*Before* packs texts, as torch offers it (`packed`, a reference implementation here), and has Adam loop over parameters;
*after* is what `whence.training.fit` does. Both take the same steps on the same encoded batches: forward, backward and
optimizer. The losses of the first steps must be equal to 1e-5, which is checked before anything is timed. Lengths,
vocabularies and sizes are those of the studies; the texts are made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.measure import interleaved, table, verdict
from whence.models.additive import AdditiveConfig, AdditiveForSequenceClassification
from whence.models.hierarchical import HierarchicalConfig, HierarchicalForSequenceClassification
from whence.models.parts import encoders
from whence.models.parts.recurrence import Extent
from whence.models.recurrent import RecurrentConfig, RecurrentForConditionalGeneration
from whence.training.recipe import OPTIMIZERS

STEPS = 4  # of a timed run
Inputs = dict[str, Tensor]


@dataclass(frozen=True)
class Setting:
    """A model and batches of made texts: the mean length, the batch, and how much faster it should be."""

    name: str
    build: Callable[[], nn.Module]
    length: int
    batch: int
    limit: float
    pair: int = 0
    target: bool = False
    vocabulary: int = 10_000

    def batches(self) -> list[Inputs]:
        """Texts of about one length, as batches by length have them."""
        rng = np.random.default_rng(0)
        return [self._batch(rng) for _ in range(STEPS)]

    def _batch(self, rng: np.random.Generator) -> Inputs:
        lengths = rng.integers(int(0.8 * self.length), int(1.2 * self.length) + 1, self.batch)
        total = lengths + self.pair
        ids = torch.zeros(self.batch, int(total.max()), dtype=torch.long)
        kinds = torch.zeros_like(ids)
        for row, (first, whole) in enumerate(zip(lengths, total, strict=True)):
            ids[row, :whole] = torch.from_numpy(rng.integers(5, self.vocabulary, int(whole)))
            kinds[row, first:whole] = 1
        inputs = {"input_ids": ids, "attention_mask": (ids > 0).long()}
        if self.target:
            return {**inputs, "labels": ids.clone()}
        return {**inputs, "labels": torch.from_numpy(rng.integers(0, 2, self.batch))} | (
            {"token_type_ids": kinds} if self.pair else {}
        )


def additive(pairs: bool, embedding: int, hidden: int, vocabulary: int, frozen: bool = False) -> nn.Module:
    sizes = {"embedding_size": embedding, "hidden_size": hidden, "vocab_size": vocabulary}
    return AdditiveForSequenceClassification(AdditiveConfig(pairs=pairs, frozen_vectors=frozen, **sizes))


def hierarchical() -> nn.Module:
    ends = list(range(5, 900))  # about one word in eleven ends a sentence
    return HierarchicalForSequenceClassification(HierarchicalConfig(embedding_size=100, sentence_end_ids=ends))


def translator() -> nn.Module:
    sizes = {"embedding_size": 128, "hidden_size": 128, "vocab_size": 4000}
    return RecurrentForConditionalGeneration(RecurrentConfig(attention="additive", **sizes))


SETTINGS = (
    Setting("bAbI 2 (90 words, question)", lambda: additive(True, 50, 64, 60), 90, 50, 3.0, pair=5, vocabulary=60),
    Setting("IMDB (230 words)", lambda: additive(False, 100, 128, 10_000), 230, 32, 3.0),
    Setting("SNLI (14 + 8 words, frozen vectors)", lambda: additive(True, 100, 64, 15_000, True), 14, 64, 1.5, pair=8),
    Setting("hierarchical (230 words in sentences)", hierarchical, 230, 16, 1.5),
    Setting("Multi30k (14 words)", translator, 14, 32, 1.5, target=True, vocabulary=4000),
)


def packed(rnn: Any, x: Tensor, extent: Extent, start: Any = None, *, cells: bool = False) -> tuple[Tensor, Any]:
    """The same as `recurrence.read`, with packed texts."""
    texts = pack_padded_sequence(x, extent.lengths, batch_first=True, enforce_sorted=False)
    states, last = rnn(texts, start)
    hidden, _ = pad_packed_sequence(states, batch_first=True, total_length=extent.n_token)
    found = last if isinstance(last, tuple) else (last,)
    return hidden, found if cells else found[:1]


def packed_gru(rnn: Any, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The same as `gru_steps.read_by_steps`, with packed texts."""
    hidden, (last,) = packed(rnn, x, Extent(lengths, x.shape[1]))
    return hidden, last


@contextmanager
def as_before() -> Iterator[None]:
    """While open, encoders pack their texts."""
    with patch.object(encoders, "read", packed), patch.object(encoders, "read_by_steps", packed_gru):
        yield


class Trainer:
    """A model that takes the same few steps again and again."""

    def __init__(self, setting: Setting, before: bool) -> None:
        torch.manual_seed(0)
        self.model, self.batches, self.before = setting.build(), setting.batches(), before
        old = torch.optim.Adam(self.model.parameters(), lr=1e-3, amsgrad=True)
        self.optimizer = old if before else OPTIMIZERS["amsgrad"](self.model.parameters(), lr=1e-3)

    def run(self) -> list[float]:
        """The losses of one round of steps."""
        with torch.enable_grad():
            if not self.before:
                return self._steps()
            with as_before():
                return self._steps()

    def _steps(self) -> list[float]:
        losses = []
        for batch in self.batches:
            labels = batch["labels"]
            inputs = batch if labels.dim() == 2 else {name: part for name, part in batch.items() if name != "labels"}
            output = self.model(**inputs)
            loss = output.loss if labels.dim() == 2 else nn.functional.cross_entropy(output.logits, labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(float(loss.detach()))
        return losses


def report(rounds: int = 7) -> str:
    """A table: examples per second before and after."""
    rows = []
    for setting in SETTINGS:
        before, after = (Trainer(setting, old) for old in (True, False))
        apart = max(abs(one - two) for one, two in zip(before.run(), after.run(), strict=True))
        if apart > 1e-5:
            raise RuntimeError(f"{setting.name}: the losses of the first steps differ by {apart:.1e}")
        times = interleaved({"before": before.run, "after": after.run}, rounds)
        rates = [f"{STEPS * setting.batch / times.median(name):,.0f}" for name in ("before", "after")]
        ratio = 1 / times.ratio("after", "before")
        rows.append([setting.name, *rates, verdict(ratio, setting.limit, at_least=True), f"{apart:.0e}"])
    return table(["setting", "examples/s before", "after", "ratio", "largest difference of losses"], rows)
