"""`whence calibrate`: audit models whose answers are known, and count right and wrong verdicts."""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.core.errors import BadConfig
from whence.options import usually
from whence.results.verdict import QUESTIONS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Options:
    """Audit models whose answers are known by construction, and count right and wrong verdicts: how far can the audit
    be trusted?
    """

    scale: Literal["quick", "full"] = "quick"
    """quick: every kind of case once, in about three minutes; full: over 200 cases of 20 to 500 texts,
    in about half an hour"""
    cases: Annotated[tuple[str, ...], usually("all", "[PATTERN ...]")] = ("*",)
    """kinds of case, by name or pattern (carrier-*)"""
    questions: Annotated[tuple[int, ...], usually("all", "[INT ...]")] = (1, 2, 3, 4, 5, 6)
    """questions to ask"""
    workers: int = 1
    """cases that run at the same time, on one thread each"""
    out: Path = Path("whence-calibration")
    """folder for records and tables; what was run there with the same rules is not run again"""
    docs: Annotated[Path | None, usually("none", "PAGE.md")] = None
    """also write this page"""
    save_models: bool = False
    """also save the model and the table of each case, for `whence audit`"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


def command(arguments: list[str]) -> int:
    """`whence calibrate --scale quick`; the exit code is 1 if a case could not be made or run."""
    options = parsed(Options, "calibrate", arguments)
    unknown = sorted(set(options.questions) - set(QUESTIONS))
    if unknown or options.workers < 1:
        came = f"question {unknown[0]}" if unknown else f"{options.workers} workers"
        raise BadConfig(f"there are questions {min(QUESTIONS)} to {max(QUESTIONS)}, and at least 1 worker; came {came}")
    quieten()
    from whence.calibration.all_cases import jobs, run_all
    from whence.calibration.counts import verdict_table
    from whence.calibration.page import write_page

    wanted = jobs(options.scale, options.cases)
    records = run_all(
        wanted,
        options.out,
        options.questions,
        workers=options.workers,
        save=options.save_models,
        quiet=options.output.silent,
    )
    table = verdict_table(records)
    write_tables(options.out, table, records)
    if options.docs is not None:
        write_page(options.docs, table, records, f"whence calibrate --scale {options.scale}")
    failed = [f"{record['name']}: {record['error']}" for record in records if record["error"]]
    print(as_json(table, records, failed) if options.output.json else as_text(table, records, failed, options.out))
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


def write_tables(folder: Path, table: "pd.DataFrame", records: list[dict[str, Any]]) -> None:
    """The tables as CSV, and all records as JSON."""
    from whence.calibration.counts import by_kind, invariances, power_by_n, summary
    from whence.results.atomic_write import saving, write_json

    with saving(folder):
        for name, one in (("verdicts", table), ("kinds", by_kind(table)), ("invariances", invariances(records))):
            one.to_csv(folder / f"{name}.csv", index=False)
        plain = table[table["variant"] == ""]
        summary(plain).to_csv(folder / "questions.csv", index=False)
        power_by_n(plain).to_csv(folder / "power.csv")
        write_json(folder / "calibration.json", records)


def as_text(table: "pd.DataFrame", records: list[dict[str, Any]], failed: list[str], folder: Path) -> str:
    """The outcome for the terminal."""
    from whence.calibration.counts import NAMES, WRONG, confusion, invariances, summary

    plain, lines = table[table["variant"] == ""], list[str]()
    for row in summary(plain).to_dict("records"):
        number = int(row["question"])
        rates = ", ".join(f"{name} {100 * row[name]:.0f} %" for name in ("right", "false alarms", "power"))
        lines += [f"{number or 'Headline'}. {NAMES[number]} {row['cases']} cases, {row['decided']} decided: {rates}"]
        lines += ["  " + line for line in confusion(plain, number).to_string().splitlines()] + [""]
    wrong = plain[(plain["judged"] == WRONG) & (plain["question"] > 0)]
    lines += [f"{len(wrong)} wrong verdicts:"] if len(wrong) else ["No wrong verdict."]
    lines += [f"  {row.case}, question {row.question}: {row.known} → {row.verdict}" for row in wrong.itertuples()]
    moved = invariances(records)
    lines += [f"{int(moved['same'].sum())} of {len(moved)} verdicts stayed the same under changes that do not matter."]
    lines += [f"{len(failed)} cases failed."] * bool(failed)
    return "\n".join([*lines, f"\nTables: {folder}"])


def as_json(table: "pd.DataFrame", records: list[dict[str, Any]], failed: list[str]) -> str:
    """The outcome as one JSON object."""
    from whence.calibration.counts import confusion, invariances, summary
    from whence.results.to_json import plain as plain_values

    plain = table[table["variant"] == ""]
    outcome = {
        "questions": summary(plain).to_dict("records"),
        "confusion": {int(n): confusion(plain, int(n)).to_dict("index") for n in sorted(plain["question"].unique())},
        "verdicts": table.to_dict("records"),
        "invariances": invariances(records).to_dict("records"),
        "failed": failed,
    }
    return json.dumps(plain_values(outcome), ensure_ascii=False, indent=1)
