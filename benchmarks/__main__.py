"""Run the benchmarks and write docs/benchmarks.md; `python -m benchmarks permutation` prints one of them."""

import platform
import sys
from pathlib import Path

import torch
import transformers

from benchmarks import (
    adversaries,
    erasure,
    explainers,
    global_explainers,
    memory,
    permutation,
    recording,
    syntax,
    tracing,
)

REPORTS = {
    "recording": recording,
    "memory": memory,
    "permutation": permutation,
    "tracing": tracing,
    "syntax": syntax,
    "adversaries": adversaries,
    "global_explainers": global_explainers,
    "erasure": erasure,
    "explainers": explainers,
}
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


READING = (
    "How to read it: *native sdpa* and *adopted, nothing recorded* run the same code, so what lies between them is the"
    " noise of the machine: a few per cent of time, some tens of MB of peak memory. Run it on an idle machine."
)


def section(name: str) -> str:
    with torch.no_grad():
        return f"## {name}\n\n{REPORTS[name].__doc__}\n\n{REPORTS[name].report()}\n"


def main() -> None:
    asked = sys.argv[1:]
    if asked:
        print("\n".join(section(name) for name in asked))
        return
    setting = (
        f"`make bench`, {torch.get_num_threads()} threads, {platform.machine()}, Python {platform.python_version()},"
        f" torch {torch.__version__}, transformers {transformers.__version__}, float32, evaluation mode, no gradient."
        " Medians of interleaved rounds. Ratios that have a limit say whether it was kept."
    )
    PAGE.write_text("\n".join(["# Benchmarks\n", f"{setting}\n", f"{READING}\n", *map(section, REPORTS)]))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
