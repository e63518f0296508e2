"""Outcomes for people at a terminal: tables and colours by rich. What goes into a pipe or a file is plain text.

rich leaves colours out where NO_COLOR is set, and fits tables to the width of the terminal.
"""

import sys
from collections.abc import Mapping

from whence.report.overall_answer import Answer
from whence.results.verdict import QUESTIONS, Verdict

STYLES = {"yes": "bold green", "no": "bold red", "yes, in part": "bold yellow"}


def at_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def print_audit(answers: Mapping[str, Answer], found: Mapping[str, Mapping[int, Verdict]]) -> None:
    """Of each part the overall answer first, then a table of the questions."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    for part, verdicts in found.items():
        answer = answers[part]
        console.print(f"[bold]{escape(part)}[/]: is its attention an explanation of its predictions?")
        console.print(f"[{style(answer.word)}]{escape(answer.word.upper())}.[/] {escape(answer.sentence)}")
        if answer.advice:
            console.print(escape(answer.advice), style="italic")
        print_table(("", "question", "answer", "what was found"), list(map(row, verdicts.values())), answers_in=2)
        console.print()


def row(verdict: Verdict) -> tuple[str, ...]:
    """A verdict as a row of the table."""
    number, found = verdict.question, f"{verdict.sentence} {verdict.advice}".strip()
    return (str(number or ""), QUESTIONS[number] if number else "none of the six", verdict.answer, found)


def print_table(
    head: tuple[str, ...], rows: list[tuple[str, ...]], title: str = "", answers_in: int | None = None
) -> None:
    """A table that fits the terminal; the column of answers is coloured."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*head, title=title or None, title_justify="left", show_edge=False, pad_edge=False)
    for cells in rows:
        table.add_row(*(Text(cell, style(cell) if place == answers_in else "") for place, cell in enumerate(cells)))
    Console(highlight=False).print(table)


def style(answer: str) -> str:
    """The colour of an answer; none for undecided."""
    return STYLES.get(answer, "bold")
