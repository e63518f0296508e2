"""Training a model to answer like another one while it attends otherwise.

    loss = distance(ŷ, ŷ_base) − λ · divergence(α, α_base)

Wiegreffe & Pinter 2019, §4: total variation, KL(α ‖ α_base). Yang 2019, §4.2: negative log-likelihood of the base's
answers, KL.

Differs from both: distance is the mean over the answers, divergence the mean over the rows of attention of real tokens,
over heads and over sites. `average_over` brings back what the authors' codes did: `cells`, the mean over every cell of
batch × head × query × key, padding too (Yang 2019); `sums`, both terms summed over the batch (Wiegreffe & Pinter).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.site import Call
from whence.data.examples import Example
from whence.measures.divergence import total_variation
from whence.subject.batch import Batch
from whence.subject.metrics import Rules
from whence.subject.subject import Subject
from whence.training.fit import Lesson

Weights = Float[Tensor, "batch head query key"]
Distance = Literal["hard", "tvd", "kl"]
Divergence = Literal["jsd", "kl", "kl_from_base"]
ROOM = 300_000_000  # bytes of the base model's answers and weights that are kept between epochs


class Opposing(BaseModel):
    """Which model to answer like, and how far to be from its attention."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(description="folder or hub name of the model to be answered like")
    fingerprint: str = Field(description="what the base model is known by")
    strength: float = Field(ge=0, description="λ, on the divergence of the attention")
    distance: Distance = Field(
        "tvd",
        description="of answers: negative log-likelihood of the base's choice, total variation, or KL(base ‖ own)",
    )
    divergence: Divergence = Field("jsd", description="of attention: JSD, KL(own ‖ base), or KL(base ‖ own)")
    average_over: Literal["rows", "cells", "sums"] = Field(
        "rows", description="over real rows, all cells, or not at all"
    )
    start: Literal["scratch", "base"] = Field("scratch", description="from new weights, or from the base model's")
    sites: tuple[str, ...] = Field(("*",), min_length=1, description="where attention shall differ")
    after_dropout: bool = Field(
        False, description="look at weights after dropout in training, as Yang 2019's code does"
    )
    select_by: Literal["loss", "score"] = Field("loss", description="which epoch is kept: by this loss, or by answers")


@dataclass(frozen=True, eq=False)
class Seen:
    """What a model says of a batch, and how it attends at each site."""

    logits: Float[Tensor, "batch position class"]
    calls: dict[str, Call]

    @property
    def bytes(self) -> int:
        """How much room it takes."""
        tensors = [self.logits, *(call.weights for call in self.calls.values())]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Opponent(Lesson):
    """The lesson of an adversary."""

    def __init__(self, base: Subject, how: Opposing) -> None:
        if not base.task.answers or base.task.valued or base.task.name == "seq2seq":
            raise BadConfig(
                f"an adversary answers a text or its words with classes, as its base does; {base.name} is for"
                f" {base.task.name!r}"
            )
        self.base, self.how = base, how
        self.kept: WeakKeyDictionary[Batch, Seen] = WeakKeyDictionary()
        self.room = ROOM

    def loss(self, subject: Subject, batch: Batch) -> Float[Tensor, ""]:
        """Distance of the answers − λ · divergence of the attention."""
        theirs, own = self._of_base(batch), seen(subject, batch, self.how.sites)
        return self.distance(own, theirs, batch) - self.how.strength * self.divergence(own, theirs, batch, subject)

    def score(
        self, subject: Subject, dev: Sequence[Example], batch_size: int = 32, override: Rules | None = None
    ) -> float:
        """Minus the mean loss, each example counting alike; or how well it answers, if that is to choose."""
        if self.how.select_by == "score":
            return super().score(subject, dev, batch_size, override)
        total = 0.0
        with torch.no_grad(), attending(subject.model, override=override, watch=None):
            for batch in subject.batches(dev, batch_size):
                weight = 1 if self.how.average_over == "sums" else len(batch)
                total += weight * float(self.loss(subject, batch))
        return -total / len(dev)

    def distance(self, own: Seen, theirs: Seen, batch: Batch) -> Float[Tensor, ""]:
        """How far the answers are from the base's."""
        at = batch.answers.to(own.logits.device)
        logits, said = own.logits[at], theirs.logits[at]  # [answer class]
        if self.how.distance == "hard":
            each = F.cross_entropy(logits, said.argmax(-1), reduction="none")
        elif self.how.distance == "tvd":
            each = total_variation(logits.softmax(-1), said.softmax(-1))
        else:
            each = kl(said.softmax(-1), logits.softmax(-1))
        return each.sum() if self.how.average_over == "sums" else each.mean()

    def divergence(self, own: Seen, theirs: Seen, batch: Batch, subject: Subject) -> Float[Tensor, ""]:
        """How far the attention is from the base's; mean over the sites."""
        dropout = float(getattr(subject.model.config, "dropout", 0.0)) if self.how.after_dropout else 0.0
        found = []
        for site, call in own.calls.items():
            weights = F.dropout(call.weights, dropout, subject.model.training)
            apart = BETWEEN[self.how.divergence](weights, theirs.calls[site].weights)  # [batch head query]
            rows = real_rows(call, batch)[:, None]  # [batch 1 query]
            if self.how.average_over == "cells":
                found.append(apart.sum() / weights.numel())
            elif self.how.average_over == "sums":
                found.append((apart * rows).sum())
            else:
                found.append(over_rows(apart, rows).mean())
        return torch.stack(found).mean()

    @torch.no_grad()
    def _of_base(self, batch: Batch) -> Seen:
        """What the base model does with a batch, in its settled state."""
        if batch in self.kept:
            return self.kept[batch]
        found = seen(self.base, batch, self.how.sites)
        if found.bytes <= self.room:
            self.kept[batch] = found
            self.room -= found.bytes
        return found


def seen(subject: Subject, batch: Batch, sites: Sequence[str] = ("*",)) -> Seen:
    """What a subject says of a batch, and how it attends; on the graph."""
    with attending(subject.model, watch=list(sites)) as tape:
        logits = subject.logits(batch)
    return Seen(logits, {site: tape.joined(site) for site in tape})


def real_rows(call: Call, batch: Batch) -> Bool[Tensor, "batch query"]:
    """The rows of attention that belong to a token and may attend to something."""
    n_query, permitted = call.weights.shape[2], call.mask.any(-1).any(1)  # [batch #query]
    real = batch.mask.to(permitted.device)
    fits = call.site.kind != "pool" and real.shape[1] == n_query
    return permitted.expand(-1, n_query) & (real if fits else True)


def over_rows(
    values: Float[Tensor, "batch head query"], rows: Bool[Tensor, "batch 1 query"]
) -> Float[Tensor, " batch"]:
    """The mean of each example over heads and real rows."""
    return (values * rows).sum((1, 2)) / (rows.sum((1, 2)) * values.shape[1]).clamp_min(1)


def kl(p: Float[Tensor, "*rows key"], q: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows"]:
    """KL(p ‖ q) in nats over the last axis, with gradients; q no smaller than the smallest number there is."""
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(-1)


def jsd(p: Float[Tensor, "*rows key"], q: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows"]:
    """½ KL(p ‖ m) + ½ KL(q ‖ m), m = (p + q) / 2, in nats, with gradients."""
    mean = (p + q) / 2
    return (kl(p, mean) + kl(q, mean)) / 2


BETWEEN = {"jsd": jsd, "kl": kl, "kl_from_base": lambda own, base: kl(base, own)}
