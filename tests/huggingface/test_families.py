"""The page of families that `make families` writes: enough of them, and none of them wrong."""

from collections import Counter
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "families.md"


def test_no_family_goes_wrong():
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    outcomes = Counter(row[2] for row in rows if len(row) >= 4)
    assert outcomes["adopted"] + outcomes["refused"] >= 150
    assert outcomes["adopted"] >= 150
    assert outcomes["wrong"] == 0
