"""Verdicts, figures and manifests become one self-contained HTML page: no network, no script."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from whence.figures.tokens.text import as_html
from whence.report.inline_svg import checked, places, too_many
from whence.report.overall_answer import answer
from whence.report.page_model import AuditPage, Part, Table, TextExample
from whence.results.errors import CannotSave
from whence.results.format_number import describe_effect, number
from whence.results.to_json import plain
from whence.results.verdict import QUESTIONS

LARGEST = 5_000_000  # bytes of a page
ROWS = 40  # rows of a table shown
LETTERS = 500_000  # letters of all manifests shown, no more than a twentieth of them for one
CELL = 300  # letters of a cell shown


def build(audit: AuditPage, largest: int = LARGEST) -> str:
    """The page as HTML. Where it would be larger than `largest` bytes, its largest figures make room for a note."""
    sizes = dict(places(audit))
    excess = sum(sizes.values()) - largest
    while True:
        left_out = frozenset(too_many(audit, excess))
        html = _rendered(audit, left_out)
        over = len(html.encode()) - largest
        if over <= 0 or len(left_out) == len(sizes):
            return html
        excess = over + sum(sizes[place] for place in left_out)


def write(path: str | Path, html: str) -> Path:
    """Write the page atomically: to a temporary file, then renamed."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(html, encoding="utf-8", newline="\n")
        temporary.replace(path)
    except OSError as error:
        raise CannotSave(
            f"could not write the report {path}: {error.strerror or error}. Make room or allow writing, or choose "
            f"another place, and run again"
        ) from error
    finally:
        if temporary.is_file():
            temporary.unlink()
    return path


def _rendered(audit: AuditPage, left_out: frozenset[tuple[int, int, int]]) -> str:
    """Autoescape is on for every template; only figures, checked, go in as they are."""
    templates = PackageLoader("whence.report")
    environment = Environment(loader=templates, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {
        "words": describe_effect,
        "cell": _cell,
        "manifest": _manifest,
        "head": _head,
        "style": _style,
        "shaded": _shaded,
    }
    parts = [
        {"part": part, "answer": answer(part.verdicts), "figures": _figures(number, part, left_out)}
        for number, part in enumerate(audit.parts)
    ]
    manifests = sum(len(part.results) for part in audit.parts)
    page = environment.get_template("report.html")
    html = page.render(audit=audit, parts=parts, questions=QUESTIONS, shown=ROWS, manifests=manifests)
    return html.encode("utf-8", "replace").decode()  # half a surrogate pair in a user's text could not be saved


def _figures(
    part_number: int, part: Part, left_out: frozenset[tuple[int, int, int]]
) -> dict[int, list[tuple[str, Markup | None]]]:
    """Of each question, captions with pictures; None for one that was left out."""
    return {
        question: [
            (caption, None if place in left_out else Markup(checked(svg, "-".join(map(str, ("p", *place))))))
            for place, (caption, svg) in (
                ((part_number, question, count), figure) for count, figure in enumerate(figures)
            )
        ]
        for question, figures in part.figures.items()
    }


def _shaded(example: TextExample) -> Markup:
    """The words of a text shaded by each method's scores; `as_html` escapes them."""
    return Markup(as_html(example.words, example.scores))


def _style(word: str) -> str:
    """The class of an answer's colours: that of its first word."""
    return word.partition(",")[0].replace(" ", "-")


def _head(table: Table) -> list[Any]:
    """The rows that are shown."""
    return list(table.rows)[:ROWS]


def _cell(value: Any) -> str:
    """A cell of a table: floats in three digits, what is missing as a dash."""
    value = plain(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = number(value, (value / 10,)) if isinstance(value, float) else str(value)
    return text if len(text) <= CELL else f"{text[:CELL]}…"


def _manifest(manifest: Mapping[str, Any], of: int) -> str:
    """One of so many manifests, for reading; cut where it is very long."""
    text, longest = json.dumps(plain(manifest), indent=2, ensure_ascii=False), LETTERS // max(of, 20)
    return text if len(text) <= longest else f"{text[:longest]}\n… cut here; the whole is in manifest.json"
