"""SentEval's probing tasks (Conneau et al. 2018): ten properties of a sentence to predict from its vector.

Native format: a file for each task, `split<TAB>label<TAB>sentence` a line, the splits being `tr`, `va` and `te`; words
have spaces between them, and other fields may stand before the sentence. 100,000 sentences of each task are for
training, 10,000 for validation and 10,000 for the test.
"""

from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.download.corpus_folder import CorpusFolder, missing_corpus
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line, short

TASKS = {
    "sentence_length": "how many words the sentence has, in six bins",
    "word_content": "which of 1,000 words of middle frequency it has",
    "tree_depth": "how deep its tree is",
    "top_constituents": "what its topmost constituents are",
    "bigram_shift": "whether two neighbouring words were swapped",
    "past_present": "the tense of its main verb",
    "subj_number": "the number of its subject",
    "obj_number": "the number of its object",
    "odd_man_out": "whether a noun or verb was replaced by another",
    "coordination_inversion": "whether its two clauses were swapped",
}
SPLITS = {"tr": "train", "va": "dev", "te": "test"}
PARTS = 3  # split, label, sentence, at least
PLACE = "https://raw.githubusercontent.com/facebookresearch/SentEval/main/data/probing"


def load(data_dir: str | Path, task: str = "past_present") -> Corpus:
    """The sentences of a task with their labels, from the folder `<data_dir>/senteval`; other tasks may be missing."""
    if task not in TASKS:
        raise BadConfig(f"senteval has the tasks {', '.join(TASKS)}; {task!r} is none of them")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    name = f"{task}.txt"
    path = folder.official(name)
    if path is None:
        raise missing_corpus(ENTRY, folder.path, [name])
    held: dict[str, list[Example]] = {split: [] for split in SPLITS.values()}
    for split, example in each_example(path):
        held[split].append(example)
    labels = sorted({str(example.label) for examples in held.values() for example in examples}, key=in_order)
    splits = {split: tuple(examples) for split, examples in held.items() if examples}
    return Corpus(f"senteval:{task}", splits, tuple(labels), f"{ENTRY.about}: {TASKS[task]}")


def each_example(path: Path) -> Iterator[tuple[str, Example]]:
    """The sentences of a file, each with its split."""
    for number, line in each_line(path):
        if not line.strip():
            continue
        split, label, words = as_parts(line, f"{path}, line {number}")
        yield split, Example(" ".join(words), label, words=words)


def as_parts(line: str, where: str) -> tuple[str, str, tuple[str, ...]]:
    """The split, the label and the words of a line."""
    parts = line.split("\t")
    if len(parts) < PARTS or parts[0] not in SPLITS or not parts[1].strip() or not parts[-1].split():
        raise BadData(
            f"{where}: a split (tr, va or te), a label and a sentence were expected, with tabs between; "
            f"got {short(line, 60)}"
        )
    return SPLITS[parts[0]], parts[1].strip(), tuple(parts[-1].split())


def in_order(label: str) -> tuple[int, str]:
    """The sort key of a label: numbers by size, then words."""
    return (int(label), "") if label.isdecimal() else (1_000_000, label)


ENTRY = Entry(
    name="senteval",
    about="SentEval's probing tasks, made of sentences from the Toronto Book Corpus",
    licence="BSD 3-Clause (SentEval); the sentences are from books, whose rights are their authors'",
    kind="native",
    load=load,
    variants={task: {"task": task} for task in TASKS},
    url="https://github.com/facebookresearch/SentEval/tree/main/data/probing",
    files={f"{task}.txt": "" for task in TASKS},
    sources=tuple(Source(f"{PLACE}/{task}.txt", keep=f"{task}.txt") for task in TASKS),
    optional=tuple(f"{task}.txt" for task in TASKS),
    citation="Conneau et al. (2018). What you can cram into a single $&!#* vector: Probing sentence embeddings for "
    "linguistic properties. ACL.",
)
