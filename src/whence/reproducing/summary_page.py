"""The summary of a ledger: of each study how many numbers have which status, and which findings do not hold."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from whence.reproducing.kept_results import FOLDER
from whence.reproducing.ledger_row import NOT_LEARNED, Row, format_value, from_table

STATUSES = ("reproduced", "corrected", "undecided", "differs", NOT_LEARNED, "other data", "not run")
FINDINGS = ("holds", "undecided", "does not hold")


def describe_studies(folder: Path) -> str:
    """A table of all studies of a folder, what does not hold, and what was not run."""
    studies = {page.stem: rows_in(folder / f"{page.stem}.csv") for page in pages(folder)}
    header = ["paper", *STATUSES, *(f"finding {finding}" for finding in FINDINGS)]
    lines = [header, ["---"] * len(header)]
    links = {name: f"[{heading(folder / f'{name}.md')}]({folder.name}/{name}.md)" for name in studies}
    for name, rows in studies.items():
        if rows:
            lines.append([links[name], *map(str, (*counted(rows).values(), *findings(rows).values()))])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    others = [links[name] for name, rows in studies.items() if not rows]
    parts = [
        "Published numbers compared with ours. Each has two statuses: its *number*, by the rule on the paper's page,"
        " and the *finding*, whether the paper's conclusion holds in ours.",
        table,
        f"Without published numbers to compare: {', '.join(others)}." if others else "",
        _listed("Findings that do not hold", [row for rows in studies.values() for row in rows if not_holding(row)]),
        _needs([row for rows in studies.values() for row in rows if row.status.startswith("not run")]),
    ]
    return "\n\n".join(part for part in parts if part)


def pages(folder: Path) -> list[Path]:
    """The pages of studies: those of whose results some are kept."""
    return [folder / f"{place.name}.md" for place in sorted((folder / FOLDER).glob("*")) if place.is_dir()]


def heading(page: Path) -> str:
    """The title of a page."""
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def rows_in(file: Path) -> list[Row]:
    """The rows of a study with a published value."""
    if not file.exists():
        return []
    kinds = {
        **dict.fromkeys(("published", "why", "finding", "reason"), object),
        **dict.fromkeys(("ours", "low", "high", "sd"), float),
    }
    table = pd.read_csv(file, dtype=kinds)
    words = ["why", "finding", "reason"]
    table[words] = table[words].fillna("")
    return [row for row in from_table(table) if row.published is not None]


def counted(rows: Sequence[Row]) -> dict[str, int]:
    """How many rows have each status."""
    found = Counter("not run" if row.status.startswith("not run") else row.status for row in rows)
    return {status: found[status] for status in STATUSES}


def findings(rows: Sequence[Row]) -> dict[str, int]:
    """How many rows have each finding; many have none."""
    found = Counter(row.finding for row in rows)
    return {finding: found[finding] for finding in FINDINGS}


def not_holding(row: Row) -> bool:
    """Whether the paper's finding does not hold in ours."""
    return row.finding == "does not hold"


def _listed(title: str, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    lines = ["| | | data | | published | ours |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [
        f"| {row.where} | {row.system} | {row.data} | {row.quantity} | {row.published} |"
        f" {format_value(row.ours, digits=row.digits)} |"
        for row in rows
    ]
    return f"## {title}\n\n" + "\n".join(lines)


def _needs(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    needs = Counter((row.status.removeprefix("not run: needs "), row.data) for row in rows)
    lines = [f"- {data}: {count} number{'s' * (count != 1)}, needs {what}" for (what, data), count in needs.items()]
    return "## Not run\n\n" + "\n".join(lines)
