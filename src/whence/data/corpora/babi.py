"""bAbI tasks 1 to 3 (Weston et al. 2015): stories in which one, two or three sentences answer a question.

Native format: numbered lines, the numbering restarting at 1 with each story. A line is a statement, or a question with
its answer and the numbers of the lines that support it: `n question<TAB>answer<TAB>numbers`.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from whence.core.errors import BadConfig, BadData
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line
from whence.data.rng import hold_out

TASKS = {1: "qa1_single-supporting-fact", 2: "qa2_two-supporting-facts", 3: "qa3_three-supporting-facts"}
FOLDER, LARGE, SMALL, VALID = "tasks_1-20_v1-2", "en-10k", "en", "en-valid-10k"
FILES = {f"{FOLDER}/{LARGE}/{task}_{split}.txt": "" for task in TASKS.values() for split in ("train", "test")}
DEV = 0.15  # of the stories of the official training file
LINE = re.compile(r"(\d+) (.*\S)\s*")
WORD = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")  # punctuation marks are words of their own


@dataclass
class Story:
    """The statements of a story so far, by line number, and its questions."""

    lines: dict[int, tuple[str, ...]] = field(default_factory=dict)
    asked: list[Example] = field(default_factory=list)


def load(data_dir: str | Path, task: int = 1) -> Corpus:
    """The questions of a task, from the folder `<data_dir>/babi`: text is the story so far, pair the question.

    The rationale marks the words of the supporting lines. Of the training stories 15 % are drawn as `dev`, each with
    all its questions. The set of 10,000 training questions (en-10k) is read; if it is not there, that of 1,000 (en),
    together with the part of the large set that was held out for validation (en-valid-10k), if that is there.
    """
    if task not in TASKS:
        raise BadConfig(f"babi has the tasks {', '.join(map(str, TASKS))}; {task} is none of them")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    stories = {}
    for split in ("train", "test"):
        paths = folder.paths(f"{FOLDER}/{LARGE}/{TASKS[task]}_{split}.txt")
        stories[split] = [story for path in paths for story in read_stories(path)]
        listed = " and ".join(f"{path.parent.name}/{path.name}" for path in paths)
        folder.notes.append(f"read {split} from {listed}")
    train, dev = hold_out(stories["train"], DEV, "babi/dev")
    chosen = {"train": train, "dev": dev, "test": tuple(stories["test"])}
    splits = {split: tuple(e for story in those for e in story.asked) for split, those in chosen.items()}
    drawn = f"drew {len(dev):,} of {len(stories['train']):,} training stories, with all their questions, as dev"
    labels = sorted({e.label for examples in splits.values() for e in examples if e.label})
    return Corpus(f"babi:{task}", splits, tuple(labels), ENTRY.about, (*folder.notes, drawn))


def read_stories(path: Path) -> list[Story]:
    """The questions of a file, each with its story so far."""
    stories: list[Story] = []
    for number, line in each_line(path):
        if not line.strip():
            continue
        parts = LINE.fullmatch(line)
        if parts is None or (not stories and parts[1] != "1"):
            raise BadData(f"{path}, line {number}: a number and a sentence were expected, from 1 on; got {line!r}")
        if parts[1] == "1":
            stories.append(Story())
        if "\t" in parts[2]:
            stories[-1].asked.append(question(stories[-1], parts[2], f"{path}, line {number}"))
        else:
            stories[-1].lines[int(parts[1])] = tuple(WORD.findall(parts[2]))
    stories = [story for story in stories if story.asked]
    if not stories:
        raise BadData(f"{path} holds no questions; lines like '3 Where is Mary? <TAB>bathroom<TAB>1' were expected")
    return stories


def question(story: Story, line: str, where: str) -> Example:
    """A question of a story: the story so far, the question, its label and the supporting lines."""
    asked, answer, *support = (part.strip() for part in line.split("\t"))
    lines = [int(number) for number in " ".join(support).split() if number.isdecimal()]
    if not answer or not lines or not set(lines) <= story.lines.keys():
        raise BadData(
            f"{where}: a question, its answer and the numbers of earlier statements were expected, with tabs "
            f"between; got {line!r}"
        )
    words = tuple(word for line in story.lines.values() for word in line)
    marks = tuple(number in lines for number, line in story.lines.items() for _ in line)
    pair = tuple(WORD.findall(asked))
    return Example(" ".join(words), answer, " ".join(pair), words, pair, rationale=marks)


def held_out(task: int, split: str) -> tuple[str, ...]:
    """The part of the large training set that is also to be had by itself."""
    return (f"{FOLDER}/{VALID}/qa{task}_valid.txt",) if split == "train" else ()


ENTRY = Entry(
    name="babi",
    about="bAbI tasks 1 to 3: made stories of who went where with what; one, two or three sentences answer",
    licence="CC BY 3.0",
    kind="native",
    load=load,
    variants={str(task): {"task": task} for task in TASKS},
    url="http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
    files=FILES,
    sources=(
        Source(
            "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
            "0364ebde659f14d11bc21744516c5ec49d3d06cb692733f66680771244998898",
            tuple(FILES),
        ),
    ),
    substitutes={
        f"{FOLDER}/{LARGE}/{task}_{split}.txt": (f"{FOLDER}/{SMALL}/{task}_{split}.txt", *held_out(number, split))
        for number, task in TASKS.items()
        for split in ("train", "test")
    },
    citation="Weston et al. (2015). Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks. "
    "arXiv:1502.05698.",
)
