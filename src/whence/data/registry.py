"""The corpora by name, and the one door to all data: `load`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from whence.core.errors import BadConfig, BadData
from whence.data.corpora import (
    ag_news,
    babi,
    cnn,
    conll2000,
    imdb,
    multi30k,
    multinli,
    news_commentary,
    send,
    senteval,
    snli,
    sst,
    ud_ewt,
    yelp,
    yelp_sentences,
)
from whence.data.download.corpus_folder import Shelf, absent, home
from whence.data.download.fetch import fetch
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.formats.text import there
from whence.data.synthetic import clauses, entailment, narratives, numerals, recall, reviews, stories
from whence.data.synthetic.planted import planted
from whence.data.tables.columns import Columns
from whence.data.tables.hub import read_hub
from whence.data.tables.reader import read_table

EMBEDDED = (reviews, stories, entailment, numerals, clauses, narratives, recall)
NATIVE = (sst, imdb, ag_news, yelp, yelp_sentences, snli, multinli, cnn, babi, multi30k, news_commentary, ud_ewt,
          conll2000, send, senteval)  # fmt: skip
CORPORA: dict[str, Entry] = {corpus.ENTRY.name: corpus.ENTRY for corpus in (*EMBEDDED, *NATIVE)}


def load(
    name_or_path: str | Path,
    *,
    data_dir: str | Path | None = None,
    columns: Columns | None = None,
    seed: int = 0,
    **options: Any,
) -> Corpus:
    """A corpus by its name (`reviews`, `stories:2`, `sst:fine`), from the hub (`hub:imdb`), or in a table (a path).

    Native corpora are looked for in `data_dir`, else in `$WHENCE_DATA`, else in the cache. `columns` are for tables and
    the hub, `seed` for embedded corpora and shortcuts, `options` for corpora of the catalogue. With `+TOKEN=LABEL`
    after any of these names it is that corpus with a shortcut in half of its examples (`planted`).
    """
    whole, plus, shortcut = str(name_or_path).rpartition("+")
    if plus and "=" in shortcut and not there(name_or_path):
        token, _, label = shortcut.partition("=")
        grown = load(whole, data_dir=data_dir, columns=columns, seed=seed, **options)
        return replace(planted(grown, token, label, seed=seed), name=f"{grown.name}+{shortcut}")
    name, _, variant = str(name_or_path).partition(":")
    if name in CORPORA and not isinstance(name_or_path, Path):
        return load_entry(CORPORA[name], variant, data_dir, seed, options)
    if options:
        raise BadConfig(f"only corpora of the catalogue take options ({', '.join(options)}); {name_or_path} is not one")
    if name == "hub" and not isinstance(name_or_path, Path):
        return read_hub(variant, columns)
    if not there(name_or_path):
        raise BadData(unknown(str(name_or_path)))
    return read_table(name_or_path, columns)


def load_entry(
    entry: Entry, variant: str, data_dir: str | Path | None, seed: int, options: Mapping[str, Any]
) -> Corpus:
    """A corpus of the catalogue, in a variant of it."""
    if variant and variant not in entry.variants:
        there = ", ".join(f"{entry.name}:{name}" for name in entry.variants) or f"{entry.name} alone"
        raise BadData(f"there is no {entry.name}:{variant}; there is: {there}")
    chosen = {**(entry.variants[variant] if variant else {}), **options}
    if entry.kind == "embedded":
        made_of = {"of": load(chosen["of"], data_dir=data_dir)} if isinstance(chosen.get("of"), str) else {}
        return entry.load(seed=seed, **{**chosen, **made_of})
    folder = home(data_dir) / entry.name
    shelf = Shelf(entry, folder)
    gone = shelf.missing()
    if gone:
        raise absent(entry, folder, gone)
    notes = tuple(f"{name} is not the official file, by its sha256" for name in shelf.altered())
    corpus = entry.load(folder.parent, **chosen)
    return replace(corpus, notes=(*corpus.notes, *notes))


def get(name: str, data_dir: str | Path | None = None, *, quiet: bool = False) -> Path:
    """Fetch a native corpus from its official place and return its folder; nothing is done if it is there."""
    entry = find(name)
    if entry.kind == "embedded":
        raise BadData(f"{entry.name} is embedded: it is made when it is asked for, there is nothing to fetch")
    return fetch(entry, data_dir, quiet=quiet)


def find(name: str) -> Entry:
    """The entry of a name, with or without a variant."""
    entry = CORPORA.get(name.partition("+")[0].partition(":")[0])
    if entry is None:
        raise BadData(unknown(name))
    return entry


def unknown(name: str) -> str:
    """A sentence that says that there is no such corpus or file, and what there is."""
    near = get_close_matches(name.partition(":")[0], CORPORA, n=2, cutoff=0.5)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return (
        f"there is no corpus {name!r} and no file of that name.{meant} There are: {', '.join(CORPORA)}; or hub:NAME "
        "for a dataset of the Hugging Face hub; or the path of a table (.csv, .tsv, .jsonl, .parquet, .conllu)"
    )


def counts(corpus: Corpus) -> dict[str, dict[str, int]]:
    """How many examples of each label each split has; those without a label are counted under the empty name."""
    return {
        split: dict(sorted(Counter(e.label or "" for e in examples).items()))
        for split, examples in corpus.splits.items()
    }


def preview(corpus: Corpus, n: int = 3) -> list[dict[str, str]]:
    """The first examples of each split as plain rows: split, label, text, and what else they have."""
    rows = []
    for split, examples in corpus.splits.items():
        for e in examples[:n]:
            text, length = opening(e)
            decides = " ".join(w for w, m in zip(e.words or (), (e.rationale or ())[:length], strict=False) if m)
            links, heads = (" ".join(f"{i}-{j}" for i, j in e.alignment or ()), " ".join(map(str, e.heads or ())))
            row = {"split": split, "label": e.label, "text": text, "pair": e.pair, "tags": " ".join(e.tags or ()),
                   "target": e.target, "decides": decides, "links": links, "heads": heads}  # fmt: skip
            rows.append({name: cell for name, cell in row.items() if cell})
    return rows


def opening(example: Example, n: int = 4) -> tuple[str, int | None]:
    """The text; of a narrative its first windows, a line each with its value, and how many words that is."""
    if example.windows is None:
        return example.text, None
    values = [f"{value:+.2f} " for value in example.values or ()] or [""] * len(example.windows)
    lines = [value + window for value, window in zip(values, example.windows, strict=True)][:n]
    more = len(example.windows) - n
    length = sum(len(window.split()) for window in example.windows[:n])
    return "\n".join([*lines, f"... and {more} windows more"] if more > 0 else lines), length
