"""`whence audit [MODEL] [DATA]`: ask of a model and a table whether its attention is an explanation."""

import inspect
import json
from dataclasses import dataclass, field
from typing import Annotated

from whence.commands._shared import HERE, Output, leading, parsed, quieten, told
from whence.results.verdict import Verdict


def command(arguments: list[str]) -> int:
    """`whence audit [MODEL] [DATA]`."""
    from whence.auditing.settings import Settings

    positional, rest = leading(arguments, ("--model", "--data"))

    @dataclass(frozen=True)
    class Options:
        settings: Annotated[Settings, HERE]
        output: Annotated[Output, HERE] = field(default_factory=Output)

    about = f"whence audit [MODEL] [DATA] [OPTIONS]\n\n{inspect.getdoc(Settings)}"
    options = parsed(Options, "audit", [*positional, *rest], about)
    quieten()
    from whence.auditing.run import audit
    from whence.auditing.write_report import answers, notes

    report = audit(options.settings, quiet=options.output.silent, say=options.output.say)
    found = answers(options.settings.out)
    if options.output.json:
        given = {part: {number: one.as_dict() for number, one in verdicts.items()} for part, verdicts in found.items()}
        outcome = {"report": str(report), "verdicts": given, "notes": notes(options.settings.out)}
        print(json.dumps(outcome, ensure_ascii=False, indent=1))
    else:
        print(summary(found))
        print(f"\nThe report: {report}")
    return 0


def summary(found: dict[str, dict[int, Verdict]]) -> str:
    """An audit's answers for the terminal."""
    return "\n\n".join(
        "\n".join([part, *(told(verdict) for verdict in verdicts.values())]) for part, verdicts in found.items()
    )
