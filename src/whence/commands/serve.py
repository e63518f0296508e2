"""`whence serve [MODEL] [DATA]`: the workbench, a local web application."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from tyro.conf import Positional, arg

from whence.commands._shared import HERE, parsed, quieten
from whence.core.errors import BadConfig
from whence.data.tables.columns import Columns
from whence.options import usually
from whence.subject.model_names import refuse_missing_folder

if TYPE_CHECKING:
    from whence.workbench.bench import Workbench

Task = Literal["sequence-classification", "token-classification", "seq2seq", "causal-lm", "series"]
MISSING = "the workbench needs FastAPI and uvicorn, and {name} is not installed; expected `pip install 'whence[serve]'`"


def command(arguments: list[str]) -> int:
    """`whence serve [MODEL] [DATA]`."""
    try:
        from whence.workbench.server import ServerOptions, serve
    except ModuleNotFoundError as error:
        raise BadConfig(MISSING.format(name=error.name)) from error

    @dataclass(frozen=True)
    class Options:
        model: Annotated[Positional[str | None], usually("the demo model", "[MODEL]")] = None
        """folder of a saved model, or a hub name; without one, a small demo model is trained"""
        data: Annotated[Positional[str | None], usually("none; the demo corpus", "[DATA]")] = None
        """table or corpus whose texts can be picked, explored and audited"""
        also: Annotated[tuple[str, ...], usually("none", "[MODEL ...]")] = ()
        """further models, to compare with"""
        server: Annotated[ServerOptions, HERE] = field(default_factory=ServerOptions)
        folder: Path = Path("whence-workbench")
        """folder for audits and their results"""
        split: Annotated[str | None, usually("test, else dev, else the only one", "NAME")] = None
        """split of the corpus"""
        columns: Columns = field(default_factory=Columns)
        """names of the table's columns, where they cannot be inferred"""
        data_dir: Annotated[Path | None, usually("$WHENCE_DATA", "PATH")] = None
        """folder with the native corpora"""
        task: Annotated[Task | None, usually("what it was saved for", "|".join(get_args(Task)))] = None
        """what the models do"""
        device: str = "cpu"
        """where to run: cpu, cuda, cuda:1, mps"""
        dtype: Literal["float32", "float16", "bfloat16", "float64"] = "float32"
        """precision of the models"""
        trust_remote_code: bool = False
        """run Python code that comes with a model"""
        browser: Annotated[bool, arg(name="open")] = False
        """open the workbench in a browser"""

    options = parsed(Options, "serve", arguments, "Look at attention in a browser, change it, and audit it.")
    options.server.access()  # refused before a model is loaded
    for model in (options.model, *options.also):
        if model is not None:
            refuse_missing_folder(model)
    quieten()
    from whence.workbench.application import application
    from whence.workbench.opening import Opening, open_workbench

    shared = ("model", "data", "also", "folder", "split", "columns", "data_dir", "task", "device", "dtype")
    opening = Opening(**{name: getattr(options, name) for name in shared}, trust_remote_code=options.trust_remote_code)
    bench = open_workbench(opening)
    serve(application(bench), options.server, lambda address: announce(address, bench, options.browser))
    return 0


def announce(address: str, bench: "Workbench", browser: bool) -> None:
    """Print where the workbench is, and open it if that was asked for."""
    names = ", ".join(bench.served)
    print(f"The workbench with {names} is at\n\n    {address}\n\nCtrl-C ends it.", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(address)
