"""`whence train MODEL`: a reference model, trained on a corpus."""

import inspect
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from whence.commands._shared import HERE, Output, leading, parsed, quieten, said


def command(arguments: list[str]) -> int:
    """`whence train additive --data sst --out folder`."""
    positional, rest = leading(arguments, ("--model",))
    named = positional[1] if positional else "additive"  # whose defaults are meant
    from whence.training.config import Training
    from whence.training.presets.wu2020 import MODES
    from whence.training.train import altered_as, train

    mode = said(rest, "--mode")
    meant: dict[str, Any] = {"model": named, **({"mode": mode} if mode in MODES else {})}  # else it is refused below

    @dataclass(frozen=True)
    class Options:
        training: Annotated[Training, HERE] = field(default_factory=lambda: Training(**meant))
        out: Path = Path("whence-model")
        """folder for the trained model; a training that was cut off goes on there"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    about = f"whence train [MODEL] [OPTIONS]\n\n{inspect.getdoc(Training)}"
    options = parsed(Options, "train", [*positional, *rest], about)
    quieten()
    from whence.data.registry import load
    from whence.subject.metrics import accuracy, agreement, score, tells_chunks

    corpus = load(options.training.data, data_dir=options.training.data_dir, columns=options.training.columns)
    for note in corpus.notes:
        options.output.say(f"  {corpus.name}: {note}")
    subject = train(options.training, options.out, corpus=corpus, quiet=options.output.silent)
    split = "test" if "test" in corpus.splits else "dev"
    override = altered_as(options.training)
    outcome: dict[str, Any] = {"folder": str(options.out), "split": split, "notes": list(corpus.notes)}
    if subject.task.valued:
        found = agreement(subject, corpus[split], override=override)
        outcome |= {"concordance": round(float(found.mean()), 4), "sd_over_examples": round(float(found.std()), 4)}
        reached = f"concordance {found.mean():.3f} (SD over narratives {found.std():.3f})"
    else:
        share = accuracy(subject, corpus[split], override=override)
        outcome["accuracy"] = round(share, 4)
        reached = f"{100 * share:.1f} % right"
    if tells_chunks(subject):
        f1 = score(subject, corpus[split], override=override)
        outcome["f1"] = round(f1, 4)
        reached = f"F1 {100 * f1:.1f} of chunks, {reached}"
    if options.output.json:
        print(json.dumps(outcome, ensure_ascii=False))
    else:
        print(f"Trained in {options.out}: {reached} on {split} ({len(corpus[split])} examples).")
    return 0
