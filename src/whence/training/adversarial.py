"""Training a model to predict like another one while it attends differently.

    loss = distance(ŷ, ŷ_base) − λ · divergence(α, α_base)

Wiegreffe & Pinter 2019, §4: total variation, KL(α ‖ α_base). Yang 2019, §4.2: negative log-likelihood of the base's
predictions, KL.

Differs from both: distance is the mean over the predictions, divergence the mean over the rows of attention of real
tokens, over heads and over sites. `average_over` has the authors' ways: `cells`, the mean over every cell of batch ×
head × query × key, padding too (Yang 2019); `sums`, both terms summed over the batch (Wiegreffe & Pinter).
Wiegreffe & Pinter's λ is 2λ here: their code takes half the total variation of two classes.
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
from whence.training.fit import Objective

Weights = Float[Tensor, "batch head query key"]
Distance = Literal["hard", "tvd", "kl"]
Divergence = Literal["jsd", "kl", "kl_from_base"]
MAX_CACHED_BYTES = 300_000_000  # of the base model's predictions and weights, kept between epochs


class Adversarial(BaseModel):
    """Which model to predict like, and how far to be from its attention."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(description="folder or hub name of the model to predict like")
    fingerprint: str = Field(description="hash of the base model")
    strength: float = Field(ge=0, description="λ, on the divergence of the attention; twice Wiegreffe & Pinter's λ")
    distance: Distance = Field(
        "tvd",
        description="of predictions: negative log-likelihood of the base's class, total variation, or KL(base ‖ own)",
    )
    divergence: Divergence = Field("jsd", description="of attention: JSD, KL(own ‖ base), or KL(base ‖ own)")
    average_over: Literal["rows", "cells", "sums"] = Field("rows", description="real rows, all cells, or nothing")
    start: Literal["scratch", "base"] = Field("scratch", description="from new weights, or from the base model's")
    sites: tuple[str, ...] = Field(("*",), min_length=1, description="where attention is to differ")
    after_dropout: bool = Field(False, description="take weights after dropout in training, as Yang 2019's code does")
    select_by: Literal["loss", "score"] = Field(
        "loss", description="how the best epoch is selected: by this loss, or by its metric"
    )


@dataclass(frozen=True, eq=False)
class Observed:
    """What a model predicts for a batch, and how it attends at each site."""

    logits: Float[Tensor, "batch position class"]
    calls: dict[str, Call]

    @property
    def bytes(self) -> int:
        """Its size in memory."""
        tensors = [self.logits, *(call.weights for call in self.calls.values())]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class AdversarialObjective(Objective):
    """The objective of an adversary."""

    def __init__(self, base: Subject, config: Adversarial) -> None:
        if not base.task.predicts or base.task.predicts_values or base.task.name == "seq2seq":
            raise BadConfig(
                f"an adversary predicts classes of a text or of its words, as its base does; {base.name} is for"
                f" {base.task.name!r}"
            )
        self.base, self.config = base, config
        self.cached: WeakKeyDictionary[Batch, Observed] = WeakKeyDictionary()
        self.bytes_left = MAX_CACHED_BYTES

    def loss(self, subject: Subject, batch: Batch) -> Float[Tensor, ""]:
        """Distance of the predictions − λ · divergence of the attention."""
        theirs, own = self._of_base(batch), observe(subject, batch, self.config.sites)
        return self.distance(own, theirs, batch) - self.config.strength * self.divergence(own, theirs, batch, subject)

    def score(
        self, subject: Subject, dev: Sequence[Example], batch_size: int = 32, override: Rules | None = None
    ) -> float:
        """Minus the mean loss, each example counting alike; or the metric, if that selects."""
        if self.config.select_by == "score":
            return super().score(subject, dev, batch_size, override)
        total = 0.0
        with torch.no_grad(), attending(subject.model, override=override, watch=None):
            for batch in subject.batches(dev, batch_size):
                weight = 1 if self.config.average_over == "sums" else len(batch)
                total += weight * float(self.loss(subject, batch))
        return -total / len(dev)

    def distance(self, own: Observed, theirs: Observed, batch: Batch) -> Float[Tensor, ""]:
        """How far the predictions are from the base's."""
        at = batch.predicted_positions.to(own.logits.device)
        logits, target = own.logits[at], theirs.logits[at]  # [prediction class]
        if self.config.distance == "hard":
            each = F.cross_entropy(logits, target.argmax(-1), reduction="none")
        elif self.config.distance == "tvd":
            each = total_variation(logits.softmax(-1), target.softmax(-1))
        else:
            each = kl(target.softmax(-1), logits.softmax(-1))
        return each.sum() if self.config.average_over == "sums" else each.mean()

    def divergence(self, own: Observed, theirs: Observed, batch: Batch, subject: Subject) -> Float[Tensor, ""]:
        """How far the attention is from the base's; mean over the sites."""
        dropout = float(getattr(subject.model.config, "dropout", 0.0)) if self.config.after_dropout else 0.0
        found = []
        for site, call in own.calls.items():
            weights = F.dropout(call.weights, dropout, subject.model.training)
            apart = DIVERGENCES[self.config.divergence](weights, theirs.calls[site].weights)  # [batch head query]
            rows = real_rows(call, batch)[:, None]  # [batch 1 query]
            if self.config.average_over == "cells":
                found.append(apart.sum() / weights.numel())
            elif self.config.average_over == "sums":
                found.append((apart * rows).sum())
            else:
                found.append(over_rows(apart, rows).mean())
        return torch.stack(found).mean()

    @torch.no_grad()
    def _of_base(self, batch: Batch) -> Observed:
        """What the base model does with a batch, in evaluation mode."""
        if batch in self.cached:
            return self.cached[batch]
        found = observe(self.base, batch, self.config.sites)
        if found.bytes <= self.bytes_left:
            self.cached[batch] = found
            self.bytes_left -= found.bytes
        return found


def observe(subject: Subject, batch: Batch, sites: Sequence[str] = ("*",)) -> Observed:
    """What a subject predicts for a batch, and how it attends; on the graph."""
    with attending(subject.model, watch=list(sites)) as tape:
        logits = subject.logits(batch)
    return Observed(logits, {site: tape.joined(site) for site in tape})


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
    """KL(p ‖ q) in nats over the last axis, with gradients; q is clamped to the smallest positive number."""
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(-1)


def jsd(p: Float[Tensor, "*rows key"], q: Float[Tensor, "*rows key"]) -> Float[Tensor, "*rows"]:
    """½ KL(p ‖ m) + ½ KL(q ‖ m), m = (p + q) / 2, in nats, with gradients."""
    mean = (p + q) / 2
    return (kl(p, mean) + kl(q, mean)) / 2


DIVERGENCES = {"jsd": jsd, "kl": kl, "kl_from_base": lambda own, base: kl(base, own)}
