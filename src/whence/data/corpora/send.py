"""Stanford Emotional Narratives Dataset (Ong et al. 2019): life stories told on video, with their valence over time.

Native format: a word a line, tab-separated, in `features/{Train,Valid,Test}/linguistic-word-level/ID<person>_vid<video>
_*.tsv` (time in seconds in column 1, the word in column 2, counted from 0; 300 GloVe values after them, which are read
past, since models here bring their own vectors), and ratings in `ratings/{Train,Valid,Test}/observer_EWE/
results_<person>_<video>.csv` (columns `time` and `evaluatorWeightedEstimate`, which is from 0 to 100).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from whence.core.errors import BadData
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example, narrative
from whence.data.formats.csv_tsv import read_separated, separated_lines
from whence.data.formats.text import read_text, short
from whence.data.tables.cells import missing

SPLITS = {"train": "Train", "dev": "Valid", "test": "Test"}
WORDS, RATINGS = re.compile(r"ID(\d+)_vid(\d+)_.*\.tsv"), re.compile(r"results_(\d+)_(\d+)\.csv")
TIME, RATING = "time", "evaluatorWeightedEstimate"
SECONDS = 5.0  # a window
Empty = Literal["repeat", "drop"]
Said = TypeVar("Said")


def load(data_dir: str | Path, empty: Empty = "repeat") -> Corpus:
    """The narratives in windows of five seconds, from the folder `<data_dir>/send`.

    A word or rating at time t belongs to the window that ends first at t or after it. The window of the last word, and
    that of the last rating, may be unfinished and are left out; then both are cut to the shorter of the two. A value
    is the mean of a window's ratings / 50 − 1, from −1 to 1. The paper does not say what is done with a window without
    words: with `repeat` it has the last word before it once more, as in the authors' code; with `drop` it is left out.
    Left out too are windows without ratings, and those before the first word.

    *Differs from the authors' code*, which needs the same narratives in both folders: those that are in one alone (some
    transcripts may not be passed on) are counted in the notes.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name).paths("features")[0].parent
    counted: Counter[str] = Counter()
    splits = {split: tuple(each_narrative(folder, name, empty, counted)) for split, name in SPLITS.items()}
    for split, examples in splits.items():
        if not examples:
            raise BadData(
                f"{folder} holds no narrative of {SPLITS[split]} with words and ratings; expected files like "
                f"features/{SPLITS[split]}/linguistic-word-level/ID101_vid1_words.tsv and "
                f"ratings/{SPLITS[split]}/observer_EWE/results_101_1.csv"
            )
    return Corpus("send", splits, about=ENTRY.about, notes=tuple(f"{n} {what}" for what, n in counted.items() if n))


def each_narrative(folder: Path, split: str, empty: Empty, counted: Counter[str]) -> Iterator[Example]:
    """The narratives of a split, by person and video; `counted` collects what was left out and filled."""
    words = find_files(folder / "features" / split / "linguistic-word-level", WORDS)
    ratings = find_files(folder / "ratings" / split / "observer_EWE", RATINGS)
    counted[f"narratives of {split} have words or ratings alone and were left out"] += len(words.keys() ^ ratings)
    for key in sorted(words.keys() & ratings):
        spoken, rated = timed_words(words[key]), timed_ratings(ratings[key])
        length = min(finished(spoken), finished(rated))
        kept = list(paired(windowed(spoken), windowed(rated), length, empty, counted))
        if kept:
            yield narrative([spoken for spoken, _ in kept], [value for _, value in kept])
        else:
            counted["narratives ended before their first window and were left out"] += 1


def find_files(folder: Path, pattern: re.Pattern[str]) -> dict[tuple[int, int], Path]:
    """The files of a folder by person and video."""
    matches = {path: pattern.fullmatch(path.name) for path in (sorted(folder.iterdir()) if folder.is_dir() else ())}
    return {(int(match[1]), int(match[2])): path for path, match in matches.items() if match}


