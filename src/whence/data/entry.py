"""What the catalogue says of a corpus: what it is, whose it is, where it comes from, how it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whence.data.examples import Corpus


@dataclass(frozen=True)
class Source:
    """One thing to fetch.

    Either an archive (zip, tar, tar.gz) out of which `files` are taken, wherever they lie in it; or something that is
    kept as it comes, under the name `keep`. `sha256` is that of what is sent, empty if nobody has published it.
    """

    url: str
    sha256: str = ""
    files: tuple[str, ...] = ()
    keep: str = ""


@dataclass(frozen=True)
class Entry:
    """One corpus of the catalogue.

    An *embedded* corpus is made by `load(seed=..., **options)`; where an option `of` names another corpus, `load` is
    given that, to take its texts. A *native* one is read by `load(data_dir, **options)`
    from the folder `<data_dir>/<name>`, which holds `files`: official names with the sha256 of their contents, empty
    if it is not known. Any of them may be gzipped, those in `optional` may be missing, and `instead` says what may
    stand in for one: parts of it, or the same in another form. `where` is the official archive or page; `sources`
    say what is fetched, if not that archive alone; `by_hand` how to get what nobody may fetch for another. `variants`
    are the options that a name like `sst:fine` stands for.
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
    sources: tuple[Source, ...] = ()
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    by_hand: str = ""
