"""`whence train MODEL`: a reference model, trained on a corpus; or a saved model, fine-tuned."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from whence.commands._shared import HERE, Output, option_value, parsed, quieten
from whence.subject.model_names import refuse_missing_folder

if TYPE_CHECKING:
    from whence.data.examples import Corpus
    from whence.subject.subject import Subject
    from whence.training.config import Training


def command(arguments: list[str]) -> int:
    """`whence train additive --data sst --out folder`."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    named = bool(arguments) and not arguments[0].startswith("-")
    model, rest = (arguments[0], arguments[1:]) if named else ("additive", arguments)
    training, out, output = options_of(model, rest)
    quieten()
    from whence.data.registry import load
    from whence.training.train import train

    corpus = load(training.data, data_dir=training.data_dir, columns=training.columns)
    for note in corpus.notes:
        output.say(f"  {corpus.name}: {note}")
    subject = train(training, out, corpus=corpus, quiet=output.silent)
    split = "test" if "test" in corpus.splits else "dev"
    reached, metrics = evaluate(subject, training, corpus, split)
    if output.json:
        print(
            json.dumps({"folder": str(out), "split": split, "notes": list(corpus.notes), **metrics}, ensure_ascii=False)
        )
    else:
        print(f"Trained in {out}: {reached} on {split} ({len(corpus[split])} examples).")
    return 0


def usage() -> str:
    """The models that can be trained."""
    from whence.reference_model import REFERENCE_MODELS

    about = {name: REFERENCE_MODELS.about(name).removeprefix(f"`{name}`: ") for name in REFERENCE_MODELS.names()}
    lines = [f"  {name:<14} {line}" for name, line in about.items()]
    return "\n".join(
        [
            "usage: whence train MODEL [OPTIONS]",
            "",
            "Train a reference model on a corpus, or fine-tune a saved one. MODEL is (default: additive)",
            "",
            *lines,
            "  FOLDER         or a name of the hub: a saved model to fine-tune",
            "",
            "`whence train MODEL --help` lists the options of a model, with its defaults.",
        ]
    )


def options_of(model: str, arguments: list[str]) -> "tuple[Training, Path, Output]":
    """The training that a command line asks for, its folder, and how to print."""
    from whence.reference_model import find_model

    reference = find_model(model)
    if reference is None:
        refuse_missing_folder(model)
    from whence.training.config import Training
    from whence.training.defaults import FineTuningOptions

    mode = option_value(arguments, "--mode")
    known = reference is not None and mode in reference.modes  # if not, it is refused below
    usual = Training(model=model, **({"mode": mode} if known else {}))
    kind: Any = FineTuningOptions if reference is None else reference.options

    @dataclass(frozen=True)
    class Options:
        options: Annotated[kind, HERE] = field(default_factory=lambda: usual.options)
        training: Annotated[Training, HERE] = field(default_factory=lambda: usual)
        out: Path = Path("whence-model")
        """folder for the trained model; a training that was cut off resumes there"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    about = f"Fine-tune the saved model {model}." if reference is None else reference.about.strip()
    chosen = parsed(Options, f"train {model}", arguments, about)
    return chosen.training.model_copy(update={"options": chosen.options}), chosen.out, chosen.output


def evaluate(subject: "Subject", training: "Training", corpus: "Corpus", split: str) -> tuple[str, dict[str, float]]:
    """How well the model predicts a split, in words and in numbers."""
    from whence.subject.metrics import accuracy, agreement, score, tells_chunks
    from whence.training.train import trained_override

    override = trained_override(training)
    if subject.task.predicts_values:
        found = agreement(subject, corpus[split], override=override)
        metrics = {"concordance": round(float(found.mean()), 4), "sd_over_examples": round(float(found.std()), 4)}
        return f"concordance {found.mean():.3f} (SD over narratives {found.std():.3f})", metrics
    share = accuracy(subject, corpus[split], override=override)
    reached, metrics = f"{100 * share:.1f} % right", {"accuracy": round(share, 4)}
    if tells_chunks(subject):
        f1 = score(subject, corpus[split], override=override)
        reached, metrics = f"F1 {100 * f1:.1f} of chunks, {reached}", {**metrics, "f1": round(f1, 4)}
    return reached, metrics
