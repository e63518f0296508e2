"""Removing inputs: the model's logits when some tokens of a text are removed, many removals at a time."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
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
from whence.subject.targets import Target, predicted

Erase = Literal["delete", "mask", "replace", "attention", "zero"]
FROM_TEXT = ("delete", "mask", "replace")  # the others leave the text as it is and take the attention away
TOKENS, LOGITS = 2**14, 2**25  # at most in one forward pass: tokens read, and logits returned
WEIGHTS = 2**22  # at most of one head, where attention is taken away and so has to be held
Removed = Bool[Tensor, "pair token"]
Rows = Int[Tensor, " pair"]


class Eraser:
    """A batch whose inputs can be removed, and the prediction that is explained (`target`).

    `inputs` are the tokens that are not special, that may be attended, and that the prediction can depend on: of a
    language model those before it, and where tokens are deleted not the one whose own tag is asked. `replacement` are
    the tokens that take the place of removed ones, where they are masked or replaced.
    """

    def __init__(
        self,
        subject: Subject,
        batch: Batch,
        erase: Erase,
        sites: Sequence[str] = ("*",),
        replacement: Int[Tensor, "batch token"] | None = None,
    ) -> None:
        self.subject, self.batch, self.erase, self.replacement = subject, batch, erase, replacement
        self.target: Target = predicted(subject, batch, "margin")
        self.sites = [] if erase in FROM_TEXT else erasable_sites(subject, sites)
        self.inputs = self._inputs()
        self.replay: Replay | None = None
        if len(self.sites) == 1:
            self.replay = Replay(subject.model, self.sites[0], batch.inputs, read=self._read)

    def lengths(self, rows: Rows, removed: Removed) -> Int[Tensor, " pair"]:
        """How many tokens the model reads of each of these texts without what is removed: the width of its row.

        That of the batch, where padding cannot be left out: on the left it moves positions, and steps of a generated
        text are not those of the input.
        """
        if not self.narrows:
            return torch.full_like(rows, removed.shape[1])
        there = self.batch.mask.cpu()[rows]
        return (there & ~removed if self.erase == "delete" else there).sum(1)

    @property
    def narrows(self) -> bool:
        """Whether columns that are padding in all texts of a forward pass are left out."""
        if self.replay is not None or self.batch.window is not None or self.subject.tokenizer.padding_side == "left":
            return False
        return self.subject.task.name in ("sequence-classification", "token-classification")

    def at_once(self, width: int) -> int:
        """How many removals of texts of so many tokens fit into one forward pass."""
        classes = max(self.subject.model.config.num_labels or 2, 2)
        if self.subject.task.name in ("causal-lm", "seq2seq"):
            classes = self.subject.model.config.vocab_size * self.batch.predicted_positions.shape[1]
        held = TOKENS if self.erase in FROM_TEXT else WEIGHTS // width**2
        return max(1, min(TOKENS // width, LOGITS // classes, held))

    @torch.no_grad()
    def __call__(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """The logits of the explained predictions of these texts, each without the tokens that are marked.

        In double precision: what is compared are differences of small numbers.
        """
        if self.replay is not None:
            return self._replayed(rows, removed).double().cpu()
        logits = self._changed(rows, removed) if self.erase in FROM_TEXT else self._unattended(rows, removed)
        return logits.double().cpu()

    def _inputs(self) -> Bool[Tensor, "batch token"]:
        batch, task = self.batch, self.subject.task.name
        place, position = torch.arange(batch.special.shape[1]), self.target.positions[:, None]
        inputs = attendable(self.subject, batch, self.sites) & ~batch.special
        if task == "causal-lm":
            return inputs & (place <= position)
        if task == "token-classification" and self.erase == "delete":
            own = batch.word.gather(1, position), batch.segment.gather(1, position)
            return inputs & ((batch.word != own[0]) | (batch.segment != own[1]))
        return inputs

    def _read(self, output: Any) -> Float[Tensor, "copies class"]:
        """The logits of the explained prediction, for any number of copies of the batch."""
        logits = self.subject.task.positioned(output.logits)  # [copies·batch position class]
        return _at(logits, repeated(self.target.positions, len(logits) // len(self.batch)))

    def _replayed(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """With no weight on what is removed at the one site; only what comes after it runs again."""
        assert self.replay is not None
        nth = _occurrence(rows)  # [pair]: which of its text's removals
        marked = torch.zeros(int(nth.max()) + 1, *self.batch.special.shape, dtype=torch.bool)
        marked[nth, rows] = removed
        rule = without(marked.to(self.subject.device), renormalise=self.erase == "attention")
        return self.replay(rule, times=len(marked)).cpu()[nth, rows]

    def _unattended(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """With no weight on what is removed, at all the sites."""
        inputs, narrow = self._narrowed(rows, removed)
        rule = without(narrow.to(self.subject.device), renormalise=self.erase == "attention")
        with attending(self.subject.model, override=dict.fromkeys(self.sites, rule), watch=None):
            logits = self.subject.task.positioned(self.subject.model(**inputs).logits)
        return _at(logits, self.target.positions[rows])

    def _changed(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """With other tokens in the place of those that are removed, or none."""
        if self.erase == "delete":
            return self._deleted(rows, removed)
        assert self.replacement is not None
        inputs, narrow = self._narrowed(rows, removed)
        put = self.replacement[rows, : narrow.shape[1]].to(inputs["input_ids"])
        inputs["input_ids"] = torch.where(narrow.to(put.device), put, inputs["input_ids"])
        logits = self.subject.task.positioned(self.subject.model(**inputs).logits)
        return _at(logits, self.target.positions[rows])

    def _narrowed(self, rows: Rows, removed: Removed) -> tuple[dict[str, Tensor], Bool[Tensor, "pair kept"]]:
        """The inputs of these texts and what is removed, without columns that are padding in all of them."""
        width = removed.shape[1]
        keep = int(self.lengths(rows, removed).max())
        inputs = {name: tensor[rows.to(tensor.device)] for name, tensor in self.batch.inputs.items()}
        narrow = {name: one[:, :keep] for name, one in inputs.items() if one.dim() == 2 and one.shape[1] == width}
        return {**inputs, **narrow}, removed[:, :keep]

    def _deleted(self, rows: Rows, removed: Removed) -> Float[Tensor, "pair class"]:
        """With tokens deleted; the others close up, and padding fills the rest."""
        left = self.subject.tokenizer.padding_side == "left"
        if self.narrows:
            removed = removed | ~self.batch.mask.cpu()[rows]
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


def erasable_sites(subject: Subject, patterns: Sequence[str]) -> list[str]:
    """The sites whose attention to tokens of the text can be taken away; refused if there are none."""
    there = subject.sites
    named = matching(there, patterns)
    found = [name for name in readable(subject) if name in named and there[name].keys == "tokens"]
    if not found:
        raise BadConfig(
            f"the keys at {', '.join(named)} are not the tokens of the text, so none can be erased there; name other"
            " sites, or remove words from the text (--erase delete)"
        )
    return found


@torch.no_grad()
def attendable(subject: Subject, batch: Batch, sites: Sequence[str]) -> Bool[Tensor, "batch token"]:
    """The tokens that some of the sites may attend to; all, where there are no sites."""
    found = torch.zeros_like(batch.special) if sites else batch.mask.cpu()

    def look(call: Call) -> None:
        found.logical_or_(call.mask[..., : call.mask.shape[-1] - call.sinks].flatten(1, 2).any(1).cpu())

    if sites:
        with attending(subject.model, watch=dict.fromkeys(sites, look)):
            subject.model(**batch.inputs)
    return found


def attended_words(subject: Subject, batch: Batch) -> Bool[Tensor, "batch token"]:
    """The tokens that are not special and that some site whose keys are tokens may attend to."""
    there = subject.sites
    sites = [name for name in readable(subject) if there[name].keys == "tokens"]
    return attendable(subject, batch, sites) & ~batch.special


def _occurrence(rows: Rows) -> Rows:
    """How often each row's number has come before."""
    order = rows.argsort(stable=True)
    ordered = rows[order]
    first = torch.searchsorted(ordered, ordered)  # where the number's run begins
    return torch.empty_like(rows).scatter(0, order, torch.arange(len(rows)) - first)


def _at(logits: Float[Tensor, "batch position class"], positions: Rows) -> Float[Tensor, "batch class"]:
    return logits[torch.arange(len(logits), device=logits.device), positions.to(logits.device)]
