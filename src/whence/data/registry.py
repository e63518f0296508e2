"""The corpora by name, and the one way to all data: `load`.

Built-in corpora are the files of `synthetic` and `corpora`, each with an `ENTRY`. A package adds one by an entry point
in the group `whence.corpora` that names an `Entry`; a script names it `module:object` in the place of a corpus.
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from whence.core.errors import BadConfig, BadData
from whence.data.download.corpus_folder import CorpusFolder, data_folder, missing_corpus
from whence.data.download.fetch import fetch
from whence.data.entry import Entry
from whence.data.examples import Corpus
from whence.data.formats.text import file_exists
from whence.data.planted import planted
from whence.data.tables.columns import Columns
from whence.data.tables.hub import read_hub
from whence.data.tables.reader import read_table
from whence.plugins import Registry, names_an_object

CORPORA: Registry[Entry] = Registry(
    "corpus",
    "whence.data.synthetic",
    "ENTRY",
    lambda found: isinstance(found, Entry),
    "an Entry of whence.data.entry",
    plural="corpora",
    other_packages=("whence.data.corpora",),
)
names = CORPORA.names


def entries() -> dict[str, Entry]:
    """Every corpus by its name: built-in ones, then those of other packages."""
    return {name: CORPORA.get(name) for name in names()}


def listing() -> list[dict[str, str]]:
    """Name, kind, about and licence of every corpus; a broken plug-in has its error in its row."""
    return [_row(name) for name in names()]


def _row(name: str) -> dict[str, str]:
    try:
        entry = CORPORA.get(name)
    except BadConfig as error:
        return {"name": name, "kind": "broken", "about": f"(cannot be used: {error})", "licence": "unknown"}
    return {"name": name, "kind": entry.kind, "about": entry.about, "licence": entry.licence}


def load(
    name_or_path: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    seed: int = 0,
    **options: Any,
) -> Corpus:
    """A corpus by its name (`reviews`, `stories:2`, `sst:fine`), from the hub (`hub:imdb`), or in a table (a path).

    A script's own corpus is `module:object`, with `:VARIANT` after it where it has variants. Native corpora are looked
    for in `data_dir`, else in `$WHENCE_DATA`, else in the cache. `columns` are for tables and the hub, `seed` for
    synthetic corpora and shortcuts, `options` for corpora with an `Entry`. With `+TOKEN=LABEL` after any of these names
    it is that corpus with a shortcut in half of its examples (`planted`).
    """
    whole, plus, shortcut = str(name_or_path).rpartition("+")
    if plus and "=" in shortcut and not file_exists(name_or_path):
        token, _, label = shortcut.partition("=")
        plain = load(whole, data_dir=data_dir, columns=columns, seed=seed, **options)
        return replace(planted(plain, token, label, seed=seed), name=f"{plain.name}+{shortcut}")
    known = None if isinstance(name_or_path, Path) else resolve(name_or_path)
    if known is not None:
        return load_entry(*known, data_dir, seed, options)
    if options:
        raise BadConfig(f"only corpora with an Entry take options ({', '.join(options)}); {name_or_path} has none")
    prefix, _, dataset = str(name_or_path).partition(":")
    if prefix == "hub" and not isinstance(name_or_path, Path):
        return read_hub(dataset, columns)
    if not file_exists(name_or_path):
        raise BadData(unknown(str(name_or_path)))
    return read_table(name_or_path, columns)


def resolve(name: str) -> tuple[Entry, str] | None:
    """The entry and the variant of a name: a known corpus first, else what `module:object` names; None otherwise."""
    corpus, _, variant = name.partition(":")
    if corpus in names():
        return CORPORA.get(corpus), variant
    if corpus == "hub" or file_exists(name) or not names_an_object(name):
        return None
    attribute, _, variant = variant.partition(":")
    return CORPORA.get(f"{corpus}:{attribute}"), variant


def load_entry(
    entry: Entry, variant: str, data_dir: str | Path | None, seed: int, options: Mapping[str, Any]
) -> Corpus:
    """A corpus by its entry, in one of its variants."""
    if variant and variant not in entry.variants:
        variants = ", ".join(f"{entry.name}:{name}" for name in entry.variants) or f"{entry.name} alone"
        raise BadData(f"no variant {entry.name}:{variant}; choose from: {variants}")
    chosen = {**(entry.variants[variant] if variant else {}), **options}
    if entry.kind == "synthetic":
        source = {"of": load(chosen["of"], data_dir=data_dir)} if isinstance(chosen.get("of"), str) else {}
        return entry.load(seed=seed, **{**chosen, **source})
    folder = CorpusFolder(entry, data_folder(data_dir) / entry.name)
    missing = folder.missing()
    if missing:
        raise missing_corpus(entry, folder.path, missing)
    notes = tuple(f"{name} is not the official file, by its sha256" for name in folder.modified())
    corpus = entry.load(folder.path.parent, **chosen)
    return replace(corpus, notes=(*corpus.notes, *notes))


def get(name: str, data_dir: str | Path | None = None, *, quiet: bool = False) -> Path:
    """Download a native corpus from its official source and return its folder; does nothing if it is there."""
    entry = find(name)
    if entry.kind == "synthetic":
        raise BadData(f"{entry.name} is synthetic: it is generated on demand, there is nothing to download")
    return fetch(entry, data_dir, quiet=quiet)


def find(name: str) -> Entry:
    """The entry of a name, with or without a variant."""
    known = resolve(name.partition("+")[0])
    if known is None:
        raise BadData(unknown(name))
    return known[0]


def unknown(name: str) -> str:
    """The message for a name that is neither a corpus nor a file; it lists all corpora."""
    near = get_close_matches(name.partition(":")[0], names(), n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return (
        f"there is no corpus {name!r} and no file of that name.{hint} Choose from: {', '.join(names())}; or hub:NAME "
        "for a dataset of the Hugging Face hub; or the path of a table (.csv, .tsv, .jsonl, .parquet, .conllu); or "
        "module:object for an Entry of your own"
    )
