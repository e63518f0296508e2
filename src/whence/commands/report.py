"""`whence report FOLDER`: write the report of an audit again from its saved tables, without torch."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from whence.commands._shared import HERE, Output, parsed


def command(arguments: list[str]) -> int:
    """`whence report FOLDER`: from saved tables, without torch."""

    @dataclass(frozen=True)
    class Options:
        folder: Annotated[Positional[Path], arg(metavar="[FOLDER]")] = Path("whence-audit")
        """folder that `whence audit --out` wrote"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "report", arguments, "Write an audit's report again from its saved tables.")
    from whence.auditing.audited import read_audit
    from whence.auditing.write_report import write_report

    path = write_report(read_audit(options.folder))
    print(json.dumps({"report": str(path)}) if options.output.json else f"Report: {path}")
    return 0
