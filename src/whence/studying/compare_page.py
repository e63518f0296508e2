"""A comparison as one page, tables and figures."""

from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whence.figures.intervals import intervals
from whence.figures.style import as_svg, save
from whence.report.inline_svg import checked
from whence.report.page import write
from whence.results.atomic_write import saving
from whence.results.format_number import number
from whence.studying.compare import Comparison, answers, as_effects

VASHISHTH = "score_lost"  # what is lost without attention, by type of task: the question of Vashishth et al. 2019
SHOWN = 400  # rows of a table


def write_comparison(found: Comparison, folder: Path) -> Path:
    """Write compare.html, the tables as CSV and the figures; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: list[tuple[str, Markup]] = []
    with saving(folder):
        for name in ("verdicts", "effects", "pooled"):
            getattr(found, name).to_csv(folder / f"{name}.csv", index=False)
        for key, caption in captions(found.pooled).items():
            drawn = intervals(as_effects(found.pooled, key))
            svg = as_svg(drawn)
            save(drawn, folder / "figures" / key, ("svg", "pdf"))
            figures.append((caption, Markup(checked(svg, f"c-{len(figures)}"))))
    return write(folder / "compare.html", rendered(found, figures))


def captions(pooled: pd.DataFrame) -> dict[str, str]:
    """The kinds of effect that are drawn, with a caption each: first what is lost without attention."""
    if pooled.empty:
        return {}
    first = {
        VASHISHTH: "What is lost without the model's own attention, by type of task (the question of Vashishth"
        " et al. 2019): mean over corpora with the 95 % interval of a random-effects model."
    }
    keys = [key for key in dict.fromkeys(pooled["key"]) if pooled.loc[pooled["key"] == key, "unit"].nunique() == 1]
    runs = {key: ", ".join(dict.fromkeys(pooled.loc[pooled["key"] == key, "run"])) for key in keys}
    usual = {key: f"{runs[key]}: {key.replace('_', ' ')}, by type of task." for key in keys}
    chosen = {**({VASHISHTH: first[VASHISHTH]} if VASHISHTH in keys else {}), **usual}
    return {key: first.get(key, caption) for key, caption in chosen.items()}


def rendered(found: Comparison, figures: list[tuple[str, Markup]]) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=PackageLoader("whence.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    pooled = found.pooled.drop(columns=["label", "experiment", "smallest"], errors="ignore")
    tables = [
        ("Verdicts: how often each answer was given.", answers(found.verdicts)),
        ("Effects, pooled over corpora (random effects).", pooled),
        ("Every run.", found.verdicts.drop(columns=["experiment"])),
    ]
    shown = [
        (caption, list(table.columns), [[_cell(one) for one in row] for row in table.head(SHOWN).to_numpy()])
        for caption, table in tables
    ]
    page = environment.get_template("compare.html")
    return page.render(found=found, figures=figures, tables=shown)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if value != value else number(value, (value / 10,))
    return str(value)
