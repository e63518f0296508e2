"""`whence reproduce STUDY`: a paper's tables and figures, published numbers beside ours."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from whence.commands._shared import HERE, Output, leading, parsed, quieten
from whence.core.errors import BadConfig

if TYPE_CHECKING:
    from whence.results.result import Result


@dataclass(frozen=True)
class Options:
    """Run what a paper ran, and set our numbers beside the published ones. What is finished is not run again."""

    study: str = ""
    """name of a study, or path of a study file (.toml)"""
    scale: Literal["quick", "full"] = "quick"
    """quick: embedded corpora in place of the paper's, some minutes; full: the real corpora that are at hand"""
    only: str | None = None
    """one table, figure or case: --only "Table 2" """
    mode: str | None = None
    """where a paper and its authors' code disagree, what to follow (default: all modes, one after another)"""
    data_dir: Path | None = None
    """folder with the native corpora (default: $WHENCE_DATA)"""
    out: Path = Path("whence-results")
    """folder for models and results; a run that was cut off goes on there"""
    saved: bool = False
    """only what was run before: nothing is trained, nothing is run"""
    ledger: Path | None = None
    """also write into this page (.md), with the table and the figures in a folder of its name beside it"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


def command(arguments: list[str]) -> int:
    """`whence reproduce vashishth2019 --scale quick`."""
    from whence.reproducing import study as studies

    positional, rest = leading(arguments, ("--study",))
    options = parsed(Options, "reproduce", [*positional, *rest])
    if not options.study:
        print("\n".join(["usage: whence reproduce STUDY [OPTIONS]", "", *(f"  {name}" for name in studies.names())]))
        return 2
    study = studies.read(options.study)
    if options.ledger is not None and options.ledger.suffix != ".md":
        raise BadConfig(f"--ledger names a page; expected a file that ends in .md, came {options.ledger}")
    study.refuse_unknown(options.only, options.mode)
    quieten()
    from whence.reproducing.compare import lines_found
    from whence.reproducing.ledger import write_ledger
    from whence.reproducing.ledger_row import as_table, as_text
    from whence.reproducing.run import Way, conducted
    from whence.results.store import Store

    way = Way(options.scale, Store(options.out), options.data_dir, options.output.silent, options.saved)
    lines, found, sentences = [], [], list[str]()
    for what, case, result in conducted(study, options.only, way, options.output.say, options.mode):
        found.append((what, case, result))
        new = lines_found(what, case, result, options.scale)
        lines += new
        said = "" if new else in_words(case.name, result)
        sentences += [said] if said and said not in sentences else []  # several figures may be of one result
        options.output.say(as_text(new) if new else said)
    page = write_ledger(study, options.scale, found, options.ledger) if options.ledger else None
    if options.output.json:
        held = {"lines": json.loads(as_table(lines).to_json(orient="records")), "found": sentences}
        print(json.dumps({**held, "page": page and str(page)}))
        return 0
    print("\n".join([*([as_text(lines)] if lines or not sentences else []), *sentences]))
    print(
        f"\nThe page: {page}" if page else f"\nResults: {options.out}. With --ledger PAGE.md, a page with figures too."
    )
    return 0


def in_words(case: str, result: "Result") -> str:
    """What was found, in a sentence: for figures of which no numbers were published."""
    from whence.results.experiment import experiment

    return f"{case}, {result.experiment}: {experiment(result.experiment).verdict(result.table).sentence}"
