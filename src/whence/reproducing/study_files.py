"""Study files: where they are, which there are, and reading one."""

import tomllib
from difflib import get_close_matches
from pathlib import Path

from pydantic import ValidationError

import whence
from whence.core.errors import BadConfig
from whence.data.formats.text import read_text
from whence.options import sentence
from whence.reproducing.study import Study


def folder() -> Path:
    """Where the study files are: in the installed package, or next to its sources."""
    package = Path(whence.__file__).parent
    return next((f for f in (package / "studies", package.parents[1] / "studies") if f.is_dir()), package / "studies")


def names() -> list[str]:
    """The names of the studies of papers; a grid of models and data (`whence study`) is none."""
    return sorted(file.stem for file in folder().glob("*.toml") if "\n[models." not in read_text(file))


def read(name: str) -> Study:
    """A study by its name, or from a file of the user's."""
    file = Path(name) if name.endswith(".toml") else folder() / f"{name}.toml"
    if not file.is_file():
        near = get_close_matches(name, names(), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BadConfig(f"no study {name!r}.{hint} Choose from: {', '.join(names())}; or the path of a .toml file")
    try:
        study = Study(**tomllib.loads(read_text(file)))
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise BadConfig(f"{file}: {sentence(error)}") from error
    study.refuse_dangling()
    return study
