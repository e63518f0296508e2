"""Overrides that are no distributions give a sentence; see `untyped_overrides.py`."""

import subprocess
import sys
from pathlib import Path


def test_bad_overrides_give_a_sentence_also_where_types_are_not_checked(request):
    """In a process of its own: in the others, the type checks of the tests would come first."""
    script = Path(__file__).with_name("untyped_overrides.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["-o", "addopts=--import-mode=importlib", str(script)]
    command += ["--all-families"] * request.config.option.all_families
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parents[2])
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
