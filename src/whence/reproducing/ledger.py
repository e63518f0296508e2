"""The ledger: a page with every published number of a study and ours, made from saved results."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from whence.reproducing.compare import FigureResult, ledger_table
from whence.reproducing.ledger_figure import figure_section
from whence.reproducing.ledger_row import RULE
from whence.reproducing.relative_loss import describe_losses, draw_scores
from whence.reproducing.study import RelativeLoss, Scale, ScoreBars, Study
from whence.results.atomic_write import saving


def write_ledger(study: Study, scale: Scale, results: Sequence[FigureResult], page: Path) -> Path:
    """Write the study's part of a page, and in a folder of the page's name the table as CSV and the figures.

    The part stands between two comments and replaces the old one; the rest of the page is not touched.
    """
    folder = page.with_suffix("")
    with saving(page):
        folder.mkdir(parents=True, exist_ok=True)
        rows = ledger_table(study, scale, results)
        if len(rows):
            rows.to_csv(folder / f"{study.name}.csv", index=False, float_format="%.4g")
        sections = [_heading(study, scale, folder, rows), *_sections(study, scale, results, rows, folder)]
        body = "\n\n".join(section for section in [*sections, _remarks(study)] if section)
        page.write_text(replace_part(page, study.name, body), encoding="utf-8")
    return page


def replace_part(page: Path, name: str, body: str) -> str:
    """The text of the page with the part of this name replaced, or added at its end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text(encoding="utf-8") if page.exists() else "# Reproductions\n"
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else ""
    return f"{before.rstrip()}\n\n{begin}\n{body}\n{end}\n" + (f"\n{after.strip()}\n" if after.strip() else "")


def _heading(study: Study, scale: Scale, folder: Path, rows: pd.DataFrame) -> str:
    """What the study is; where numbers were published, also how ours are compared with them."""
    command = f"`whence reproduce {study.name} --scale {scale} --ledger PAGE`"
    begin = f"## {study.title} ({study.paper})\n\n{study.about.strip()}\n\nMade by {command} from saved results."
    if rows.empty:
        return begin
    return (
        f"{begin} {RULE} Changes are in points, with 95 % paired bootstrap intervals over examples and seeds. All"
        f" numbers: [`{study.name}.csv`]({folder.name}/{study.name}.csv)."
    )


def _sections(
    study: Study, scale: Scale, results: Sequence[FigureResult], rows: pd.DataFrame, folder: Path
) -> list[str]:
    """The figures in the order of the study file, each with the summaries that follow it; then the other summaries."""
    sections = []
    for figure in study.figure:
        mine = [one for one in results if one.figure is figure]
        sections.append(figure_section(study, scale, figure, mine, rows, folder))
        sections += [_summary(study, one, results, folder) for one in study.summary if one.after == figure.name]
    return sections + [_summary(study, one, results, folder) for one in study.summary if not one.after]


def _summary(study: Study, summary: RelativeLoss | ScoreBars, results: Sequence[FigureResult], folder: Path) -> str:
    if isinstance(summary, RelativeLoss):
        return describe_losses(study, summary, results)
    return draw_scores(study, summary, results, folder)


def _remarks(study: Study) -> str:
    if not study.remark:
        return ""
    rows = ["| where | | data | measure | published | status | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    rows += [
        f"| {r.where} | {r.system} | {r.data} | {r.metric} | {r.value:g} | {r.status} | {r.note} |"
        for r in study.remark
    ]
    return "### Other published numbers\n\n" + "\n".join(rows)
