"""What each command of the command line does: options in, words or JSON out."""

import inspect
import io
import json
import logging
import os
import sys
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import tyro
from pydantic import ValidationError
from tyro.conf import Positional, arg

from whence.core.errors import BadConfig
from whence.results.verdict import QUESTIONS, Verdict

Chosen = TypeVar("Chosen")
HERE = arg(name="")  # a class's options stand among the command's own: --seed, --columns.label


@dataclass(frozen=True)
class Output:
    """How the command speaks."""

    json: bool = False
    """print one JSON object and nothing else"""
    quiet: bool = False
    """no progress bars and no words on the way"""

    @property
    def silent(self) -> bool:
        """Whether nothing is to be said on the way."""
        return self.json or self.quiet

    def say(self, words: str) -> None:
        """Words on the way, to stderr, so that stdout holds the outcome alone."""
        if not self.silent:
            print(words, file=sys.stderr, flush=True)


def parsed(kind: type[Chosen], program: str, arguments: list[str], about: str | None = None) -> Chosen:
    """The options of a command; a value that makes no sense gets a sentence."""
    from whence.options import sentence

    said = io.StringIO()
    try:
        with redirect_stderr(said):
            return tyro.cli(kind, prog=f"whence {program}", args=arguments, description=about)
    except ValidationError as error:
        raise BadConfig(sentence(error)) from error
    except SystemExit as stopped:
        if stopped.code in (0, None):
            raise
        raise BadConfig(unboxed(said.getvalue())) from None


def unboxed(drawn: str) -> str:
    """The words in a box that was drawn for a screen, as one line, without what `--help` says as well."""
    lines = [line.strip(" │") for line in drawn.splitlines() if not set(line) & set("╭╰─")]
    words, _, hint = " ".join(line for line in lines if line).partition("For full helptext, ")
    words = words.partition("Argument helptext:")[0].partition("Got errors:")[0].strip(" .")
    return f"{words}; {hint.replace('run: ', 'run ')}" if hint else words


def audit_command(arguments: list[str]) -> int:
    """`whence audit [MODEL] [DATA]`."""
    from whence.auditing.settings import Settings

    positional, rest = leading(arguments, ("--model", "--data"))

    @dataclass(frozen=True)
    class Options:
        settings: Annotated[Settings, HERE]
        output: Annotated[Output, HERE] = field(default_factory=Output)

    about = f"whence audit [MODEL] [DATA] [OPTIONS]\n\n{inspect.getdoc(Settings)}"
    options = parsed(Options, "audit", [*positional, *rest], about)
    quieten()
    from whence.auditing.conducting import audit
    from whence.auditing.paging import answers, notes

    report = audit(options.settings, quiet=options.output.silent, say=options.output.say)
    found = answers(options.settings.out)
    if options.output.json:
        given = {part: {number: one.as_dict() for number, one in verdicts.items()} for part, verdicts in found.items()}
        outcome = {"report": str(report), "verdicts": given, "notes": notes(options.settings.out)}
        print(json.dumps(outcome, ensure_ascii=False, indent=1))
    else:
        print(summary(found))
        print(f"\nThe report: {report}")
    return 0


