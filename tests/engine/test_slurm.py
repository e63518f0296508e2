"""Jobs of submitit, by its executor of this machine: the same code as with Slurm, but for `sbatch`."""

import pytest

from whence.core.errors import BadConfig
from whence.engine.call import Call, Outcome
from whence.engine.slurm import SlurmEngine

HERE = "support.scale.engine_calls:"


# submitit does not wait for the process of a job that it has cancelled
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_jobs_give_outcomes(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "tests")
    engine = SlurmEngine(tmp_path, 2, cluster="local")
    calls = [Call("four", f"{HERE}double", {"number": 2}), Call("no", f"{HERE}refuse")]
    for call in [*calls, Call("dies", f"{HERE}die_once", {"folder": str(tmp_path)})]:
        engine.submit(call)
    found: dict[str, Outcome] = {}
    while len(found) < 3:
        outcome = engine.completed(60.0)
        assert outcome is not None
        found[outcome.name] = outcome
    assert (found["four"].state, found["four"].value) == ("done", 4)
    assert (found["no"].state, found["no"].error) == ("refused", "epochs: expected more than 0, got -1")
    assert found["dies"].state == "died"
    engine.submit(Call("long", f"{HERE}sleep", {"seconds": 600}))
    assert engine.completed(0.0) is None
    engine.close()


def test_without_slurm_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadConfig, match="Slurm cannot be used here"):
        SlurmEngine(tmp_path)
