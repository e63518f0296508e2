"""Print the table of growth; what is named is measured again."""

import sys

from benchmarks.growth import report
from benchmarks.growth.cases import cases
from benchmarks.growth.measured import kept

for name in sys.argv[1:]:
    if name not in cases():
        sys.exit(f"nothing is called {name!r}; choose from: {', '.join(cases())}")
    kept(name).unlink(missing_ok=True)
print(report())
