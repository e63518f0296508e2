"""A corpus as a table: what the model predicts of each example, and how it attends; computed some at a time."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from whence.attribution import sinks as sink_tokens
from whence.attribution.attribution import Attribution
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig, WhenceError
from whence.data.examples import Example
from whence.explaining.explained import class_name
from whence.measures.ranking import kendall_tau
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import predicted

BATCH = 16
METHODS = ("raw_attention", "gradient_x_input")
COMPUTED = ("prediction", "confidence", "largest_weight", "sink_share", "disagreement")
SHOWN = ("text", "pair", "label", "target")


def plain_table(examples: Sequence[Example]) -> pd.DataFrame:
    """The examples alone, with empty columns for what can be computed."""
    columns: dict[str, Any] = {name: [getattr(one, name) for one in examples] for name in SHOWN}
    table = pd.DataFrame({"row": range(len(examples)), **columns})
    return table.assign(**dict.fromkeys(COMPUTED))


def compute_table(subject: Subject, examples: Sequence[Example], most: int) -> Iterator[dict[str, Any]]:
    """Progress, and at the end the rows of the table as values by column, for the first `most` examples."""
    chosen = list(examples[:most])
    found: dict[int, dict[str, Any]] = {}
    for batch in subject.batches(chosen, BATCH):
        rows = _rows(subject, batch, [chosen[number] for number in batch.examples.tolist()])
        found |= dict(zip(batch.examples.tolist(), rows, strict=True))
        yield {"stage": "examples", "done": len(found), "total": len(chosen)}
    columns = {name: [found.get(row, {}).get(name) for row in range(len(chosen))] for name in COMPUTED}
    yield {"result": {"columns": columns, "rows": len(chosen)}}


def _rows(subject: Subject, batch: Batch, examples: Sequence[Example]) -> list[dict[str, Any]]:
    """One row per text of a batch: the prediction where it is explained, and how the text is attended to.

    `largest_weight` is the largest score of `raw_attention` on a token that is not special; `sink_share` the weight on
    attention sinks, mean over heads (`whence.explainers.sinks`); `disagreement` 1 − τ between the words' scores of
    `raw_attention` and of `gradient_x_input` by size (Kendall's τ-b), mean over pairs of methods.
    """
    target = predicted(subject, batch)
    at = subject.predict(batch).cpu()[range(len(batch)), target.positions]  # [batch class]
    made = [one for one in (_explained(subject, batch, target, method) for method in METHODS) if one is not None]
    share = _sink_shares(subject, batch)
    rows = []
    for row in range(len(batch)):
        valued = subject.task.predicts_values
        raw = next((one for one in made if one.method == METHODS[0]), None)
        seen = None if raw is None else raw.scores[row][~raw.special[row]]
        rows.append(
            {
                "prediction": f"{float(at[row, 0]):.3f}" if valued else class_name(subject, int(at[row].argmax())),
                "confidence": None if valued else float(at[row].max()),
                "largest_weight": None if seen is None or not len(seen) else float(seen.max()),
                "sink_share": None if share is None else float(share[row]),
                "disagreement": _disagreement(made, row),
            }
        )
    return rows


def _explained(subject: Subject, batch: Batch, target: Any, method: str) -> Attribution | None:
    """The scores of a method; None where it does not suit the model."""
    try:
        return explainer(method)(subject, batch, target)
    except (WhenceError, ValueError):
        return None


def _sink_shares(subject: Subject, batch: Batch) -> Float[ndarray, " batch"] | None:
    """The weight on sinks, mean over heads and layers; None where the keys are not the tokens."""
    try:
        found = sink_tokens.found(subject, batch).values()
    except (WhenceError, ValueError):
        return None
    shares = [(layer.weight * layer.where()).sum(-1).mean(-1) for layer in found]  # [batch] each
    return np.mean([one.cpu().numpy() for one in shares], axis=0) if shares else None


def _disagreement(made: Sequence[Attribution], row: int) -> float | None:
    """How differently the methods rank the words of a text; None where there is no order."""
    taus = [kendall_tau(np.abs(one.words(row)), np.abs(other.words(row))) for one, other in combinations(made, 2)]
    there = [tau for tau in taus if np.isfinite(tau)]
    return 1 - float(np.mean(there)) if there else None


def page_of(
    table: pd.DataFrame, offset: int, limit: int, sort: str, descending: bool, wanted: str
) -> tuple[list[dict[str, Any]], int]:
    """Some rows of the table, sorted and filtered; and how many pass the filter."""
    if wanted:
        texts = table[["text", "pair", "label", "prediction"]].fillna("").astype(str)
        table = table[texts.apply(lambda column: column.str.contains(wanted, case=False, regex=False)).any(axis=1)]
    if sort:
        if sort not in table.columns:
            raise BadConfig(f"no column {sort[:40]!r} to sort by; choose from: {', '.join(map(str, table.columns))}")
        table = table.sort_values(sort, ascending=not descending, kind="stable", na_position="last")
    rows = table.iloc[offset : offset + limit].astype(object)
    return rows.where(rows.notna(), None).to_dict("records"), len(table)  # type: ignore[return-value]
