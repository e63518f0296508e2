"""How fast a reader's state moves while it reads noise: drift, and the speed of its slow points.

Haviv et al. (2019): every memory sits at a *slow point* of the dynamics s → F(s, x), a state that barely moves, and the
faster it moves the sooner the memory is lost. The state s is all that is passed to the next word: the hidden state, of
an LSTM hidden and cell side by side. Two numbers, of words w_1 ... w_t of noise after the item:

    drift = mean over k of ‖s_k − s_{k−1}‖, k = 1 ... min(t, T): under the noise that was actually read
    speed = ‖F(s, x̄) − s‖ = √(2 q(s)), q(s) = ½ ‖F(s, x̄) − s‖² (Sussillo & Barak 2013), at the state s that is
            reached from the item after T steps of x̄, the mean of the vectors of all words of noise

s_0 is the state after the item's last word, and T is the longest delay that was learned: both numbers describe the time
before memory is tested.

Differs from the paper: it descends from such states on q to a minimum, the slow point; here the state stays
where the model left it. It takes one slow point for each class; so do we where an item is a class.

A model that carries no state from word to word (a Transformer, for which every word is there at every time) has
neither: NaN. A reader that attends has both, but its prediction does not come from the last state alone.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from whence.data.examples import Example
from whence.models.reader import ReaderForSequenceClassification
from whence.subject.batch import Batch
from whence.subject.subject import Subject

States = Float[Tensor, "batch token state"]


def drifts(
    subject: Subject, examples: Sequence[Example], items: Sequence[int], longest: int, batch_size: int = 32
) -> tuple[Float[ndarray, " example"], Float[ndarray, " example"]]:
    """Drift and speed of each example, whose first so many words are the item and whose last is the cue."""
    drift, speed = np.full(len(examples), np.nan), np.full(len(examples), np.nan)
    model = subject.model
    if not isinstance(model, ReaderForSequenceClassification):
        return drift, speed
    batches = list(subject.batches(examples, batch_size))
    lengths = [torch.tensor([items[number] for number in batch.examples.tolist()]) for batch in batches]
    spans = [noise_of(batch, length) for batch, length in zip(batches, lengths, strict=True)]
    still = mean_noise(model, batches, spans)
    for batch, length, noise in zip(batches, lengths, spans, strict=True):
        states = all_states(model, model.embeddings(batch.inputs["input_ids"]).detach())
        places = batch.examples.numpy()
        drift[places] = moved(states, noise, longest).cpu().numpy()
        speed[places] = (
            step_after_rest(model, state_after_item(states, item_ends(batch, length)), still, longest).cpu().numpy()
        )
    return drift, speed


def noise_of(batch: Batch, items: Int[Tensor, " batch"]) -> Bool[Tensor, "batch token"]:
    """Which tokens are noise: those between the item's words and the last word."""
    last = batch.word.amax(1, keepdim=True)  # [batch 1]
    return (batch.word >= items[:, None]) & (batch.word < last)


def item_ends(batch: Batch, items: Int[Tensor, " batch"]) -> Int[Tensor, " batch"]:
    """The place of the last token of each item."""
    of_item = (batch.word >= 0) & (batch.word < items[:, None])
    return (of_item * torch.arange(of_item.shape[1])).argmax(1)


@torch.no_grad()
def mean_noise(
    model: ReaderForSequenceClassification, batches: Sequence[Batch], spans: Sequence[Tensor]
) -> Float[Tensor, " embedding"]:
    """The mean vector of all words of noise."""
    words = torch.cat([batch.inputs["input_ids"][noise] for batch, noise in zip(batches, spans, strict=True)])
    return model.embeddings(words).mean(0)


@torch.no_grad()
def all_states(model: ReaderForSequenceClassification, x: Float[Tensor, "batch token embedding"]) -> States:
    """The state after each token, padding read like any other."""
    state, found = None, []
    for word in x.unbind(1):
        state = model.step(word, state)
        found.append(state)
    return torch.stack(found, 1)


def moved(states: States, noise: Bool[Tensor, "batch token"], longest: int) -> Float[Tensor, " batch"]:
    """How far the state goes at a word of noise, mean over the first `longest` of them; NaN without noise."""
    steps = (states[:, 1:] - states[:, :-1]).norm(dim=-1)  # [batch token-1]
    early = noise & (noise.cumsum(1) <= longest)
    counted = early[:, 1:].to(steps)
    return (steps * counted).sum(1) / counted.sum(1)


def state_after_item(states: States, ends: Int[Tensor, " batch"]) -> Float[Tensor, "batch state"]:
    """The state after the item."""
    return states[torch.arange(len(states)), ends]


@torch.no_grad()
def step_after_rest(
    model: ReaderForSequenceClassification,
    state: Float[Tensor, "batch state"],
    still: Float[Tensor, " embedding"],
    steps: int,
) -> Float[Tensor, " batch"]:
    """How far the state goes at one more step, after so many at which the same vector is read."""
    x = still.expand(len(state), -1)
    for _ in range(steps):
        state = model.step(x, state)
    return (model.step(x, state) - state).norm(dim=-1)
