"""Toxic Spans (Pavlopoulos et al. 2021, SemEval task 5): toxic comments, with the characters that make them so.

Native format: `tsd_{train,trial,test}.csv` with the columns `spans`, a list of character offsets, and `text`. Its
content is offensive.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadData
from whence.data.corpora.shared.marked_words import marked_by_characters
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.csv_tsv import separated_lines
from whence.data.formats.text import read_text, short

SPLITS = {"train": "tsd_train.csv", "dev": "tsd_trial.csv", "test": "tsd_test.csv"}
CHECKSUMS = {
    "tsd_train.csv": "b538ea2d64ed7c306ff8f010a25a5286bef6ce61d469042482ba64efc1ddd6cd",
    "tsd_trial.csv": "6bb8e9a16470c0269ac8727fd8bb77df68d8fb27955d9f5ff29ad724505622e8",
    "tsd_test.csv": "74f4dd086667fdad6198539ff9201d1f25f3a94c5169da1e7643a949974bf6b8",
}
TOXIC, OTHER = "toxic", "other"
PLACE = "https://raw.githubusercontent.com/ipavlopoulos/toxic_spans/master/SemEval2021/data"


def load(data_dir: str | Path) -> Corpus:
    """The comments, from the folder `<data_dir>/toxic_spans`: each word is tagged toxic or other.

    All comments are toxic as wholes, so there is no label to predict; toxic words are the rationale too. Comments in
    which no characters are marked have no rationale, and all their tags are `other`.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits = {split: tuple(each_comment(folder.paths(name)[0])) for split, name in SPLITS.items()}
    empty = sum(example.rationale is None for examples in splits.values() for example in examples)
    notes = (*folder.notes, f"{empty:,} comments have no marked characters, and no rationale")
    return Corpus("toxic_spans", splits, (OTHER, TOXIC), ENTRY.about, notes)


def each_comment(path: Path) -> Iterator[Example]:
    """The comments of a file, those without words left out."""
    rows = separated_lines(path, read_text(path), ",")
    if next(rows)[1] != ["spans", "text"]:
        raise BadData(f"{path} must have the columns spans and text, in this order")
    for number, cells in rows:
        try:
            characters = [int(at) for at in json.loads(cells[0])]
            text = cells[1]
        except (ValueError, TypeError, IndexError) as error:
            came = short(cells[0])
            raise BadData(
                f"{path}, line {number}: offsets like [1, 2] and a text were expected; there is {came}"
            ) from error
        words, marks = marked_by_characters(text, characters)
        if words:
            tags = tuple(TOXIC if mark else OTHER for mark in marks)
            yield Example(" ".join(words), words=words, tags=tags, rationale=marks if any(marks) else None)


ENTRY = Entry(
    name="toxic_spans",
    about="Toxic Spans: comments with the words that make them toxic marked by people (offensive)",
    licence="CC0 1.0",
    kind="native",
    load=load,
    url=f"{PLACE}/tsd_train.csv",
    files=CHECKSUMS,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in SPLITS.values()),
    citation="Pavlopoulos et al. (2021). SemEval-2021 Task 5: Toxic Spans Detection. SemEval.",
)
