"""CoNLL-2000 (Tjong Kim Sang & Buchholz 2000): sentences of the Wall Street Journal cut into chunks.

Native format: `train.txt` and `test.txt`, a word a line with its part of speech and its chunk, spaces between, and an
empty line after each sentence. `B-NP` begins a chunk, `I-NP` goes on with it, `O` is in none.
"""

from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadData
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line, short
from whence.data.rng import hold_out

DEV = 0.1  # of the official training sentences
PARTS = 3  # word, part of speech, chunk
DIGITS = "0"


def load(data_dir: str | Path, digits: bool = False) -> Corpus:
    """The sentences with a tag for every word, from the folder `<data_dir>/conll2000`.

    There is no official `dev`: a tenth of the training sentences is drawn, always the same, which leaves 8,042 of 8,936
    as in Yang 2019; `test` is untouched. With `digits` (`conll2000:digits`) a word that is nothing but digits is 0, as
    in the code of Yang 2019.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    read = {split: tuple(each_sentence(folder.paths(f"{split}.txt")[0], digits)) for split in ("train", "test")}
    train, dev = hold_out(read["train"], DEV, "conll2000/dev")
    splits = {"train": train, "dev": dev, "test": read["test"]}
    labels = {tag for examples in splits.values() for e in examples for tag in e.tags or ()}
    drawn = f"drew {len(dev):,} of {len(read['train']):,} training sentences as dev"
    digit_notes = ["wrote words of digits alone as 0"] if digits else []
    return Corpus(
        "conll2000:digits" if digits else "conll2000",
        splits,
        tuple(sorted(labels, key=in_order)),
        ENTRY.about,
        (*folder.notes, drawn, *digit_notes),
    )


def in_order(tag: str) -> tuple[str, str]:
    """The sort key of a tag: by its kind of chunk, beginning before inside, and O first."""
    place, _, kind = tag.partition("-")
    return kind, place


def each_sentence(path: Path, digits: bool = False) -> Iterator[Example]:
    """The sentences of a file, one at a time."""
    lines: list[list[str]] = []
    number = 0
    for number, line in each_line(path):
        if line.strip():
            lines.append(as_parts(line, f"{path}, line {number}"))
        elif lines:
            yield example(lines, digits)
            lines = []
    if lines:
        yield example(lines, digits)


def as_parts(line: str, where: str) -> list[str]:
    """The word, its part of speech and its chunk."""
    parts = line.split()
    place, _, kind = parts[-1].partition("-")
    if len(parts) != PARTS or (place, bool(kind)) not in (("O", False), ("B", True), ("I", True)):
        raise BadData(
            f"{where}: a word, its part of speech and its chunk (O, B-NP, I-NP, ...) were expected, with "
            f"spaces between; got {short(line, 60)}"
        )
    return parts


def example(lines: list[list[str]], digits: bool = False) -> Example:
    """A sentence with the chunk of every word."""
    words = tuple(DIGITS if digits and word.isdigit() else word for word, _, _ in lines)
    return Example(" ".join(words), words=words, tags=tuple(chunk for _, _, chunk in lines))


ENTRY = Entry(
    name="conll2000",
    about="CoNLL-2000 shared task: sentences from the Wall Street Journal, to be cut into chunks (NP, VP, PP, ...)",
    licence="none stated (shared-task data, derived from the Penn Treebank)",
    kind="native",
    load=load,
    variants={"digits": {"digits": True}},
    url="https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/conll2000.zip",
    files={
        "train.txt": "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea",
        "test.txt": "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628",
    },
    citation="Tjong Kim Sang & Buchholz (2000). Introduction to the CoNLL-2000 Shared Task: Chunking. CoNLL.",
)
