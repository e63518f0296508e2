"""Erasing parts, many at a time: words of the text, heads and hidden units of the model.

*one by one* is a forward pass of one text for each token, head or unit that is taken away, as one would write it down.
*batched* is ours: many of them in one pass, as many as fit a fixed memory, and for heads and units only what lies after
them. Units are those of the third of six layers. The numbers are the same up to rounding: *off by* is the largest
difference.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from transformers import AutoTokenizer

from benchmarks.measure import interleaved, table, verdict
from benchmarks.models import MINILM, minilm
from whence.core.attending import attending
from whence.data.examples import Example
from whence.data.synthetic import reviews
from whence.evaluation.context import Context
from whence.evaluation.representation_erasure import Likelihood, erasures, without_one_head
from whence.explainers.leave_one_out import explain
from whence.subject.subject import Subject
from whence.subject.targets import predicted

TEXTS, FEW, ROUNDS = 8, 2, 3
LAYER = 2  # counted from 0
Numbers = torch.Tensor
Erasure = Callable[[Subject, Sequence[Example]], Numbers]


def report() -> str:
    """Times, and how many times faster."""
    subject = Subject(minilm(), AutoTokenizer.from_pretrained(MINILM), "sequence-classification")
    known = subject.labels
    given = sorted(reviews.load(sizes={"train": 200})["train"], key=lambda example: -len(example.words or ()))
    texts = [Example(example.text, label=known[number % 2]) for number, example in enumerate(given[:TEXTS])]
    compared: dict[str, tuple[Erasure, Erasure, int]] = {
        "leave_one_out": (words, words_one_by_one, TEXTS),
        "every head": (heads, heads_one_by_one, FEW),
        "every unit of a layer": (units, units_one_by_one, FEW),
    }
    rows = []
    for name, (ours, loop, n) in compared.items():
        off = float((ours(subject, texts[:n]) - loop(subject, texts[:n])).abs().max())
        variants = {"batched": partial(ours, subject, texts[:n]), "one by one": partial(loop, subject, texts[:n])}
        times = interleaved(variants, ROUNDS)
        faster = verdict(times.ratio("one by one", "batched"), 3, at_least=True)
        rows.append(
            [
                name,
                str(n),
                f"{times.median('batched'):.2f} s",
                f"{times.median('one by one'):.2f} s",
                f"{faster}; off by {off:.0e}",
            ]
        )
    return table(["MiniLM, 6 × 12 heads, width 384", "texts", "batched", "one by one", "times faster"], rows)


def words(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """Ours: [text token], padded."""
    batch = subject.encode(texts)
    return torch.from_numpy(explain(subject, batch, predicted(subject, batch)).scores)


def words_one_by_one(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """A pass for each token of each text."""
    whole = subject.encode(texts)
    found = torch.zeros(whole.special.shape)
    for row, text in enumerate(texts):
        batch = subject.encode([text])
        target = predicted(subject, batch)
        base = target.of(subject.logits(batch))
        for place in (~batch.special[0]).nonzero().flatten().tolist():
            left = [other for other in range(batch.special.shape[1]) if other != place]
            shorter = batch.with_inputs(**{name: tensor[:, left] for name, tensor in batch.inputs.items()})
            found[row, place] = (base - target.of(subject.logits(shorter)))[0]
    return found


def heads(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """Ours: [site head text]."""
    context = Context(subject, texts, range(len(texts)), quiet=True)
    return torch.stack([torch.from_numpy(one.without) for _, one in erasures(context, "heads")])


def heads_one_by_one(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """A pass for each head and text."""
    found = torch.empty(len(subject.sites), 12, len(texts), dtype=torch.double)
    for row, text in enumerate(texts):
        batch = subject.encode([text])
        read = Likelihood(subject, batch)
        for place, site in enumerate(subject.sites):
            for head in range(12):
                rule = without_one_head(head)
                with attending(subject.model, override={site: rule}, watch=None):
                    found[place, head, row] = read(subject.model(**batch.inputs))[0, 0]
    return found


def units(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """Ours: [unit text]."""
    context = Context(subject, texts, range(len(texts)), quiet=True)
    ((_, one),) = erasures(context, "units", (list(subject.sites)[LAYER],))
    return torch.from_numpy(one.without)


def units_one_by_one(subject: Subject, texts: Sequence[Example]) -> Numbers:
    """A pass for each unit and text."""
    path = list(subject.sites)[LAYER]
    layer = subject.model.get_submodule(path[: path.index(f".{LAYER}.") + 2])
    found = torch.empty(384, len(texts), dtype=torch.double)
    for row, text in enumerate(texts):
        batch = subject.encode([text])
        read = Likelihood(subject, batch)
        for unit in range(384):

            def erase(module: torch.nn.Module, args: object, output: torch.Tensor, unit: int = unit) -> torch.Tensor:
                erased = output.clone()
                erased[..., unit] = 0.0
                return erased

            hook = layer.register_forward_hook(erase)
            found[unit, row] = read(subject.model(**batch.inputs))[0, 0]
            hook.remove()
    return found
