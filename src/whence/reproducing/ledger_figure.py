"""One table or figure on a ledger's page: its numbers, and for each case the picture or how it was run."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from whence.figures.style import save
from whence.reproducing.ledger_row import format_cells, from_table
from whence.reproducing.measured import FigureResult
from whence.reproducing.study import Case, FigureSpec, Scale, Study
from whence.results.experiment import Experiment, experiment
from whence.results.result import Result

HEADER = [
    "| model | data | | published | ours | interval | number | finding |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
]

MAX_ROWS = 8  # of a case's summary on the page


def figure_section(
    study: Study,
    scale: Scale,
    figure: FigureSpec,
    results: Sequence[FigureResult],
    rows: pd.DataFrame,
    folder: Path,
    earlier: Mapping[str, str] | None = None,
    draws: bool = True,
) -> str:
    """What a figure shows, its numbers, and each case; nothing where there is neither a number nor a result.

    Cases without a result have the paragraph of an `earlier` run, if there is one. Unless it `draws`, pictures that are
    there are linked.
    """
    earlier = earlier or {}
    numbers = numbers_table(_rows_of(figure, rows))
    if not results and not numbers and not earlier:
        return ""
    cases: dict[str, list[Result]] = {}
    for _, case, result, *_ in results:
        cases.setdefault(case.name, []).append(result)
    parts = []
    for case in (case for name in figure.cases for case in study.case if case.name == name):
        if case.name not in cases:
            parts += [earlier[case.name]] if case.name in earlier else []
        elif "runs" in figure.show:
            parts.append(describe_run(study, scale, case, cases[case.name][0]))
        else:
            parts.append(_picture(figure, case, cases[case.name], folder, study.name, draws))
    if "runs" in figure.show:
        parts = ["\n".join(parts)]
    about = " ".join(filter(None, (figure.about, figure.why, describe_tolerance(figure))))
    return "\n\n".join(part for part in (f"## {figure.name}", about, numbers, *parts) if part)


def describe_tolerance(figure: FigureSpec) -> str:
    """The tolerance of the figure, and those of numbers that have their own; nothing where there is none."""
    own: dict[float, dict[str, None]] = {}
    for number in figure.number:
        if number.within is not None:
            own.setdefault(number.within, {})[number.quantity.partition(" at ")[0]] = None
    others = "".join(f"; of {' and '.join(names)} {within:g}" for within, names in own.items())
    return f"Tolerance: {figure.within:g}{others}." if figure.within else ""


def _rows_of(figure: FigureSpec, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a figure. Two figures may share a place in the paper: then they differ in their quantities."""
    places = {figure.name, *(number.where for number in figure.number if number.where)}
    mine = rows[rows["where"].isin(places)]
    return mine if figure.published else mine[mine["quantity"].isin([number.quantity for number in figure.number])]


def numbers_table(rows: pd.DataFrame) -> str:
    """Ledger rows as a table of the page, and why some are corrected; nothing where there are none."""
    mine = from_table(rows)
    lines = [f"| {' | '.join([row.system, row.data, row.quantity, *format_cells(row)])} |" for row in mine]
    corrected = dict.fromkeys(row.why for row in mine if row.status == "corrected")
    return "\n".join([*HEADER, *lines, *(f"\nCorrected: {why}." for why in corrected)]) if lines else ""


def describe_run(study: Study, scale: Scale, case: Case, result: Result) -> str:
    """How a case was run, and what is known of a difference."""
    corpus, seconds, table = result.manifest["corpus"], result.manifest["seconds"], result.table
    run, n_seeds = case.run_at(scale), table["seed"].nunique()
    options = ", ".join(f"{name} {value}" for name, value in run.training.items()) if run else ""
    seeds = f"seeds 0 to {n_seeds - 1}, SD over seeds {_seed_sd(result):.1f}" if n_seeds > 1 else "seed 0"
    return (
        f"- **{case.name}**: {corpus['n']:,} examples of {corpus['name']} ({corpus['split']}), {seeds}; {options};"
        f" {seconds / 60:.0f} minutes with training."
        f' `whence reproduce {study.name} --scale {scale} --only "{case.name}"`. {case.why}'
    ).strip()


def _seed_sd(result: Result) -> float:
    """The SD over the seeds of the experiment's first quantity."""
    quantities = experiment(result.experiment).quantities
    each = [quantities(rows) for _, rows in result.table.groupby("seed")]
    return float(pd.Series([next(iter(numbers.values())).mean for numbers in each]).std())


def _picture(
    figure: FigureSpec, case: Case, results: Sequence[Result], folder: Path, study: str, draws: bool = True
) -> str:
    """The picture that a figure names, or the main one with the first model's verdict."""
    result, n = results[0], len(results)
    module, corpus = experiment(result.experiment), result.manifest["corpus"]
    stem = "figures/" + re.sub(r"[,.:]", "", f"{study}-{figure.name}-{case.name}".lower().replace(" ", "-"))
    drawn = _draw(figure, module, [result.table for result in results]) if draws else None
    if drawn is None and (draws or not (folder / f"{stem}.svg").exists()):
        return f"**{case.name}**: nothing to draw for {corpus['n']:,} examples of {corpus['name']}."
    if drawn is not None:
        save(drawn, folder / stem, ["svg"])
    link = f"![{figure.name}, {case.name}]({stem}.svg)"
    if figure.plot:
        return f"**{case.name}**\n\n{link}"
    of = f" The first of {n} models:" if n > 1 else ""
    summary = module.summary(result.table) if "summary" in figure.show else None
    table = "" if summary is None else f"\n\n{summary_part(summary, figure.digits, folder, f'{stem}.csv')}"
    seconds = round(result.manifest["seconds"])
    sentences = " ".join(filter(None, (module.verdict(result.table).sentence, module.remark(result.table))))
    return (
        f"**{case.name}**: {corpus['n']:,} examples of {corpus['name']}, {seconds} second{'s' * (seconds != 1)}."
        f"{of} {sentences}{table}\n\n{link}"
    )


def summary_part(summary: pd.DataFrame, digits: int, folder: Path, file: str) -> str:
    """The summary as a table of the page; of a long one the first rows, and all of them in a file of the folder."""
    if len(summary) <= MAX_ROWS:
        return _summary_table(summary, digits)
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    summary.to_csv(folder / file, index=False, float_format="%.4g")
    first = _summary_table(summary[:MAX_ROWS], digits)
    return f"{first}\n\nThe first {MAX_ROWS} of {len(summary)} rows; all are in [a table]({file})."


def _summary_table(summary: pd.DataFrame, digits: int) -> str:
    lines = [list(summary.columns), ["---"] * len(summary.columns)]
    lines += [[_cell(cell, digits) for cell in row] for row in summary.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _cell(value: object, digits: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _draw(figure: FigureSpec, module: Experiment, tables: Sequence[pd.DataFrame]) -> Figure | None:
    """The further figure that `plot` names, of the first model, if the experiment has it; else the main one, of all
    models where the experiment can pool their tables.
    """
    if figure.plot:
        return module.figures(tables[0]).get(figure.plot)
    if len(tables) > 1 and module.pooled is not None:
        return module.figure(module.pooled(tables))
    return module.figure(tables[0])
