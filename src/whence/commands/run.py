"""`whence run EXPERIMENT`: one experiment, a table, a figure, a verdict."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from whence.commands._shared import HERE, Output, parsed, quieten, told


def command(arguments: list[str]) -> int:
    """`whence run EXPERIMENT --model M --data D`."""
    from whence.results.experiment import about, experiment, names

    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: whence run EXPERIMENT --model MODEL --data DATA [options]\n")
        print("\n".join(f"  {name:<18} {about(name)}" for name in names()))
        print("\n`whence run EXPERIMENT --help` lists an experiment's options.")
        return 0 if arguments else 2
    name, *rest = arguments
    module = experiment(name)

    @dataclass(frozen=True)
    class Options:
        config: Annotated[module.config, HERE]
        out: Path = Path("whence-results")
        """folder for results; what is there already is not run again"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options: Any = parsed(Options, f"run {name}", rest, module.about)
    quieten()
    from whence.evaluation.runner import run_experiment
    from whence.figures.style import save
    from whence.results.atomic_write import saving
    from whence.results.store import Store

    store = Store(options.out)
    result = run_experiment(name, options.config, store, quiet=options.output.silent)
    folder = store.folder(name, result.manifest["identity"])
    stem = f"{folder.parent.name}-{folder.name}"
    with saving(folder):
        pictures = save(module.figure(result.table), options.out / "figures" / stem)
        for part, more in module.figures(result.table).items():
            pictures += save(more, options.out / "figures" / f"{stem}-{part}")
    verdict = module.verdict(result.table)
    summary = module.summary(result.table)
    if options.output.json:
        print(json.dumps({"folder": str(folder), "figures": [str(p) for p in pictures], "verdict": verdict.as_dict(),
                          "summary": None if summary is None else json.loads(summary.to_json(orient="records")),
                          "notes": result.manifest["notes"]}, ensure_ascii=False, indent=1))  # fmt: skip
        return 0
    print(result)
    if summary is not None:
        print(f"\n{summary.to_string(index=False, float_format='{:.4g}'.format, na_rep='–')}\n")
    for note in result.manifest["notes"]:
        print(f"note: {note}")
    print(f"\n{told(verdict)}\n\nThe table: {folder / 'table.parquet'}\nThe figure: {pictures[0]}")
    return 0
