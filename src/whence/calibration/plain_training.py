"""A plain training loop, apart from Whence's own: labels alone, or attention led to or away from marked words.

Away is the deception of Pruthi et al. 2020, Eq. 1: a penalty −λ log(1 − mass), where *mass* is the attention on words
that shall get none. Led there is −λ log(mass). Of a Transformer it is the last layer's, from the first token.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.attending import attending
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject


def train(
    subject: Subject,
    examples: Sequence[Example],
    *,
    steps: int,
    rate: float = 5e-3,
    lead: float = 0.0,
    seed: int = 0,
    batch_size: int = 32,
) -> Subject:
    """Train in place; `lead` above 0 leads attention to the marked words, below 0 away from them."""
    optimizer = torch.optim.Adam(subject.model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(seed)
    subject.model.train()
    for _ in range(steps):
        chosen = torch.randint(len(examples), (batch_size,), generator=generator).tolist()
        batch = subject.encode([examples[number] for number in chosen])
        optimizer.zero_grad()
        loss(subject, batch, [examples[number] for number in chosen], lead).backward()
        torch.nn.utils.clip_grad_norm_(subject.model.parameters(), 1.0)
        optimizer.step()
    subject.model.eval()
    return subject


def loss(subject: Subject, batch: Batch, examples: Sequence[Example], lead: float) -> Float[Tensor, ""]:
    """Cross-entropy of the labels, and the penalty on the attention of every head."""
    with attending(subject.model, watch="*") as tape:
        logits = subject.logits(batch)[:, 0]
    wrong = F.cross_entropy(logits, batch.labels[:, 0])
    if not lead:
        return wrong
    if hasattr(subject.model, "token_weights"):
        weights = subject.model.token_weights(tape, **batch.inputs)[:, None]
    else:
        weights = tape.only(list(subject.sites)[-1]).weights[:, :, 0]  # [batch head key]
    mass = (weights * marked(batch, examples)[:, None]).sum(-1).clamp(1e-6, 1 - 1e-6)
    return wrong - abs(lead) * torch.log(mass if lead > 0 else 1 - mass).mean()


def marked(batch: Batch, examples: Sequence[Example]) -> Bool[Tensor, "batch token"]:
    """Which tokens are part of a marked word."""
    found = torch.zeros_like(batch.special)
    for row, example in enumerate(examples):
        places = [number for number, mark in enumerate(example.rationale or ()) if mark]
        found[row] = torch.isin(batch.word[row], torch.tensor(places)) & ~batch.special[row]
    return found
