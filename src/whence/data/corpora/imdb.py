"""Large Movie Review Dataset (Maas et al. 2011): whole film reviews from IMDB, negative or positive.

Native format: `aclImdb/{train,test}/{neg,pos}/<number>_<rating>.txt`, one review a file, `<br />` for line breaks; in
the archive as it is fetched, which is read as it is, or unpacked.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadData
from whence.data.corpora.shared.length_filter import filter_by_length
from whence.data.download.archives import each_member
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.rng import hold_out

ARCHIVE = "aclImdb_v1.tar.gz"
LABELS = {"neg": "negative", "pos": "positive"}
PLACE = re.compile(r"(?:^|/)(train|test)/(neg|pos)/(\d+)_\d+\.txt$")
BREAKS = re.compile(r"(?:\s*<br\s*/?>)+\s*")
DEV = 0.2  # of the official training reviews


def load(data_dir: str | Path, longer_than: int | None = None, shorter_than: int | None = None) -> Corpus:
    """The reviews, from the folder `<data_dir>/imdb`, with a fifth of the training reviews as `dev`.

    `imdb:short` keeps reviews of fewer than 400 words (`shorter_than=400`), as Jain & Wallace (2019) do.
    *Differs from their code*: other reviews are drawn as `dev`, all of `test` is kept and not a fifth, and words are
    counted at spaces.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    reviews = read_reviews(folder.paths(ARCHIVE)[0])
    train, dev = hold_out(reviews["train"], DEV, "imdb/dev")
    notes = ["wrote line breaks as spaces", f"drew {len(dev):,} of {len(reviews['train']):,} training reviews as dev"]
    splits, dropped = filter_by_length({"train": train, "dev": dev, "test": reviews["test"]}, longer_than, shorter_than)
    return Corpus("imdb", splits, tuple(LABELS.values()), ENTRY.about, (*folder.notes, *notes, *dropped))


def read_reviews(path: Path) -> dict[str, tuple[Example, ...]]:
    """The labelled reviews of each split by their numbers, which go round the two labels; from a tar or a folder."""
    found = sorted(each_review(path), key=lambda review: review[:3])
    splits = {split: tuple(example for name, _, _, example in found if name == split) for split in ("train", "test")}
    for split, examples in splits.items():
        if not examples:
            raise BadData(f"{path} holds no {split} reviews; files like aclImdb/{split}/pos/0_9.txt were expected")
    return splits


def each_review(path: Path) -> Iterator[tuple[str, int, str, Example]]:
    """Split, number, label and text of all reviews, in the order of the archive."""
    for name, content in each_member(path, lambda name: PLACE.search(name) is not None):
        split, label, number = PLACE.search(name).groups()  # type: ignore[union-attr]
        try:
            text = BREAKS.sub(" ", content.decode("utf-8")).strip()
        except UnicodeDecodeError as error:
            raise BadData(f"{path}: {name} is not UTF-8 at byte {error.start}; fetch the archive again") from error
        if not text:
            raise BadData(f"{path}: {name} is empty; a review was expected; fetch the archive again")
        yield split, int(number), label, Example(text, LABELS[label])


ENTRY = Entry(
    name="imdb",
    about="Large Movie Review Dataset: 50,000 film reviews from IMDB, negative or positive",
    licence="none stated by its makers",
    kind="native",
    load=load,
    variants={"short": {"shorter_than": 400}},
    url="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    files={ARCHIVE: "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe"},
    sources=(Source("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", keep=ARCHIVE),),
    substitutes={ARCHIVE: ("aclImdb_labelled.tar.gz", "aclImdb")},
    citation="Maas et al. (2011). Learning Word Vectors for Sentiment Analysis. ACL.",
)
