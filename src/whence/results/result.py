"""A result: a tidy table, and a manifest that says how it was made."""

import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import whence
from whence.results.columns import Columns
from whence.results.experiment import experiment
from whence.results.latex import latex_table
from whence.results.verdict import Verdict

SHOWN = 8  # rows of a table shown on a screen


@dataclass(frozen=True, eq=False)
class Result:
    """What one experiment found. `manifest` holds config, seed, versions, corpus, timings, command, columns, notes."""

    experiment: str
    table: pd.DataFrame
    manifest: dict[str, Any]

    def __repr__(self) -> str:
        head = self.table.head(SHOWN).to_string(index=False, max_colwidth=40)
        more = len(self.table) - SHOWN
        rest = f"\n… and {more} more" if more > 0 else ""
        return f"{self._caption}\n{head}{rest}"

    def _repr_html_(self) -> str:
        names = "".join(f"<th>{escape(str(name))}</th>" for name in self.table.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell_text(value))}</td>" for value in row) + "</tr>"
            for row in self.table.head(SHOWN).itertuples(index=False)
        )
        more = f" (the first {SHOWN} shown)" if len(self.table) > SHOWN else ""
        caption = f"<caption>{escape(self._caption)}{more}</caption>"
        return f"<table>{caption}<thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"

    def to_csv(self, path: str | Path) -> None:
        """Write the whole table as CSV (UTF-8)."""
        self.table.to_csv(path, index=False, lineterminator="\n")

    def to_latex(self, path: str | Path) -> None:
        """Write the whole table as a LaTeX tabular for the package booktabs, every cell escaped."""
        rows = [[_cell_text(value) for value in row] for row in self.table.itertuples(index=False)]
        Path(path).write_text(latex_table([str(name) for name in self.table.columns], rows), encoding="utf-8")

    def figure(self) -> Figure:
        """The main figure."""
        return experiment(self.experiment).figure(self.table)

    def figures(self) -> dict[str, Figure]:
        """Further figures, by name."""
        return dict(experiment(self.experiment).figures(self.table))

    def verdict(self) -> Verdict:
        """The answer to the experiment's question: yes, no or undecided, with its evidence. Computed once."""
        return self._verdict

    @cached_property
    def _verdict(self) -> Verdict:
        return experiment(self.experiment).verdict(self.table)

    def summary(self) -> pd.DataFrame | None:
        """The table in a few rows, where the experiment has such a summary."""
        return experiment(self.experiment).summary(self.table)

    @property
    def _caption(self) -> str:
        rows = "1 row" if len(self.table) == 1 else f"{len(self.table)} rows"
        what = self.manifest.get("row")
        return f"{self.experiment}: {rows}" + (f", {what}" if what else "")


def make_manifest(
    *,
    config: Mapping[str, Any],
    columns: Columns,
    seed: int | None = None,
    corpus: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """How a result was made, with the installed versions, the time and the command.

    `corpus` has name, split, n and checksum, `subject` the model. Versions are read without importing the libraries.
    """
    return {
        "config": dict(config),
        "seed": seed,
        "corpus": dict(corpus or {}),
        "subject": dict(subject or {}),
        "seconds": seconds,
        "row": columns.what,
        "columns": columns.meanings,
        "notes": list(notes),
        "versions": versions(),
        "platform": f"{platform.system()} {platform.machine()}",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]) if sys.argv else "",
    }


def versions() -> dict[str, str]:
    """The versions of Whence, Python and the installed libraries that numbers depend on."""
    found = {"whence": whence.__version__, "python": platform.python_version()}
    for library in ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas", "pyarrow"):
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found


def _cell_text(value: Any) -> str:
    """A cell as text: floats in four digits, missing values as a dash."""
    if value is None or (isinstance(value, float) and value != value) or value is pd.NA:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