def report_command(arguments: list[str]) -> int:
    """`whence report FOLDER`: from saved tables, without torch."""

    @dataclass(frozen=True)
    class Options:
        folder: Positional[Path] = Path("whence-audit")
        """folder that `whence audit --out` wrote"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "report", arguments, "Write an audit's report again from its saved tables.")
    from whence.auditing.paging import write_report

    path = write_report(options.folder)
    print(json.dumps({"report": str(path)}) if options.output.json else f"The report: {path}")
    return 0


def run_command(arguments: list[str]) -> int:
    """`whence run EXPERIMENT --model M --data D`."""
    from whence.experiments import about, experiment, names

    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: whence run EXPERIMENT --model MODEL --data DATA [options]\n")
        print("\n".join(f"  {name:<14} {about(name)}" for name in names()))
        print("\n`whence run EXPERIMENT --help` lists an experiment's options.")
        return 0 if arguments else 2
    name, *rest = arguments
    module = experiment(name)

    @dataclass(frozen=True)
    class Options:
        config: Annotated[module.Config, HERE]
        out: Path = Path("whence-results")
        """folder for results; what is there already is not run again"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options: Any = parsed(Options, f"run {name}", rest, module.__doc__)
    quieten()
    from whence.experiments._running import perform
    from whence.figures.style import save
    from whence.results.saving import saving
    from whence.results.store import Store

    store = Store(options.out)
    result = perform(name, options.config, store, quiet=options.output.silent)
    folder = store.folder(name, result.manifest["identity"])
    with saving(folder):
        pictures = save(module.figure(result.table), options.out / "figures" / f"{name}-{folder.name}")
    verdict = module.verdict(result.table)
    if options.output.json:
        print(json.dumps({"folder": str(folder), "figures": [str(p) for p in pictures], "verdict": verdict.as_dict(),
                          "notes": result.manifest["notes"]}, ensure_ascii=False, indent=1))  # fmt: skip
        return 0
    print(result)
    for note in result.manifest["notes"]:
        print(f"note: {note}")
    print(f"\n{told(verdict)}\n\nThe table: {folder / 'table.parquet'}\nThe figure: {pictures[0]}")
    return 0


def explain_command(arguments: list[str]) -> int:
    """`whence explain MODEL TEXT`."""
    from whence.explainers import names

    @dataclass(frozen=True)
    class Options:
        model: Positional[str]
        """folder of a saved model, or a hub name"""
        text: Positional[str]
        """the text to explain"""
        pair: str | None = None
        """the second text, for models that read two"""
        target: str | None = None
        """for models that make a text of a text: the text they are asked about"""
        method: Annotated[tuple[str, ...], arg(help=f"methods, of: {', '.join(names())}")] = ()
        measure: Literal["probability", "logit", "margin"] = "probability"
        """what is explained, of the class that the model predicts"""
        form: Literal["text", "html", "svg", "pdf", "latex", "json"] = "text"
        """how to show it"""
        out: Path | None = None
        """file to write (default: standard output)"""
        device: str = "cpu"
        """where to run"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "explain", arguments, "Score the tokens of a text by several methods, side by side.")
    quieten()
    from whence.explaining import USUAL, explain_text
    from whence.models.subject import load

    subject = load(options.model, device=options.device)
    explanation = explain_text(
        subject, options.text, options.pair, options.method or USUAL, options.measure, target=options.target
    )
    form = "json" if options.output.json else options.form
    return write_out(explanation, form, options.out)


def write_out(explanation: Any, form: str, out: Path | None) -> int:
    """An explanation to a file or to standard output."""
    from whence.results.saving import saving

    if form == "pdf":
        if out is None:
            raise BadConfig("a PDF cannot be shown in a terminal; name a file with --out")
        with saving(out):
            explanation.save_pdf(out)
        return 0
    coloured = out is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    shown = explanation.to_text(colour=coloured) if form == "text" else getattr(explanation, f"to_{form}")()
    if out is None:
        print(shown)
        return 0
    with saving(out):
        out.write_text(shown, encoding="utf-8")
    return 0


def train_command(arguments: list[str]) -> int:
    """`whence train additive --data sst --out folder`."""
    positional, rest = leading(arguments, ("--model",))
    from whence.models.training import Training, train

    @dataclass(frozen=True)
    class Options:
        training: Annotated[Training, HERE]
        out: Path = Path("whence-model")
        """folder for the trained model; a training that was cut off goes on there"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    about = f"whence train [MODEL] [OPTIONS]\n\n{inspect.getdoc(Training)}"
    options = parsed(Options, "train", [*positional, *rest], about)
    quieten()
    from whence.data.catalogue import load
    from whence.models.fitting import accuracy

    corpus = load(options.training.data, data_dir=options.training.data_dir)
    subject = train(options.training, options.out, corpus=corpus, quiet=options.output.silent)
    split = "test" if "test" in corpus.splits else "dev"
    share = accuracy(subject, corpus[split])
    outcome = {"folder": str(options.out), "split": split, "accuracy": round(share, 4), "notes": list(corpus.notes)}
    if options.output.json:
        print(json.dumps(outcome, ensure_ascii=False))
    else:
        print(f"Trained in {options.out}: {100 * share:.1f} % right on {split} ({len(corpus[split])} examples).")
    return 0


