"""News Commentary v11 (WMT 2016): opinion pieces from newspapers in English and German.

Native format: `news-commentary-v11.de-en.{en,de}`, one sentence a line; the WMT test sets of 2015 and 2016 as SGML.
"""

from pathlib import Path

from whence.data.corpora.shared.parallel import DIRECTIONS, read_parallel
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.rng import hold_out

TRAIN = ("news-commentary-v11.de-en.en", "news-commentary-v11.de-en.de")
NEWS = {"dev": "newstest2015", "test": "newstest2016"}
TESTS = {split: (f"{name}-ende-src.en.sgm", f"{name}-ende-ref.de.sgm") for split, name in NEWS.items()}
DRAWN = 0.01  # share of the training pairs that becomes the test set, which the corpus lacks


def load(data_dir: str | Path, direction: str = "en-de") -> Corpus:
    """The sentences, from the folder `<data_dir>/news_commentary`; `dev` is newstest2015 and `test` newstest2016.

    A test set that is not there is replaced by one in a hundred of the training pairs. *Differs from the paper*
    (Vashishth et al. 2019), which does not say which test sets it used.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    train, notes = read_parallel(folder.paths(TRAIN[0])[0], folder.paths(TRAIN[1])[0], direction)
    later: dict[str, tuple[Example, ...]] = {}
    for split, names in TESTS.items():
        paths = [path for name in names for path in folder.paths(name)]
        if len(paths) == 2:
            later[split], dropped = read_parallel(paths[0], paths[1], direction)
            notes += dropped
        else:
            train, later[split] = hold_out(train, DRAWN, f"news_commentary/{split}")
            notes.append(f"drew {len(later[split]):,} training pairs as {split}, since {NEWS[split]} is not there")
    name = "news_commentary" if direction == "en-de" else f"news_commentary:{direction}"
    return Corpus(name, {"train": train, **later}, about=ENTRY.about, notes=(*folder.notes, *notes))


ENTRY = Entry(
    name="news_commentary",
    about="News Commentary v11: sentences of opinion pieces in English and German, to be translated",
    licence="for research, say the pages of the WMT 2016 translation task",
    kind="native",
    load=load,
    variants={direction: {"direction": direction} for direction in DIRECTIONS},
    url="http://www.statmt.org/wmt16/translation-task.html",
    files=dict.fromkeys((*TRAIN, *TESTS["dev"], *TESTS["test"]), ""),
    sources=(
        Source(
            "http://data.statmt.org/wmt16/translation-task/training-parallel-nc-v11.tgz",
            "cfe8ab047e05043476e498ee765c98e939c7b7d6d294e856344c84476b619d6a",
            TRAIN,
        ),
        Source(  # the collection of 2019, since it has both test sets and a published checksum
            "http://data.statmt.org/wmt19/translation-task/dev.tgz",
            "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
            (*TESTS["dev"], *TESTS["test"]),
        ),
    ),
    optional=(*TESTS["dev"], *TESTS["test"]),
    citation="Bojar et al. (2016). Findings of the 2016 Conference on Machine Translation. WMT.",
)
