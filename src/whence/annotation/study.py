"""A study as files: `study.json`, which annotators may see, and `key.json`, which says what each item is."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from whence.annotation.tasks import TASKS, Task, TaskName
from whence.core.errors import BadData
from whence.results.atomic_write import saving, write_json

STUDY, KEY, FORMAT = "study.json", "key.json", 1
Place = tuple[int, int]  # number of the text (0, or 1 for the second of a pair) and of the word in it


@dataclass(frozen=True)
class Item:
    """What an annotator sees: one text or a pair, in words, what the model predicts, and highlighted words in reading
    order, once for each panel. Its name and place say nothing about how it was made.
    """

    id: str
    texts: tuple[tuple[str, ...], ...]
    prediction: str
    panels: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True)
class Secret:
    """What an annotator must not see: the example's number, the condition of each panel, whether the prediction is
    right, the expected answer of a check, which item this one repeats, and of a marking the scores of each method.
    """

    example: int
    conditions: tuple[str, ...]
    label: str | None = None
    correct: float | None = None
    check: str = ""
    repeats: str = ""
    scores: dict[str, list[list[float]]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Study:
    """A frozen study. `about` names the model, the corpus and their checksums; `secrets` are by the item's id, and None
    where the key is not there, as for annotators. `design` is what only the key holds: methods, controls, the seed.
    """

    task: TaskName
    items: tuple[Item, ...]
    about: dict[str, Any]
    secrets: dict[str, Secret] | None = None
    design: dict[str, Any] = field(default_factory=dict)

    @property
    def asks(self) -> Task:
        """The question and its answers."""
        return TASKS[self.task]

    @property
    def checksum(self) -> str:
        """sha256 of what annotators see: answers belong to a study by it."""
        return digest([self.task, [asdict(item) for item in self.items]])

    def item(self, name: str) -> Item:
        """The item of that id."""
        for one in self.items:
            if one.id == name:
                return one
        raise BadData(f"the study has no item {name!r}; do these answers belong to another study?")

    def key(self) -> dict[str, Secret]:
        """What each item is, for the analysis."""
        if self.secrets is None:
            raise BadData(f"the study's {KEY} is missing, and the analysis needs it. Put it next to {STUDY}")
        return self.secrets


def digest(content: Any) -> str:
    """sha256 of plain values."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def save_study(study: Study, folder: Path) -> None:
    """Write both files. A folder that holds a study is refused: items that somebody may have answered never change."""
    if (folder / STUDY).exists():
        raise BadData(f"{folder} holds a study already; name another folder (--out), or delete that one")
    secrets = {"design": study.design, "items": {name: asdict(one) for name, one in study.key().items()}}
    seen = {
        "format": FORMAT,
        "task": study.task,
        "about": study.about,
        "items": [asdict(item) for item in study.items],
        "items_sha256": study.checksum,
        "key_sha256": digest(secrets),
    }
    with saving(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / KEY, secrets)
        write_json(folder / STUDY, seen)


def read_study(folder: Path) -> Study:
    """The study in a folder; refused if a file was changed since it was prepared."""
    seen = _read(folder / STUDY, folder)
    try:
        items = tuple(_item(one) for one in seen["items"])
        study = Study(seen["task"], items, seen["about"])
        intact = seen["format"] == FORMAT and study.checksum == seen["items_sha256"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadData(f"{folder / STUDY} is damaged ({error!r}); take the prepared file again") from error
    if not intact:
        raise BadData(f"{folder / STUDY} was changed since it was prepared; answers would not be to the same items")
    if not (folder / KEY).exists():
        return study
    secrets = _read(folder / KEY, folder)
    if digest(secrets) != seen["key_sha256"]:
        raise BadData(f"{folder / KEY} is not the key of this study, or was changed since it was prepared")
    named = {name: Secret(**{**one, "conditions": tuple(one["conditions"])}) for name, one in secrets["items"].items()}
    return Study(study.task, items, study.about, named, secrets["design"])


def _read(path: Path, folder: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadData(f"{folder} holds no study (no {path.name}); make one with `whence annotate prepare`") from error
    except (ValueError, TypeError) as error:
        raise BadData(f"{path} is damaged ({error}); take the prepared file again") from error
    return read


def _item(saved: dict[str, Any]) -> Item:
    texts = tuple(tuple(words) for words in saved["texts"])
    panels = tuple(tuple((int(text), int(word)) for text, word in panel) for panel in saved["panels"])
    for text, word in (place for panel in panels for place in panel):
        _ = texts[text][word]
    return Item(str(saved["id"]), texts, str(saved["prediction"]), panels)
