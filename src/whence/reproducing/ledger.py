"""The ledger: a page with every published number of a study beside ours, made from saved results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from whence.experiments import experiment
from whence.figures.bars import bars
from whence.figures.style import save
from whence.measures.bootstrap import Interval
from whence.reproducing.comparing import (
    RULE,
    as_lines,
    as_table,
    based,
    lines_of,
    number,
    published_falls,
    relative_falls,
    spread,
)
from whence.reproducing.study import Case, Picture, Scale, Study
from whence.results.result import Result
from whence.results.saving import saving

Found = Sequence[tuple[Case | Picture, Case, Result]]
KINDS = {"single": "single texts", "pair": "pairs of texts", "generation": "translation"}


def write_ledger(study: Study, scale: Scale, found: Found, page: Path) -> Path:
    """Write the study's part of the page, which may hold others, and beside the page its table as CSV and its figures.

    The part stands between two marks and is written anew; the rest of the page stays as it is.
    """
    folder = page.with_suffix("")
    with saving(page):
        folder.mkdir(parents=True, exist_ok=True)
        lines = ledger_table(study, scale, found)
        lines.to_csv(folder / f"{study.name}.csv", index=False, float_format="%.4g")
        parts = [_heading(study, scale, folder), *_tables(study, lines, found), _finding(study, found)]
        parts += [_figure(figure, case, result, folder, study.name) for figure, case, result in found
                  if isinstance(figure, Picture)]  # fmt: skip
        parts += [_first_figure(study, found, folder), _remarks(study)]
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


def ledger_table(study: Study, scale: Scale, found: Found) -> pd.DataFrame:
    """Every published number of the tables, and those of controls: one row each."""
    results = {case.name: result for what, case, result in found if what is case}
    rows = []
    for case in study.case:
        table = results[case.name].table if case.name in results else None
        if table is not None or case.published is not None:
            rows += lines_of(case, table, scale)
    return as_table(rows)


def _heading(study: Study, scale: Scale, folder: Path) -> str:
    made = f"`whence reproduce {study.name} --scale {scale} --ledger PAGE`"
    return (
        f"## {study.title} (paper {study.paper})\n\n{study.about.strip()}\n\nMade by {made} from saved results. {RULE}"
        " Changes are in points, with 95 % paired bootstrap intervals over examples and seeds. All numbers:"
        f" [`{study.name}.csv`]({folder.name}/{study.name}.csv)."
    )


def _tables(study: Study, lines: pd.DataFrame, found: Found) -> list[str]:
    """One part for each table of the paper: what was run, then the numbers."""
    results = {case.name: result for what, case, result in found if what is case}
    parts = []
    for where in dict.fromkeys(case.table for case in study.case):
        cases = [case for case in study.case if case.table == where]
        rows = [
            "| model | data | | published | ours | interval | status |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        rows += [
            f"| {line.system} | {line.data} | {line.quantity} | {number(line.published, line.sd)} | {number(line.ours)}"
            f" | {spread(line)} | {line.status} |"
            for line in as_lines(lines[lines["where"] == where])
        ]
        said = [_said(study, case, results.get(case.name)) for case in cases]
        parts.append(f"### {where}\n\n" + "\n".join(rows) + "\n\n" + "\n".join(filter(None, said)))
    return parts


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


def _finding(study: Study, found: Found) -> str:
    """The paper's finding in numbers, and what the controls do to it."""
    groups: dict[str, list[pd.DataFrame]] = {}
    for what, case, result in found:
        if what is case:
            label = KINDS[case.kind] + ("" if case.published is not None else ", controls")
            groups.setdefault(label, []).append(result.table)
    if not groups:
        return ""
    stated = {KINDS[kind]: share for kind, share in published_falls(study).items()}
    rows = [
        f"| {label} | {len(groups[label])} | {number(stated.get(label))} | {fall.mean:.1f} | {fall.low:.1f} to"
        f" {fall.high:.1f} |"
        for label, fall in relative_falls(groups).items()
    ]
    return "\n".join([
        "### The finding in numbers", "",
        "Share of the score that is lost when a model is trained and tested with equal weights, in per cent of the"
        " unaltered score, mean over models and corpora. *Published* is reckoned from the paper's tables, for all its"
        " corpora.", "",
        "| kind of task | cases | published | ours | interval |", "| --- | --- | --- | --- | --- |", *rows,
    ])  # fmt: skip


def _first_figure(study: Study, found: Found, folder: Path) -> str:
    """The paper's Fig. 1: one corpus of each kind, with attention and trained without."""
    shown: dict[str, tuple[Case, Result]] = {}
    for what, case, result in found:
        if what is case and case.published is not None:
            shown.setdefault(case.kind, (case, result))
    if not shown:
        return ""
    table = pd.DataFrame([bar for case, result in shown.values() for bar in _bars(case, result.table)])
    picture = bars(table, "task", "weights", "value", "low", "high", x_label="accuracy in per cent, or BLEU")
    files = save(picture, folder / f"{study.name}-figure-1", ["svg"])
    return f"### Figure 1\n\nWith attention, and trained with equal weights.\n\n![Figure 1]({_linked(files)})"


def _bars(case: Case, table: pd.DataFrame) -> list[dict[str, Any]]:
    base = based(table)
    rows = table[(table["variant"] == "uniform") & (table["when"] == "train+infer")]
    if rows.empty:
        return []
    altered = based(rows.assign(base=rows["altered"], base_counts=rows["altered_counts"]))
    return [_bar(case, "with attention", base), _bar(case, "equal weights", altered)]


def _bar(case: Case, weights: str, found: Interval) -> dict[str, Any]:
    return {"task": f"{case.data}, {case.system}", "weights": weights, "value": found.mean, "low": found.low,
            "high": found.high}  # fmt: skip


def _figure(figure: Picture, case: Case, result: Result, folder: Path, study: str) -> str:
    module = experiment(result.experiment)
    stem = f"{study}-{figure.name}-{case.name}".lower().replace(" ", "-").replace(",", "").replace(".", "")
    files = save(module.figure(result.table), folder / stem, ["svg"])
    verdict, corpus = module.verdict(result.table), result.manifest["corpus"]
    return (
        f"### {figure.name}: {case.name}\n\n{figure.about} {corpus['n']:,} examples of {corpus['name']},"
        f" {result.manifest['seconds']:.0f} seconds. {verdict.sentence} {figure.why}\n\n![{figure.name}, {case.name}]"
        f"({_linked(files)})"
    )


def _linked(files: Sequence[Path]) -> str:
    return f"{files[0].parent.name}/{files[0].name}"


def _remarks(study: Study) -> str:
    if not study.remark:
        return ""
    rows = ["| where | | data | measure | published | status | |", "| --- | --- | --- | --- | --- | --- | --- |"]
    rows += [
        f"| {r.where} | {r.system} | {r.data} | {r.metric} | {r.value:g} | {r.status} | {r.note} |"
        for r in study.remark
    ]
    return "### Other published numbers\n\n" + "\n".join(rows)
