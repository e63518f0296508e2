"""The ledger: a page with every published number of a study beside ours, made from saved results."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from whence.data.registry import CORPORA
from whence.figures.style import linked, save
from whence.reproducing.compare import Found, ledger_table
from whence.reproducing.ledger_row import RULE, as_lines, number, spread
from whence.reproducing.relative_loss import finding, first_figure
from whence.reproducing.study import Case, Picture, Scale, Study
from whence.results.atomic_write import saving
from whence.results.experiment import experiment
from whence.results.result import Result


def write_ledger(study: Study, scale: Scale, found: Found, page: Path) -> Path:
    """Write the study's part of the page, which may hold others, and beside the page its table as CSV and its figures.

    The part stands between two marks and is written anew; the rest of the page stays as it is.
    """
    folder = page.with_suffix("")
    with saving(page):
        folder.mkdir(parents=True, exist_ok=True)
        lines = ledger_table(study, scale, found)
        if len(lines):
            lines.to_csv(folder / f"{study.name}.csv", index=False, float_format="%.4g")
        parts = [_heading(study, scale, folder, lines), *_tables(study, lines, found), finding(study, found)]
        parts += [_figure(figure, lines, found, folder, study.name) for figure in study.figure]
        parts += [first_figure(study, found, folder), _remarks(study)]
        body = "\n\n".join(part for part in parts if part)
        page.write_text(within(page, study.name, body), encoding="utf-8")
    return page


def within(page: Path, name: str, body: str) -> str:
    """The page with this part in the place of the old one, or at its end."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    there = page.read_text(encoding="utf-8") if page.exists() else "# Reproductions\n"
    before, found, rest = there.partition(begin)
    after = rest.partition(end)[2] if found else ""
    return f"{before.rstrip()}\n\n{begin}\n{body}\n{end}\n" + (f"\n{after.strip()}\n" if after.strip() else "")


def _heading(study: Study, scale: Scale, folder: Path, lines: pd.DataFrame) -> str:
    """What the study is; where numbers were published, also how ours are set beside them."""
    made = f"`whence reproduce {study.name} --scale {scale} --ledger PAGE`"
    begin = f"## {study.title} (paper {study.paper})\n\n{study.about.strip()}\n\nMade by {made} from saved results."
    if lines.empty:
        return begin
    return (
        f"{begin} {RULE} Changes are in points, with 95 % paired bootstrap intervals over examples and seeds. All"
        f" numbers: [`{study.name}.csv`]({folder.name}/{study.name}.csv)."
    )


def _tables(study: Study, lines: pd.DataFrame, found: Found) -> list[str]:
    """One part for each table of the paper: what was run, then the numbers."""
    results = {case.name: result for what, case, result in found if what is case}
    parts = []
    for where in dict.fromkeys(case.table for case in study.case if case.table):
        said = [_said(study, case, results.get(case.name)) for case in study.case if case.table == where]
        parts.append(f"### {where}\n\n{_rows(lines, where)}\n\n" + "\n".join(filter(None, said)))
    return parts


