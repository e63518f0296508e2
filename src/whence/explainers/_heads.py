"""Which heads carry an answer, and so are worth looking at. Michel et al. 2019, Eq. 2.

    I_h = |Σ_i c_h(i) · ∂y/∂c_h(i)| = |Σ_i Σ_j α_h(i, j) ∂y/∂α_h(i, j)|,   c_h(i) = Σ_j α_h(i, j) v_j

How the answer y would fall without head h, to first order. A head's share is I_h over the sum of all heads'.

Differs from the paper: y is what is explained of one text; they take the loss, and its mean over a corpus. Their code
divides each layer's scores by their length; here layers compare.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from numpy import ndarray

from whence.explainers.attention_gradient import with_gradients
from whence.models.batch import Batch
from whence.models.subject import Subject
from whence.models.targets import Target

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Heads:
    """Of one text: the share of every head, by site."""

    shares: dict[str, Float[ndarray, " head"]]

    def most(self, number: int = SHOWN) -> list[tuple[str, int, float]]:
        """The heads with the largest shares: site, head, share."""
        every = [(site, head, float(one)) for site, heads in self.shares.items() for head, one in enumerate(heads)]
        return sorted(every, key=lambda head: -head[2])[:number]

    @property
    def layers(self) -> list[tuple[str, float]]:
        """The sum over each site's heads, the largest first."""
        return sorted(((site, float(one.sum())) for site, one in self.shares.items()), key=lambda layer: -layer[1])


def heads(subject: Subject, batch: Batch, target: Target) -> list[Heads]:
    """For each text how much every head carries; steps of one site are taken together."""
    found: dict[str, torch.Tensor] = {}
    for call, gradient in with_gradients(subject, batch, target, list(subject.sites)):
        part = (call.weights * gradient).detach().double().sum((2, 3)).unflatten(0, (len(batch), -1)).sum(1)
        found[call.site.name] = found.get(call.site.name, 0.0) + part  # [batch head]
    sizes = {site: one.abs().cpu().numpy() for site, one in found.items()}
    texts = []
    for text in range(len(batch)):
        total = max(sum(float(one[text].sum()) for one in sizes.values()), 1e-300)
        texts.append(Heads({site: one[text] / total for site, one in sizes.items()}))
    return texts


def heads_note(subject: Subject, batch: Batch, target: Target) -> str:
    """Of the first text, in words: the heads that carry most, and the layers."""
    (one, *_) = heads(subject, batch, target)
    named = ", ".join(f"{site} head {head} ({share:.0%})" for site, head, share in one.most())
    layers = ", ".join(f"{site} ({share:.0%})" for site, share in one.layers[:SHOWN])
    return f"heads that carry most of the answer (Michel et al. 2019): {named}; layers: {layers}"
