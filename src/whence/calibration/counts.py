"""What the records of cases say: confusion, right and wrong verdicts, power by the number of texts. No model."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from whence.calibration.variants import SAME_AS
from whence.results.verdict import QUESTIONS

NAMES = {0: "Is it an explanation?", **QUESTIONS}
RIGHT, WRONG, OPEN = "right", "wrong", "open"
DECIDED = {"yes": "yes", "yes, in part": "yes", "no": "no"}  # verdicts that decide, and for which side
VERDICTS = [*DECIDED, "undecided"]


def judged(known: str, verdict: str) -> str:
    """Whether a verdict is right, wrong, or open: undecided where an answer is known.

    Decided where nothing can be decided is wrong. Where one side is left open, the other is wrong. *Yes, in part* is on
    the side of *yes*.
    """
    side = DECIDED.get(verdict)
    if known == "undecided":
        return RIGHT if side is None else WRONG
    if side is None:
        return OPEN
    if known.startswith("not "):
        return WRONG if side == known.removeprefix("not ") else RIGHT
    return RIGHT if side == known else WRONG


def verdict_table(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """One row per case and question whose answer is known: the answer, the verdict, and how they go together."""
    rows = []
    for record in records:
        for number, known in record["known"].items():
            verdict = record["verdicts"].get(number)
            if verdict is None or record["error"]:
                continue
            rows.append(
                {
                    "case": record["name"],
                    "family": record["family"],
                    "kind": record["kind"],
                    "seed": record["seed"],
                    "n": record["n"],
                    "variant": record["variant"],
                    "question": int(number),
                    "known": known,
                    "verdict": verdict["answer"],
                    "judged": judged(known, verdict["answer"]),
                    "sentence": verdict["sentence"],
                }
            )
    columns = ["case", "family", "kind", "seed", "n", "variant", "question", "known", "verdict", "judged", "sentence"]
    return pd.DataFrame(rows, columns=columns)


def confusion(table: pd.DataFrame, question: int) -> pd.DataFrame:
    """Known answers by verdicts, of one question."""
    mine = table[table["question"] == question]
    order = ["yes", "not no", "no", "not yes", "undecided"]
    counts = pd.crosstab(mine["known"], mine["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    return counts.reindex([known for known in order if known in counts.index])


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """For every question: the share right among decided verdicts, false alarms, and power."""
    return pd.DataFrame([{"question": number, **rates(rows)} for number, rows in table.groupby("question")])


def rates(rows: pd.DataFrame) -> dict[str, Any]:
    """The rates of some rows.

    *right*: of the verdicts yes or no, the share that is right. *false alarms*: of all cases, the share whose verdict
    is on the wrong side, or decided where nothing can be. *power*: of cases with a known yes or no, the share decided.
    """
    decided = rows[rows["verdict"].isin(DECIDED)]
    sided = rows[rows["known"].isin(["yes", "no"])]
    return {
        "cases": len(rows),
        "decided": len(decided),
        "right": float((decided["judged"] == RIGHT).mean()) if len(decided) else float("nan"),
        "false alarms": float((rows["judged"] == WRONG).mean()),
        "power": float(sided["verdict"].isin(DECIDED).mean()) if len(sided) else float("nan"),
    }


def power_by_n(table: pd.DataFrame) -> pd.DataFrame:
    """Of the cases with a known yes or no, the share that is decided, by question and number of texts."""
    sided = table[table["known"].isin(["yes", "no"])]
    decided = sided.assign(decided=sided["verdict"].isin(DECIDED).astype(float))
    return decided.pivot_table(index="question", columns="n", values="decided", aggfunc="mean")


def by_kind(table: pd.DataFrame) -> pd.DataFrame:
    """For every kind and question: the known answer, and how many verdicts were yes, no and undecided."""
    counted = table.groupby(["family", "kind", "question", "known"], sort=False)["verdict"].value_counts()
    wide = counted.unstack(fill_value=0).reindex(columns=VERDICTS, fill_value=0).reset_index()
    wrong = table[table["judged"] == WRONG].groupby(["kind", "question"]).size()
    return wide.assign(wrong=[int(wrong.get((row.kind, row.question), 0)) for row in wide.itertuples()])


def invariances(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """For every change that should not matter: the verdicts before and after, question by question."""
    plain = {(r["kind"], r["seed"], r["n"]): r for r in records if not r["variant"] and not r["error"]}
    rows = []
    for record in records:
        base_kind = record["kind"] if record["variant"] else SAME_AS.get(record["kind"])
        base = plain.get((base_kind, record["seed"], record["n"]))
        if base is None or record["error"]:
            continue
        change = record["variant"] or f"{record['kind'].rpartition('-')[2]} idle heads added"
        for number, before in base["verdicts"].items():
            after = record["verdicts"].get(number)
            if after is not None:
                rows.append(
                    {
                        "kind": base_kind,
                        "change": change,
                        "seed": record["seed"],
                        "n": record["n"],
                        "question": int(number),
                        "before": before["answer"],
                        "after": after["answer"],
                        "same": before["answer"] == after["answer"],
                    }
                )
    return pd.DataFrame(rows, columns=["kind", "change", "seed", "n", "question", "before", "after", "same"])
