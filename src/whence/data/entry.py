"""What the catalogue says of a corpus: what it is, whose it is, where it comes from, how it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whence.data.examples import Corpus


@dataclass(frozen=True)
class Entry:
    """One corpus of the catalogue.

    An *embedded* corpus is made by `load(seed=..., **options)`. A *native* one is read by `load(data_dir, **options)`
    from the folder `<data_dir>/<name>`, which holds `files`: names with the sha256 of their contents. `where` is the
    official archive in which files of these names are found, at whatever depth. `variants` are the options that a
    name like `sst:fine` stands for.
    """

    name: str
    about: str
    licence: str
    kind: Literal["embedded", "native"]
    load: Callable[..., Corpus]
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    where: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    cite: str = ""
