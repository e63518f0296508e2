"""`whence annotate prepare | serve | export | import | simulate | analyse`: a human evaluation."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional

from whence.annotation.formats import FormatName
from whence.commands._shared import HERE, Output, describe_verdict, parsed, quieten
from whence.core.errors import BadConfig
from whence.options import usually
from whence.subject.model_names import refuse_missing_folder

VERBS = {
    "prepare": "draw texts, highlight words, blind and freeze the items",
    "serve": "annotate in a browser: one link for each annotator",
    "export": "write the items for another tool, the answers as a table, or marked words as rationales",
    "import": "read the answers that were given in another tool",
    "simulate": "power of a design, with synthetic annotators; or write their answers into a study",
    "analyse": "what the answers say: shares, agreement, verdict",
}
Study = Annotated[Positional[Path], usually("none", "STUDY")]


def command(arguments: list[str]) -> int:
    """`whence annotate VERB …`."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else 2
    verb, *rest = arguments
    if verb not in VERBS:
        raise BadConfig(f"`whence annotate` has no {verb!r}; choose from: {', '.join(VERBS)}")
    return RUNS[verb](rest)


def usage() -> str:
    """The verbs, for `whence annotate --help`."""
    lines = [f"  whence annotate {name:<9} {about}" for name, about in VERBS.items()]
    end = "`whence annotate VERB --help` lists the options. docs/human-evaluation.md goes through a whole study."
    return "\n".join(["usage: whence annotate VERB [options]", "", *lines, "", end])


def run_prepare(arguments: list[str]) -> int:
    """Prepare a study."""
    from whence.annotation.prepare import Design, describe, prepare

    @dataclass(frozen=True)
    class Options:
        design: Annotated[Design, HERE]
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "annotate prepare", arguments, (Design.__doc__ or "").strip())
    refuse_missing_folder(options.design.model)
    quieten()
    study = prepare(options.design, quiet=options.output.silent)
    folder = options.design.out
    if options.output.json:
        print(json.dumps({"folder": str(folder), "items": len(study.items), "sha256": study.checksum}))
    else:
        print(
            f"{describe(study)}\n\nStudy: {folder / 'study.json'} (annotators may see it)\nKey: {folder / 'key.json'}"
        )
        print(f"Next: whence annotate serve {folder} --annotators a,b")
    return 0


def run_serve(arguments: list[str]) -> int:
    """Serve a study to its annotators."""
    from whence.workbench.annotating import AnnotationOptions, serve_study

    @dataclass(frozen=True)
    class Options:
        study: Study
        """folder of the study"""
        serving: Annotated[AnnotationOptions, HERE]

    options = parsed(Options, "annotate serve", arguments, VERBS["serve"].capitalize() + ".")
    serve_study(options.study, options.serving, print)
    return 0


def run_export(arguments: list[str]) -> int:
    """Write items, answers or rationales."""
    from whence.annotation.answers import read_answers
    from whence.annotation.formats import format_of
    from whence.annotation.formats.csv import write_answers
    from whence.annotation.rationales import write_rationales
    from whence.annotation.study import read_study

    @dataclass(frozen=True)
    class Options:
        study: Study
        """folder of the study"""
        to: FormatName = "csv"
        """tool to write the items for"""
        out: Path = Path("whence-export")
        """folder to write to; of answers or rationales the file"""
        answers: bool = False
        """write the answers as a table (CSV) instead of the items"""
        rationales: bool = False
        """write the marked words as a table of rationales (JSONL), for `whence run rationales`"""

    options = parsed(Options, "annotate export", arguments, VERBS["export"].capitalize() + ".")
    study = read_study(options.study)
    if options.rationales:
        n = write_rationales(study, read_answers(options.study, study), options.out)
        print(f"{n} texts with marked words: {options.out}")
        return 0
    if options.answers:
        print(write_answers(study, read_answers(options.study, study), options.out))
        return 0
    for path in format_of(options.to).write(study, options.out):
        print(path)
    return 0


def run_import(arguments: list[str]) -> int:
    """Read answers from another tool's files."""
    from whence.annotation.answers import AnswerFile, refuse_answer
    from whence.annotation.formats import format_of
    from whence.annotation.study import read_study

    @dataclass(frozen=True)
    class Options:
        study: Study
        """folder of the study"""
        files: Annotated[Positional[tuple[Path, ...]], usually("none", "FILE [FILE ...]")]
        """what the tool exported: files, or folders of them"""
        source: Annotated[FormatName, usually("none")]
        """the tool"""

    options = parsed(Options, "annotate import", arguments, VERBS["import"].capitalize() + ".")
    study = read_study(options.study)
    found = format_of(options.source).read(study, options.files)
    for answer in (answer for given in found.values() for answer in given):
        refuse_answer(study, answer)  # all of them, before any is kept
    for name, given in found.items():
        AnswerFile(options.study, study, name).append(given)
        print(f"{name}: {len(given)} answers")
    return 0


