"""One page for each explainer and experiment, made of its docstring, its options and its figure of the gallery.

The pages are written before Sphinx reads the docs, in `explainers/` and `experiments/`, which are not kept; so is
`gallery.md`, which shows each figure with the code that made it.
"""

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from gallery import codes, gallery, image, training
from whence.attribution.registry import EXPLAINERS
from whence.plugins import Registry
from whence.results.experiment import EXPERIMENTS

NOT_FOR = "When not to use it: "
COMMON = (
    "columns",
    "split",
    "task",
    "data_dir",
    "device",
    "dtype",
    "batch_size",
    "trust_remote_code",
    "seed",
    "data",
    "limit",
    "model",
)


def paragraphs(text: str) -> str:
    """A cleaned docstring as Markdown: what is indented is a formula, shown as it stands; the rest is text."""
    blocks = text.split("\n\n")
    formula = "```text\n{}\n```"
    return "\n\n".join(formula.format(textwrap.dedent(one)) if one.startswith("    ") else one for one in blocks)


def parts(about: str) -> tuple[str, str, str]:
    """The first line of a docstring, its definition, and when not to use it."""
    first, _, rest = inspect.cleandoc(about).partition("\n")
    body, _, unfit = rest.partition(NOT_FOR)
    unfit = " ".join(unfit.split())
    return first, paragraphs(body.strip("\n")), unfit[:1].upper() + unfit[1:]


def references(docs: Path) -> dict[str, str]:
    """The papers of the references page, by the short name that docstrings use."""
    lines = (docs / "references.md").read_text(encoding="utf-8").splitlines()
    found = (re.match(r"- \*\*(.+?)\*\*\. (.*?)(?: \*Used by\*.*)?$", line) for line in lines)
    return {one[1]: one[2] for one in found if one}


def bibtex(docs: Path) -> dict[str, str]:
    """The entries of `references.bib`, by their `shorthand`."""
    text = (docs / "references.bib").read_text(encoding="utf-8")
    entries = (entry.strip() for entry in re.split(r"\n(?=@)", text) if entry.strip().startswith("@"))
    return {found[1]: entry for entry in entries if (found := re.search(r"shorthand = \{(.+?)\}", entry))}


def citations(about: str, docs: Path) -> str:
    """The papers that a docstring cites, and their BibTeX."""
    known, entries = references(docs), bibtex(docs)
    words = " ".join(about.split())
    cited = [name for name in known if name in words or _with_year(name, words)]
    if not cited:
        return "Whence itself: see [how to cite](/references.md)."
    listed = "\n".join(f"- **{name}**. {known[name]}" for name in cited)
    code = "\n\n".join(entries[name] for name in cited if name in entries)
    return f"{listed}\n\n```bibtex\n{code}\n```"


def _with_year(name: str, words: str) -> bool:
    """Whether the paper is cited otherwise: `Kobayashi et al. 2020, 2021`, `Wu et al.'s (2020)`."""
    authors, _, year = name.rpartition(" ")
    return bool(re.search(rf"{re.escape(authors)}(?:'s)?,? \(?(?:\d{{4}}, )?{year}", words))


def explainer_page(name: str, docs: Path) -> str:
    """The page of an explainer."""
    module = inspect.getmodule(EXPLAINERS.get(name))
    function: Any = EXPLAINERS.get(name)
    about = (module.__doc__ if module else "") or ""
    first, definition, unfit = parts(about)
    options = [
        f"| `{one.name}` | `{one.default!r}` | `{inspect.formatannotation(one.annotation).replace('|', 'or')}` |"
        for one in inspect.signature(function).parameters.values()
        if one.kind is one.KEYWORD_ONLY
    ]
    table = "\n".join(["| option | default | type |", "|---|---|---|", *options]) if options else "It has no options."
    model = gallery()["models"][gallery()["explainers"]["model"]]["about"]
    return f"""# `{name}`

{first}

![{name} on a synthetic review](/images/explainers/{name}.svg)

*Above*: the review is explained by `{name}` first, then by other methods for comparison; the model is {model}.

## Definition

{definition or "There is no more to it."}

## Options

{paragraphs(inspect.getdoc(function) or "")}

{table}

```bash
whence explain MODEL "a text" --method {name} random
```

## When not to use it

{unfit}

## Citation

{citations(about, docs)}
"""


