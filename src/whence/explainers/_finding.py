"""Whether a method finds the words that are known to decide: its scores against the rationales of examples."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.core.errors import BadData
from whence.data.examples import Example
from whence.explainers import explainer
from whence.measures.ranking import average_precision
from whence.models.subject import Subject
from whence.models.targets import predicted


def found(
    subject: Subject, examples: Sequence[Example], method: str, *, batch_size: int = 32, **options: Any
) -> Float[ndarray, " example"]:
    """For each example the average precision of the words that its rationale marks, in the order of their scores.

    Of a narrative it is the mean over its windows, since scores are normalized within a window and do not compare from
    one to another. What holds no marked word is left out: windows, and examples (NaN). Signed scores count by size.
    """
    if any(example.rationale is None for example in examples):
        raise BadData("whether words are found can be told where it is known which decide; some examples do not say")
    explain, precision = explainer(method), np.full(len(examples), np.nan)
    for batch in subject.batches(examples, batch_size):
        scores = explain(subject, batch, predicted(subject, batch), **options)
        for row, number in enumerate(batch.examples.tolist()):
            words, marks = np.abs(scores.words(row)), np.array(examples[number].rationale)
            read = np.zeros(len(marks))  # words that were cut are found last
            read[: len(words)] = words
            each = [average_precision(read[part], marks[part]) for part in parts(examples[number]) if marks[part].any()]
            precision[number] = np.mean(each) if each else np.nan
    return precision


def parts(example: Example) -> Iterator[slice]:
    """Where the words of each window stand; of a text without windows, all its words."""
    begin = 0
    for window in example.windows or (example.text,):
        end = begin + len(window.split()) if example.windows else len(example.words or ())
        yield slice(begin, end)
        begin = end
