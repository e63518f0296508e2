"""Erasing parts of a representation: the log-likelihood of the label without each of them, many at a time."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from whence.analysis.representation_erasure import Losses
from whence.core.errors import BadConfig
from whence.core.overrides import Free, Override, Weights
from whence.core.replay.attention import Replay
from whence.core.replay.hidden_states import Resume, States
from whence.core.site import Call, repeated
from whence.evaluation.locations import matching
from whence.subject.batch import Batch
from whence.subject.subject import Subject

if TYPE_CHECKING:
    from whence.evaluation.context import Context

What = Literal["words", "dimensions", "units", "heads"]
Calls = dict[str, tuple[nn.Module, int]]  # a module by the name of a place, and which of its calls is meant
EMBEDDING = "embedding"


@dataclass(frozen=True, eq=False)
class Erased:
    """One batch at one place: S(e, c) of each text, and S(e, c, ¬d) without each part d.

    Of words, part d of a text is its d-th word, and `words` says which it is; NaN where a text has fewer.
    """

    place: str
    whole: Float[ndarray, " batch"]
    without: Float[ndarray, "part batch"]
    words: Sequence[Sequence[str]] | None = None


def losses(context: "Context", what: What, sites: Sequence[str]) -> tuple[Float[ndarray, " example"], list[Losses]]:
    """S(e, c) of every text, and what is lost at every place."""
    whole = np.full(len(context.examples), np.nan)
    numbered: dict[str, Float[ndarray, "example part"]] = {}
    words = defaultdict[str, dict[int, list[float]]](lambda: defaultdict(list))
    for batch, erased in erasures(context, what, sites):
        numbers = batch.examples.tolist()
        whole[numbers] = erased.whole
        lost = (erased.whole - erased.without).T  # [batch part]
        if erased.words is None:
            numbered.setdefault(erased.place, np.zeros((len(whole), lost.shape[1])))[numbers] = lost
            continue
        for number, spelled, each in zip(numbers, erased.words, lost.tolist(), strict=True):
            for word, one in zip(spelled, each, strict=False):  # texts with fewer words have NaN
                words[word.lower()][number].append(one)
    found = [Losses(place, range(lost.shape[1]), lost, np.ones_like(lost)) for place, lost in numbered.items()]
    return whole, [*found, *([_of_words(words, len(whole))] if words else [])]


def _of_words(words: dict[str, dict[int, list[float]]], n: int) -> Losses:
    lost, count = np.zeros((n, len(words))), np.zeros((n, len(words)))
    for column, texts in enumerate(words.values()):
        for number, each in texts.items():
            lost[number, column], count[number, column] = sum(each), len(each)
    return Losses("embedding", list(words), lost, count)


def erasures(context: "Context", what: What, sites: Sequence[str] = ("*",)) -> Iterator[tuple[Batch, Erased]]:
    """Each batch with its losses at each place: the embedding, the layers around these sites, or the sites."""
    for batch in context.batches():
        yield from ((batch, one) for one in _erased(context, batch, what, sites))


@torch.no_grad()
def _erased(context: "Context", batch: Batch, what: What, sites: Sequence[str]) -> list[Erased]:
    subject, likelihood = context.subject, Likelihood(context.subject, batch)
    if what == "heads":
        refuse_without_attention(subject)
        return [_without_heads(subject, batch, likelihood, name) for name in matching(subject.sites, sites)]
    if what == "words":
        return [_without_words(context, batch, likelihood)]
    calls = embedding(subject, batch) if what == "dimensions" else layers(subject, batch, sites)
    return [_without_units(subject, batch, likelihood, name, *call) for name, call in calls.items()]


def refuse_without_attention(subject: Subject) -> None:
    """Refuse a model without attention."""
    if not subject.sites:
        named = subject.name or type(subject.model).__name__
        raise BadConfig(f"{named} has no attention, and so no heads; erase words or dimensions (--what)")


class Likelihood:
    """Reads the log-likelihood of the labels off a model's output: S(e, c) (Li et al. 2016, §3), in nats.

    Where a text has several labels it is the sum over them.
    """

    def __init__(self, subject: Subject, batch: Batch) -> None:
        self.subject = subject
        self.known = (batch.predicted_positions & (batch.labels >= 0)).to(subject.device)  # [batch position]
        self.labels = batch.labels.clamp_min(0).to(subject.device)
        if not bool(self.known.any(1).all()):
            raise BadConfig(
                "expected a label for every text, to measure its log-likelihood; some have none. Choose another corpus"
            )

    def __call__(self, output: Any) -> Float[Tensor, "copies 1"]:
        logits = self.subject.task.positioned(output.logits)  # [copies·batch position class]
        copies = len(logits) // len(self.labels)
        at = logits.double().log_softmax(-1).gather(-1, repeated(self.labels, copies)[..., None])[..., 0]
        return (at * repeated(self.known, copies)).sum(-1, keepdim=True)


def embedding(subject: Subject, batch: Batch) -> Calls:
    """The word vectors of the text; of a translator those of its encoder, which come first."""
    table = subject.model.get_input_embeddings()
    same = {m for m in subject.model.modules() if m is table or getattr(m, "weight", None) is table.weight}
    called = [module for module, _ in _returned(subject, batch) if module in same and isinstance(module, nn.Embedding)]
    if not called:
        raise BadConfig(f"{type(subject.model).__name__} does not look its words up in a table; erase units or heads")
    return {EMBEDDING: (called[0], 0)}


def layers(subject: Subject, batch: Batch, sites: Sequence[str]) -> Calls:
    """The layers around these sites; of a model that has none, its parts that give a hidden state for every token."""
    found: Calls = {}
    for name in matching(subject.sites, sites) if subject.sites else ():
        site = subject.sites[name]
        if site.layer_path is not None and site.layer_path != site.path:
            shared = name.removeprefix(site.path)  # `#0`, `#1` where a layer is shared over depth
            found[f"{site.layer_path}{shared}"] = subject.model.get_submodule(site.layer_path), site.ordinal
    if found:
        return found
    shape, children = tuple(batch.special.shape), dict(subject.model.named_children())
    named = {module: name for name, module in children.items() if not isinstance(module, nn.Embedding)}
    for module, output in _returned(subject, batch):
        if module in named and _states(output, shape):
            found.setdefault(named[module], (module, 0))
    if not found:
        raise BadConfig(
            f"{type(subject.model).__name__} has no layers, and no part that gives a hidden state for each"
            " token; erase words or dimensions (--what)"
        )
    return found


def _states(output: Any, shape: tuple[int, ...]) -> bool:
    first = next((leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor)), None)
    return first is not None and first.is_floating_point() and first.dim() == 3 and tuple(first.shape[:2]) == shape


def _returned(subject: Subject, batch: Batch) -> list[tuple[nn.Module, Any]]:
    """Every module that is called, in the order in which they return, with what it returns."""
    found: list[tuple[nn.Module, Any]] = []
    hooks = [
        module.register_forward_hook(lambda module, _, output: found.append((module, output)))
        for module in subject.model.modules()
    ]
    try:
        subject.model(**batch.inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _without_units(
    subject: Subject, batch: Batch, likelihood: Likelihood, place: str, module: nn.Module, ordinal: int
) -> Erased:
    """Each unit in turn set to zero at every token."""
    resume = Resume(subject.model, module, batch.inputs, likelihood, ordinal=ordinal)

    def erase(states: States, numbers: range) -> States:
        erased = states.clone()
        for copy, unit in enumerate(numbers):
            erased[copy, ..., unit] = 0.0
        return erased

    without = resume(erase, resume.hidden.shape[-1])
    return Erased(place, _numbers(resume.output), _numbers(without))


def _without_words(context: "Context", batch: Batch, likelihood: Likelihood) -> Erased:
    """Each word's vector zero, all its subwords together."""
    subject, (module, ordinal) = context.subject, embedding(context.subject, batch)[EMBEDDING]
    pieces, words = words_of(context, batch)
    resume = Resume(subject.model, module, batch.inputs, likelihood, ordinal=ordinal)
    if resume.hidden.shape[:2] != batch.special.shape:
        raise BadConfig(
            f"{type(subject.model).__name__} looks its words up in another form than [batch token]; erase"
            " dimensions, units or heads"
        )
    given = torch.from_numpy(pieces).to(subject.device)  # [part batch token]

    def erase(states: States, numbers: range) -> States:
        return states.masked_fill(given[numbers.start : numbers.stop, ..., None], 0.0)

    without = _numbers(resume(erase, len(pieces)))
    return Erased(EMBEDDING, _numbers(resume.output), np.where(pieces.any(-1), without, np.nan), words)


