"""`whence data list | get NAME | show NAME`: the corpora."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional

from whence.commands._shared import HERE, Output, parsed
from whence.core.errors import BadConfig
from whence.options import usually


def command(arguments: list[str]) -> int:
    """`whence data list | get NAME | show NAME`."""
    from whence.data import registry
    from whence.data.preview import counts, preview
    from whence.data.tables.columns import Columns

    @dataclass(frozen=True)
    class Options:
        verb: Positional[Literal["list", "get", "show"]]
        """what to do"""
        name: Annotated[Positional[str], usually("none", "[NAME]")] = ""
        """name of a corpus, hub:NAME, or path of a table"""
        data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = None
        """folder with the native corpora"""
        columns: Columns = field(default_factory=Columns)
        """names of the table's columns, where they cannot be inferred"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "data", arguments, "List, get or show corpora.")
    if options.verb == "list":
        rows: Any = registry.listing()
        words = "\n".join(
            f"{row['name']:<15} {row['kind']:<9} {row['about']} Licence: {row['licence']}" for row in rows
        )
    elif not options.name:
        raise BadConfig(f"`whence data {options.verb}` needs the name of a corpus; see `whence data list`")
    elif options.verb == "get":
        folder = registry.get(options.name, options.data_dir, quiet=options.output.silent)
        rows, words = {"folder": str(folder)}, f"{options.name} is in {folder}"
    else:
        corpus = registry.load(options.name, data_dir=options.data_dir, columns=options.columns)
        rows = {
            "name": corpus.name,
            "about": corpus.about,
            "counts": counts(corpus),
            "notes": list(corpus.notes),
            "examples": preview(corpus),
        }
        words = describe_corpus(rows)
    print(json.dumps(rows, ensure_ascii=False, indent=1) if options.output.json else words)
    return 0


MANY = 12  # labels to list; a corpus may have hundreds


def describe_corpus(corpus: dict[str, Any]) -> str:
    """A corpus as text: counts, notes, some examples."""
    lines = [f"{corpus['name']}: {corpus['about']}", ""]
    for split, labels in corpus["counts"].items():
        each = [f"{count} {label}" if label else f"{count}" for label, count in labels.items()]
        named = ", ".join(each[:MANY]) + (f" and {len(each) - MANY} more labels" if len(each) > MANY else "")
        lines.append(f"  {split:<6} {sum(labels.values())} examples" + f" ({named})" * any(labels))
    lines += [f"  note: {note}" for note in corpus["notes"]]
    for row in corpus["examples"]:
        lines += ["", *(f"  {name:<9} {cell}".replace("\n", f"\n  {'':<9} ") for name, cell in row.items())]
    return "\n".join(lines)
