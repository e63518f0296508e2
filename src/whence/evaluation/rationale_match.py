"""How well a method finds the words that are known to decide: its scores compared with rationales."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from tqdm.auto import tqdm

from whence.attribution.options import written_options
from whence.attribution.registry import explainer
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.measures.ranking import average_precision, r_precision
from whence.measures.rationale_overlap import highest, iou_f1, token_f1
from whence.subject.subject import Subject
from whence.subject.targets import predicted

RANDOM = "random"  # the explainer of chance


class RationaleMatch(NamedTuple):
    """How well the marked words of each example are found: `average` precision, precision `at` their number, and the
    F1 of words and of spans, if as many words are chosen as are marked in an average text.
    """

    average: Float[ndarray, " example"]
    at: Float[ndarray, " example"]
    token_f1: Float[ndarray, " example"]
    iou_f1: Float[ndarray, " example"]


def matches_by_method(
    context: Context, methods: Sequence[str], options: Sequence[str] = ()
) -> dict[str, RationaleMatch]:
    """How well each method finds the marked words of every example."""
    chosen = written_options(methods, options)
    if RANDOM in methods:
        chosen[RANDOM] = {"seed": context.seed, **chosen.get(RANDOM, {})}
    progress = tqdm(methods, desc=context.name, unit="method", disable=context.quiet, leave=False, delay=1)
    return {
        method: rationale_match(
            context.subject,
            context.examples,
            method,
            batch_size=context.batch_size,
            evaluated=context.evaluated,
            **chosen.get(method, {}),
        )
        for method in progress
    }


def rationale_match(
    subject: Subject,
    examples: Sequence[Example],
    method: str,
    *,
    batch_size: int = 32,
    evaluated: frozenset[int] | None = None,
    **options: Any,
) -> RationaleMatch:
    """For each example how early the words that decide come, in the order of their scores.

    Of a narrative it is the mean over its windows, since scores are normalized within a window and do not compare from
    one to another. What holds no marked word is left out: windows, and examples (NaN). Signed scores count by size. A
    word's score is the sum over its subwords; of random scores the first subword's, so that chance favours no long
    words.
    """
    known = [number for number, example in enumerate(examples) if any(example.deciding or ())]
    if not known:
        raise BadData(
            "expected examples whose deciding words are marked (a rationale); none of them is. Choose another corpus"
        )
    explain, found = explainer(method), np.full((len(RationaleMatch._fields), len(examples)), np.nan)
    share = float(np.mean([np.mean(examples[number].deciding or (False,)) for number in known]))
    for batch in subject.batches([examples[number] for number in known], batch_size):
        if evaluated is not None and evaluated.isdisjoint(known[place] for place in batch.examples.tolist()):
            continue
        scores = explain(subject, batch, predicted(subject, batch, "probability"), **options)
        scores = scores.of_first_subwords() if scores.method == RANDOM else scores
        for row, place in enumerate(batch.examples.tolist()):
            found[:, known[place]] = _measured(examples[known[place]], np.abs(scores.words(row)), share)
    return RationaleMatch(*found)


def _measured(example: Example, words: Float[ndarray, " word"], share: float) -> list[float]:
    """The measures of one example, in the order of `RationaleMatch`."""
    marks = np.array(example.deciding)
    read = np.zeros(len(marks))  # truncated words rank last
    read[: len(words)] = words
    held = [part for part in parts(example) if marks[part].any()]
    each = [[measure(read[part], marks[part]) for part in held] for measure in (average_precision, r_precision)]
    chosen = [highest(read[part], share) for part in held]
    each += [
        [measure(one, marks[part]) for one, part in zip(chosen, held, strict=True)] for measure in (token_f1, iou_f1)
    ]
    return [float(np.mean(values)) for values in each]


def parts(example: Example) -> Iterator[slice]:
    """The positions of the words of each window; of a text without windows, all its words."""
    begin = 0
    for window in example.windows or (example.text,):
        end = begin + len(window.split()) if example.windows else len(example.words or ())
        yield slice(begin, end)
        begin = end
