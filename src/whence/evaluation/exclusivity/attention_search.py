"""Other attention with the same prediction: found by gradient ascent, many texts and restarts at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Generator, Tensor

from whence.evaluation.context import Context
from whence.evaluation.exclusivity.attention_importance import importance_shares
from whence.evaluation.exclusivity.editable_attention import EditableAttention, Logits, Rows
from whence.measures.divergence import js_divergence, total_variation
from whence.subject.batch import Batch
from whence.subject.subject import probabilities

if TYPE_CHECKING:
    from whence.experiments.instance_adversary import Config

Each = Float[Tensor, "times batch"]
START = 3.0  # standard deviation of the logits that a search starts from (Jain & Wallace's code)
RATE = 25.0  # Adam's, divided by the number of steps: how far a logit can move in a search
TINY = 1e-10  # added before a logarithm, as in their code
SAFELY = 0.999  # of the limit: what the search finds must hold when the whole model runs


@dataclass(frozen=True, eq=False)
class FurthestAttention:
    """For every text the attention furthest from its own within one `limit` on the change of the prediction.

    `restart` says which start led there, -1 where none did: then it is the text's own attention. `tvd` and `change` (by
    the measure that the config names) are those of a whole forward pass with this attention imposed, of probabilities
    as the search has them; `model_tvd` is that of the model's own probabilities.
    """

    limit: float
    rows: Rows
    restart: Int[ndarray, " batch"]
    jsd: Float[ndarray, " batch"]
    tvd: Float[ndarray, " batch"]
    model_tvd: Float[ndarray, " batch"]
    change: Float[ndarray, " batch"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The outcome of each search: rows, their distance from the model's own, and how far the prediction moves: without
    limit, where the decision changes and must not.
    """

    rows: Logits
    jsd: Each
    change: Each


def furthest_attention(
    context: Context, batch: Batch, config: "Config", site: str, steps: int, factor: float = 1.0
) -> tuple[EditableAttention, list[FurthestAttention]]:
    """The attention of a batch at one site, and within each limit the one furthest from it.

    Probabilities are those of the logits multiplied by `factor`.
    """
    there = EditableAttention(context.subject, batch, site, config.rows, config.special_tokens, config.divergence)
    if config.divergence == "free":
        there = there.weighted(importance_shares(there))
    generators = [context.generator(f"adversary {number}") for number in context.numbers_of(batch)]
    return there, search_within_limits(there, config, steps, generators, factor)


def search_within_limits(
    there: EditableAttention, config: "Config", steps: int, generators: Sequence[Generator], factor: float = 1.0
) -> list[FurthestAttention]:
    """One for every limit of the config; `generators` has random numbers for each text."""
    begin = starts(there, config.restarts, generators)
    search = Search(there, config, begin, config.learning_rate or RATE / steps, factor)
    for _ in range(steps):
        search.step()
    with torch.no_grad():
        search.look()
    base = there.imposing(there.own)
    return [chosen(search, limit, base) for limit in config.max_output_change]


def starts(there: EditableAttention, restarts: int, generators: Sequence[Generator]) -> Logits:
    """Normal logits on the free keys of every text, by its own random numbers, independent of its batch.

    They are drawn head by head, in the order of their shares in the mean: in whichever order the model has its heads,
    and whatever idle heads it has in addition, each starts from the same.
    """
    logits = torch.zeros(restarts, *there.own.shape)
    cells = (there.free & there.counted[..., None]).cpu()  # [batch head row key]
    orders = there.share.sum(-1).argsort(dim=1, descending=True, stable=True).tolist()  # [batch head]
    for text, generator in enumerate(generators):
        for head in orders[text]:
            drawn = torch.randn(restarts, int(cells[text, head].sum()), generator=generator)
            logits[:, text, head][:, cells[text, head]] = START * drawn
    return logits.to(there.own.device)


class Search:
    """Adam on the logits of all texts, restarts and penalised changes at once; `best` is the outcome so far."""

    def __init__(
        self, there: EditableAttention, config: "Config", begin: Logits, rate: float, factor: float = 1.0
    ) -> None:
        self.there, self.config, self.restarts, self.factor = there, config, len(begin), factor
        self.base = probabilities(factor * there.replay.output.float())
        self.per_tvd = change_factor(config.measure, self.base.shape[-1])
        levels = torch.tensor(config.penalised, device=begin.device)
        self.allowed = levels.repeat_interleave(self.restarts)[:, None]  # [times 1]
        self.logits = begin.repeat(len(levels), 1, 1, 1, 1).requires_grad_()
        self.optimiser = torch.optim.Adam([self.logits], lr=rate, amsgrad=True, maximize=True, fused=True)
        nothing = torch.zeros(self.logits.shape[:2], device=begin.device)
        self.best = Candidates(there.own.expand_as(self.logits), nothing, nothing)

    def step(self) -> None:
        """One step up."""
        slow = torch.backends.cudnn.flags(enabled=False)  # whose LSTM has no gradient outside training
        with slow, torch.enable_grad():
            gain = self.look()
            (self.logits.grad,) = torch.autograd.grad(gain, [self.logits])
        self.optimiser.step()

    def look(self) -> Float[Tensor, ""]:
        """The objective to maximise: Σ JSD − penalty · (change − allowed)₊ + spread · mean JSD between restarts.

        Where the decision must be kept, the penalty is also on how far another class is above it.
        """
        there, config = self.there, self.config
        rows = there.weights(self.logits)
        compared, probs = there.compared(rows), probabilities(self.factor * there.logits_under(self.logits, rows))
        change = self.per_tvd * total_variation(probs, self.base)  # [times batch]
        jsd = there.over_rows(Divergence.apply(compared, there.compared_own))
        excess, met = (change - self.allowed).clamp_min(0), change.detach()
        if not config.change_decision:
            margin = there.margin(probs)
            excess, met = excess - margin.clamp_max(0), met.masked_fill(margin.detach() <= 0, torch.inf)
        self._keep(Candidates(rows.detach(), jsd.detach(), met))
        gain = (jsd - config.penalty * excess).sum()
        if config.spread and self.restarts > 1:
            gain = gain + config.spread * between(there, compared, self.restarts).sum()
        return gain

    def _keep(self, now: Candidates) -> None:
        """Keep the furthest that met its limit so far, or the last."""
        if self.config.keep == "last":
            self.best = now
            return
        better = (now.change <= SAFELY * self.allowed) & (now.jsd > self.best.jsd)
        rows = torch.where(better[..., None, None, None], now.rows, self.best.rows)
        jsd, change = torch.where(
            better, torch.stack([now.jsd, now.change]), torch.stack([self.best.jsd, self.best.change])
        )
        self.best = Candidates(rows, jsd, change)


