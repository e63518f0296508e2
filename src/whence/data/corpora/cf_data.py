"""Counterfactually augmented data (Kaushik, Hovy & Lipton 2020): texts that people changed until the label changed.

Native format: `sentiment/combined/paired/{train,dev,test}_paired.tsv` with the columns Sentiment, Text, batch_id, an
IMDB review and its revision under one batch_id; `NLI/all_combined/{train,dev,test}.tsv` with sentence1, sentence2,
gold_label, SNLI pairs next to pairs whose premise or hypothesis was revised. The words that differ decide the label.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.imdb import BREAKS
from whence.data.corpora.shared.marked_words import Marks, Words, changed_words, either, words_of
from whence.data.corpora.shared.nli import LABELS as NLI_LABELS
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.csv_tsv import read_separated

TASKS = {
    "sentiment": ("sentiment/combined/paired/{}_paired.tsv", ("Sentiment", "Text", "batch_id")),
    "nli": ("NLI/all_combined/{}.tsv", ("sentence1", "sentence2", "gold_label")),
}
FILES = {
    "sentiment/combined/paired/train_paired.tsv": "7ac50ca3d70890f80e11ee59955cdbfc43f26b5078d0603717817ab224d2af18",
    "sentiment/combined/paired/dev_paired.tsv": "4c2d8a70cbce23eba27fb1f0bb5043cf044811912435cf8d10c3ea6fc7a51363",
    "sentiment/combined/paired/test_paired.tsv": "9534b20850205c59015b313983cae7afb31c54c04ffcbd19cea7f1bce5011275",
    "NLI/all_combined/train.tsv": "b04c0e249b71949345afc20f8c31c355533a705a68805492f21cddc49d27234f",
    "NLI/all_combined/dev.tsv": "35c585cef5fc68e3713ee4bac83242aa7c4bfc6b51f16e9745b674c358ebd500",
    "NLI/all_combined/test.tsv": "585ea3630ed64f6976d5ce1fd8c519c46c102659a012b7e9cbe48ec03503d977",
}
PLACE = "https://raw.githubusercontent.com/acmi-lab/counterfactually-augmented-data/master"
Rows = Sequence[Sequence[str]]


def load(data_dir: str | Path, task: str = "sentiment") -> Corpus:
    """The texts of a task, from the folder `<data_dir>/cf_data`; the rationale marks words that the counterparts lack.

    `sentiment`: the counterpart has the same batch_id. `nli`: counterparts share premise or hypothesis and have another
    label; words are marked in the sentence that differs, and a pair without counterpart has no rationale.
    """
    if task not in TASKS:
        raise BadConfig(f"cf_data has the tasks {' and '.join(TASKS)}; {task!r} is neither")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    name, columns = TASKS[task]
    splits = {}
    for split in ("train", "dev", "test"):
        path = folder.paths(name.format(split))[0]
        table = read_separated(path, tabs=True)
        missing = [column for column in columns if column not in table.columns]
        if missing:
            raise BadData(f"{path} lacks the columns {', '.join(missing)}; it has {', '.join(table.columns)}")
        rows = [[str(row[column]).strip() for column in columns] for row in table.rows]
        splits[split] = reviews(rows, path) if task == "sentiment" else pairs(rows, path)
    labels = ("negative", "positive") if task == "sentiment" else NLI_LABELS
    return Corpus(f"cf_data:{task}", splits, labels, ENTRY.about, tuple(folder.notes))


def reviews(rows: Rows, path: Path) -> tuple[Example, ...]:
    """Reviews and their revisions, in the order of the file."""
    together: dict[str, list[int]] = defaultdict(list)
    words = [words_of(BREAKS.sub(" ", text)) for _, text, _ in rows]
    for number, (_, _, batch) in enumerate(rows):
        together[batch].append(number)
    odd = [batch for batch, numbers in together.items() if len(numbers) != 2]
    if odd or any(label.lower() not in ("negative", "positive") for label, _, _ in rows):
        raise BadData(
            f"{path}: reviews, Negative or Positive, were expected in pairs of one batch_id; these are no pairs:"
            f" {', '.join(odd[:5]) or 'none'}"
        )
    other = {number: twin for one, two in together.values() for number, twin in ((one, two), (two, one))}
    return tuple(
        Example(" ".join(own), row[0].lower(), words=own, rationale=changed_words(own, words[other[number]]))
        for number, (row, own) in enumerate(zip(rows, words, strict=True))
    )


def pairs(rows: Rows, path: Path) -> tuple[Example, ...]:
    """Premises and hypotheses, in the order of the file."""
    wrong = next((label for _, _, label in rows if label not in NLI_LABELS), None)
    if wrong is not None:
        raise BadData(f"{path}: the label must be {', '.join(NLI_LABELS)}; it is {wrong!r}")
    same: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        for side in (0, 1):
            same[side, row[side]].append(number)
    split = {text: words_of(text) for row in rows for text in row[:2]}
    examples = []
    for premise, hypothesis, label in rows:
        kept = {1: same[0, premise], 0: same[1, hypothesis]}  # the side that may differ, and where the other is kept
        texts = {side: [rows[n][side] for n in numbers if rows[n][2] != label] for side, numbers in kept.items()}
        words = split[premise], split[hypothesis]
        marks, pair_marks = (_marks(words[side], [split[text] for text in texts[side]]) for side in (0, 1))
        examples.append(
            Example(" ".join(words[0]), label, " ".join(words[1]), *words, rationale=marks, pair_rationale=pair_marks)
        )
    return tuple(examples)


def _marks(words: Words, versions: Sequence[Words]) -> Marks | None:
    return either([changed_words(words, version) for version in versions]) if versions else None


ENTRY = Entry(
    name="cf_data",
    about="Counterfactually augmented reviews (IMDB) and pairs (SNLI): the words that people changed decide the label",
    licence="Apache-2.0",
    kind="native",
    load=load,
    variants={task: {"task": task} for task in TASKS},
    url=f"{PLACE}/sentiment/combined/paired/train_paired.tsv",
    files=FILES,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    citation="Kaushik, Hovy & Lipton (2020). Learning the Difference that Makes a Difference with "
    "Counterfactually-Augmented Data. ICLR.",
)
