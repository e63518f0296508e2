"""`whence list`: the experiments, explainers, corpora, reference models and studies there are."""

import json
from dataclasses import dataclass, field
from typing import Annotated

from whence.commands._shared import HERE, Output, parsed
from whence.commands.terminal import at_terminal, print_table


def command(arguments: list[str]) -> int:
    """`whence list`: experiments, explainers, corpora, reference models, studies."""
    from whence.attribution import registry as explainers
    from whence.data import registry as corpora
    from whence.reference_model import REFERENCE_MODELS
    from whence.reproducing import study_files as studies
    from whence.results import experiment as experiments

    @dataclass(frozen=True)
    class Options:
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "list", arguments, "Experiments, explainers, corpora, reference models and studies.")
    there = {
        "experiments": {name: experiments.about(name) for name in experiments.names()},
        "explainers": {name: explainers.about(name) for name in explainers.names()},
        "corpora": {row["name"]: row["about"] for row in corpora.listing()},
        "models": {name: REFERENCE_MODELS.about(name).removeprefix(f"`{name}`: ") for name in REFERENCE_MODELS.names()},
        "studies": {name: studies.read(name).title for name in studies.names()},
    }
    if options.output.json:
        print(json.dumps(there, ensure_ascii=False, indent=1))
    elif at_terminal():
        for kind, named in there.items():
            print_table(("name", "about"), list(named.items()), kind)
            print()
    else:
        for kind, named in there.items():
            print(f"{kind}\n" + "\n".join(f"  {name:<18} {about}" for name, about in named.items()) + "\n")
    return 0
