"""A fingerprint of the code that verdicts rest on: a case that was run with other rules is run again."""

import hashlib
from functools import cache
from pathlib import Path

import whence

ROOMS = (
    "measures",
    "core",
    "results",
    "report",
    "subject",
    "models",
    "attribution",
    "explainers",
    "analysis",
    "evaluation",
    "experiments",
    "auditing",
    "calibration",
)


@cache
def rules_fingerprint() -> str:
    """A hash of all Python files of these rooms."""
    root, digest = Path(whence.__file__).parent, hashlib.sha256()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
