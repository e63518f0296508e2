"""Ten thousand Yelp reviews with stars: a sample of Yelp's data that circulates, where the millions of `yelp` are not.

Native format: `yelp.csv`, alone or in `yelp.csv.zip`, with the columns business_id, date, review_id, stars, text, type,
user_id, cool, useful, funny. It has no splits.
"""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadData
from whence.data.corpora.shared.length_filter import filter_by_length
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.formats.csv_tsv import separated_lines
from whence.data.formats.text import read_text
from whence.data.rng import hold_out

FILE, ARCHIVE = "yelp.csv", "yelp.csv.zip"
LABELS = ("1", "2", "3", "4", "5")
TENTH = 0.1


def load(data_dir: str | Path, longer_than: int | None = None, shorter_than: int | None = None) -> Corpus:
    """The reviews, labelled by their stars, from the folder `<data_dir>/yelp10k`: 80 % train, 10 % dev, 10 % test,
    drawn with a fixed seed.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    path = folder.paths(FILE)[0]
    reviews = list(each_review(path))
    rest, test = hold_out(reviews, TENTH, "yelp10k/test")
    train, dev = hold_out(rest, TENTH / (1 - TENTH), "yelp10k/dev")
    notes = [f"drew {len(dev):,} of {len(reviews):,} reviews as dev and {len(test):,} as test, with a fixed seed"]
    splits, dropped = filter_by_length({"train": train, "dev": dev, "test": test}, longer_than, shorter_than)
    return Corpus("yelp10k", splits, LABELS, ENTRY.about, (*folder.notes, *notes, *dropped))


def each_review(path: Path) -> Iterator[Example]:
    """The reviews of a file with words in them."""
    rows = separated_lines(path, text_of(path), ",")
    _, header = next(rows)
    if not {"stars", "text"} <= set(header):
        raise BadData(f"{path} has the columns {', '.join(header)}; stars and text were expected among them")
    stars, text = header.index("stars"), header.index("text")
    for number, cells in rows:
        if len(cells) != len(header) or cells[stars] not in LABELS:
            raise BadData(f"{path}, line {number}: {len(header)} cells and stars from 1 to 5 were expected")
        if cells[text].strip():
            yield Example(" ".join(cells[text].split()), cells[stars])


def text_of(path: Path) -> str:
    """The text of the file, out of its archive if it is in one."""
    if path.suffix != ".zip":
        return read_text(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(FILE).decode("utf-8")
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read ({error}); an archive with {FILE} in UTF-8 was expected") from error


ENTRY = Entry(
    name="yelp10k",
    about="10,000 Yelp reviews, labelled with their stars, 1 to 5",
    licence="none stated; the reviews are under Yelp's own terms for its data",
    kind="native",
    load=load,
    url="https://github.com/RWooters/Textclassifier",
    files={FILE: "0713f2d5419af7840e2e1e6c6a5675b982c1fd3ef0440d435fbf50c45f8fd546"},
    substitutes={FILE: (ARCHIVE,)},
    manual_download="Put yelp.csv of https://github.com/RWooters/Textclassifier, or the zip that holds it, there",
    citation="Yelp Open Dataset, https://www.yelp.com/dataset.",
)
