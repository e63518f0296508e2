"""The page of the documentation, written from the stored tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from whence.calibration.counts import NAMES, OPEN, WRONG, by_kind, confusion, invariances, power_by_n, summary
from whence.calibration.kinds import FAMILIES, KINDS
from whence.results.atomic_write import saving

INTRODUCTION = """# Calibration: is the audit right?

`whence calibrate` audits models whose answers are known by construction, and counts the verdicts. Each case is a model
(weights set by hand, or trained) and a corpus, with a proof apart from the audit that its answers are what they say:
what happens to predictions when words, or the attention, are replaced. A case whose proof fails is an error.

An answer may be known to be *undecided* (of a model at chance nothing can be said), or to be *not yes* or *not no*.
*Right* is the share among verdicts that were decided. A *false alarm* is a verdict on the wrong side, or any decided
one where nothing can be decided. *Power* is the share of cases with a known yes or no that were decided.
"""

WHY_OPEN = """A *no* to question 1 shows that less than two points of accuracy are lost. If no answer changes in n
texts, the upper end of the interval is z² / (n + z²) (one-sided exact: 1 − 0.025^(1/n), nearly the same), which is
below 2 % from 189 texts on: with fewer it stays open, however clear it looks. Likewise few texts leave open what noisy
labels cost. How often intervals contain the truth is in [statistics](statistics.md).
"""


def write_page(
    path: Path, table: pd.DataFrame, records: Sequence[dict[str, Any]], command: str, remark: str = ""
) -> None:
    """Write the page, with a remark on how the records were made."""
    with saving(path.parent, "--docs"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(table, records, command, remark), encoding="utf-8")


def page(table: pd.DataFrame, records: Sequence[dict[str, Any]], command: str, remark: str = "") -> str:
    """The page as Markdown."""
    plain = table[table["variant"] == ""]
    parts = [
        INTRODUCTION,
        f"Written by `{command}`: {plain['case'].nunique()} cases of {plain['kind'].nunique()} kinds.\n",
        *([remark] if remark else []),
        "## By question\n",
        markdown(_rates(plain)),
        *_confusions(plain),
        "## Power by the number of texts\n",
        markdown(_power(plain)),
        "## By kind\n",
        *_kinds(plain),
        "## Changes that should not matter\n",
        *_invariances(records),
        "## Wrong verdicts\n",
        *_listed(plain[plain["judged"] == WRONG]),
        "## Undecided, though the answer is known\n",
        WHY_OPEN,
        *_open(plain[plain["judged"] == OPEN]),
    ]
    return "\n".join(parts)


def _rates(table: pd.DataFrame) -> pd.DataFrame:
    rows = summary(table)
    for name in ("right", "false alarms", "power"):
        rows[name] = [_per_cent(value) for value in rows[name]]
    return rows.assign(question=[_question(number) for number in rows["question"]])


def _confusions(table: pd.DataFrame) -> list[str]:
    parts = []
    for number in sorted(table["question"].unique()):
        counts = confusion(table, int(number)).reset_index().rename(columns={"known": "known answer"})
        parts += [f"### {_question(int(number))}\n", markdown(counts)]
    return parts


def _power(table: pd.DataFrame) -> pd.DataFrame:
    rows = power_by_n(table).map(_per_cent).reset_index()
    rows.columns = ["question", *(f"n = {n}" for n in rows.columns[1:])]
    return rows.assign(question=[_question(number) for number in rows["question"]])


def _kinds(table: pd.DataFrame) -> list[str]:
    """A table for each family: what the kinds are, the known answers, and the verdicts."""
    found, parts = by_kind(table), []
    for family, file in FAMILIES.items():
        mine = found[found["family"] == family]
        if mine.empty:
            continue
        about = (file.__doc__ or "").strip().replace("\n", " ")
        kinds = [f"- `{name}`: {KINDS[name].about}." for name in dict.fromkeys(mine["kind"])]
        rows = mine.drop(columns="family").rename(columns={"known": "known answer"})
        parts += [f"### {family[0].upper()}{family[1:]}\n", f"{about}\n", "\n".join(kinds), "", markdown(rows)]
    return parts


def _invariances(records: Sequence[dict[str, Any]]) -> list[str]:
    rows = invariances(records)
    if rows.empty:
        return ["None were run.\n"]
    counted = rows.groupby(["kind", "change"], sort=False)["same"].agg(["size", "sum"]).reset_index()
    counted.columns = ["kind", "change", "verdicts", "the same"]
    changed = [
        f"- `{row.kind}`, {row.change}, n = {row.n}: question {row.question} {row.before} → {row.after}"
        for row in rows[~rows["same"]].itertuples()
    ]
    return [markdown(counted), *changed, ""]


def _listed(table: pd.DataFrame) -> list[str]:
    """Cases with their sentences."""
    lines = [
        f"- `{row.case}`, question {row.question}: known {row.known}, verdict {row.verdict}. {row.sentence}"
        for row in table[table["question"] > 0].itertuples()
    ]
    return [*(lines or ["None."]), ""]


def _open(table: pd.DataFrame) -> list[str]:
    """The kinds that stayed undecided, at which numbers of texts, with the sentence of the largest case."""
    lines = []
    for (kind, question, known), rows in table[table["question"] > 0].groupby(
        ["kind", "question", "known"], sort=False
    ):
        last = rows.sort_values("n", kind="stable").iloc[-1]
        sizes = ", ".join(str(n) for n in sorted(rows["n"]))
        lines.append(f"- `{kind}`, question {question}, known {known}, n = {sizes}: {last['sentence']}")
    return [*(lines or ["None."]), ""]


def _question(number: int) -> str:
    return f"{number}. {NAMES[number]}" if number else f"Headline: {NAMES[0][0].lower()}{NAMES[0][1:]}"


def _per_cent(value: float) -> str:
    return "–" if value != value else f"{100 * value:.0f} %"


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    rows = [[str(name) for name in table.columns], ["---"] * len(table.columns)]
    rows += [[str(cell) for cell in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
