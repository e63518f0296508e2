"""`whence explain MODEL TEXT`: the tokens of a text scored by several methods."""

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from tyro.conf import Positional, arg

from whence.attribution.registry import USUAL, names
from whence.commands._shared import HERE, Output, parsed, quieten
from whence.core.errors import BadConfig
from whence.options import usually

Task = Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"]


@dataclass(frozen=True)
class Options:
    """What a user may say."""

    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """folder of a saved model, or a hub name"""
    text: Annotated[Positional[str], arg(metavar="TEXT")]
    """the text to explain"""
    pair: Annotated[str | None, usually("none", "TEXT")] = None
    """the second text, for models that read two"""
    target: Annotated[str | None, usually("none", "TEXT")] = None
    """for models that make a text of a text: the text they are asked about"""
    method: Annotated[tuple[str, ...], arg(help=f"methods, of: {', '.join(names())}")] = USUAL
    options: Annotated[tuple[str, ...], usually("none", "[METHOD.OPTION=VALUE ...]")] = ()
    """their options, as in rollout.residual=false raw_attention.without_sinks=true"""
    paragraphs: bool = False
    """read a text of any length: each paragraph by itself, its words times its part in the answer"""
    words: bool = False
    """show words, not the pieces that the tokenizer cuts them into: each has the sum of its pieces' scores"""
    summary: bool = True
    """say which heads and layers carry the answer: those worth looking at (Michel et al. 2019)"""
    layer: Annotated[Literal["last", "mean"] | int | None, usually("by method", "last|mean|INT")] = None
    """methods that have layers: a layer's number, the last, or the mean of all (others: --options)"""
    heads: Annotated[Literal["mean", "max", "min"] | int | None, usually("mean", "mean|max|min|INT")] = None
    """raw_attention, rollout, flow: the mean, largest or least of all heads; raw_attention: a head's number"""
    row: Annotated[
        Literal["auto", "first", "last", "mean", "answer"] | int | None,
        usually("auto", "auto|first|last|mean|answer|INT"),
    ] = None
    """methods that look from somewhere: from which token (auto: where the answer is read)"""
    normalize: Annotated[
        Literal["softmax_sum", "softmax_mean", "l1", "none"] | None,
        usually("softmax_sum", "softmax_sum|softmax_mean|l1|none"),
    ] = None
    """lat, lat_mixed, gradient_squared: how raw scores become a text's scores"""
    of: Annotated[Literal["predicted", "paper", "code"] | None, usually("predicted", "predicted|paper|code")] = None
    """gradient_squared: which output's gradient (predicted: what is explained; paper: its logit; code: all)"""
    measure: Literal["probability", "logit", "margin"] = "probability"
    """what is explained, of the class that the model predicts"""
    form: Literal["text", "html", "svg", "pdf", "latex", "json"] = "text"
    """how to show it"""
    shading: Literal["strongest", "range"] = "strongest"
    """shades from zero to the strongest score, or over the range from the least score to the largest"""
    out: Annotated[Path | None, usually("standard output", "PATH")] = None
    """file to write"""
    flow: Annotated[Path | None, usually("none", "FILE")] = None
    """also draw how attention flows through layers and heads: a file ending in .html (to be asked), .svg or .pdf"""
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
    from whence.results.atomic_write import saving

    if options.flow is not None:
        refuse_ending(options.flow)
    quieten()
    from whence.attribution.options import spread, written_options
    from whence.explaining.explanation import explain_text
    from whence.explaining.explanation import flow as flow_of
    from whence.subject.subject import load

    subject = load(options.model, options.task, device=options.device, dtype=options.dtype,
                   trust_remote_code=options.trust_remote_code)  # fmt: skip
    given = {name: getattr(options, name) for name in ("layer", "heads", "row", "normalize", "of")}
    methods = tuple(name.replace("-", "_") for name in options.method)
    chosen = spread({name: value for name, value in given.items() if value is not None}, methods)
    for method, written in written_options(methods, options.options).items():
        chosen[method] = {**chosen.get(method, {}), **written}
    explanation = explain_text(subject, options.text, options.pair, methods, options.measure, chosen,
                               options.target, options.paragraphs, options.summary, options.words)  # fmt: skip
    for note in explanation.notes:
        options.output.say(f"  {note}")
    if options.flow is not None:
        with saving(options.flow, "--flow"):
            how = {name: given[name] for name in ("row", "normalize") if given[name] is not None}
            flow_of(subject, options.text, options.pair, options.target, **how).save(options.flow)
    form = "json" if options.output.json else options.form
    return write_out(replace(explanation, shading=options.shading), form, options.out)


def write_out(explanation: Any, form: str, out: Path | None) -> int:
    """An explanation to a file or to standard output."""
    from whence.results.atomic_write import saving

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
