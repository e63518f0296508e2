"""CNN question answering (Hermann et al. 2015): news with a summary sentence in which one name is left out.

Native format: `questions/{training,validation,test}/<hash>.question`, in the archive as it is fetched, which is read
as it is, or unpacked. A file has five parts with a blank line between each: address, passage, question with
`@placeholder`, answer `@entityN`, and the names for which the `@entityN` stand.
"""

import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.length_filter import describe_counts
from whence.data.download.archives import each_member
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example

ARCHIVE = "cnn.tgz"
FOLDERS = {"training": "train", "validation": "dev", "test": "test"}
PLACE = re.compile(r"(?:^|/)(training|validation|test)/[^/]+\.question$")
ENTITY = re.compile(r"@entity(\d+)")
DRIVE = "https://drive.usercontent.google.com/download?id=0BwmD_VLjROrfTTljRDVZMFJnVWM&export=download&confirm=t"


def load(data_dir: str | Path, share: float = 1.0) -> Corpus:
    """The questions, from the folder `<data_dir>/cnn`: text is the passage, pair the question, label what was left out.

    All 380,000 training questions take several gigabytes of memory: `share` reads a part of them, chosen by their
    names. The labels are all entities that occur. *Differs from Jain & Wallace (2019)*, whose answers are masked to
    the entities of the passage (their Decoder.py): here that is left to the model.
    """
    if not 0 < share <= 1:
        raise BadConfig(f"the share of training questions must be above 0 and at most 1; it is {share}")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    path = folder.paths(ARCHIVE)[0]
    found = sorted(each_question(path, share), key=lambda question: question[0])
    splits = {split: tuple(e for name, e in found if name.startswith(f"{split}/")) for split in FOLDERS.values()}
    if not all(splits.values()):
        raise BadData(
            f"{path} lacks questions ({describe_counts({s: len(e) for s, e in splits.items()})}); files like "
            "questions/training/<name>.question were expected in each of three folders"
        )
    labels = {word for _, e in found for word in (*(e.words or ()), e.label or "") if ENTITY.fullmatch(word)}
    notes = ["the labels are the entities of all passages; an answer is always one of those in its own passage"]
    notes += [f"read {len(splits['train']):,} training questions, a share of {share} by name"] if share < 1 else []
    ordered = tuple(sorted(labels, key=lambda entity: int(entity.removeprefix("@entity"))))
    return Corpus("cnn", splits, ordered, ENTRY.about, (*folder.notes, *notes))


def each_question(path: Path, share: float) -> Iterator[tuple[str, Example]]:
    """Names, with the split before, and questions, in the order of the archive."""
    for member, content in each_member(path, lambda name: PLACE.search(name) is not None and within(name, share)):
        split, name = FOLDERS[PLACE.search(member)[1]], PurePosixPath(member).name  # type: ignore[index]
        try:
            yield f"{split}/{name}", question(content.decode("utf-8"), f"{path}: {member}")
        except UnicodeDecodeError as error:
            raise BadData(f"{path}: {member} is not UTF-8 at byte {error.start}; fetch the archive again") from error


def within(name: str, share: float) -> bool:
    """Whether a training question belongs to the share that is read; others all do."""
    return "/training/" not in f"/{name}" or zlib.crc32(PurePosixPath(name).name.encode()) < share * 2**32


def question(content: str, where: str) -> Example:
    """The passage and the question of a file."""
    lines = content.split("\n")
    if len(lines) < 7 or any(lines[i].strip() for i in (1, 3, 5)):
        raise BadData(
            f"{where}: address, passage, question and answer were expected in lines 1, 3, 5 and 7, with "
            f"blank lines between; there are {len(lines)} lines"
        )
    words, asked, answer = tuple(map(sys.intern, lines[2].split())), tuple(lines[4].split()), lines[6].strip()
    if not words or "@placeholder" not in asked:
        raise BadData(f"{where}, line 5: a passage and a question with @placeholder were expected; got {lines[4]!r}")
    if not ENTITY.fullmatch(answer):
        raise BadData(f"{where}, line 7: an answer like @entity3 was expected; got {answer!r}")
    return Example(" ".join(words), sys.intern(answer), " ".join(asked), words, asked)


ENTRY = Entry(
    name="cnn",
    about="CNN question answering: news articles, and a sentence in which the entity is to be found that was left out",
    licence="Apache-2.0 for the questions' code; the articles are CNN's",
    kind="native",
    load=load,
    url="https://cs.nyu.edu/~kcho/DMQA/",
    files={ARCHIVE: "9405beb90c9267e7769c86fa42720b7e479bcf38c64217c0d3f456ce8cd122ce"},
    sources=(Source(DRIVE, keep=ARCHIVE),),
    substitutes={ARCHIVE: ("cnn.tar.gz", "cnn.tar", "questions", "cnn")},
    citation="Hermann et al. (2015). Teaching Machines to Read and Comprehend. NeurIPS.",
)
