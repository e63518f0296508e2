"""Runs a study here and on a Ray cluster of two nodes, one of which is killed when the first tasks have ended.

`python ray_study.py STUDY.toml FOLDER`, in a network that has the loopback alone; prints what was seen as JSON.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from ray.cluster_utils import Cluster

from whence.engine.here import HereEngine
from whence.engine.ray_cluster import RayEngine
from whence.studying.grid import read_grid
from whence.studying.records import Records
from whence.studying.run import run_study
from whence.studying.tasks import plan


def tables(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.glob("results/*/*/table.parquet")}


def main(file: Path, folder: Path) -> None:
    grid = read_grid(file)
    tasks = plan(grid)
    run_study(grid, tasks, folder / "here", HereEngine())
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    engine = RayEngine(cluster.address)
    records, seen = Records(folder / "ray"), {"nodes": 0}

    def watch(progress) -> None:
        nonlocal second
        begun = {line["process"] for line in records.journal()}
        if second is not None and progress.outcomes and len(begun) > 1:
            seen["nodes"] = len([node for node in engine._ray.nodes() if node["Alive"]])
            cluster.remove_node(second, allow_graceful=False)
            second = None

    outcome = run_study(grid, tasks, folder / "ray", engine, watch=watch, back_off=0.5)
    cluster.shutdown()
    ended = Counter(line["task"] for line in records.journal() if line["event"] == "ended")
    about = {"tasks": len(tasks), "ended": ended, "failures": [one.error for one in outcome.failures]}
    print(json.dumps({**seen, **about, "equal": tables(folder / "here") == tables(folder / "ray")}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
