"""English–German sentence pairs of tatoeba.org, as collected for flash cards by manythings.org.

Native format: `deu.txt`, `English<TAB>German`, a pair a line, roughly from short to long. An English sentence may have
several translations, each on its line.
"""

from pathlib import Path

from whence.core.errors import BadData
from whence.data.corpora.shared.parallel import paired
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus
from whence.data.formats.text import each_line
from whence.data.rng import hold_out

FILE = "deu.txt"
HELD_OUT = 1000  # English sentences in dev, and in test


def load(data_dir: str | Path, direction: str = "en-de") -> Corpus:
    """The pairs, from the folder `<data_dir>/tatoeba_deu`. A thousand English sentences each are drawn as dev and test,
    with all their translations: no English sentence is in two splits.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    path = folder.paths(FILE)[0]
    rows = []
    for number, line in each_line(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise BadData(f"{path}, line {number}: an English sentence, a tab and a German one were expected")
        rows.append((cells[0], cells[1]))
    sentences = list(dict.fromkeys(english for english, _ in rows))
    n = min(HELD_OUT, len(sentences) // 10)
    if n < 1:
        raise BadData(
            f"{path} has {len(sentences)} English sentences; ten or more are needed to have some in each split"
        )
    rest, test = hold_out(sentences, n / len(sentences), "tatoeba_deu/test")
    train, dev = hold_out(rest, n / len(rest), "tatoeba_deu/dev")
    place = {english: split for split, those in (("train", train), ("dev", dev), ("test", test)) for english in those}
    splits = {}
    for split in ("train", "dev", "test"):
        mine = [row for row in rows if place[row[0]] == split]
        splits[split], _ = paired([row[0] for row in mine], [row[1] for row in mine], direction, FILE)
    note = f"drew {len(dev):,} and {len(test):,} of {len(sentences):,} English sentences as dev and test"
    name = "tatoeba_deu" if direction == "en-de" else f"tatoeba_deu:{direction}"
    return Corpus(name, splits, about=ENTRY.about, notes=(*folder.notes, note))


ENTRY = Entry(
    name="tatoeba_deu",
    about="Tatoeba: 169,000 short English sentences with German translations",
    licence="CC BY 2.0",
    kind="native",
    load=load,
    variants={direction: {"direction": direction} for direction in ("en-de", "de-en")},
    url="http://www.manythings.org/anki/deu-eng.zip",
    files={FILE: ""},
    sources=(Source("http://www.manythings.org/anki/deu-eng.zip", files=(FILE,)),),
    citation="Tatoeba, https://tatoeba.org; collected by https://www.manythings.org/anki/.",
)
