"""Attention that can be replaced at one site, with gradients, and the predictions under it."""

from copy import copy
from dataclasses import replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int, Shaped
from numpy import ndarray
from torch import Tensor

from whence.attribution.read_rows import automatic, readable, shares
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import Override, from_logits, imposed
from whence.core.replay.attention import Replay
from whence.core.site import repeated
from whence.evaluation.context import Context
from whence.evaluation.locations import matching, sites_of_tokens
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import predicted
from whence.training.adversarial import real_rows

Which = Literal["read", "all"]
Compared = Literal["free", "row"]
Logits = Float[Tensor, "times batch head row key"]
Rows = Float[Tensor, "batch head row key"]
SHARP = 1e4  # a logit so far above the others that the softmax is one there and zero elsewhere
TEXTS, CELLS = 1024, 2**17  # at a time, where copies cost little: texts, and weights of all their copies
TRIED = 4  # random attentions on which the short cut must agree with the model


def single_site(subject: Subject, name: str) -> str:
    """The one site that a name or pattern matches; `auto`: the last pooling attention, else the last over the text."""
    if name == "auto":
        pooling = [site.name for site in subject.sites.values() if site.kind == "pool"]
        return (pooling or readable(subject))[-1]
    named = matching(subject.sites, (name,))
    if len(named) > 1:
        raise BadConfig(f"attention is replaced at one site, and {name!r} matches {', '.join(named)}; name one of them")
    return named[0]


