"""Lexicons: human ratings of single words. Warriner's norms, VADER's ratings, SST's words, any table of yours."""

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from whence.core.errors import BadData
from whence.data.corpora import sst
from whence.data.download.corpus_folder import data_folder
from whence.data.formats.table_file import read_file
from whence.data.formats.text import file_exists, read_text, short
from whence.data.lexical.lemmas import lemma

Matching = Literal["exact", "lemma"]
WARRINER = "Ratings_Warriner_et_al.csv"


@dataclass(frozen=True)
class Lexicon:
    """Lower-case words, each with its value. `scale` says what the values are.

    A word whose value is at least `high` is very positive, and below `low` very negative, where that is known.
    """

    name: str
    values: Mapping[str, float]
    scale: str
    low: float = math.nan
    high: float = math.nan

    def find(self, word: str, matching: Matching = "lemma") -> tuple[float, str]:
        """A word's value, and how it was found: `exact`, `lemma` (as a form of a word that is there), or `none`."""
        small = word.lower()
        if small in self.values:
            return self.values[small], "exact"
        found = lemma(small, self.values) if matching == "lemma" else None
        return (math.nan, "none") if found is None else (self.values[found], "lemma")

    @property
    def checksum(self) -> str:
        """sha256 over words and values: two lexicons are the same if this is."""
        return hashlib.sha256(json.dumps(sorted(self.values.items())).encode()).hexdigest()


def load_lexicon(name: str, data_dir: str | Path | None = None) -> Lexicon:
    """A lexicon by its name, `warriner`, `vader` or `sst`, or the table at a path, with the columns word and value."""
    if name == "warriner":
        return warriner(data_folder(data_dir))
    if name == "vader":
        return vader()
    if name == "sst":
        return sst_words(data_folder(data_dir))
    if not file_exists(name):
        raise BadData(
            f"no lexicon {name!r} and no file of that name. Choose from: warriner, vader, sst; or the path of a"
            " table with the columns word and value (.csv, .tsv, .jsonl, .parquet)"
        )
    return table(Path(name))


def warriner(data_dir: Path) -> Lexicon:
    """The valence of 13,915 English lemmas, mean of about twenty raters, 1 to 9. Warriner et al. 2013.

    Very positive from 6.5 on, very negative below 3.5, as in Wu et al. 2020, footnote 7.
    """
    folder = data_dir / "warriner"
    path = next((path for path in (folder / WARRINER, folder / f"{WARRINER}.gz") if path.exists()), None)
    if path is None:
        raise BadData(
            f"Warriner's norms are not in {data_dir} (no {WARRINER} in {folder}). They are free for research"
            " (CC BY-NC-ND 3.0): get the file from the article's supplement (Behavior Research Methods 45, 2013; or"
            " http://crr.ugent.be/archives/1003) and name the folder that holds it with --data-dir or WHENCE_DATA; or"
            " choose the lexicon vader, which is installed"
        )
    rows = csv.DictReader(io.StringIO(read_text(path)))
    refuse_columns(path, rows.fieldnames or (), ("Word", "V.Mean.Sum"))
    values = averaged(((row["Word"], row["V.Mean.Sum"]) for row in rows), path)
    return Lexicon("warriner", values, "valence, 1 to 9", low=3.5, high=6.5)


def vader() -> Lexicon:
    """The valence of VADER's 7,500 words and signs, mean of ten raters, -4 to 4. Hutto & Gilbert 2014.

    Very positive from 1.5 on, very negative below -1.5: Wu et al. 2020's cuts, carried over from 1–9 to -4–4.
    """
    spec = find_spec("vaderSentiment")
    if spec is None or spec.origin is None:
        raise BadData("VADER's lexicon comes with the package vaderSentiment, which is not installed; install it")
    path = Path(spec.origin).parent / "vader_lexicon.txt"
    lines = (line.split("\t") for line in read_text(path).splitlines() if line.strip())
    return Lexicon("vader", averaged(((cells[0], cells[1]) for cells in lines), path), "valence, -4 to 4", -1.5, 1.5)


def sst_words(data_dir: Path) -> Lexicon:
    """The words of the Stanford Sentiment Treebank with their own labels: 4 is very positive, 0 very negative.

    So is a word whose two spellings, with a capital and without, were rated 4 and 3, or 0 and 1: mean 3.5, or 0.5.
    """
    return Lexicon("sst", sst.word_labels(data_dir), "label, 0 to 4", low=0.75, high=3.25)


def table(path: Path) -> Lexicon:
    """A table with the columns word and value."""
    read = read_file(path)
    refuse_columns(path, read.columns, ("word", "value"))
    values = averaged(((row.get("word"), row.get("value")) for row in read.rows), path)
    return Lexicon(path.stem, values, "value")


def averaged(rows: Iterable[tuple[Any, Any]], path: Path) -> dict[str, float]:
    """Lower-case words, the values of those that come twice averaged."""
    found: dict[str, list[float]] = {}
    for number, (word, value) in enumerate(rows, start=1):
        try:
            known = float(value)
        except (TypeError, ValueError):
            known = math.nan
        if not math.isfinite(known):
            raise BadData(f"{path}, entry {number} ({short(str(word))}): a number was expected; got {value!r}")
        found.setdefault(str(word or "").strip().lower(), []).append(known)
    found.pop("", None)
    if not found:
        raise BadData(f"{path} has no words; expected a word and its value in each row")
    return {word: sum(values) / len(values) for word, values in found.items()}


def refuse_columns(path: Path, there: Iterable[str], needed: tuple[str, str]) -> None:
    """A lexicon needs its two columns."""
    missing = [name for name in needed if name not in there]
    if missing:
        raise BadData(
            f"{path} has no column {' and no column '.join(missing)}; it has: {', '.join(there)}. Expected"
            f" the columns {' and '.join(needed)}"
        )