def run_simulate(arguments: list[str]) -> int:
    """Simulate studies with synthetic annotators, or answer one with them."""
    from whence.annotation.power import Assumed, describe_power, power
    from whence.annotation.study import read_study
    from whence.annotation.synthetic import Annotator, simulate_study

    @dataclass(frozen=True)
    class Options:
        study: Annotated[Positional[Path | None], usually("none: print the power of a design", "[STUDY]")] = None
        """study into which synthetic annotators write their answers, marked as such"""
        items: tuple[int, ...] = (25, 50, 100, 200)
        """items for each condition"""
        annotators: int = 2
        """how many"""
        method: float = 0.84
        """share of the method's items whose words truly are relevant (Vashishth et al. 2019, IMDB: 0.84)"""
        control: float = 0.12
        """the same for controls (Vashishth et al. 2019, IMDB: 0.12)"""
        sensitivity: float = 0.95
        """probability that an annotator calls a truly relevant item relevant"""
        specificity: float = 0.95
        """probability that an annotator calls another item not relevant"""
        times: int = 200
        """simulated studies of each size"""
        seed: int = 0
        """random seed"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "annotate simulate", arguments, VERBS["simulate"].capitalize() + ".")
    refuse_sizes(options)
    person = Annotator(options.sensitivity, options.specificity)
    if options.study is not None:
        study = read_study(options.study)
        shares = dict.fromkeys(study.design["methods"], options.method)
        shares |= dict.fromkeys(study.design["controls"], options.control)
        names = simulate_study(options.study, study, shares, [person] * options.annotators, options.seed)
        print(f"Answers of synthetic annotators, no people, in {options.study}: {', '.join(names)}")
        return 0
    assumed = Assumed(options.method, options.control, person)
    quiet = options.output.silent
    found = power(assumed, options.items, options.annotators, options.times, options.seed, quiet=quiet)
    if options.output.json:
        shares_of = [{name: share.mean for name, share in one.answers.items()} for one in found]
        print(json.dumps([{"items": one.items, **shares} for one, shares in zip(found, shares_of, strict=True)]))
    else:
        print(describe_power(assumed, found))
    return 0


def refuse_sizes(options: Any) -> None:
    """Refuse numbers that no study can have."""
    for name in ("annotators", "times"):
        if getattr(options, name) < 1:
            raise BadConfig(f"{name} must be 1 or more, got {getattr(options, name)}")
    if not options.items or min(options.items) < 1:
        raise BadConfig(f"items must be numbers from 1 on, got {options.items}")
    for name in ("method", "control"):
        if not 0 <= getattr(options, name) <= 1:
            raise BadConfig(f"{name} is a share from 0 to 1, got {getattr(options, name)}")


def run_analyse(arguments: list[str]) -> int:
    """Say what the answers show; no model is needed."""
    from whence.analysis.human_evaluation import COLUMNS, judged, quantities, summary
    from whence.analysis.human_evaluation_verdict import verdict
    from whence.annotation.rows import rows_of
    from whence.annotation.study import read_study
    from whence.experiments.human_evaluation import figure
    from whence.reproducing.answered import published_rows
    from whence.reproducing.ledger_row import format_rows, to_table

    @dataclass(frozen=True)
    class Options:
        study: Study
        """folder of the study"""
        out: Annotated[Path | None, usually("none", "PATH")] = None
        """also write the table (CSV) and the figure into this folder"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "annotate analyse", arguments, VERBS["analyse"].capitalize() + ".")
    table = COLUMNS.table(rows_of(options.study))
    found, rows = verdict(table), summary(table)
    corpus, items = read_study(options.study).about["corpus"], judged(table)["item"].nunique()
    published = published_rows(corpus, quantities(table), items, simulated=bool(table["synthetic"].any()))
    if options.out is not None:
        write_analysis(table, figure(table), options.out)
    if options.output.json:
        records = {"summary": rows, "published": to_table(published)}
        said = {name: json.loads(one.to_json(orient="records")) for name, one in records.items()}
        print(json.dumps({"verdict": found.as_dict(), **said}, indent=1))
    else:
        print(rows.to_string(index=False, float_format="{:.3g}".format, na_rep="–"))
        lines = [
            f"  {effect.label}: {effect.value:.2f} ({effect.low:.2f} to {effect.high:.2f})" for effect in found.effects
        ]
        beside = ["", format_rows(published)] if published else []
        print("\n".join(["", *lines, *beside, "", describe_verdict(found)]))
    return 0


def write_analysis(table: Any, drawn: Any, folder: Path) -> None:
    """The table and the figure, as files."""
    from whence.figures.style import save
    from whence.results.atomic_write import saving

    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        table.to_csv(folder / "answers.csv", index=False, lineterminator="\n")
        save(drawn, folder / "human-evaluation")


RUNS: dict[str, Callable[[list[str]], int]] = {
    "prepare": run_prepare,
    "serve": run_serve,
    "export": run_export,
    "import": run_import,
    "simulate": run_simulate,
    "analyse": run_analyse,
}
