"""Many calls that do not depend on each other, with a progress bar: all are done, or the first error is raised."""

from collections.abc import Sequence
from typing import Any

from tqdm.auto import tqdm

from whence.core.errors import BadConfig
from whence.engine.call import Call, Engine, Outcome
from whence.engine.schedule import Job, Progress, Schedule


class CallFailed(RuntimeError):
    """A call failed in its worker, or its worker died more than once."""


def run_all(calls: Sequence[Call], engine: Engine, what: str, unit: str, quiet: bool) -> list[Any]:
    """The values of all calls, in their order. One whose worker died is tried once more; other errors are raised when
    the calls that had begun have ended.
    """
    with tqdm(total=len(calls), desc=what, unit=unit, disable=quiet) as bar:

        def watch(progress: Progress) -> None:
            bar.update(len(progress.outcomes) - bar.n)

        try:
            outcomes = Schedule([Job(call) for call in calls], engine, attempts=2, watch=watch).run()
        finally:
            engine.close()
    return [_value(outcomes[call.name]) for call in calls]


def _value(outcome: Outcome) -> Any:
    if outcome.state == "refused":
        raise BadConfig(outcome.error)
    if outcome.state != "done":
        raise CallFailed(f"{outcome.name}: {outcome.error}\n{outcome.trace}")
    return outcome.value