def change_factor(measure: str, classes: int) -> float:
    """What total variation is multiplied by: 2 where the authors' code sums |p − q| over several outputs; of two
    classes it looks at one sigmoid, whose |p − q| is the total variation.
    """
    return 2.0 if measure == "author_code" and classes > 2 else 1.0


class Divergence(torch.autograd.Function):
    """JSD(p, q) = ½ Σ p ln(p / m) + ½ Σ q ln(q / m) over the keys, in nats, m = (p + q) / 2.

    Its gradient by p is ½ ln(p / m): written out, since nearly all of a step is spent here.
    """

    @staticmethod
    def forward(
        ctx: Any, p: Float[Tensor, "*times batch head row key"], q: Float[Tensor, "batch head row key"]
    ) -> Float[Tensor, "*times batch head row"]:
        """With the gradient kept for later."""
        log_m = (p + q).div_(2).add_(TINY).log_()
        by_p, by_q = ((one + TINY).log_().sub(log_m).div_(2) for one in (p, q))
        ctx.save_for_backward(by_p)
        return (p * by_p).sum(-1) + (q * by_q).sum(-1)

    @staticmethod
    def backward(ctx: Any, *grown: Tensor) -> tuple[Tensor, None]:
        """By p; q is fixed."""
        return grown[0][..., None] * ctx.saved_tensors[0], None


class Apart(torch.autograd.Function):
    """Σ_j ½ Σ p_i ln(p_i / m_ij) over the other restarts j, for each restart i: summed over i, the JSD of all pairs.

    The gradient by p_i is Σ_j ½ ln(p_i / m_ij): each logarithm is taken once.
    """

    @staticmethod
    def forward(ctx: Any, rows: Float[Tensor, "level restart *rest key"]) -> Float[Tensor, "level restart *rest"]:
        """Each restart is compared with the one `shift` places on; at half the number, every pair comes twice."""
        restarts = rows.shape[1]
        grown = (rows + TINY).log_().mul_(restarts - 1)
        for shift in range(1, restarts // 2 + 1):
            log_m = (rows + rows.roll(shift, 1)).div_(2).add_(TINY).log_()  # of a restart and of the one before it
            grown -= log_m
            if 2 * shift < restarts:
                grown -= log_m.roll(-shift, 1)
        ctx.save_for_backward(grown.div_(2))
        return (rows * grown).sum(-1)

    @staticmethod
    def backward(ctx: Any, *grown: Tensor) -> Tensor:
        """By the rows."""
        return grown[0][..., None] * ctx.saved_tensors[0]


def between(there: EditableAttention, rows: Logits, restarts: int) -> Float[Tensor, "level batch"]:
    """The mean over pairs of restarts of the divergence between them, for each penalised change."""
    apart = there.over_rows(Apart.apply(rows.unflatten(0, (-1, restarts))))  # [level restart batch]
    return apart.sum(1) / (restarts * (restarts - 1) / 2)


def chosen(search: Search, limit: float, base: Float[Tensor, "batch class"]) -> FurthestAttention:
    """The furthest candidate within the limit; the text's own attention where there is none. `base` are the logits.

    A candidate that a pass of the whole model does not confirm is dropped.
    """
    there, found = search.there, search.best
    jsd, which = torch.where(found.change <= limit, found.jsd, 0.0).max(0)  # [batch]
    rows = torch.where(
        jsd[:, None, None, None] > 0, found.rows[which, torch.arange(len(which), device=which.device)], there.own
    )
    logits = there.imposing(rows)
    moved, model_moved = (
        total_variation((factor * logits).softmax(-1), (factor * base).softmax(-1)) for factor in (search.factor, 1.0)
    )
    kept = (jsd > 0) & (search.per_tvd * moved <= limit)
    if not search.config.change_decision:
        kept &= logits.argmax(-1) == base.argmax(-1)
    rows = torch.where(kept[:, None, None, None], rows, there.own)
    both = (there.compared(one).double().cpu().numpy() for one in (rows, there.own))
    exact = js_divergence(*both) * there.share.cpu().numpy()  # [batch head row]
    tvd, model_tvd = (torch.where(kept, one, 0.0).cpu().numpy() for one in (moved, model_moved))
    restart = torch.where(kept, which % search.restarts, -1).cpu().numpy()
    apart = np.maximum(exact.sum((-1, -2)), 0.0)
    return FurthestAttention(limit, rows, restart, apart, tvd, model_tvd, search.per_tvd * tvd)
