"""A whole corpus explained: one row for each token, or word, and method; in batches, so that no corpus is too long."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool
from numpy import ndarray

from whence.attribution.attribution import Attribution
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explaining.explained import class_name, question_of
from whence.explaining.options import ExplainOptions
from whence.subject.batch import Batch
from whence.subject.encoding import bucketed
from whence.subject.named_targets import asked
from whence.subject.subject import Subject

AHEAD = 16  # batches whose texts are sorted by length, so that little is padding
COLUMNS = {
    "example": "int64",
    "segment": "int64",
    "word": "Int64",
    "token": "str",
    "start": "Int64",
    "end": "Int64",
    "method": "str",
    "score": "float64",
    "prediction": "str",
    "probability": "float64",
}


def score_rows(
    subject: Subject,
    examples: Sequence[Example],
    numbers: Sequence[int],
    options: ExplainOptions,
    methods: Mapping[str, Callable[..., Any]],
    chosen: Mapping[str, Mapping[str, Any]],
    batch_size: int = 32,
) -> Iterator[tuple[pd.DataFrame, dict[str, str]]]:
    """Tables of scores, some examples at a time in their order, each with how each method's scores were made.

    `numbers` are those of the examples in their split. `start` and `end` are characters of the text (of the second one
    where `segment` is 1); `prediction` and `probability` are the model's, at the place that is explained.
    """
    if options.paragraphs:
        raise BadConfig("a table is explained text by text; leave out paragraphs")
    if options.target is not None and subject.task.needs == "target":
        raise BadConfig("the targets of a table are in a column (--columns.target NAME); leave out --target")
    at_once = AHEAD * batch_size
    for begin in range(0, len(examples), at_once):
        part = examples[begin : begin + at_once]
        lengths = [len(example.text) + len(example.pair or "") for example in part]
        tables, how = [], dict[str, str]()
        for places in bucketed(lengths, batch_size):
            some = [part[place] for place in places]
            batch = subject.encode(some, [int(numbers[begin + place]) for place in places], ahead=True)
            tables.append(_scored(subject, batch, some, options, methods, chosen, how))
        yield pd.concat(tables).sort_values("example", kind="stable", ignore_index=True), how


def _scored(
    subject: Subject,
    batch: Batch,
    examples: list[Example],
    options: ExplainOptions,
    methods: Mapping[str, Callable[..., Any]],
    chosen: Mapping[str, Mapping[str, Any]],
    how: dict[str, str],
) -> pd.DataFrame:
    """The rows of one batch; `how` receives how each method's scores were made."""
    target = asked(subject, batch, examples, question_of(options, subject))
    at = subject.predict(batch).cpu()[np.arange(len(batch)), target.positions]  # [batch class]
    predicted = [class_name(subject, number) for number in at.argmax(-1).tolist()]
    values = subject.task.predicts_values
    offsets = subject.encoder.offsets(batch, examples).numpy()
    words = subject.encoder.spelled(batch, examples) if options.words else None
    tables = []
    for name, explain in methods.items():
        made = explain(subject, batch, target, **chosen.get(name, {}))
        how[name] = made.how
        table = _rows(made, offsets, words)
        row = table.pop("row").to_numpy()
        table["prediction"] = np.array(["" if values else one for one in predicted], dtype=object)[row]
        table["probability"] = np.full(len(batch), np.nan)[row] if values else at.amax(-1).double().numpy()[row]
        tables.append(table)
    return pd.concat(tables)[list(COLUMNS)].astype(COLUMNS)


def _rows(made: Attribution, offsets: ndarray, words: list[list[str]] | None) -> pd.DataFrame:
    """One row per token that is not special; with `words`, the word of each token, one row per word."""
    n_token = made.scores.shape[1]
    begins = np.ones(made.scores.shape, dtype=bool) if words is None else _word_begins(made)
    first = np.flatnonzero(begins)  # of the flattened [batch token]
    row, token = np.divmod(first, n_token)
    shown = [(words[r][t] if words else "") or made.tokens[r][t] for r, t in zip(row, token, strict=True)]
    start = offsets[..., 0].reshape(-1)[first]
    table = pd.DataFrame(
        {
            "row": row,
            "example": made.examples[row],
            "segment": made.segment.reshape(-1)[first],
            "word": pd.array(made.word.reshape(-1)[first], dtype="Int64"),
            "token": shown,
            "start": pd.array(start, dtype="Int64"),
            "end": pd.array(np.maximum.reduceat(offsets[..., 1].reshape(-1), first), dtype="Int64"),
            "method": made.method,
            "score": np.add.reduceat(made.scores.reshape(-1).astype(float), first),
        }
    )
    table.loc[start < 0, ["start", "end"]] = pd.NA
    table["word"] = table["word"].where(table["word"] >= 0)
    return table[~made.special.reshape(-1)[first]]


def _word_begins(made: Attribution) -> Bool[ndarray, "batch token"]:
    """Whether a token begins a word, or belongs to none."""
    same = (np.diff(made.word) == 0) & (np.diff(made.segment) == 0) & (made.word[:, 1:] >= 0)
    later = same & ~made.special[:, 1:] & ~made.special[:, :-1]
    return np.pad(~later, ((0, 0), (1, 0)), constant_values=True)
