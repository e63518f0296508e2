"""The tasks of a study: a pure function of its file and of the contents it names, each known by a hash of these."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import whence
from whence.core.errors import BadConfig, BadData
from whence.data.checksum import sha256
from whence.data.download.corpus_folder import data_folder
from whence.data.formats.text import file_exists
from whence.data.registry import resolve, unknown
from whence.options import checked
from whence.results.experiment import experiment
from whence.results.to_json import canonical, plain
from whence.studying.grid import Grid, Model, Variant, variants
from whence.subject.model_names import refuse_missing_folder
from whence.training.config import Training

Kind = Literal["train", "shard", "run"]
NOT_IN_KEY = ("data_dir", "device")  # where, not what


@dataclass(frozen=True)
class Task:
    """One training, one shard of an experiment, or one experiment.

    `options` are those of the training or of the experiment, without the model where `needs` names the training that
    makes it. `about` says where in the grid it is; it is not part of the key.
    """

    kind: Kind
    options: Mapping[str, Any]
    experiment: str = ""
    shard: tuple[int, int] | None = None  # number, of how many
    needs: tuple[str, ...] = ()
    content: tuple[str, ...] = ()  # checksums of what the options name
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Twelve hex digits of the sha256 of all that the result depends on."""
        everything = {
            "version": whence.__version__,
            "kind": self.kind,
            "experiment": self.experiment,
            "options": plain({name: one for name, one in self.options.items() if name not in NOT_IN_KEY}),
            "shard": plain(self.shard),
            "needs": list(self.needs),
            "content": list(self.content),
        }
        return hashlib.sha256(canonical(everything).encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        where = f"{self.about['model']} on {self.about['data']}, seed {self.about['seed']}"
        if self.kind == "train":
            return f"train {where}"
        part = f" (shard {self.shard[0] + 1} of {self.shard[1]})" if self.shard else ""
        return f"{self.about['run']}{part} of {where}"


def plan(grid: Grid, *, data_dir: Path | None = None, device: str | None = None) -> list[Task]:
    """All tasks of a study, each after those that it needs; wrong options are refused here, before anything runs."""
    here: dict[str, Any] = {name: value for name, value in (("data_dir", data_dir), ("device", device)) if value}
    tasks: dict[str, Task] = {}
    for name, model in grid.models.items():
        for variant in variants(grid, name, "training"):
            for data in grid.data:
                for seed in model.seeds or grid.seeds:
                    if not grid.excludes(name, data, seed):
                        for task in cell(grid, model, variant, data, seed, here):
                            tasks.setdefault(task.key, task)
    if not tasks:
        raise BadConfig(f"the study {grid.name} has no tasks: everything is excluded, or it has no [runs]")
    return list(tasks.values())


def cell(grid: Grid, model: Model, variant: Variant, data: str, seed: int, here: Mapping[str, Any]) -> Iterator[Task]:
    """The training of one model on one corpus from one seed, and the runs on it."""
    corpus = grid.data[data]
    architecture = model.architecture or str((model.training or {}).get("model", variant.name))
    about = {"model": variant.label, "data": data, "seed": seed, "architecture": architecture, "type": corpus.type}
    content: tuple[str, ...] = (checksum(corpus.data, here.get("data_dir")),)
    training = None
    if model.training is not None:
        given = {**grid.training, **corpus.training, **model.training, **dict(variant.values)}
        options = {"model": "additive", **given, "data": corpus.data, "seed": seed, **here}
        refuse_missing_folder(str(options["model"]))
        checked(Training, options)
        training = Task("train", plain(options), content=content, about=about)
        yield training
    else:
        refuse_missing_folder(model.saved)
        content += (model_checksum(model.saved),)
    for name, run in grid.runs.items():
        if grid.excludes(variant.name, data, seed, name):
            continue
        for way in variants(grid, name, "options"):
            chosen = {**grid.options, **run.options, **corpus.options, **dict(way.values)}
            options = {"data": corpus.data, "seed": seed, **chosen, **here}
            options |= {} if training else {"model": model.saved}
            asked = run.experiment or name
            checked(experiment(asked).config, {"model": "the trained model", **options})
            shards = run.shards if experiment(asked).shards else 1
            yield from of_run(asked, options, shards, training, content, {**about, "run": way.label})


def of_run(
    name: str,
    options: Mapping[str, Any],
    shards: int,
    training: Task | None,
    content: tuple[str, ...],
    about: Mapping[str, Any],
) -> Iterator[Task]:
    """A run, after its shards where it is split."""
    needs = (training.key,) if training else ()
    parts = [
        Task("shard", plain(dict(options)), name, (number, shards), needs, content, about)
        for number in range(shards if shards > 1 else 0)
    ]
    yield from parts
    yield Task("run", plain(dict(options)), name, None, (*needs, *(part.key for part in parts)), content, about)


def checksum(data: str, data_dir: Any = None) -> str:
    """What identifies a corpus before it is read: the content of a table; the name of another, and its files."""
    if file_exists(data):
        return sha256(Path(data))
    known = resolve(data.rpartition("+")[0] or data) if "=" in data else resolve(data)
    if known is None and not data.startswith("hub:"):
        raise BadData(unknown(data))
    if known is None or known[0].kind == "synthetic":
        return data
    folder = data_folder(data_dir) / known[0].name
    sizes = [f"{path.name} {path.stat().st_size}" for path in sorted(folder.glob("*")) if path.is_file()]
    return " ".join([data, *sizes])


def model_checksum(saved: str) -> str:
    """What identifies a saved model before it is loaded: the files of a folder, or the name of one of the hub."""
    folder = Path(saved)
    if not folder.is_dir():
        return saved
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".safetensors", ".bin", ".json", ".txt")]
    return hashlib.sha256("".join(sha256(path) for path in files).encode()).hexdigest()
