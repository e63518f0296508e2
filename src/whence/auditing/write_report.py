"""From an audit's folder to its report. Needs the saved tables alone: no model, no torch."""

import json
from pathlib import Path
from typing import Any

from whence.auditing.combine_verdicts import question_of, verdicts
from whence.core.errors import BadData
from whence.experiments import ablation
from whence.figures.style import as_svg, save
from whence.report.page import build, write
from whence.report.page_model import AuditPage, Part, Table
from whence.results.atomic_write import saving
from whence.results.experiment import experiment
from whence.results.result import Result
from whence.results.store import Store
from whence.results.verdict import Verdict

RECORD = "audit.json"
REPORT = "report.html"
ABOUT = "{model}, which gives {task}, on {corpus} ({n} examples in its split {split})."


def write_report(folder: Path) -> Path:
    """Write report.html and the figures from what an audit saved; the path of the report."""
    record = read_record(folder)
    store = Store(folder)
    parts, command, made = [], "", ""
    for saved in record["parts"]:
        results = [store.load(folder / place) for place in saved["results"]]
        parts.append(part(saved, results, folder))
        command, made = results[-1].manifest.get("command", ""), results[-1].manifest.get("made", "")
    names = " and ".join(one.name for one in parts)
    return write(folder / REPORT, build(AuditPage(f"Attention of {names}", parts, command, made)))


def read_record(folder: Path) -> dict[str, Any]:
    """What the audit in a folder was asked and did."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        for saved in record["parts"]:
            _ = saved["name"], saved["about"], saved["results"], saved["left_out"]
        return record
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadData(
            f"{folder} holds no finished audit (no {RECORD}); expected the folder that `whence audit --out` wrote. If"
            " an audit was cut off, run it again: it goes on where it was"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(f"{folder / RECORD} is damaged ({error!r}); run the audit again") from error


def part(saved: dict[str, Any], results: list[Result], folder: Path) -> Part:
    """One model on one corpus, with its pictures drawn anew."""
    pictures: dict[int, list[tuple[str, str]]] = {}
    for result in results:
        module = experiment(result.experiment)
        figure = module.figure(result.table)
        drawn = as_svg(figure)  # first: each drawing moves the parts of a figure a little
        pictures.setdefault(question_of(result), []).append((module.caption, drawn))
        with saving(folder):
            save(figure, folder / "figures" / f"{slug(saved['name'])}-{result.experiment}")
    return Part(
        name=saved["name"],
        about=saved["about"],
        verdicts=verdicts(results),
        figures=pictures,
        tables={1: [summary(result) for result in results if result.experiment == "ablation"]},
        notes=noted(saved, results),
        results=[{"experiment": result.experiment, **result.manifest} for result in results],
    )


def summary(result: Result) -> Table:
    """Accuracy with and without attention."""
    rows = ablation.summary(result.table)
    names = {"base": "accuracy %", "altered": "altered %", "change": "points", "when": "altered", "variant": "weights"}
    return Table("Accuracy with the model's own attention, and with altered attention.",
                 tuple(names.get(column, column) for column in rows.columns), rows.to_numpy().tolist())  # fmt: skip


def slug(name: str) -> str:
    """A name that can be a file's."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:60]


def noted(saved: dict[str, Any], results: list[Result]) -> list[str]:
    """What was guessed, cut or left out, each said once."""
    notes = [note for result in results for note in result.manifest.get("notes", [])]
    return [*dict.fromkeys([*notes, *saved["left_out"]])]


def notes(folder: Path) -> dict[str, list[str]]:
    """What was guessed, cut or left out in a finished audit, by part."""
    store = Store(folder)
    return {
        saved["name"]: noted(saved, [store.load(folder / place) for place in saved["results"]])
        for saved in read_record(folder)["parts"]
    }


def answers(folder: Path) -> dict[str, dict[int, Verdict]]:
    """The verdicts of a finished audit, by part and question, in the order of the questions."""
    store = Store(folder)
    return {
        saved["name"]: dict(sorted(verdicts([store.load(folder / place) for place in saved["results"]]).items()))
        for saved in read_record(folder)["parts"]
    }
