"""A model whose attention is imposed on it, text by text, in training and evaluation alike.

Wiegreffe & Pinter 2019, §3.4 (on an MLP over word vectors); Yang 2019, §4.3 (on the same transformer, the rest of it
free). The weights are the same in every epoch.

Differs from Yang 2019's code, which never handed the stored weights to the model: what it printed as Table 2 is an
ordinary training, three times.
"""

import hashlib
from collections.abc import Mapping
from typing import Literal
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from whence.core.attending import Rule, attending
from whence.core.errors import BadConfig
from whence.core.overrides import imposed, permuted, random, uniform
from whence.core.seeds import stream
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.training.adversarial import observe

Source = Literal["base", "uniform", "random", "permuted"]


class GuidedBy(BaseModel):
    """Whose attention is imposed: another model's, the same shuffled, uniform or random weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(description="folder or hub name of the model whose attention is imposed")
    fingerprint: str = Field(description="hash of that model")
    source: Source = Field("base", description="its weights, the same in random order, uniform or random ones")


class Guided(Subject):
    """A subject whose attention is imposed."""

    def __init__(self, subject: Subject, base: Subject, source: Source, seed: int = 0) -> None:
        super().__init__(subject.model, subject.tokenizer, subject.task.name, subject.name)
        self.base, self.source, self.seed = base, source, seed
        self.cached: WeakKeyDictionary[Batch, Mapping[str, Float[Tensor, "batch head query key"]]] = WeakKeyDictionary()
        if source in ("base", "permuted"):
            self.pairs = paired(subject, base)

    def logits(self, batch: Batch) -> Float[Tensor, "batch position class"]:
        """The predictions under the weights that are imposed."""
        with attending(self.model, override=self.rules(batch), watch=None):
            return super().logits(batch)

    def rules(self, batch: Batch) -> Mapping[str, Rule]:
        """The override for a batch, the same in every epoch."""
        if self.source == "uniform":
            return {"*": uniform}
        if self.source == "random":
            return {"*": random(self._generator(batch))}
        given: dict[str, Rule] = {site: imposed(weights) for site, weights in self._weights(batch).items()}
        return given if self.source == "base" else {**given, "*": permuted(self._generator(batch))}

    @torch.no_grad()
    def _weights(self, batch: Batch) -> Mapping[str, Float[Tensor, "batch head query key"]]:
        if batch not in self.cached:
            calls = observe(self.base, batch, tuple(set(self.pairs.values()))).calls
            self.cached[batch] = {site: calls[theirs].weights for site, theirs in self.pairs.items()}
        return self.cached[batch]

    def _generator(self, batch: Batch) -> torch.Generator:
        """A generator that the seed and the texts determine."""
        texts = hashlib.sha256("\n".join(" ".join(row) for row in batch.tokens).encode()).hexdigest()
        return stream(self.seed, f"{self.source} {texts}")


def paired(subject: Subject, base: Subject) -> dict[str, str]:
    """Which site of the base guides which of the subject: of the same name, or the last guides the only one."""
    if set(subject.sites) <= set(base.sites):
        return {site: site for site in subject.sites}
    if len(subject.sites) == 1:
        return {next(iter(subject.sites)): list(base.sites)[-1]}
    raise BadConfig(
        f"{base.name} has the sites {', '.join(base.sites)} and {subject.name} {', '.join(subject.sites)}; expected the"
        " same ones, or a model with one site to be guided"
    )