def list_command(arguments: list[str]) -> int:
    """`whence list`: experiments, explainers, corpora."""
    from whence import experiments, explainers
    from whence.data.catalogue import CORPORA

    @dataclass(frozen=True)
    class Options:
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "list", arguments, "The experiments, explainers and corpora there are.")
    there = {
        "experiments": {name: experiments.about(name) for name in experiments.names()},
        "explainers": {name: explainers.about(name) for name in explainers.names()},
        "corpora": {name: entry.about for name, entry in CORPORA.items()},
    }
    if options.output.json:
        print(json.dumps(there, ensure_ascii=False, indent=1))
    else:
        for kind, named in there.items():
            print(f"{kind}\n" + "\n".join(f"  {name:<18} {about}" for name, about in named.items()) + "\n")
    return 0


def data_command(arguments: list[str]) -> int:
    """`whence data list | get NAME | show NAME`."""
    from whence.data import catalogue

    @dataclass(frozen=True)
    class Options:
        verb: Positional[Literal["list", "get", "show"]]
        """what to do"""
        name: Positional[str] = ""
        """name of a corpus, hub:NAME, or path of a table"""
        data_dir: Path | None = None
        """folder with the native corpora (default: $WHENCE_DATA)"""
        output: Annotated[Output, HERE] = field(default_factory=Output)

    options = parsed(Options, "data", arguments, "List, get or show corpora.")
    if options.verb == "list":
        rows: Any = [{"name": e.name, "kind": e.kind, "about": e.about, "licence": e.licence}
                     for e in catalogue.CORPORA.values()]  # fmt: skip
        words = "\n".join(
            f"{row['name']:<10} {row['kind']:<9} {row['about']} Licence: {row['licence']}" for row in rows
        )
    elif not options.name:
        raise BadConfig(f"`whence data {options.verb}` needs the name of a corpus; see `whence data list`")
    elif options.verb == "get":
        folder = catalogue.get(options.name, options.data_dir)
        rows, words = {"folder": str(folder)}, f"{options.name} is in {folder}"
    else:
        corpus = catalogue.load(options.name, data_dir=options.data_dir)
        rows = {"name": corpus.name, "about": corpus.about, "counts": catalogue.counts(corpus),
                "notes": list(corpus.notes), "examples": catalogue.preview(corpus)}  # fmt: skip
        words = shown(rows)
    print(json.dumps(rows, ensure_ascii=False, indent=1) if options.output.json else words)
    return 0


def shown(corpus: dict[str, Any]) -> str:
    """A corpus in words: counts, notes, some examples."""
    lines = [f"{corpus['name']}: {corpus['about']}", ""]
    for split, labels in corpus["counts"].items():
        named = ", ".join(f"{count} {label}" if label else f"{count}" for label, count in labels.items())
        lines.append(f"  {split:<6} {sum(labels.values())} examples ({named})")
    lines += [f"  note: {note}" for note in corpus["notes"]]
    for row in corpus["examples"]:
        lines += ["", *(f"  {name:<8} {cell}" for name, cell in row.items())]
    return "\n".join(lines)


def summary(found: dict[str, dict[int, Verdict]]) -> str:
    """An audit's answers for the terminal."""
    return "\n\n".join(
        "\n".join([part, *(told(verdict) for verdict in verdicts.values())]) for part, verdicts in found.items()
    )


def told(verdict: Verdict) -> str:
    """A verdict in words."""
    return f"  {verdict.question}. {QUESTIONS[verdict.question]} {verdict.answer.upper()}\n     {verdict.sentence}"


def leading(arguments: list[str], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words before the first option, given the names of the options that they stand for."""
    n = next((i for i, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    if n > len(names):
        raise BadConfig(f"at most {len(names)} words are expected before the options, came: {' '.join(arguments[:n])}")
    return [part for pair in zip(names, arguments[:n], strict=False) for part in pair], arguments[n:]


def quieten() -> None:
    """Keep the libraries' own talk off the screen; ours says what matters."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
