"""What an engine is asked for: a call of a function by its name, and what became of it."""

import os
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, Protocol, runtime_checkable

from whence.core.errors import WhenceError
from whence.results.errors import CannotSave

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "TOKENIZERS_PARALLELISM": "false",
    "WHENCE_WORKER": "1",  # a call starts no workers of its own
}
State = Literal["done", "failed", "refused", "died", "busy"]


class Busy(Exception):
    """Another worker is computing the same; ask again later."""


@dataclass(frozen=True)
class Resources:
    """What a call needs of the machine that runs it."""

    cpus: int = 1
    gpus: float = 0.0
    memory: int = 0  # bytes; 0: not said


@dataclass(frozen=True)
class Call:
    """`function` is `module:name`, so that any process can find it; `arguments` are plain values that can be sent."""

    name: str
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    resources: Resources = Resources()


@dataclass(frozen=True)
class Outcome:
    """What became of a call: its value, or an error as text.

    `refused` is an error that Whence raised on purpose, which would come again; `failed` any other; `died` a process
    that ended in mid-call; `busy` a call that another worker is running.
    """

    name: str
    state: State
    value: Any = None
    error: str = ""
    trace: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    process: int = 0


@runtime_checkable
class Engine(Protocol):
    """Runs calls, as many at a time as it has workers. Closing it ends what still runs."""

    workers: int

    def submit(self, call: Call) -> None:
        """Run the call as soon as a worker is free."""

    def completed(self, timeout: float) -> Outcome | None:
        """The next finished call; None if there is none within so many seconds."""

    def close(self) -> None:
        """End all workers at once."""


def perform_alone(call: Call) -> Outcome:
    """Call the function in this process, which is a worker: on one thread."""
    os.environ.update({name: value for name, value in ONE_THREAD.items() if name not in os.environ})
    return perform(call)


def perform(call: Call) -> Outcome:
    """Call the function in this process."""
    began, cpu_began = time.perf_counter(), time.process_time()
    state: State = "done"
    value, error, trace = None, "", ""
    try:
        module, _, name = call.function.partition(":")
        value = getattr(import_module(module), name)(**call.arguments)
    except Busy as stopped:
        state, error = "busy", str(stopped)
    except Exception as stopped:  # the caller gets it as an outcome
        deliberate = isinstance(stopped, WhenceError) and not isinstance(stopped, CannotSave)
        state, error = ("refused" if deliberate else "failed"), describe_error(stopped)
        trace = traceback.format_exc()
    took, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    return Outcome(call.name, state, value, error, trace, took, cpu, os.getpid())


def describe_error(error: BaseException) -> str:
    """An error in one line: ours are sentences, others have their class in front."""
    words = " ".join(str(error).split())
    return words if isinstance(error, WhenceError) else f"{type(error).__name__}: {words}".rstrip(": ")
