"""`whence reproduce STUDY`: a paper's tables and figures, published numbers compared with ours."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.options import usually


@dataclass(frozen=True)
class Options:
    """Run what a paper ran, and compare our numbers with the published ones. Finished work is not repeated."""

    study: Annotated[Positional[str], usually("list the studies", "[STUDY]")] = ""
    """name of a study, or path of a study file (.toml)"""
    scale: Literal["quick", "full"] = "quick"
    """quick: synthetic corpora in place of the paper's, a few minutes; full: the real corpora that are available"""
    only: Annotated[str | None, usually("all", "NAME")] = None
    """one table, figure or case: --only "Table 2" """
    mode: Annotated[str | None, usually("all modes in turn", "MODE")] = None
    """where a paper and its authors' code disagree, which one to follow"""
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = None
    """folder with the native corpora"""
    device: str = "cpu"
    """where models are trained and run: auto (the best there is), cpu, cuda, cuda:1, mps"""
    out: Path = Path("whence-results")
    """folder for models and results; an interrupted run resumes from it"""
    saved: bool = False
    """use saved results only: nothing is trained or run"""
    ledger: Annotated[Path | None, usually("none", "PAGE.md")] = None
    """also write into this page (.md), with the table and the figures in a folder of the same name"""
    annotations: Annotated[tuple[Path, ...], usually("none", "[STUDY ...]")] = ()
    """folders of human evaluations with people's answers, for the figures that need them (`whence annotate`)"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


def command(arguments: list[str]) -> int:
    """`whence reproduce vashishth2019 --scale quick`."""
    from whence.reproducing import study_files

    options = parsed(Options, "reproduce", arguments)
    if not options.study:
        names = (f"  {name}" for name in study_files.names())
        print("\n".join(["usage: whence reproduce STUDY [OPTIONS]", "", *names]))
        return 2
    study_files.read(options.study).refuse_unknown(options.only, options.mode)  # before torch is loaded
    quieten()
    from whence.reproducing.run import RunSettings, reproduce

    output, given = options.output, {**vars(options)}
    del given["output"]
    reproduction = reproduce(RunSettings(**given, quiet=output.silent), output.say)
    page = reproduction.page
    if output.json:
        rows = json.loads(reproduction.rows.to_json(orient="records"))
        print(json.dumps({"rows": rows, "sentences": reproduction.sentences, "page": page and str(page)}))
        return 0
    print(reproduction)
    print(f"\nPage: {page}" if page else f"\nResults: {options.out}. --ledger PAGE.md also writes a page with figures.")
    return 0
