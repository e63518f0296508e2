"""The engine of a Ray cluster: each call is a Ray task with its own CPUs, GPUs and memory. Needs `whence[ray]`.

Whence retries by itself, so Ray does not: a node that dies loses its calls, which are submitted again elsewhere.
"""

import os
import sys
from typing import Any

from whence.core.errors import BadConfig
from whence.engine.call import ONE_THREAD, Call, Outcome, perform_alone


class RayEngine:
    """Calls on a Ray cluster: `address` is that of its head node, "auto" the one of this machine, None a new one here.

    The folder of a study must be the same on all nodes: a shared file system.
    """

    def __init__(self, address: str | None = "auto", workers: int | None = None) -> None:
        self._ray = _ray()
        self._started = not self._ray.is_initialized()
        if self._started:
            self._connect(address, workers)
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        self.workers = workers or max(cpus, 1)
        self._running: dict[Any, Call] = {}
        self._remote = self._ray.remote(_perform)

    def submit(self, call: Call) -> None:
        """Hand the call to the cluster, which runs it where its resources are free."""
        needed = call.resources
        options: dict[str, Any] = {"num_cpus": needed.cpus, "num_gpus": needed.gpus, "max_retries": 0}
        options |= {"memory": needed.memory} if needed.memory else {}
        self._running[self._remote.options(**options).remote(call, sys.path)] = call

    def completed(self, timeout: float) -> Outcome | None:
        """The next finished call; None if there is none within so many seconds."""
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout) if self._running else ([], [])
        if not ready:
            return None
        call = self._running.pop(ready[0])
        try:
            outcome: Outcome = self._ray.get(ready[0])
        except self._ray.exceptions.RayError as error:  # a worker or a node has died
            return Outcome(call.name, "died", error=" ".join(str(error).split())[:600])
        return outcome

    def close(self) -> None:
        """Cancel what runs, and leave the cluster; one that was started here ends."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._running = {}
        if self._started:
            self._ray.shutdown()

    def _connect(self, address: str | None, workers: int | None) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}
        try:
            if address is None:
                self._ray.init(num_cpus=workers, **quiet)
            else:
                del quiet["include_dashboard"]
                self._ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:300]
            raise BadConfig(
                f"no Ray cluster answers at {address} ({reason}); start one with `ray start --head`, or name another"
                " with --address, or run with --engine local"
            ) from error


def _perform(call: Call, path: list[str]) -> Outcome:
    """In a process of the cluster: the modules of the driver are found where the driver finds them."""
    os.environ.update(ONE_THREAD)
    sys.path[:] = list(dict.fromkeys([*path, *sys.path]))
    return perform_alone(call)


def _ray() -> Any:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # tasks without GPUs see what the node sees
    try:
        import ray
    except ImportError as error:
        raise BadConfig("the engine ray needs Ray: pip install 'whence[ray]'") from error
    return ray
