"""The engine of a Slurm cluster, by submitit: each call is a job of the queue. Needs `whence[slurm]`."""

import time
from pathlib import Path
from typing import Any

from whence.core.errors import BadConfig
from whence.engine.call import Call, Outcome, perform_alone

POLL = 0.2  # seconds between two looks at the jobs
MINUTES = 24 * 60
DEFAULT_MEMORY = 4  # GB, of a call that says nothing


class SlurmEngine:
    """Calls as jobs. `folder` holds scripts and logs, and must be seen by all nodes; `cluster="local"` runs the same on
    this machine, without Slurm. `partition` and `account` are given on to Slurm.
    """

    def __init__(
        self, folder: Path, workers: int = 64, cluster: str = "slurm", partition: str = "", account: str = ""
    ) -> None:
        try:
            import submitit
        except ImportError as error:
            raise BadConfig("the engine slurm needs submitit: pip install 'whence[slurm]'") from error
        try:
            self._executor = submitit.AutoExecutor(folder=str(folder), cluster=cluster)
        except RuntimeError as error:
            raise BadConfig(f"Slurm cannot be used here ({error}); run this on a node that has `sbatch`") from error
        own = {"slurm_partition": partition, "slurm_account": account} if cluster == "slurm" else {}
        self._options: dict[str, Any] = {name: value for name, value in own.items() if value}
        self.workers = workers
        self._running: dict[str, tuple[Call, Any]] = {}

    def submit(self, call: Call) -> None:
        """Put the call into the queue."""
        needed = call.resources
        self._executor.update_parameters(
            name=f"whence-{call.name}",
            cpus_per_task=needed.cpus,
            gpus_per_node=int(needed.gpus),
            mem_gb=needed.memory / 2**30 if needed.memory else DEFAULT_MEMORY,
            timeout_min=MINUTES,
            **self._options,
        )
        self._running[call.name] = call, self._executor.submit(perform_alone, call)

    def completed(self, timeout: float) -> Outcome | None:
        """The next finished call; None if there is none within so many seconds."""
        until = time.monotonic() + timeout
        while True:
            for name, (call, job) in self._running.items():
                if job.done():
                    del self._running[name]
                    return _outcome(call, job)
            if time.monotonic() >= until:
                return None
            time.sleep(min(POLL, max(until - time.monotonic(), 0.0)))

    def close(self) -> None:
        """Cancel all jobs."""
        for _, job in self._running.values():
            job.cancel()
        self._running = {}


def _outcome(call: Call, job: Any) -> Outcome:
    error = job.exception()
    if error is not None:  # the job itself failed, not the call
        return Outcome(call.name, "died", error=f"job {job.job_id}: {' '.join(str(error).split())[:600]}")
    outcome: Outcome = job.result()
    return outcome