def timed_words(path: Path) -> list[tuple[float, str]]:
    """The words of a transcript with their times; blank ones are skipped."""
    lines = list(separated_lines(path, read_text(path), "\t"))[1:]
    for number, cells in lines:
        if len(cells) < 3:
            raise BadData(
                f"{path}, line {number}: a number, a time and a word were expected, with tabs between; "
                f"there are {len(cells)} cells"
            )
    return [
        (seconds(cells[1], f"{path}, line {number}"), cells[2].strip())
        for number, cells in lines
        if not missing(cells[2])
    ]


def timed_ratings(path: Path) -> list[tuple[float, float]]:
    """The ratings with their times, from −1 to 1; those that are missing are skipped."""
    table = read_separated(path, tabs=False)
    for column in (TIME, RATING):
        if column not in table.columns:
            raise BadData(f"{path} has no column {column!r}; it has: {', '.join(table.columns)}")
    rows = [(f"{path}, row {number}", row[TIME], row[RATING]) for number, row in enumerate(table.rows, start=1)]
    return [
        (seconds(time, where), rating(cell, where))
        for where, time, cell in rows
        if not missing(cell) and cell.strip().lower() not in ("nan", "na")
    ]


def seconds(cell: str, where: str) -> float:
    """A time."""
    return within(cell, 0.0, math.inf, f"{where}: a time in seconds")


def rating(cell: str, where: str) -> float:
    """A rating from 0 to 100, rescaled to −1 to 1."""
    return within(cell, 0.0, 100.0, f"{where}: a rating from 0 to 100") / 50 - 1


def within(cell: str, low: float, high: float, wanted: str) -> float:
    """A finite number of this range."""
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not (low <= number <= high and math.isfinite(number)):
        raise BadData(f"{wanted} was expected; got {short(cell)}")
    return number


def window_of(time: float) -> int:
    """The number of a time's window: the first that ends at it or after it."""
    return max(math.ceil(time / SECONDS) - 1, 0)


def finished(timed: Sequence[tuple[float, object]]) -> int:
    """How many windows are finished: those before that of the last time."""
    return max((window_of(time) for time, _ in timed), default=0)


def windowed(timed: Sequence[tuple[float, Said]]) -> dict[int, list[Said]]:
    """The words or ratings of each window."""
    windows = defaultdict(list)
    for time, what in timed:
        windows[window_of(time)].append(what)
    return windows


def paired(
    words: dict[int, list[str]], ratings: dict[int, list[float]], length: int, empty: Empty, counted: Counter[str]
) -> Iterator[tuple[list[str], float]]:
    """The words and the mean rating of each window that has both, or is given the last word before it."""
    last: list[str] = []
    for number in range(length):
        spoken, rated = words.get(number, []), ratings.get(number, [])
        if not spoken and last and empty == "repeat" and rated:
            counted["windows without words repeat the last word before them"] += 1
        last = spoken[-1:] or last
        spoken = spoken or (last if empty == "repeat" else [])
        if spoken and rated:
            yield spoken, sum(rated) / len(rated)
        else:
            counted[f"windows without {'ratings' if spoken else 'words'} were left out"] += 1


ENTRY = Entry(
    name="send",
    about="Stanford Emotional Narratives Dataset: 193 life stories told on video, with their valence over time",
    licence="SEND's end-user licence: for research, given on request, not to be passed on",
    kind="native",
    load=load,
    variants={"drop": {"empty": "drop"}},
    url="https://github.com/StanfordSocialNeuroscienceLab/SEND",
    files={"features": "", "ratings": ""},
    manual_download="Its makers give it to researchers who sign the licence at "
    "https://github.com/StanfordSocialNeuroscienceLab/SEND: ask there, and put its folders features and ratings into a "
    "folder send within your folder of corpora",
    citation="Ong et al. (2019). Modeling emotion in complex stories: the Stanford Emotional Narratives Dataset. "
    "IEEE Transactions on Affective Computing.",
)
