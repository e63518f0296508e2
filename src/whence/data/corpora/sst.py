"""The Stanford Sentiment Treebank (Socher et al. 2013): sentences from film reviews, every phrase rated 0 to 4.

Native format: `train.txt`, `dev.txt` and `test.txt`, one bracketed tree a line, every node with its label.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.length_filter import describe_counts
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.formats.text import read_text

SPLITS = ("train", "dev", "test")
FINE = ("very negative", "negative", "neutral", "positive", "very positive")
BINARY = ("negative", "positive")
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
TOKEN = re.compile(r"[()]|[^ ()]+")  # a word may hold other white space: "8\xa01/2" is one word


@dataclass(frozen=True, slots=True)
class Tree:
    """A rated phrase: a word, or phrases side by side. `label` is 0 (very negative) to 4 (very positive)."""

    label: int
    children: tuple["Tree", ...] = ()
    word: str | None = None

    def nodes(self) -> Iterator["Tree"]:
        """This phrase and all within it, each before its parts, from left to right."""
        ahead = [self]
        while ahead:
            node = ahead.pop()
            yield node
            ahead += reversed(node.children)

    def words(self) -> tuple[str, ...]:
        """The words of the phrase, as in the file."""
        return tuple(node.word for node in self.nodes() if node.word is not None)


def read_trees(path: str | Path) -> list[Tree]:
    """All trees of a file, one a line."""
    return list(each_tree(Path(path)))


def each_tree(path: Path) -> Iterator[Tree]:
    """The trees of a file, one at a time, so that memory is freed: half a million nodes are slow."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                yield parse_tree(line.strip())
            except ValueError as error:
                raise BadData(f"{path}, line {number}: {error}; a tree looks like (3 (2 a) (4 delight))") from error


def parse_tree(line: str) -> Tree:
    """The tree on a line; raises ValueError with the reason if there is none."""
    open_nodes: list[list[str | Tree]] = []
    done: Tree | None = None
    for piece in TOKEN.findall(line):
        if done is not None:
            raise ValueError(f"{piece!r} follows after the tree has been closed")
        if piece == "(":
            open_nodes.append([])
        elif not open_nodes:
            raise ValueError(f"a bracket was expected; got {piece!r}")
        elif piece == ")":
            node = make_node(open_nodes.pop())
            if open_nodes:
                open_nodes[-1].append(node)
            else:
                done = node
        else:
            open_nodes[-1].append(piece)
    if done is None:
        raise ValueError(f"{len(open_nodes)} brackets are not closed")
    return done


def make_node(parts: list[str | Tree]) -> Tree:
    """A node from what stood between its brackets: a label, then one word or some phrases."""
    label, *rest = parts or ("",)
    if label not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"a label from 0 to 4 was expected; got {label if isinstance(label, str) else 'a phrase'!r}")
    if len(rest) == 1 and isinstance(rest[0], str):
        return Tree(int(str(label)), word=rest[0])
    children = tuple(part for part in rest if isinstance(part, Tree))
    if not children or len(children) < len(rest):
        raise ValueError(f"one word or phrases were expected after label {label}; there are {len(rest)} parts")
    return Tree(int(str(label)), children)


def unescape(word: str) -> str:
    """A word without the Penn Treebank's escapes for brackets, slashes and stars."""
    return ESCAPES.get(word, word.replace("\\/", "/").replace("\\*", "*"))


def load(data_dir: str | Path, task: str = "binary", longer_than: int | None = None) -> Corpus:
    """The sentences with the label of their root, from the folder `<data_dir>/sst`.

    `binary` drops sentences rated neutral and joins the two ratings on each side, as Jain & Wallace (2019) do, who
    also keep only sentences with more than five words: `longer_than=5`.
    """
    if task not in ("binary", "fine"):
        raise BadConfig(f"sst has the tasks binary and fine; {task!r} is neither")
    files = {split: Path(data_dir) / "sst" / f"{split}.txt" for split in SPLITS}
    rated = {split: [(tree.label, tree.words()) for tree in each_tree(file)] for split, file in files.items()}
    notes = ["wrote brackets, slashes and stars plainly: -LRB- as (, \\/ as /"]
    if task == "binary":
        neutral = {split: sum(label == 2 for label, _ in rated[split]) for split in SPLITS}
        rated = {split: [(label, words) for label, words in rated[split] if label != 2] for split in SPLITS}
        notes.append(f"dropped sentences rated neutral: {describe_counts(neutral)}")
    if longer_than is not None:
        short = {split: sum(len(words) <= longer_than for _, words in rated[split]) for split in SPLITS}
        rated = {
            split: [(label, words) for label, words in rated[split] if len(words) > longer_than] for split in SPLITS
        }
        notes.append(f"dropped sentences of {longer_than} words or fewer: {describe_counts(short)}")
    splits = {split: tuple(example(words, label, task) for label, words in rated[split]) for split in SPLITS}
    return Corpus("sst", splits, BINARY if task == "binary" else FINE, ENTRY.about, tuple(notes))


def word_labels(data_dir: str | Path, cased: Literal["mean", "last"] = "mean") -> dict[str, float]:
    """The label of every word by itself, in small letters: 0 (very negative) to 4 (very positive); of all splits.

    Words that differ in capitals only were rated apart: their `mean`, or the `last` in the order of the files, which is
    about what the authors of Wu et al. 2020 did (last in the order of their dictionary).
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / "sst")
    files = [path for split in SPLITS for path in folder.paths(f"{split}.txt")]
    rated: dict[str, dict[str, int]] = {}
    for node in (node for file in files for tree in each_tree(file) for node in tree.nodes()):
        if node.word is not None:
            word = unescape(node.word)
            rated.setdefault(word.lower(), {}).pop(word, None)
            rated[word.lower()][word] = node.label  # last of all
    if cased == "last":
        return {word: float(list(labels.values())[-1]) for word, labels in rated.items()}
    return {word: sum(labels.values()) / len(labels) for word, labels in rated.items()}


def example(written: tuple[str, ...], label: int, task: str) -> Example:
    """A sentence with its class."""
    words = tuple(map(unescape, written))
    return Example(" ".join(words), BINARY[label > 2] if task == "binary" else FINE[label], words=words)


ENTRY = Entry(
    name="sst",
    about="Stanford Sentiment Treebank: sentences from film reviews, rated from very negative to very positive",
    licence="none stated by its makers",
    kind="native",
    load=load,
    variants={"binary": {"task": "binary"}, "fine": {"task": "fine"}},
    url="https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip",
    files={
        "train.txt": "e2f3f41b0b1e6d4dddc0effe3bfc2d27ed8928079aa9a03d652311614fc5feb7",
        "dev.txt": "0e9336aed6e4730e19f58d00a77b3f0297efdb755f7b5e598c98a05e3f97ea40",
        "test.txt": "6e54806dee95cf80cd918e7dfb3f6770f6df24bf826f289a4d1f709e1c8f6761",
    },
    citation="Socher et al. (2013). Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank. "
    "EMNLP.",
)
