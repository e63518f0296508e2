"""The engines by name."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from whence.core.errors import BadConfig
from whence.engine.call import Engine
from whence.engine.local import LocalEngine

EngineName = Literal["local", "ray", "slurm"]


def processors() -> int:
    """How many processors this process may use; one in a worker, which has others beside it."""
    if os.environ.get("WHENCE_WORKER"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine_named(
    name: EngineName,
    workers: int | None = None,
    *,
    address: str | None = None,
    folder: Path = Path("whence-results"),
    partition: str = "",
    environments: Sequence[Mapping[str, str]] = ({},),
) -> Engine:
    """An engine with so many workers: `address` of a Ray cluster, `folder` for Slurm's scripts and logs."""
    if workers is not None and workers < 1:
        raise BadConfig(f"there must be at least one worker; came {workers}")
    if name == "ray":
        from whence.engine.ray_cluster import RayEngine

        return RayEngine(None if address == "new" else address or "auto", workers)
    if address is not None:
        raise BadConfig(f"--address is that of a Ray cluster; the engine is {name}: say --engine ray")
    if name == "slurm":
        from whence.engine.slurm import SlurmEngine

        return SlurmEngine(folder / "slurm", workers or 64, partition=partition)
    return LocalEngine(workers or processors(), environments)