def experiment_page(name: str, docs: Path) -> str:
    """The page of an experiment."""
    one = EXPERIMENTS.get(name)
    first, definition, unfit = parts(one.about)
    fields = {key: field for key, field in one.config.model_fields.items() if key not in COMMON}
    rows = [
        f"| `--{key.replace('_', '-')}` | {_default(field)} | {_cell(field.description or '')} |"
        for key, field in fields.items()
    ]
    table = (
        "\n".join(["| option | default | what it is |", "|---|---|---|", *rows]) if rows else "It has none of its own."
    )
    figure = image(name).exists()
    shown = f"![{name} on a small model](/images/experiments/{name}.svg)\n\n{one.caption}" if figure else one.caption
    columns = "\n".join(f"| `{column}` | {_cell(text)} |" for column, text in one.columns.meanings.items())
    model = " --model MODEL --data DATA" if one.needs.model else ""
    return f"""# `{name}`

**{first}**

{definition}

## Figure

{shown}

## Options

Options that all experiments share (`--model`, `--data`, `--limit`, `--seed`, `--device`, …) are listed by
`whence run {name} --help`.

{table}

```bash
whence run {name}{model}
```

## The table

| column | what it holds |
|---|---|
{columns}

## When not to use it

{unfit}

## Citation

{citations(one.about, docs)}
"""


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    return (
        "none"
        if value in (None, ())
        else f"`{value}`"
        if not isinstance(value, tuple)
        else f"`{' '.join(map(str, value))}`"
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def index(title: str, lead: str, registry: Registry[Any], folder: str) -> str:
    """The list of all pages of a kind."""
    rows = "\n".join(f"| [`{name}`](/{folder}/{name}.md) | {registry.about(name)} |" for name in registry.built_in)
    names = "\n".join(registry.built_in)
    return f"# {title}\n\n{lead}\n\n| name | |\n|---|---|\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def gallery_page() -> str:
    """Every figure, with the code that made it."""
    models = "\n\n".join(
        f"**{name}**: {of['about']}.\n\n```python\n{training(name)}\n```" for name, of in gallery()["models"].items()
    )
    shown = []
    for name, (model, code) in codes().items():
        if image(name).exists():
            kind = "explainers" if name in EXPLAINERS.built_in else "experiments"
            on = f" (model `{model}`)" if model else ""
            picture = f"![{name}](/images/{kind}/{name}.svg)"
            shown.append(f"### [`{name}`](/{kind}/{name}.md){on}\n\n{picture}\n\n```python\n{code}\n```")
    drawn = "\n\n".join(shown)
    return f"""# Gallery

Every figure with the code that made it, on small models that train in seconds. `make gallery` draws all of them anew.
Synthetic corpora have known answers; the figures show what each method looks like, not what it finds in yours.

## Models

{models}

## Figures

{drawn}
"""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # else Sphinx reads it again
        path.write_text(text, encoding="utf-8")


def write_pages(docs: Path) -> None:
    """Write all pages that are made."""
    for name in EXPLAINERS.built_in:
        _write(docs / "explainers" / f"{name}.md", explainer_page(name, docs))
    for name in EXPERIMENTS.built_in:
        _write(docs / "experiments" / f"{name}.md", experiment_page(name, docs))
    lead = "An explainer scores the tokens of a text for one prediction. `random` is the baseline."
    _write(docs / "explainers" / "index.md", index("Explainers", lead, EXPLAINERS, "explainers"))
    lead = "An experiment asks one question about a model and a corpus, and gives a table, a figure and a verdict."
    _write(docs / "experiments" / "index.md", index("Experiments", lead, EXPERIMENTS, "experiments"))
    _write(docs / "gallery.md", gallery_page())


def setup(app: Any) -> dict[str, bool]:
    """Write the pages when a build begins."""
    write_pages(Path(app.srcdir))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
