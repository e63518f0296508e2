"""Run the benchmarks and write docs/benchmarks.md; `python -m benchmarks permutation` prints one of them."""

import platform
import sys
from pathlib import Path

import torch
import transformers

from benchmarks import adversaries, erasing, explainers, globally, memory, permutation, recording, syntax, tracing

REPORTS = {
    "recording": recording,
    "memory": memory,
    "permutation": permutation,
    "tracing": tracing,
    "syntax": syntax,
    "adversaries": adversaries,
    "globally": globally,
    "erasing": erasing,
    "explainers": explainers,
}
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


READING = (
    "How to read it: *native sdpa* and *adopted, nothing asked* run the same code, so what lies between them is the"
    " noise of the machine: a few per cent of time, some tens of MB of peak memory. Run it with nothing beside it."
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
        " Medians of interleaved rounds. A limit and whether it was kept stand beside each ratio that has one."
    )
    PAGE.write_text("\n".join(["# Benchmarks\n", f"{setting}\n", f"{READING}\n", *map(section, REPORTS)]))
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