def _rows(lines: pd.DataFrame, *where: str) -> str:
    """The numbers of one table or figure, as a table, and why some are corrected; nothing where there are none."""
    mine = as_lines(lines[lines["where"].isin(where)])
    rows = [
        f"| {line.system} | {line.data} | {line.quantity} | {number(line.published, line.sd, line.digits)} |"
        f" {number(line.ours, digits=line.digits)} | {spread(line)} | {line.status} |"
        for line in mine
    ]
    header = [
        "| model | data | | published | ours | interval | status |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    corrected = dict.fromkeys(line.why for line in mine if line.status == "corrected")
    return "\n".join([*header, *rows, *(f"\nCorrected: {why}." for why in corrected)]) if rows else ""


def _said(study: Study, case: Case, result: Result | None) -> str:
    """How a case was run, and what is known about a difference."""
    if result is None:
        return ""
    corpus, seconds = result.manifest["corpus"], result.manifest["seconds"]
    table = result.table
    spread_ = 100 * table.drop_duplicates(["seed", "example"]).groupby("seed")["base"].mean().std()
    sd = f", SD over seeds {spread_:.1f}" if table["seed"].nunique() > 1 and table["base_counts"].isna().all() else ""
    options = ", ".join(f"{name} {value}" for name, value in case.full.training.items()) if case.full else ""
    return (
        f"- **{case.name}**: {corpus['n']:,} examples of {corpus['name']} ({corpus['split']}), seeds 0 to"
        f" {table['seed'].nunique() - 1}{sd}; {options}; {seconds / 60:.0f} minutes with training."
        f' `whence reproduce {study.name} --scale full --only "{case.name}"`. {case.why}'
    ).strip()


def _figure(figure: Picture, lines: pd.DataFrame, found: Found, folder: Path, study: str) -> str:
    """What a figure shows, its numbers, and the picture of each case."""
    cases = [(case, result) for what, case, result in found if what is figure]
    places = dict.fromkeys([figure.name, *(number.where for number in figure.number if number.where)])
    mine = lines["quantity"].isin([number.quantity for number in figure.number])  # two figures may stand in one place
    numbers = _rows(lines[mine], *places)
    if not cases and not numbers:
        return ""
    models: dict[str, list[tuple[Case, Result]]] = {}
    for case, result in cases:
        models.setdefault(case.name, []).append((case, result))
    shown = [_picture(figure, models[name], folder, study) for name in figure.cases if name in models]
    about = f"{figure.about} {figure.why}".strip()
    return "\n\n".join(part for part in (f"### {figure.name}", about, numbers, *shown) if part)


def _picture(figure: Picture, models: Sequence[tuple[Case, Result]], folder: Path, study: str) -> str:
    """The picture that a figure names, or the main one with what was found of the first model."""
    (case, result), n = models[0], len(models)
    module, corpus = experiment(result.experiment), result.manifest["corpus"]
    stem = re.sub(r"[,.:]", "", f"{study}-{figure.name}-{case.name}".lower().replace(" ", "-"))
    drawn = _drawn(figure, module, [_may_be_shown(result, module) for _, result in models])
    if drawn is None:
        return f"**{case.name}**: there is nothing to be drawn of {corpus['n']:,} examples of {corpus['name']}."
    link = f"![{figure.name}, {case.name}]({linked(save(drawn, folder / stem, ['svg']))})"
    if figure.drawn:
        return f"**{case.name}**\n\n{link}"
    of = f" The first of {n} models:" if n > 1 else ""
    summary = module.summary(result.table) if figure.tabled else None
    table = "" if summary is None else f"\n\n{_tabled(summary, figure.digits)}"
    seconds = round(result.manifest["seconds"])
    return (
        f"**{case.name}**: {corpus['n']:,} examples of {corpus['name']}, {seconds} second{'s' * (seconds != 1)}."
        f"{of} {module.verdict(result.table).sentence}{_aside(module, result.table)}{table}\n\n{link}"
    )


def _aside(module: Any, table: pd.DataFrame) -> str:
    """What an experiment has to say beside its verdict, if it has."""
    said = module.remark(table)
    return f" {said}" if said else ""


def _cell(value: object, digits: int) -> str:
    """A number with so many digits; where there is none, a dash."""
    if not isinstance(value, float):
        return str(value)
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _tabled(rows: pd.DataFrame, digits: int) -> str:
    """A summary as a table of the page."""
    lines = [list(rows.columns), ["---"] * len(rows.columns)]
    for row in rows.itertuples(index=False):
        lines.append([_cell(cell, digits) for cell in row])
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _may_be_shown(result: Result, module: Any) -> pd.DataFrame:
    """The table; without the sentences of a corpus that was not made here, which may not be passed on with the page."""
    name, _, variant = str(result.manifest["corpus"]["name"]).partition(":")
    corpus = CORPORA.get(name)
    made = corpus is not None and corpus.kind == "embedded" and "of" not in corpus.variants.get(variant, {})
    if not made:
        table: pd.DataFrame = module.without_texts(result.table)
        return table
    return result.table


def _drawn(figure: Picture, module: Any, tables: Sequence[pd.DataFrame]) -> Figure | None:
    """One of the experiment's further figures, of the first model, if it has it; else the main one, of all models where
    the experiment can make one table of theirs (`pooled`).
    """
    if figure.drawn:
        return module.figures(tables[0]).get(figure.drawn)
    whole = len(tables) > 1 and module.pooled is not None
    return module.figure(module.pooled(tables) if whole else tables[0])


def _remarks(study: Study) -> str:
    if not study.remark:
        return ""
    rows = ["| where | | data | measure | published | status | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    rows += [
        f"| {r.where} | {r.system} | {r.data} | {r.metric} | {r.value:g} | {r.status} | {r.note} |"
        for r in study.remark
    ]
    return "### Other published numbers\n\n" + "\n".join(rows)
