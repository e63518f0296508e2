"""Run the benchmarks and write docs/benchmarks.md; `python -m benchmarks growth` prints one of them, and with
`--write` puts it into the page, in the place of what it was.
"""

import platform
import sys
from importlib import import_module
from pathlib import Path

import torch
import transformers

REPORTS = (
    "recording",
    "memory",
    "permutation",
    "tracing",
    "syntax",
    "adversaries",
    "global_explainers",
    "erasure",
    "explainers",
    "growth",
    "training",
    "workbench_size",
    "workbench_load",
    "scale",
    "large_corpora",
)
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


READING = (
    "How to read it: *native sdpa* and *adopted, nothing recorded* run the same code, so what lies between them is the"
    " noise of the machine: a few per cent of time, some tens of MB of peak memory. Run it on an idle machine."
)


def section(name: str) -> str:
    module = import_module(f"benchmarks.{name}")  # some need weights that others do not
    with torch.no_grad():
        return f"## {name}\n\n{module.__doc__}\n\n{module.report()}\n"


def with_section(page: str, name: str, text: str) -> str:
    """The page with one section replaced, or added at its end."""
    before, found, after = page.partition(f"## {name}\n")
    _, next_heading, rest = after.partition("\n## ")
    return f"{before if found else page.rstrip() + chr(10) * 2}{text}{next_heading}{rest}"


def main() -> None:
    asked = [name for name in sys.argv[1:] if name != "--write"]
    if "--write" in sys.argv:
        for name in asked:
            PAGE.write_text(with_section(PAGE.read_text(), name, section(name)))
        return
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
