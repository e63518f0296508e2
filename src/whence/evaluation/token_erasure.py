"""Erasing tokens: the predictions when some of a text's inputs are removed, many removals at a time."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from whence.attribution.read_rows import readable
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import without
from whence.core.replay.attention import Replay
from whence.core.site import Call, repeated
from whence.evaluation.locations import matching
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import predicted

Erase = Literal["attention", "zero", "input"]
AT_ONCE = 2**14  # tokens in one forward pass
Removed = Bool[Tensor, "pair token"]
Rows = Int[Tensor, " pair"]


class TokenErasure:
    """A batch whose inputs can be removed, and the prediction that is explained (`target`).

    `inputs` are the tokens that are not special, that may be attended, and that the prediction can depend on: of a
    language model those before it, and where tokens are deleted not the one whose own tag is asked. `base` is the
    prediction with all of them present.
    """

    def __init__(self, subject: Subject, batch: Batch, erase: Erase, sites: Sequence[str]) -> None:
        self.subject, self.batch, self.erase = subject, batch, erase
        self.target = predicted(subject, batch, "margin")
        named = matching(subject.sites, sites)
        self.sites = [name for name in readable(subject) if name in named and subject.sites[name].keys == "tokens"]
        if not self.sites and erase != "input":
            raise BadConfig(
                f"the keys at {', '.join(named)} are not the tokens of the text, so none can be erased there; name"
                " other sites, or delete from the text (erase input)"
            )
        self.inputs = self._inputs(attendable(subject, batch, self.sites)).numpy()
        self.replay: Replay | None = None
        if erase != "input" and len(self.sites) == 1:
            self.replay = Replay(subject.model, self.sites[0], batch.inputs, read=self._read)
        with torch.no_grad():
            self.base = _probabilities(self._read(subject.model(**batch.inputs))).numpy()  # [batch class]

    @torch.no_grad()
    def __call__(self, removed: Bool[ndarray, "times batch token"]) -> Float[ndarray, "times batch class"]:
        """The predictions without the inputs that are marked.

        Where one site is overridden, only what comes after it runs again; elsewhere a text of which nothing is removed
        costs nothing.
        """
        marked = torch.from_numpy(removed)
        if self.replay is not None:
            rule = without(marked.to(self.subject.device), renormalise=self.erase == "attention")
            return _probabilities(self.replay(rule, times=len(marked))).numpy()
        probs = torch.from_numpy(self.base).repeat(len(marked), 1, 1)  # [times batch class]
        pairs = marked.any(-1).nonzero()  # [pair 2]: which time, which text
        for some in pairs.split(max(1, AT_ONCE // marked.shape[-1])):
            times, rows = some.unbind(1)
            answer = self._deleted if self.erase == "input" else self._unattended
            probs[times, rows] = _probabilities(answer(rows, marked[times, rows]))
        return probs.numpy()

    def _inputs(self, attended: Bool[Tensor, "batch token"]) -> Bool[Tensor, "batch token"]:
        place, position = torch.arange(attended.shape[1]), self.target.positions[:, None]
        inputs = attended & ~self.batch.special
        if self.subject.task.name == "causal-lm":
            return inputs & (place <= position)
        if self.subject.task.name == "token-classification" and self.erase == "input":
            return inputs & (place != position)
        return inputs

    def _read(self, output: Any) -> Float[Tensor, "copies class"]:
        """The logits of the explained prediction, for any number of copies of the batch."""
        logits = self.subject.task.positioned(output.logits)  # [copies·batch position class]
        positions = repeated(self.target.positions, len(logits) // len(self.batch))
        return _at(logits, positions)

    def _unattended(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """These texts with no weight on what is removed, at all the sites."""
        inputs = {name: tensor[rows.to(tensor.device)] for name, tensor in self.batch.inputs.items()}
        rule = without(removed.to(self.subject.device), renormalise=self.erase == "attention")
        with attending(self.subject.model, override=dict.fromkeys(self.sites, rule), watch=None):
            logits = self.subject.task.positioned(self.subject.model(**inputs).logits)
        return _at(logits, self.target.positions[rows])

    def _deleted(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """These texts with tokens deleted; the others close up, and padding fills the rest."""
        left = self.subject.tokenizer.padding_side == "left"
        order = (~removed if left else removed).to(torch.uint8).argsort(dim=1, stable=True)
        keep = removed.shape[1] - int(removed.sum(1).min())  # tokens of the longest
        order = order[:, -keep:] if left else order[:, :keep]
        gone = removed.gather(1, order)
        padding = {"input_ids": self.subject.tokenizer.pad_token_id, "attention_mask": 0}
        inputs = {}
        for name, tensor in self.batch.inputs.items():
            chosen = tensor[rows.to(tensor.device)]
            if name != "labels" and chosen.dim() > 1 and chosen.shape[1] == removed.shape[1]:
                chosen = chosen.gather(1, order.to(tensor.device))
                chosen = chosen.masked_fill(gone.to(tensor.device), padding.get(name, 0))
            inputs[name] = chosen
        logits = self.subject.task.positioned(self.subject.model(**inputs).logits)
        return _at(logits, self._moved(self.target.positions[rows], removed))

    def _moved(self, positions: Rows, removed: Removed) -> Rows:
        """The position of the prediction once the tokens before it have closed up."""
        if self.subject.task.name not in ("token-classification", "causal-lm"):
            return positions
        before = torch.arange(removed.shape[1]) <= positions[:, None]
        return positions - (removed & before).sum(1)


@torch.no_grad()
def attendable(subject: Subject, batch: Batch, sites: Sequence[str]) -> Bool[Tensor, "batch token"]:
    """The tokens that some of the sites may attend to; all, where there are no sites."""
    found = torch.zeros_like(batch.special) if sites else batch.mask.cpu()

    def look(call: Call) -> None:
        found.logical_or_(call.mask[..., : call.mask.shape[-1] - call.sinks].flatten(1, 2).any(1).cpu())

    with attending(subject.model, watch=dict.fromkeys(sites, look)):
        subject.model(**batch.inputs)
    return found


def attended_words(subject: Subject, batch: Batch) -> Bool[Tensor, "batch token"]:
    """The tokens that are not special and that some site whose keys are tokens may attend to."""
    sites = [name for name in readable(subject) if subject.sites[name].keys == "tokens"]
    return attendable(subject, batch, sites) & ~batch.special


def _at(logits: Float[Tensor, "batch position class"], positions: Rows) -> Float[Tensor, "batch class"]:
    return logits[torch.arange(len(logits), device=logits.device), positions.to(logits.device)]


def _probabilities(logits: Tensor) -> Tensor:
    """In double precision: divergences of similar predictions are differences of small numbers."""
    return logits.double().softmax(-1).cpu()