def words_of(context: "Context", batch: Batch) -> tuple[Bool[ndarray, "part batch token"], list[list[str]]]:
    """Which tokens are the subwords of each text's n-th word, and what the words are."""
    examples = [context.examples[number] for number in batch.examples.tolist()]
    spelled = context.subject.encoder.spelled(batch, examples)
    which = np.where(batch.special.numpy(), -1, batch.word.numpy())
    rows, words = [], []
    for row, (number, segment) in enumerate(zip(which, batch.segment.numpy(), strict=True)):
        keys = list(dict.fromkeys((s, n) for s, n in zip(segment.tolist(), number.tolist(), strict=True) if n >= 0))
        rows.append([(segment == s) & (number == n) for s, n in keys])
        words.append([spelled[row][int(mask.argmax())] for mask in rows[-1]])
    pieces = np.zeros((max(map(len, rows)), *which.shape), bool)
    for row, masks in enumerate(rows):
        pieces[: len(masks), row] = masks
    return pieces, words


def _without_heads(subject: Subject, batch: Batch, likelihood: Likelihood, site: str) -> Erased:
    """Each head of a site without weights, so that its output is zero."""
    replay = Replay(subject.model, site, batch.inputs, read=likelihood)
    without = replay(without_one_head(), times=replay.call.n_heads)
    return Erased(site, _numbers(replay.output), _numbers(without))


def _numbers(likelihood: Float[Tensor, "*copies 1"]) -> Float[ndarray, "*copies"]:
    return likelihood[..., 0].cpu().numpy()


def without_one_head(first: int = 0) -> Override:
    """No weight at all in one head: in copy number h of the batch, in head `first` + h."""

    def rule(call: Call, free: Free) -> Weights:
        size = call.weights.shape[0] // call.copies
        number = first + call.first_copy + torch.arange(call.copies, device=call.weights.device)
        lost = number.repeat_interleave(size)[:, None] == torch.arange(call.weights.shape[1], device=number.device)
        return call.weights.masked_fill(lost[:, :, None, None], 0.0)

    return Override("without_one_head", rule)
