"""The tasks of Learning to Deceive with Attention-Based Explanations (Pruthi et al. 2020): deciding words are known.

Native format: `<task>/{train,dev,test}.txt`, `label<TAB>text`, and `<task>/<split>.txt.block`, for each word split at
spaces 1 if it is impermissible: in `pronoun` the gendered words, in `sst-wiki` the SST sentence, which Wikipedia text
follows. These words decide the label; a model may be trained to attend elsewhere.
"""

from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line, short

TASKS = {"pronoun": {"F": "female", "M": "male"}, "sst-wiki": {"0": "negative", "1": "positive"}}
FILES = {
    "pronoun/train.txt": "54381cfea8cab0d5cab7d6607eb2a143d659af1ca03b8766a570eb7ce535157e",
    "pronoun/train.txt.block": "8251ebd3a6f7438451c9518e149f830932adfce000473122523afee4b5f38ecd",
    "pronoun/dev.txt": "b04f8ba24d0998eb653ac00590db4f076e830483dffcc5cdb62a46a4116a04ec",
    "pronoun/dev.txt.block": "45d4ba87f88ef6ca514837c999c7bec29fee8fe955d354d84d2b6976b5629092",
    "pronoun/test.txt": "b2ce3405c8dc682f01398055ffa6d5210f7bfe3eafd59b5163b429ebf8d1a9ff",
    "pronoun/test.txt.block": "538658e6aea323676264afb4405aa5dcdc1179b2d0b007434e6f8e48cfc5d908",
    "sst-wiki/train.txt": "a2fd9ae461438e7497ebd329dfa4d2220bdb1015d2af7a31001d65c48a9191eb",
    "sst-wiki/train.txt.block": "aad97aeba169e9a80caaa067aab40852008451f720d30563005be33afbe984d3",
    "sst-wiki/dev.txt": "fdeb09c33c2577c7e6ec0dbfc6a3f02dcce059bd7093f3422b1213abdd78ceae",
    "sst-wiki/dev.txt.block": "b43defeb7731d8d811fcac9de2b13db2ac7ed4e6f58172d9c33e3d941589c49d",
    "sst-wiki/test.txt": "ffb5d36e27b8aa134553b07a5286c196e6f253eadb35d9c97e827f9bf64288e5",
    "sst-wiki/test.txt.block": "3c8e4373e069110cdedd79c741837f03b9512ee57f92fb7588d09c89d6c7f92b",
}
PLACE = "https://raw.githubusercontent.com/danishpruthi/deceptive-attention/master/src/classification_tasks/data"


def load(data_dir: str | Path, task: str = "pronoun") -> Corpus:
    """The texts of a task, from the folder `<data_dir>/deceptive_attention`; the rationale marks deciding words."""
    if task not in TASKS:
        raise BadConfig(f"deceptive_attention has the tasks {' and '.join(TASKS)}; {task!r} is neither")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits = {}
    for split in ("train", "dev", "test"):
        text, block = (folder.paths(f"{task}/{split}.txt{end}")[0] for end in ("", ".block"))
        splits[split] = read_texts(text, block, TASKS[task])
    return Corpus(f"deceptive_attention:{task}", splits, tuple(TASKS[task].values()), ENTRY.about, tuple(folder.notes))


def read_texts(path: Path, block: Path, labels: dict[str, str]) -> tuple[Example, ...]:
    """The texts of a file, with the marks of its block file, line by line."""
    lines, marks = [[(number, line) for number, line in each_line(file) if line.strip()] for file in (path, block)]
    if len(lines) != len(marks):
        raise BadData(f"{path} has {len(lines)} texts and {block} {len(marks)} lines of marks; expected as many")
    examples = []
    for (number, line), (_, row) in zip(lines, marks, strict=True):
        label, tab, text = line.partition("\t")
        words, marked = tuple(text.split()), row.split()
        if not tab or label not in labels or len(words) != len(marked) or not set(marked) <= {"0", "1"}:
            raise BadData(
                f"{path}, line {number}: one of {', '.join(labels)}, a tab and a text of {len(marked)} words, as many"
                f" as {block.name} has marks, were expected; there is {short(line)}"
            )
        rationale = tuple(mark == "1" for mark in marked)
        examples.append(Example(" ".join(words), labels[label], words=words, rationale=rationale))
    return tuple(examples)


ENTRY = Entry(
    name="deceptive_attention",
    about="Tasks of Learning to Deceive: texts in which the words that decide the label are marked",
    licence="none stated by its makers",
    kind="native",
    load=load,
    variants={task: {"task": task} for task in TASKS},
    url=f"{PLACE}/pronoun/train.txt",
    files=FILES,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    citation="Pruthi et al. (2020). Learning to Deceive with Attention-Based Explanations. ACL.",
)
