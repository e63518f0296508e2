"""An audit in a process of its own, started by the workbench: it can be stopped at any time, and resumes.

Settings come as JSON on standard input; what happens goes to standard output, one JSON object a line.
"""

import json
import os
import sys
from typing import Any

from whence.auditing.run import audit
from whence.auditing.settings import Settings
from whence.core.errors import WhenceError
from whence.engine.end_with_parent import end_with
from whence.results.to_json import plain


def tell(kind: str, **data: Any) -> None:
    """One line for the workbench."""
    print(json.dumps({"kind": kind, **plain(data)}), file=OUT, flush=True)


OUT = sys.stdout


def main() -> int:
    """Run the audit that standard input describes."""
    end_with(os.getppid())
    settings = Settings.model_validate_json(sys.stdin.read())
    sys.stdout = sys.stderr  # whatever else is printed does not mix with the events
    try:
        finished = audit(settings, quiet=True, say=lambda words: tell("message", message=words))
    except WhenceError as error:
        tell("error", error=str(error))
        return 2
    answers = {part: answer.word for part, answer in finished.answers.items()}
    tell("result", answers=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
