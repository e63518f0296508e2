"""`whence audit [MODEL] [DATA]`: test whether a model's attention explains its predictions on a table."""

import inspect
import json
from dataclasses import dataclass, field
from typing import Annotated

from whence.commands._shared import HERE, Output, describe_verdict, parsed, quieten
from whence.results.verdict import Verdict


def command(arguments: list[str]) -> int:
    """`whence audit [MODEL] [DATA]`."""
    from whence.auditing.settings import Settings

    @dataclass(frozen=True)
    class Options:
        settings: Annotated[Settings, HERE]
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "audit", arguments, inspect.getdoc(Settings))
    quieten()
    from whence.auditing.run import audit

    finished = audit(options.settings, quiet=options.output.silent, say=options.output.say)
    report, found = finished.report, finished.verdicts
    if options.output.json:
        plain = {part: {number: one.as_dict() for number, one in verdicts.items()} for part, verdicts in found.items()}
        outcome = {"report": str(report), "verdicts": plain, "notes": finished.notes}
        print(json.dumps(outcome, ensure_ascii=False, indent=1))
    else:
        print(summary(found))
        print(f"\nReport: {report}")
    return 0


def summary(found: dict[str, dict[int, Verdict]]) -> str:
    """The verdicts of an audit for the terminal."""
    return "\n\n".join(
        "\n".join([part, *(describe_verdict(verdict) for verdict in verdicts.values())])
        for part, verdicts in found.items()
    )
