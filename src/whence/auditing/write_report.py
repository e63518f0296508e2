"""From a finished audit to its report and figures. Needs the saved tables alone: no model, no torch."""

from pathlib import Path

from whence.auditing.audited import AuditedPart, FinishedAudit
from whence.experiments import ablation
from whence.figures.style import as_svg, save
from whence.report.page import build, write
from whence.report.page_model import AuditPage, Further, Part, Table
from whence.results.atomic_write import saving
from whence.results.experiment import experiment
from whence.results.result import Result

HOW = {
    1: "It needs a model with attention; labels let it be decided by what is lost, else predictions are shuffled.",
    2: "It is asked of every model that predicts classes.",
    3: "It is asked of every model that predicts classes.",
    4: "It fine-tunes a copy of a text classifier: give a larger --budget.",
    5: "It is asked of every model that predicts classes and does not generate text.",
    6: "It needs a reference: words marked as deciding (a column rationale, --columns.rationale), trees, for a"
    " translator links between words, or answers of annotators (--annotations, `whence annotate`). Where labels go with"
    " the valence of words, words that people rate as good or bad are taken; of other texts that is asked by"
    " --experiments lexicon.",
}
ABLATION_COLUMNS = {
    "when": "ablated",
    "variant": "weights",
    "base": "score",
    "ablated": "score, ablated",
    "change": "points",
}


def write_report(audited: FinishedAudit) -> Path:
    """Write report.html and the figures; the path of the report."""
    return write(audited.report, report_page(audited))


def report_page(audited: FinishedAudit) -> str:
    """The report as HTML, with its figures written to the same folder."""
    parts = [page_part(part, audited.folder) for part in audited.parts]
    last = audited.parts[-1].results[-1].manifest
    names = " and ".join(part.name for part in parts)
    return build(AuditPage(f"Attention of {names}", parts, last.get("command", ""), last.get("made", "")))


def page_part(part: AuditedPart, folder: Path) -> Part:
    """One model on one corpus, with its figures redrawn."""
    figures: dict[int, list[tuple[str, str]]] = {}
    for result in part.results:
        drawn = result.figure()
        svg = as_svg(drawn)  # first: each rendering shifts a figure's parts a little
        question = part.by_experiment[result.experiment].question
        figures.setdefault(question, []).append((experiment(result.experiment).caption, svg))
        with saving(folder):
            save(drawn, folder / "figures" / slug(f"{slug(part.name)}-{result.experiment}", 120))
    return Part(
        name=part.name,
        about=part.about,
        verdicts=part.verdicts,
        figures=figures,
        tables={1: [ablation_table(result) for result in part.results if result.experiment == "ablation"]},
        notes=part.notes,
        results=[{"experiment": result.experiment, **result.manifest} for result in part.results],
        further=[
            Further(experiment(result.experiment).question, part.by_experiment[result.experiment])
            for result in part.apart
        ],
        examples=part.examples,
        how=HOW,
    )


def ablation_table(result: Result) -> Table:
    """The score with and without attention."""
    rows = ablation.summary(result.table)
    columns = tuple(ABLATION_COLUMNS.get(column, column) for column in rows.columns)
    return Table("Score with the model's own attention, and with ablated attention.", columns, rows.to_numpy().tolist())


def slug(name: str, longest: int = 60) -> str:
    """The name with every letter that a file's name may not have replaced."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:longest]
