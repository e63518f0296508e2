"""e-SNLI (Camburu et al. 2018): SNLI pairs with the words that annotators marked as the reason for the label.

Native format: `esnli_{train_1,train_2,dev,test}.csv` with the columns pairID, gold_label, Sentence1, Sentence2, and of
each annotator (three in dev and test, one in train) an explanation and both sentences with marked words *between*
stars. Words are marked as wholes, punctuation included; here a punctuation mark is a word of its own and not marked.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from whence.core.errors import BadData
from whence.data.corpora.shared.marked_words import Marks, Words, agreed, words_of
from whence.data.corpora.shared.nli import LABELS
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.csv_tsv import separated_lines
from whence.data.formats.text import read_text, short

SPLITS = {"train": ("esnli_train_1.csv", "esnli_train_2.csv"), "dev": ("esnli_dev.csv",), "test": ("esnli_test.csv",)}
FILES = tuple(name for names in SPLITS.values() for name in names)
CHECKSUMS = {
    "esnli_dev.csv": "d7a656d196eea18fd827d6f5486b00f5d4cf469dbf13a252cc211495a186bcb4",
    "esnli_test.csv": "9269aa8075dbfed0fa8a5012eb2ac9c18a92be139671f05df897f69092592927",
}
PLACE = "https://raw.githubusercontent.com/OanaMariaCamburu/e-SNLI/master/dataset"


def load(data_dir: str | Path, at_least: int = 2) -> Corpus:
    """The pairs, from the folder `<data_dir>/esnli`: `rationale` marks words of the premise, `pair_rationale` of the
    hypothesis, if `at_least` so many annotators did (where a pair has fewer, all of them).
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits: dict[str, tuple[Example, ...]] = {}
    for split, names in SPLITS.items():
        pairs = tuple(pair for name in names for path in folder.paths(name) for pair in each_pair(path, at_least))
        splits |= {split: pairs} if pairs else {}
    notes = [f"marked the words that {at_least} annotators or more marked; punctuation is never marked"]
    return Corpus("esnli", splits, LABELS, ENTRY.about, (*folder.notes, *notes))


def each_pair(path: Path, at_least: int) -> Iterator[Example]:
    """The pairs of a file."""
    rows = separated_lines(path, read_text(path), ",")
    _, header = next(rows)
    missing = {"gold_label", "Sentence1", "Sentence2", "Sentence1_marked_1", "Sentence2_marked_1"} - set(header)
    if missing:
        raise BadData(f"{path} lacks the columns {', '.join(sorted(missing))}; a file of e-SNLI was expected")
    for number, cells in rows:
        yield as_pair(dict(zip(header, cells, strict=False)), at_least, f"{path}, line {number}")


def as_pair(row: Mapping[str, str], at_least: int, where: str) -> Example:
    """A row as a pair with the words that decide."""
    if row.get("gold_label") not in LABELS:
        raise BadData(f"{where}: the label must be {', '.join(LABELS)}; it is {short(str(row.get('gold_label')))}")
    (words, marks), (pair, pair_marks) = (marked_sentence(row, side, at_least, where) for side in (1, 2))
    return Example(
        " ".join(words), row["gold_label"], " ".join(pair), words, pair, rationale=marks, pair_rationale=pair_marks
    )


def marked_sentence(row: Mapping[str, str], side: int, at_least: int, where: str) -> tuple[Words, Marks]:
    """The words of a sentence, and which of them enough annotators marked."""
    pieces = row[f"Sentence{side}"].split()
    annotators = []
    for number in (1, 2, 3):
        marked = row.get(f"Sentence{side}_marked_{number}", "").split()
        if marked and len(marked) != len(pieces):
            raise BadData(
                f"{where}: Sentence{side}_marked_{number} has {len(marked)} words, Sentence{side} {len(pieces)}"
            )
        annotators += [[piece.startswith("*") and piece.endswith("*") for piece in marked]] if marked else []
    if not pieces or not annotators:
        raise BadData(f"{where}: Sentence{side} and Sentence{side}_marked_1 were expected; one is empty")
    chosen = agreed(annotators, min(at_least, len(annotators)))
    words = [(word, mark) for piece, mark in zip(pieces, chosen, strict=True) for word in words_of(piece)]
    return tuple(word for word, _ in words), tuple(mark and word[0].isalnum() for word, mark in words)


ENTRY = Entry(
    name="esnli",
    about="e-SNLI: pairs of SNLI with the words that people marked as the reason for the label",
    licence="MIT; built on SNLI, CC BY-SA 4.0",
    kind="native",
    load=load,
    variants={"any": {"at_least": 1}, "all": {"at_least": 3}},
    url=f"{PLACE}/esnli_dev.csv",
    files={name: CHECKSUMS.get(name, "") for name in FILES},
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    optional=SPLITS["train"],
    citation="Camburu et al. (2018). e-SNLI: Natural Language Inference with Natural Language Explanations. NeurIPS.",
)
