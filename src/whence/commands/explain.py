"""`whence explain MODEL TEXT`: the tokens of a text, or of all texts of a table, scored by several methods."""

import json
import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from tyro.conf import Positional, arg

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.core.errors import BadConfig
from whence.data.tables.columns import Columns
from whence.explaining.options import ExplainOptions
from whence.options import usually
from whence.subject.model_names import refuse_missing_folder

if TYPE_CHECKING:
    from whence.explaining.explanation import Explanation
    from whence.subject.subject import Subject

Task = Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"]
Form = Literal["text", "html", "svg", "pdf", "latex", "json"]
ENDINGS: dict[str, Form] = {
    ".txt": "text",
    ".html": "html",
    ".svg": "svg",
    ".pdf": "pdf",
    ".tex": "latex",
    ".json": "json",
}
ROWS = (".parquet", ".csv", ".jsonl")  # a row for each token


@dataclass(frozen=True)
class Options:
    """The options of the command: those of an explanation, of loading a model, and of showing the outcome."""

    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """folder of a saved model, or a hub name"""
    text: Annotated[Positional[str], arg(metavar="TEXT|TABLE")]
    """the text to explain; or, with --out FILE.parquet, a table or corpus whose texts are all explained"""
    explain: Annotated[ExplainOptions, HERE] = field(default_factory=ExplainOptions)
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = ()
    """options of single methods, as in rollout.residual=false raw_attention.without_sinks=true"""
    form: Annotated[Form | None, usually("by the ending of --out, else text", "|".join(get_args(Form)))] = None
    """how to show the explanation"""
    shading: Literal["strongest", "range"] = "strongest"
    """shades from zero to the strongest score, or over the range from the lowest score to the highest"""
    out: Annotated[Path | None, usually("standard output", "FILE")] = None
    """file to write: .html, .svg, .pdf, .tex, .json or .txt; .parquet, .csv or .jsonl has a row for each token"""
    flow: Annotated[Path | None, usually("none", "FILE")] = None
    """also draw how attention flows through layers and heads: a file ending in .html (interactive), .svg or .pdf"""
    split: Annotated[str | None, usually("test, else dev, else the only one", "NAME")] = None
    """of a table: the split to explain"""
    limit: Annotated[int | None, usually("all", "INT")] = None
    """of a table: explain at most N sampled texts"""
    batch_size: int = 32
    """of a table: texts per batch"""
    seed: int = 0
    """of a table: random seed, which samples the texts"""
    data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = None
    """folder with the native corpora"""
    columns: Columns = field(default_factory=Columns)
    """names of the table's columns, where they cannot be inferred"""
    task: Annotated[Task | None, usually("what it was saved for", "|".join(get_args(Task)))] = None
    """what the model does"""
    device: str = "cpu"
    """where to run: cpu, cuda, cuda:1, mps"""
    dtype: Literal["float32", "float16", "bfloat16", "float64"] = "float32"
    """precision of the model"""
    trust_remote_code: bool = False
    """run Python code that comes with the model"""
    output: Annotated[Output, HERE] = field(default_factory=Output)


def command(arguments: list[str]) -> int:
    """`whence explain MODEL TEXT`."""
    about = "Score the tokens of a text, or of every text of a table, by several methods."
    options = parsed(Options, "explain", arguments, about)
    from whence.figures.flow.model import refuse_ending

    if options.flow is not None:
        refuse_ending(options.flow)
    form = form_of(options)
    refuse_missing_folder(options.model)
    if form == "rows" or is_table(options.text):
        from whence.commands.explain_table import explain_table

        return explain_table(options, form)
    quieten()
    from whence.attribution.options import written_options
    from whence.explaining.explanation import explain_text

    subject = loaded(options)
    written = written_options(options.explain.methods, options.options)
    chosen = options.explain.model_copy(update={"method_options": written})
    explanation = explain_text(subject, options.text, chosen)
    for note in explanation.notes:
        options.output.say(f"  {note}")
    code = write_out(replace(explanation, shading=options.shading), form, options)
    if options.flow is not None:  # last, so that what goes wrong with it costs nothing else
        from whence.explaining.explanation import flow
        from whence.results.atomic_write import saving

        drawn = flow(subject, options.text, chosen)
        with saving(options.flow, "--flow"):
            drawn.save(options.flow)
        options.output.say(f"  {drawn.note}" if drawn.note else f"  flow diagram: {options.flow}")
    return code


def form_of(options: Options) -> Form | Literal["rows"]:
    """How the explanation is written: by the ending of the file, or as asked for."""
    if options.out is None:
        return "json" if options.output.json else options.form or "text"
    ending = options.out.suffix.lower()
    if ending in ROWS:
        return "rows"
    if ending not in ENDINGS:
        there = ", ".join((*ENDINGS, *ROWS))
        raise BadConfig(f"--out {options.out}: no known ending; expected one of {there}")
    if options.form not in (None, ENDINGS[ending]):
        raise BadConfig(f"--out {options.out} is for {ENDINGS[ending]} and --form says {options.form}; leave one out")
    return ENDINGS[ending]


def is_table(text: str) -> bool:
    """Whether the text is the name of a table: one that is there, or a single word with a table's ending."""
    from whence.data.formats.table_file import SUFFIXES
    from whence.data.formats.text import file_exists

    name = text.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES) and (file_exists(text) or len(text.split()) == 1)


def loaded(options: Options) -> "Subject":
    """The model, loaded."""
    from whence.subject.subject import load

    return load(
        options.model,
        options.task,
        device=options.device,
        dtype=options.dtype,
        trust_remote_code=options.trust_remote_code,
    )


def write_out(explanation: "Explanation", form: str, options: Options) -> int:
    """Write an explanation to a file, and say so, or to standard output."""
    from whence.results.atomic_write import saving

    out = options.out
    if out is None:
        if form == "pdf":
            raise BadConfig("a PDF cannot be shown in a terminal; name a file with --out")
        print(rendered(explanation, form, sys.stdout.isatty() and "NO_COLOR" not in os.environ))
        return 0
    with saving(out):
        if form == "pdf":
            explanation.save_pdf(out)
        else:
            out.write_text(rendered(explanation, form, False), encoding="utf-8")
    print(json.dumps({"out": str(out)}) if options.output.json else f"Wrote {out}: {explanation.caption}")
    return 0


def rendered(explanation: "Explanation", form: str, coloured: bool) -> str:
    """The explanation as text in one of its forms."""
    if form == "text":
        return explanation.to_text(colour=coloured)
    forms = {"html": explanation.to_page, "svg": explanation.to_svg, "latex": explanation.to_latex}
    return forms.get(form, explanation.to_json)()
