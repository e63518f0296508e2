"""The command that does one task alone, to try what failed."""

import shlex
from collections.abc import Mapping
from typing import Any

from whence.studying.records import Records
from whence.studying.tasks import Task


def command_of(task: Task, records: Records) -> str:
    """`whence train …` or `whence run …` with the options of a task."""
    options = dict(task.options)
    if task.kind == "train":
        model = options.pop("model")
        return shlex.join(["whence", "train", str(model), *flags(options), "--out", "trained"])
    trained = [done for key in task.needs if (done := records.done(key)) and done["task"]["kind"] == "train"]
    if "model" not in options:
        options["model"] = str(records.root / trained[0]["result"]) if trained else "trained"
    return shlex.join(["whence", "run", task.experiment, *flags(options), "--out", str(records.root)])


def flags(options: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Options as words of a command line."""
    words: list[str] = []
    for name, value in options.items():
        flag = f"{prefix}{name.replace('_', '-')}"
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, Mapping):
            words += flags(value, f"{flag}.")
        elif isinstance(value, (list, tuple)):
            words += [f"--{flag}", *(str(one) for one in value)]
        else:
            words += [f"--{flag}", str(value)]
    return words
