"""A Ray cluster of two nodes, in a network of its own that has the loopback alone: a study gives the same tables as on
this machine, and a node that is killed in mid-run loses nothing.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.scale.grids import as_toml, small_grid, write_table

SCRIPT = Path(__file__).parent / "ray_study.py"


def no_namespace() -> str:
    """Why there can be no network of its own, if so."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "needs unshare and ip"
    asked = subprocess.run([*UNSHARED, "true"], capture_output=True, text=True, check=False)
    return asked.stderr.strip()


UNSHARED = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_a_study_on_two_nodes_of_which_one_is_killed(tmp_path):
    pytest.importorskip("ray", reason="whence[ray] is not installed")
    why = no_namespace()
    if why:
        pytest.skip(f"no network namespace is permitted here: {why}")
    table = write_table(tmp_path / "few.csv", 40)
    runs = {"score": {}, "attention": {"experiment": "correlation", "options": {"method": ["random"]}, "shards": 2}}
    file = as_toml(small_grid(table, runs=runs, seeds=2), tmp_path / "study.toml")
    inner = f"ip link set lo up && exec {sys.executable} {SCRIPT} {file} {tmp_path}"
    environment = {**os.environ, "RAY_worker_niceness": "0"}  # else its workers wait for those of other tests
    finished = subprocess.run(
        [*UNSHARED, "sh", "-c", inner], capture_output=True, text=True, check=False, timeout=900, env=environment
    )
    assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-4000:]
    seen = json.loads(finished.stdout.splitlines()[-1])
    assert seen["equal"]
    assert seen["failures"] == []
    assert seen["nodes"] == 2  # took part, and then one was killed
    assert set(seen["ended"].values()) == {1}  # nothing twice
    assert len(seen["ended"]) == seen["tasks"]
