"""Multi-Genre Natural Language Inference (Williams et al. 2018): premises from ten kinds of English.

Native format: `multinli_1.0_{train,dev_matched,dev_mismatched}.jsonl`, one pair a line, with parses; or reduced to
`premise`, `hypothesis` and `label`. The labels of the official test sets are not public.
"""

from pathlib import Path

from whence.data.corpora.shared.nli import LABELS, read_pairs
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.rng import hold_out

TRAIN = "multinli_1.0_train.jsonl"
TESTS = {"test": "multinli_1.0_dev_matched.jsonl", "test_mismatched": "multinli_1.0_dev_mismatched.jsonl"}
DEV = 0.05  # of the official training pairs


def load(data_dir: str | Path) -> Corpus:
    """The pairs, from the folder `<data_dir>/multinli`.

    Since the official test labels are not public, the two official dev sets are for testing, as is usual: `test` has
    the genres of `train`, `test_mismatched` others. As `dev`, 5 % of the training pairs are drawn.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits: dict[str, tuple[Example, ...]] = {}
    notes = ["took dev_matched as test and dev_mismatched as test_mismatched: the official test labels are not public"]
    for split, name in {"train": TRAIN, **TESTS}.items():
        paths = folder.paths(name)
        if paths:
            splits[split], skipped = read_pairs(paths)
            notes += skipped
    if "train" in splits:
        train, dev = hold_out(splits.pop("train"), DEV, "multinli/dev")
        splits = {"train": train, "dev": dev, **splits}
        notes.append(f"drew {len(dev):,} of {len(train) + len(dev):,} training pairs as dev")
    return Corpus("multinli", splits, LABELS, ENTRY.about, (*folder.notes, *notes))


ENTRY = Entry(
    name="multinli",
    about="Multi-Genre Natural Language Inference: premises of ten genres, each with a statement to be judged by it",
    licence="most of it under the OANC's licence, which allows all use; some genres under others (see its paper)",
    kind="native",
    load=load,
    url="https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
    files=dict.fromkeys((TRAIN, *TESTS.values()), ""),
    sources=(
        Source(
            "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip",
            "049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
            (TRAIN, *TESTS.values()),
        ),
    ),
    substitutes={
        TESTS["test"]: ("dev_matched.reduced.jsonl",),
        TESTS["test_mismatched"]: ("dev_mismatched.reduced.jsonl",),
    },
    optional=(TRAIN, TESTS["test_mismatched"]),
    citation="Williams, Nangia & Bowman (2018). A Broad-Coverage Challenge Corpus for Sentence Understanding. NAACL.",
)
