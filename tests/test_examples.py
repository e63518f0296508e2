"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_core_at_work_says_what_it_found():
    done = subprocess.run([sys.executable, EXAMPLES / "core.py"], capture_output=True, text=True, check=True)
    assert "uniform" in done.stdout
