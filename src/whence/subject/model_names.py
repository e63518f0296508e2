"""Names of models: a folder on this machine, or a name of the hub. No torch: a wrong path is refused at once."""

import os
from pathlib import Path

from whence.core.errors import CannotLoad
from whence.data.formats.text import file_exists


def refuse_missing_folder(name: str | Path) -> None:
    """Refuse a path of this machine at which there is nothing, without asking the hub for it."""
    if is_path(name) and not file_exists(name):
        above = [str(parent) for parent in Path(name).parents if parent.is_dir()]
        raise CannotLoad(
            f"there is no folder {name} (there is {above[0]}); expected a folder written by save_pretrained, or a"
            " hub name (owner/name)"
        )


def is_path(name: str | Path) -> bool:
    """Whether a name can only be meant as a path: on the hub it is `name` or `owner/name`, `owner` no folder here."""
    text = str(name)
    parts = text.split("/")
    return (
        isinstance(name, Path)
        or text.startswith((".", "~"))
        or os.sep in text.replace("/", "")
        or len(parts) > 2
        or "" in parts
        or (len(parts) == 2 and Path(parts[0]).is_dir())
    )
