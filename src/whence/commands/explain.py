"""`whence explain MODEL TEXT`: the tokens of a text scored by several methods."""

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from tyro.conf import Positional, arg

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.core.errors import BadConfig
from whence.explaining.options import ExplainOptions
from whence.options import usually

if TYPE_CHECKING:
    from whence.explaining.explanation import Explanation

Task = Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"]
Form = Literal["text", "html", "svg", "pdf", "latex", "json"]


@dataclass(frozen=True)
class Options:
    """The options of the command: those of an explanation, of loading a model, and of showing the outcome."""

    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """folder of a saved model, or a hub name"""
    text: Annotated[Positional[str], arg(metavar="TEXT")]
    """the text to explain"""
    explain: Annotated[ExplainOptions, HERE] = field(default_factory=ExplainOptions)
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = ()
    """options of single methods, as in rollout.residual=false raw_attention.without_sinks=true"""
    form: Form = "text"
    """how to show the explanation"""
    shading: Literal["strongest", "range"] = "strongest"
    """shades from zero to the strongest score, or over the range from the lowest score to the highest"""
    out: Annotated[Path | None, usually("standard output", "PATH")] = None
    """file to write"""
    flow: Annotated[Path | None, usually("none", "FILE")] = None
    """also draw how attention flows through layers and heads: a file ending in .html (interactive), .svg or .pdf"""
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
    options = parsed(Options, "explain", arguments, "Score the tokens of a text by several methods, side by side.")
    from whence.figures.flow.model import refuse_ending

    if options.flow is not None:
        refuse_ending(options.flow)
    quieten()
    from whence.attribution.options import written_options
    from whence.explaining.explanation import explain_text
    from whence.subject.subject import load

    subject = load(
        options.model,
        options.task,
        device=options.device,
        dtype=options.dtype,
        trust_remote_code=options.trust_remote_code,
    )
    written = written_options(options.explain.methods, options.options)
    chosen = options.explain.model_copy(update={"method_options": written})
    explanation = explain_text(subject, options.text, chosen)
    for note in explanation.notes:
        options.output.say(f"  {note}")
    if options.flow is not None:
        from whence.explaining.explanation import flow
        from whence.results.atomic_write import saving

        with saving(options.flow, "--flow"):
            flow(subject, options.text, chosen).save(options.flow)
    form = "json" if options.output.json else options.form
    return write_out(replace(explanation, shading=options.shading), form, options.out)


def write_out(explanation: "Explanation", form: Form, out: Path | None) -> int:
    """Write an explanation to a file or to standard output."""
    from whence.results.atomic_write import saving

    if form == "pdf":
        if out is None:
            raise BadConfig("a PDF cannot be shown in a terminal; name a file with --out")
        with saving(out):
            explanation.save_pdf(out)
        return 0
    coloured = out is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    shown = rendered(explanation, form, coloured)
    if out is None:
        print(shown)
        return 0
    with saving(out):
        out.write_text(shown, encoding="utf-8")
    return 0


def rendered(explanation: "Explanation", form: Form, coloured: bool) -> str:
    """The explanation as text in one of its forms."""
    if form == "text":
        return explanation.to_text(colour=coloured)
    forms = {"html": explanation.to_html, "svg": explanation.to_svg, "latex": explanation.to_latex}
    return forms.get(form, explanation.to_json)()
