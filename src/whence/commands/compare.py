"""`whence compare STUDY`: what the runs of a study say together, as one page and tables."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from whence.commands._shared import HERE, Output, parsed
from whence.options import usually


@dataclass(frozen=True)
class Options:
    """Compare the runs of a study: verdicts by type of task, architecture and run, and effects pooled over corpora.
    Needs the saved tables alone.
    """

    study: Positional[str]
    """study file (.toml), or the name of the study"""
    out: Path = Path("whence-results")
    """folder of the study (--out of `whence study`)"""
    to: Annotated[Path | None, usually("OUT/compare/STUDY", "FOLDER")] = None
    """folder for the page, the tables (CSV) and the figures"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


def command(arguments: list[str]) -> int:
    """`whence compare when.toml --out results`."""
    options = parsed(Options, "compare", arguments)
    from whence.studying.compare import answers, compare
    from whence.studying.compare_page import write_comparison
    from whence.studying.grid import read_grid

    is_file = options.study.endswith(".toml")
    found = compare(options.out, read_grid(Path(options.study)).name if is_file else options.study)
    page = write_comparison(found, options.to or options.out / "compare" / found.study)
    counted = answers(found.verdicts)
    if options.output.json:
        pooled = json.loads(found.pooled.to_json(orient="records"))
        print(json.dumps({"page": str(page), "answers": counted.to_dict("records"), "pooled": pooled}, indent=1))
    else:
        print(f"{counted.to_string(index=False)}\n\nPage: {page}")
    return 0
