"""Yelp sentences (Shen et al. 2017): single sentences of reviews, labelled by the rating of their review.

Native format: `sentiment.{train,dev,test}.{0,1}`, one sentence in words a line, `.0` negative, `.1` positive.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line

LABELS = ("negative", "positive")
PLACE = "https://raw.githubusercontent.com/shentianxiao/language-style-transfer/master/data/yelp"
FILES = {
    "sentiment.train.0": "",
    "sentiment.train.1": "",
    "sentiment.dev.0": "405ef6d4bfbc8bb92c3c55b496f315069cb5edb49ed34a07b1206341b83c344b",
    "sentiment.dev.1": "3509f6573411bbda2d5c071ed72ad276c12356c15c06205b8fdf74b217970c61",
    "sentiment.test.0": "b7466e8859e9948892a859af7938a82c801c99b69f884014082fd072a155bbf2",
    "sentiment.test.1": "a66e0ec3f0e1230ad4d2c822750a381cf6d99a99fa9b5ae79546f21ff79ed5c3",
}


def load(data_dir: str | Path) -> Corpus:
    """The sentences, from the folder `<data_dir>/yelp_sentences`; without `train` if both its files are not there."""
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits = {}
    for split in ("train", "dev", "test"):
        paths = [folder.paths(f"sentiment.{split}.{number}") for number in (0, 1)]
        if all(paths):
            sides = zip(LABELS, paths, strict=True)
            splits[split] = tuple(e for label, (path,) in sides for e in each_sentence(path, label))
    return Corpus("yelp_sentences", splits, LABELS, ENTRY.about, tuple(folder.notes))


def each_sentence(path: Path, label: str) -> Iterator[Example]:
    """The sentences of a file; lines without words are skipped."""
    for _, line in each_line(path):
        words = tuple(map(sys.intern, line.split()))
        if words:
            yield Example(" ".join(words), label, words=words)


ENTRY = Entry(
    name="yelp_sentences",
    about="Yelp sentences: sentences of at most 15 words from reviews, negative or positive by the review's rating",
    licence="Apache-2.0 (the repository); the reviews are under Yelp's own terms",
    kind="native",
    load=load,
    url=PLACE,
    files=FILES,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    optional=("sentiment.train.0", "sentiment.train.1"),
    citation="Shen et al. (2017). Style Transfer from Non-Parallel Text by Cross-Alignment. NeurIPS.",
)
