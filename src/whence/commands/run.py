"""`whence run EXPERIMENT`: one experiment, with its table, figures and verdict."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from whence.commands._shared import HERE, Output, describe_verdict, parsed, quieten
from whence.subject.model_names import refuse_missing_folder

if TYPE_CHECKING:
    from whence.results.result import Result


def command(arguments: list[str]) -> int:
    """`whence run EXPERIMENT --model M --data D`."""
    from whence.results.experiment import experiment

    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0 if arguments else 2
    name, *rest = arguments
    chosen = experiment(name)

    @dataclass(frozen=True)
    class Options:
        config: Annotated[chosen.config, HERE]
        out: Path = Path("whence-results")
        """folder for results; a result that is there is not computed again"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options: Any = parsed(Options, f"run {name}", rest, chosen.about)
    if options.config.model is not None:
        refuse_missing_folder(options.config.model)
    quieten()
    from whence.evaluation.runner import run_experiment
    from whence.results.store import Store

    store = Store(options.out)
    result = run_experiment(name, options.config, store, quiet=options.output.silent)
    folder = store.folder(name, result.manifest["cache_key"])
    figures = save_figures(result, folder, options.out / "figures")
    if options.output.json:
        print(json.dumps(as_dict(result, folder, figures), ensure_ascii=False, indent=1))
    else:
        print(as_text(result, folder, figures))
    return 0


def usage() -> str:
    """The experiments, for `whence run --help`."""
    from whence.results.experiment import about, names

    lines = [f"  {name:<22} {about(name)}" for name in names()]
    head, tail = "usage: whence run EXPERIMENT --model MODEL --data DATA [options]", "lists the experiment's options."
    return "\n".join([head, "", *lines, "", f"`whence run EXPERIMENT --help` {tail}"])


def save_figures(result: "Result", folder: Path, out: Path) -> list[Path]:
    """Write the main figure and the further ones, named after the result's folder; the main one is first."""
    from whence.figures.style import save
    from whence.results.atomic_write import saving

    stem = f"{folder.parent.name}-{folder.name}"
    with saving(folder):
        paths = save(result.figure(), out / stem)
        for part, figure in result.figures().items():
            paths += save(figure, out / f"{stem}-{part}")
    return paths


def as_dict(result: "Result", folder: Path, figures: list[Path]) -> dict[str, Any]:
    """The outcome as plain values, for JSON."""
    summary = result.summary()
    return {
        "folder": str(folder),
        "figures": [str(path) for path in figures],
        "verdict": result.verdict().as_dict(),
        "summary": None if summary is None else json.loads(summary.to_json(orient="records")),
        "notes": result.manifest["notes"],
    }


def as_text(result: "Result", folder: Path, figures: list[Path]) -> str:
    """The outcome for the terminal."""
    summary = result.summary()
    lines = [str(result)]
    if summary is not None:
        lines.append(f"\n{summary.to_string(index=False, float_format='{:.4g}'.format, na_rep='–')}\n")
    lines += [f"note: {note}" for note in result.manifest["notes"]]
    lines += ["", describe_verdict(result.verdict()), "", f"Table: {folder / 'table.parquet'}", f"Figure: {figures[0]}"]
    return "\n".join(lines)