def with_copies(context: Context, site: str, copies: int) -> Context:
    """The context in batches that can be run in so many copies, each with its own attention at a site.

    Copies that run through the model make a batch together with the texts; where only one row runs they cost little;
    and where they are queries of one pass, many texts are quicker.
    """
    way = Replay(context.subject.model, site, context.first_batch().inputs).strategy
    if way != "queries":
        size = context.batch_size if way == "rows" else max(1, context.batch_size // copies)
    else:
        longest = max(len(example.text.split()) for example in context.examples)
        size = max(context.batch_size, min(TEXTS, CELLS // (copies * max(longest, 1))))
    return replace(context, batch_size=size)


class EditableAttention:
    """The attention of a batch at one site, some rows of which can be replaced.

    Those are the rows from which the prediction is read (of a pooling attention all, else as in `raw_attention`), or
    with `all` the row of every token; in every head. On each row the weight of the free keys is redistributed among
    them: those that are permitted, and not special unless `special_tokens`. Of several predictions the last is used.

    `own` is what the model has in these rows, `mass` how much of it is on free keys, `share` how much of a mean each
    row is: all alike, unless they are weighted. Rows are compared as distributions over the free keys alone, each
    divided by its `mass`; with `divergence="row"` as they are, over all keys.

    To predict, only what comes after the site runs again; and where the model's logits are an affine function of one
    row of weights, as when a linear map reads a weighted mean, nothing at all: they are the mean of what they are at
    each single key.
    """

    def __init__(
        self,
        subject: Subject,
        batch: Batch,
        site: str,
        rows: Which = "read",
        special_tokens: bool = False,
        divergence: Compared = "free",
    ) -> None:
        self.subject, self.batch, self.site = subject, batch, site
        self.target = predicted(subject, batch)
        self.replay = Replay(subject.model, site, batch.inputs, read=self.read)
        self.editable = self._editable(rows)  # [batch query]
        one, n_query = bool((self.editable.sum(1) == 1).all()), self.editable.shape[1]
        every = torch.arange(n_query, device=subject.device).expand(len(batch), -1)
        self.places = self.editable.int().argmax(1)[:, None] if one else every  # [batch row]
        self.own = self.taken(self.replay.call.weights.float())  # [batch head row key]
        sparing = not special_tokens and site in sites_of_tokens(subject)
        self.special = batch.special.to(subject.device) if sparing else None
        self.free, self.in_part = self._free()  # [batch head row key]
        self.counted = self.editable.gather(1, self.places)[:, None].expand(self.own.shape[:-1])  # [batch head row]
        self.share = self.counted / self.counted.sum((1, 2), keepdim=True).clamp_min(1)
        self.mass = (self.own * self.free).sum(-1, keepdim=True)
        self.bound = self.own.masked_fill(self.free, 0.0)
        nothing = ~self.free.any(-1, keepdim=True)
        self.barred = torch.zeros_like(self.own).masked_fill(~(self.free | nothing), -torch.inf)
        self.within_free = divergence == "free" and self.in_part
        self.of_free = self.free / self.mass.clamp_min(torch.finfo(self.own.dtype).tiny)
        self.compared_own = self.compared(self.own)
        self.at_each_key = self._short_cut()

    def weighted(self, share: Float[Tensor, "batch head row"]) -> "EditableAttention":
        """The same with other weights in the mean over heads and rows; of each text they sum to one."""
        other = copy(self)
        other.share = share
        return other

    def read(self, output: Any) -> Float[Tensor, "copies class"]:
        """The logits of the explained prediction, for any number of copies of the batch."""
        logits = self.subject.task.positioned(output.logits)  # [copies·batch position class]
        positions = repeated(self.target.positions, len(logits) // len(self.batch)).to(logits.device)
        return logits[torch.arange(len(logits), device=logits.device), positions]

    def weights(self, logits: Logits) -> Logits:
        """The rows that the logits make: softmax over the free keys, times what these had; the others as they were."""
        shared_out = (logits + self.barred).softmax(-1)
        return self.bound + self.mass * shared_out if self.in_part else shared_out

    def logits_under(self, logits: Logits, weights: Logits) -> Float[Tensor, "times batch class"]:
        """The model's logits under these weights, which are those that `logits` make."""
        if self.at_each_key is not None:
            return torch.einsum("tbk,bkc->tbc", weights[:, :, 0, 0], self.at_each_key)
        return self.replay(self._rule(logits), times=len(logits)).float()

    def margin(self, logits: Float[Tensor, "*times batch class"]) -> Float[Tensor, "*times batch"]:
        """How far the logit of the predicted class is above that of the best other class."""
        chosen = self.target.classes.to(logits.device)[:, None].expand(*logits.shape[:-1], 1)
        return (logits.gather(-1, chosen) - logits.scatter(-1, chosen, -torch.inf).amax(-1, keepdim=True))[..., 0]

    def compared(self, rows: Logits | Rows) -> Logits | Rows:
        """Rows as they are compared with others: divided by the mass of their free keys, the other keys left out."""
        return rows * self.of_free if self.within_free else rows

    @torch.no_grad()
    def imposing(self, rows: Rows) -> Float[Tensor, "batch class"]:
        """The model's logits when these rows are imposed on it: one whole forward pass, without replay."""
        rows = torch.where(self.share[..., None] > 0, rows, self.own)
        with attending(self.subject.model, override={self.site: imposed(self.whole(rows))}, watch=None):
            return self.read(self.subject.model(**self.batch.inputs)).double()

    def whole(self, rows: Rows) -> Float[Tensor, "batch head query key"]:
        """All rows of the site, with these in their places."""
        own = self.replay.call.weights
        at = self.places[:, None, :, None].expand(-1, own.shape[1], -1, own.shape[-1])
        return own.scatter(2, at, rows.to(own.dtype))

    def taken(self, weights: Shaped[Tensor, "batch head query key"]) -> Shaped[Tensor, "batch head row key"]:
        """The rows that can be replaced."""
        at = self.places[:, None, :, None].expand(-1, weights.shape[1], -1, weights.shape[-1])
        return weights.gather(2, at)

    def inputs(self) -> Int[ndarray, " batch"]:
        """How many keys of each text are free."""
        return (self.free & self.counted[..., None]).any(2).any(1).sum(-1).cpu().numpy()

    def sharpness(self) -> Float[ndarray, " batch"]:
        """The largest weight of a free key, as rows are compared; mean over heads and editable rows."""
        return self.over_rows((self.compared_own * self.free).amax(-1)).cpu().numpy()

    def free_mass(self) -> Float[ndarray, " batch"]:
        """How much of the weight is on free keys, and can be moved; mean over heads and editable rows."""
        return self.over_rows(self.mass[..., 0]).cpu().numpy()

    def over_rows(self, values: Float[Tensor, "*times batch head row"]) -> Float[Tensor, "*times batch"]:
        """The mean over heads and editable rows, each weighted by its `share`."""
        return (values * self.share).sum((-1, -2))

    def _editable(self, rows: Which) -> Bool[Tensor, "batch query"]:
        call = self.replay.call
        if call.site.kind == "pool" or rows == "all":
            return real_rows(call, self.batch)
        n_query, permitted = call.weights.shape[2], call.mask.any(-1).any(1)  # [batch #query]
        row = automatic(self.subject, self.batch, call.site.kind, "auto")
        return (shares(self.batch, self.target, row, n_query) > 0).to(permitted.device) & permitted

    def _free(self) -> tuple[Bool[Tensor, "batch head row key"], bool]:
        """The free keys, and whether some that are permitted are not."""
        call = self.replay.call
        permitted = self.taken(call.mask.expand_as(call.weights))
        free = permitted.clone()
        free[..., free.shape[-1] - call.sinks :] = False
        if self.special is not None:
            free[..., : self.special.shape[1]] &= ~self.special[:, None, None]
        return free, bool((permitted & ~free).any())

    def _rule(self, logits: Logits) -> Override:
        rule = from_logits(logits)
        rule = rule.sparing(self.special) if self.in_part and self.special is not None else rule
        return rule if bool(self.editable.all()) else rule.only(queries=self.editable)

    @torch.no_grad()
    def _short_cut(self) -> Float[Tensor, "batch key class"] | None:
        """The logits with all weight on each key, if their mean by any weights equals the model's."""
        _, n_head, n_row, n_key = self.own.shape
        if self.replay.strategy != "queries" or (n_head, n_row) != (1, 1) or self.in_part:
            return None
        single = SHARP * torch.eye(n_key, device=self.own.device)[:, None, None, None]  # [key 1 1 1 key]
        single = single.expand(-1, *self.own.shape)
        at_each_key = self.replay(self._rule(single), times=n_key).float().transpose(0, 1)
        tried = torch.randn(TRIED, *self.own.shape, generator=torch.Generator().manual_seed(0)).to(single) * 3
        meant = torch.einsum("tbk,bkc->tbc", self.weights(tried)[:, :, 0, 0], at_each_key)
        replayed = self.replay(self._rule(tried), times=TRIED)
        close = (meant - replayed).abs().max() <= 1e-5 * replayed.abs().max().clamp_min(1.0)
        return at_each_key if bool(close) else None
