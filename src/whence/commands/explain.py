"""`whence explain MODEL TEXT`: the tokens of a text scored by several methods."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

from whence.commands._shared import HERE, Output, parsed, quieten
from whence.core.errors import BadConfig


def command(arguments: list[str]) -> int:
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
        layer: Literal["last", "mean"] | int = "last"
        """raw_attention: a layer's number, the last, or the mean of all"""
        heads: Literal["mean", "max"] | int = "mean"
        """raw_attention: a head's number, the mean or the largest of all"""
        row: Literal["auto", "first", "last", "mean", "answer"] = "auto"
        """raw_attention: from which token one looks (auto: where the answer is read)"""
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
    chosen = {"raw_attention": {"layer": options.layer, "heads": options.heads, "row": options.row}}
    explanation = explain_text(
        subject, options.text, options.pair, options.method or USUAL, options.measure, chosen, options.target
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
