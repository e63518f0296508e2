"""`whence audit [MODEL] [DATA]`: test whether a model's attention explains its predictions on a table."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated

from whence.commands._shared import HERE, Output, describe_verdict, parsed, quieten
from whence.commands.terminal import at_terminal, print_audit
from whence.report.overall_answer import Answer
from whence.results.verdict import Verdict
from whence.subject.model_names import refuse_missing_folder


def command(arguments: list[str]) -> int:
    """`whence audit [MODEL] [DATA]`."""
    from whence.auditing.settings import Settings

    @dataclass(frozen=True)
    class Options:
        settings: Annotated[Settings, HERE]
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "audit", arguments, inspect.getdoc(Settings))
    if options.settings.model is not None:
        refuse_missing_folder(options.settings.model)
    quieten()
    from whence.auditing.run import audit

    finished = audit(options.settings, quiet=options.output.silent, say=options.output.say)
    report, found = finished.report, finished.verdicts
    if options.output.json:
        plain = {part: {number: one.as_dict() for number, one in verdicts.items()} for part, verdicts in found.items()}
        overall = {part: asdict(one) for part, one in finished.answers.items()}
        outcome = {"report": str(report), "answers": overall, "verdicts": plain, "notes": finished.notes}
        print(json.dumps(outcome, ensure_ascii=False, indent=1))
    else:
        if at_terminal():
            print_audit(finished.answers, found)
        else:
            print(summary(finished.answers, found), end="\n\n")
        print(f"Report: {report}")
    return 0


def summary(answers: Mapping[str, Answer], found: Mapping[str, Mapping[int, Verdict]]) -> str:
    """An audit for the terminal: the overall answer first, then the verdicts."""
    return "\n\n".join(
        "\n".join([part, describe_answer(answers[part]), *map(describe_verdict, verdicts.values())])
        for part, verdicts in found.items()
    )


def describe_answer(answer: Answer) -> str:
    """The overall answer, and what to do."""
    advice = f"\n  {answer.advice}" if answer.advice else ""
    return f"  Is its attention an explanation of its predictions? {answer.word.upper()}. {answer.sentence}{advice}\n"
