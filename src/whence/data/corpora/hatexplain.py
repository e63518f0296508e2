"""HateXplain (Mathew et al. 2021): posts, hateful, offensive or neither, with the words that people gave as reasons.

Native format: `dataset.json`, an object from post ids to `{annotators: [{label, ...}], rationales: [[0, 1, ...]],
post_tokens: [...]}`, and `post_id_divisions.json`, the ids of each split. Its content is offensive.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.corpora.shared.marked_words import agreed
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import read_text

POSTS, DIVISIONS = "dataset.json", "post_id_divisions.json"
SPLITS = {"train": "train", "dev": "val", "test": "test"}
LABELS = ("normal", "offensive", "hatespeech")
PLACE = "https://raw.githubusercontent.com/hate-alert/HateXplain/master/Data"


def load(data_dir: str | Path) -> Corpus:
    """The posts on whose label two of three annotators agree, from the folder `<data_dir>/hatexplain`.

    The rationale marks the words that at least half of those who gave reasons marked; a normal post has none.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    posts = {key: row for path in folder.paths(POSTS) for key, row in read_object(path).items()}
    divisions = read_object(folder.paths(DIVISIONS)[0])
    splits: dict[str, tuple[Example, ...]] = {}
    open_labels = absent = 0
    for split, native in SPLITS.items():
        there = [posts[key] for key in divisions.get(native, ()) if key in posts]
        absent += len(divisions.get(native, ())) - len(there)
        read = [post(row, f"{folder.path}: post {row.get('post_id')}") for row in there]
        open_labels += sum(example is None for example in read)
        splits |= {split: tuple(example for example in read if example)} if there else {}
    notes = [f"skipped {open_labels:,} posts with three different labels"]
    notes += [f"{absent:,} posts of the official splits are not there"] if absent else []
    return Corpus("hatexplain", splits, LABELS, ENTRY.about, (*folder.notes, *notes))


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise BadData(f"{path} is not JSON ({error}); the file of HateXplain was expected") from error
    if not isinstance(found, dict):
        raise BadData(f"{path} is not a JSON object; the file of HateXplain was expected")
    return found


def post(row: Mapping[str, Any], where: str) -> Example | None:
    """A post with its majority label; None if there is none."""
    try:
        words, reasons = tuple(str(word) for word in row["post_tokens"]), row["rationales"]
        label, votes = Counter(annotator["label"] for annotator in row["annotators"]).most_common(1)[0]
    except (KeyError, TypeError, IndexError) as error:
        raise BadData(f"{where}: annotators, rationales and post_tokens were expected ({error})") from error
    if label not in LABELS or any(len(marks) != len(words) for marks in reasons):
        raise BadData(f"{where}: a label of {', '.join(LABELS)} and a mark for each word were expected")
    return Example(" ".join(words), label, words=words, rationale=_rationale(label, reasons)) if votes > 1 else None


def _rationale(label: str, reasons: Sequence[Sequence[int]]) -> tuple[bool, ...] | None:
    if label == "normal" or not reasons:
        return None
    return agreed([[bool(mark) for mark in marks] for marks in reasons], -(-len(reasons) // 2))


ENTRY = Entry(
    name="hatexplain",
    about="HateXplain: posts, hateful, offensive or normal, with the words that people gave as reasons (offensive)",
    licence="MIT",
    kind="native",
    load=load,
    url=f"{PLACE}/{POSTS}",
    files={POSTS: "", DIVISIONS: "c2fb0d89862e7897b11ea3e9380753f15a793482b4b70ad0532dfb1212212835"},
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in (POSTS, DIVISIONS)),
    substitutes={POSTS: ("dataset.val_test.json",)},
    citation="Mathew et al. (2021). HateXplain: A Benchmark Dataset for Explainable Hate Speech Detection. AAAI.",
)
