"""AG News (Zhang, Zhao & LeCun 2015): titles and first sentences of news, in four classes.

Native format: `train.csv` and `test.csv` without a header, three quoted cells a row: class (1 World, 2 Sports,
3 Business, 4 Sci/Tech), title, description. A backslash stands for a line break that was lost.
"""

from collections.abc import Iterator
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.length_filter import filter_by_length
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.csv_tsv import separated_lines
from whence.data.formats.text import read_text, short
from whence.data.rng import hold_out

CLASSES = {"1": "world", "2": "sports", "3": "business", "4": "sci/tech"}
TASKS = {"business": ("world", "business"), "all": tuple(CLASSES.values())}
DEV = 0.15  # of the official training rows
PLACE = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv"


def load(
    data_dir: str | Path, task: str = "business", longer_than: int | None = None, shorter_than: int | None = None
) -> Corpus:
    """The news, title and description as one text, from the folder `<data_dir>/ag_news`.

    `business` has the classes world and business only, as in Jain & Wallace (2019); `all` has the four. Of the
    training rows 15 % are drawn as `dev`.
    """
    if task not in TASKS:
        raise BadConfig(f"ag_news has the tasks {' and '.join(TASKS)}; {task!r} is neither")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    official, test = ([e for path in folder.paths(name) for e in each_row(path)] for name in ("train.csv", "test.csv"))
    wanted = TASKS[task]
    train, dev = hold_out([e for e in official if e.label in wanted], DEV, "ag_news/dev")
    notes = [
        "wrote backslashes, which stand for lost line breaks, as spaces",
        f"drew {len(dev):,} of {len(train) + len(dev):,} training rows as dev",
    ]
    splits = {"train": train, "dev": dev, "test": tuple(e for e in test if e.label in wanted)}
    kept, dropped = filter_by_length(splits, longer_than, shorter_than)
    name = "ag_news" if task == "business" else f"ag_news:{task}"
    return Corpus(name, kept, wanted, ENTRY.about, (*folder.notes, *notes, *dropped))


def each_row(path: Path) -> Iterator[Example]:
    """The rows of a file; the title may be empty, the text as a whole may not."""
    for number, cells in separated_lines(path, read_text(path), ","):
        if len(cells) != 3 or cells[0] not in CLASSES:
            raise BadData(
                f"{path}, line {number}: a class from 1 to 4, a title and a description were expected; "
                f"there are {len(cells)} cells, the first being {short(cells[0])}"
            )
        text = " ".join(" ".join(cells[1:]).replace("\\", " ").split())
        if not text:
            raise BadData(f"{path}, line {number}: title and description are both empty")
        yield Example(text, CLASSES[cells[0]])


ENTRY = Entry(
    name="ag_news",
    about="AG News: titles and first sentences of news articles; world or business, or four classes",
    licence="for research and other non-commercial use, says its readme",
    kind="native",
    load=load,
    variants={task: {"task": task} for task in TASKS},
    url=f"{PLACE}/train.csv",
    files={
        "train.csv": "76a0a2d2f92b286371fe4d4044640910a04a803fdd2538e0f3f29a5c6f6b672e",
        "test.csv": "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699",
    },
    sources=(Source(f"{PLACE}/train.csv", keep="train.csv"), Source(f"{PLACE}/test.csv", keep="test.csv")),
    substitutes={"train.csv": ("train.head2000.csv", "train.sample.csv")},
    citation="Zhang, Zhao & LeCun (2015). Character-level Convolutional Networks for Text Classification. NeurIPS.",
)
