"""The ledger: for each study a page with every published number and ours, made from the results kept with it."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from whence.core.errors import BadData
from whence.reproducing.compare import ledger_table
from whence.reproducing.kept_results import FOLDER, keep_result, kept_results, read_earlier
from whence.reproducing.learning_curve import describe_curve
from whence.reproducing.ledger_figure import figure_section
from whence.reproducing.ledger_row import RULE
from whence.reproducing.measured import Earlier, FigureResult
from whence.reproducing.relative_loss import describe_losses, draw_scores
from whence.reproducing.study import LearningCurve, RelativeLoss, Scale, ScoreBars, Study
from whence.reproducing.summary_page import describe_studies
from whence.results.atomic_write import saving


def write_ledger(study: Study, scale: Scale, results: Sequence[FigureResult], page: Path) -> Path:
    """Keep the results in a folder of the page's name, and write there the study's own page, its table as CSV and its
    figures, from all that is kept: what was run anew replaces what was there, the rest stays. The page itself sums up
    all studies of the folder, between two comments; the rest of it is not touched.
    """
    folder = page.with_suffix("")
    with saving(page):
        folder.mkdir(parents=True, exist_ok=True)
        for one in results:
            keep_result(folder / FOLDER, study, scale, one)
        write_study(study, scale, folder)
        page.write_text(replace_part(page, "summary", describe_studies(folder)), encoding="utf-8")
    return page


def rewrite_ledger(studies: Sequence[Study], page: Path, *, draws: bool = True) -> list[Path]:
    """Write the pages of studies anew at the full scale, from what is kept of them, and the summary."""
    folder = page.with_suffix("")
    kept = [study for study in studies if (folder / FOLDER / study.name).is_dir()]
    pages = [write_study(study, "full", folder, draws=draws) for study in kept]
    page.write_text(replace_part(page, "summary", describe_studies(folder)), encoding="utf-8")
    return [*pages, page]


def write_study(study: Study, scale: Scale, folder: Path, *, draws: bool = True) -> Path:
    """Write a study's page and its CSV from what is kept; unless it `draws`, the figures that are there are linked."""
    results = kept_results(folder / FOLDER, study, scale)
    earlier = read_earlier(folder / FOLDER, study) if scale == "full" else Earlier()
    rows = ledger_table(study, scale, results, earlier)
    if len(rows):
        rows.to_csv(folder / f"{study.name}.csv", index=False, float_format="%.4g")
    sections = _sections(study, scale, results, earlier, rows, folder, draws)
    body = "\n\n".join(section for section in [_heading(study, scale, rows), *sections, _remarks(study)] if section)
    page = folder / f"{study.name}.md"
    page.write_text(f"{body}\n", encoding="utf-8")
    return page


def replace_part(page: Path, name: str, body: str) -> str:
    """The text of the page with the part of this name replaced, or added at its end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    try:
        text = page.read_text(encoding="utf-8") if page.exists() else "# Reproductions\n"
    except UnicodeDecodeError as error:
        raise BadData(f"{page} is not UTF-8 at byte {error.start}; save it again as UTF-8, or name another") from error
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else ""
    return f"{before.rstrip()}\n\n{begin}\n{body}\n{end}\n" + (f"\n{after.strip()}\n" if after.strip() else "")


def _heading(study: Study, scale: Scale, rows: pd.DataFrame) -> str:
    """What the study is; where numbers were published, also how ours are compared with them."""
    command = f"`whence reproduce {study.name} --scale {scale} --ledger PAGE`"
    begin = f"# {study.title} ({study.paper})\n\n{study.about.strip()}\n\nMade by {command} from the results kept here."
    if rows.empty:
        return begin
    return (
        f"{begin} {RULE} Changes are in points, with 95 % intervals over examples and seeds. All"
        f" numbers: [`{study.name}.csv`]({study.name}.csv)."
    )


def _sections(
    study: Study,
    scale: Scale,
    results: Sequence[FigureResult],
    earlier: Earlier,
    rows: pd.DataFrame,
    folder: Path,
    draws: bool,
) -> list[str]:
    """The figures in the order of the study file, each with the summaries that follow it; then the other summaries."""
    sections = []
    for figure in study.figure:
        mine = [one for one in results if one.figure is figure]
        parts = earlier.parts.get(figure.name, {})
        sections.append(figure_section(study, scale, figure, mine, rows, folder, parts, draws))
        sections += [
            _summary(study, one, results, earlier, folder, draws) for one in study.summary if one.after == figure.name
        ]
    return sections + [_summary(study, one, results, earlier, folder, draws) for one in study.summary if not one.after]


def _summary(
    study: Study,
    summary: RelativeLoss | ScoreBars | LearningCurve,
    results: Sequence[FigureResult],
    earlier: Earlier,
    folder: Path,
    draws: bool,
) -> str:
    learned = [one for one in results if one.learned]
    if isinstance(summary, RelativeLoss):
        return describe_losses(study, summary, learned, earlier) or earlier.summaries.get(summary.name, "")
    if isinstance(summary, LearningCurve):
        return describe_curve(study, summary, learned, folder, draws)
    return draw_scores(study, summary, learned, folder, draws, earlier) or earlier.summaries.get(summary.name, "")


def _remarks(study: Study) -> str:
    if not study.remark:
        return ""
    rows = ["| where | | data | measure | published | status | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    rows += [
        f"| {r.where} | {r.system} | {r.data} | {r.metric} | {r.value:g} | {r.status} | {r.note} |"
        for r in study.remark
    ]
    return "## Other published numbers\n\n" + "\n".join(rows)
