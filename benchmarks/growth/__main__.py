"""Measure what is missing, and again what is named; print the table of growth."""

import sys

from benchmarks.growth import measure_missing, report
from benchmarks.growth.cases import cases
from benchmarks.growth.measured import kept

for name in sys.argv[1:]:
    if name not in cases():
        sys.exit(f"nothing is called {name!r}; choose from: {', '.join(cases())}")
    kept(name).unlink(missing_ok=True)
measure_missing()
print(report())
