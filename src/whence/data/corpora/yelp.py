"""Yelp dataset challenge of 2017: whole reviews of businesses with one to five stars.

Native format: `review.json`, one JSON object a line with `stars` and `text` among others. The set has no splits.
"""

from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.length_filter import filter_by_length
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.formats.table_file import as_object
from whence.data.formats.text import each_line, short
from whence.data.rng import seeded_rng

FILE = "review.json"
LABELS = ("1", "2", "3", "4", "5")
SPLITS = {"train": 0.8, "dev": 0.1, "test": 0.1}
LIMIT = 500_000  # reviews; all the millions would fill the memory of most machines


def load(
    data_dir: str | Path,
    limit: int | None = LIMIT,
    longer_than: int | None = None,
    shorter_than: int | None = None,
) -> Corpus:
    """The reviews, labelled by their stars, from the folder `<data_dir>/yelp`; None as the limit means all.

    Which reviews are read and in which split each is, is drawn with a fixed seed: 80 % train, 10 % dev, 10 % test.
    """
    if limit is not None and limit < 10:
        raise BadConfig(f"yelp needs a limit of 10 reviews or more, to have some in each split; it is {limit}")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    path = folder.paths(FILE)[0]
    lots = draw_splits(sum(1 for _, line in each_line(path) if line.strip()), limit, str(path))
    held: dict[str, list[Example]] = {split: [] for split in SPLITS}
    lines = ((number, line) for number, line in each_line(path) if line.strip())
    for lot, (number, line) in zip(lots.tolist(), lines, strict=True):
        if lot < len(SPLITS):
            held[list(SPLITS)[lot]].append(review(line, f"{path}, line {number}"))
    read = sum(map(len, held.values()))
    notes = [f"drew {read:,} of {len(lots):,} reviews, and the splits among them, with a fixed seed"]
    splits, dropped = filter_by_length(
        {split: tuple(those) for split, those in held.items()}, longer_than, shorter_than
    )
    return Corpus("yelp", splits, LABELS, ENTRY.about, (*folder.notes, *notes, *dropped))


def draw_splits(count: int, limit: int | None, where: str) -> UInt8[np.ndarray, " review"]:
    """For each review the number of its split; one past the last for reviews that are left out."""
    if count < 10:
        raise BadData(f"{where} holds {count} reviews; ten are needed to have some in each split")
    order = seeded_rng(0, "yelp").permutation(count)[:limit]
    ends = np.round(np.cumsum(list(SPLITS.values())) * len(order)).astype(int)
    lots = np.full(count, len(SPLITS), np.uint8)
    lots[order] = np.searchsorted(ends, np.arange(len(order)), side="right")
    return lots


def review(line: str, where: str) -> Example:
    """A review with its stars."""
    row = as_object(line, where)
    stars, text = row.get("stars"), row.get("text")
    if stars not in (1, 2, 3, 4, 5) or not isinstance(text, str) or not text.strip():
        raise BadData(f"{where}: stars from 1 to 5 and a text were expected; got {short(line, 80)}")
    return Example(text.strip(), str(int(stars)))


ENTRY = Entry(
    name="yelp",
    about="Yelp dataset challenge 2017: reviews of businesses with one to five stars",
    licence="Yelp's Dataset User Agreement: for academic use, not to be passed on",
    kind="native",
    load=load,
    url="https://www.yelp.com/dataset",
    files={FILE: ""},
    substitutes={FILE: ("yelp_academic_dataset_review.json", "dataset/review.json", "yelp_dataset/review.json")},
    manual_download="Yelp gives it to those who accept its terms at https://www.yelp.com/dataset: download the JSON "
    "files there, unpack them, and put review.json into a folder yelp within your folder of corpora",
    citation="Yelp Inc. (2017). Yelp Dataset Challenge, round 9. https://www.yelp.com/dataset",
)
