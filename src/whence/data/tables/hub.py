"""Datasets of the Hugging Face hub, through `datasets` (the extra `hub`)."""

from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.examples import Corpus
from whence.data.formats.text import Table
from whence.data.tables.columns import Columns
from whence.data.tables.reader import corpus_from


def read_hub(name: str, columns: Columns | None = None) -> Corpus:
    """The corpus of a hub dataset: `hub:imdb`, `hub:owner/name`, with a configuration `hub:glue/sst2`.

    Or of a folder written by `save_to_disk`. Splits keep their names; classes are given by name, and the class -1, by
    which the hub marks hidden labels, is not a label.
    """
    name = name.removeprefix("hub:")
    rows: list[dict[str, Any]] = []
    splits: list[str] = []
    names: dict[str, None] = {}
    for split, dataset in load_splits(name).items():
        rows += named_rows(dataset)
        splits += [split] * len(dataset)
        names.update(dict.fromkeys(dataset.column_names))
    if not rows:
        raise BadData(f"the dataset {name} has no rows")
    return corpus_from(Table(tuple(names), rows), splits, columns or Columns(), f"hub:{name}")


def load_splits(name: str) -> dict[str, Any]:
    """The splits of a dataset on the hub or on disk."""
    try:
        import datasets
    except ImportError as error:
        raise BadData("datasets of the hub need the package `datasets`: pip install 'whence[hub]'") from error
    try:
        loaded = datasets.load_from_disk(name) if Path(name).is_dir() else load_online(name)
    except Exception as error:  # whatever the network, the hub or a dataset's own files can raise
        message = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadData(
            f"the dataset {name!r} could not be loaded through `datasets` ({type(error).__name__}: {message}); look at "
            "its name and configuration (hub:owner/name/configuration) and at the network, or save its rows as a table"
        ) from error
    return dict(loaded) if isinstance(loaded, dict) else {str(loaded.split or "test"): loaded}


def load_online(name: str) -> Any:
    """A dataset by name; what follows the last slash may be its configuration."""
    import datasets
    from datasets.exceptions import DatasetNotFoundError

    first, _, last = name.rpartition("/")
    if first.count("/"):
        return datasets.load_dataset(first, last)
    try:
        return datasets.load_dataset(name)
    except DatasetNotFoundError:
        if not first:
            raise
        return datasets.load_dataset(first, last)


def named_rows(dataset: Any) -> list[dict[str, Any]]:
    """The rows of a dataset, with classes by name."""
    rows = [dict(row) for row in dataset]
    for column, feature in dataset.features.items():
        one, many = class_names(feature), class_names(getattr(feature, "feature", None))
        for row in rows if one or many else ():
            row[column] = named(row[column], one) if one else [named(cell, many) for cell in row[column]]
    return rows


def class_names(feature: Any) -> list[str]:
    """The names of a feature's classes; none if it is not made of classes."""
    return list(getattr(feature, "names", None) or [])


def named(cell: int | None, names: list[str]) -> str | None:
    """The name of a class; None if there is not a label."""
    return None if cell is None or cell < 0 else names[cell]
