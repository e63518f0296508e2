"""Multi30k (Elliott et al. 2016): captions of photographs in English with their German translations.

Native format: `{train,val,test_2016_flickr}.{en,de}.gz`, one caption a line. Also, `aligned_tok/` has the captions
in words with automatic word alignments (`i-j`, English-German, from 0), as Pruthi et al. (2020) give them out.
"""

from pathlib import Path
from typing import NamedTuple

from whence.core.errors import BadConfig, BadData
from whence.data.corpora.shared.parallel import DIRECTIONS, read_parallel
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.text import each_line
from whence.data.tables.cells import as_links

SPLITS = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
PLACE = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
ALIGNED = "https://github.com/danishpruthi/deceptive-attention"
FILES = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
}


class Aligned(NamedTuple):
    """Captions in words with their alignments, and how many links were dropped since they point past a sentence."""

    examples: tuple[Example, ...]
    dropped: int


def load(data_dir: str | Path, direction: str = "en-de", aligned: bool = False) -> Corpus:
    """The captions, from the folder `<data_dir>/multi30k`, with their translations as targets.

    If they are to be `aligned`, they come in words, with automatic links between them.
    """
    if aligned:
        return load_aligned(data_dir, direction)
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits, notes = {}, []
    for split, name in SPLITS.items():
        english, german = (folder.paths(f"{name}.{language}.gz")[0] for language in ("en", "de"))
        splits[split], dropped = read_parallel(english, german, direction)
        notes += dropped
    name = "multi30k" if direction == "en-de" else f"multi30k:{direction}"
    return Corpus(name, splits, about=ENTRY.about, notes=(*folder.notes, *notes))


def load_aligned(data_dir: str | Path, direction: str = "en-de") -> Corpus:
    """The captions in words, with their word alignments, from `<data_dir>/multi30k/aligned_tok`."""
    folder = Path(data_dir) / ENTRY.name / "aligned_tok"
    if not folder.is_dir():
        raise BadData(
            f"there is no folder {folder} with word alignments ({{train,dev,test}}.en-de.{{src,trg,align}}); Pruthi et"
            f" al. (2020) give it out: {ALIGNED}"
        )
    read = {split: read_alignments(data_dir, split, direction) for split in SPLITS}
    dropped = sum(one.dropped for one in read.values())
    notes = ["links: automatic, as Pruthi et al. (2020) give them out"]
    notes += [f"dropped {dropped:,} links that point past a sentence"] if dropped else []
    name = "multi30k:aligned" if direction == "en-de" else f"multi30k:aligned-{direction}"
    return Corpus(name, {split: one.examples for split, one in read.items()}, about=ENTRY.about, notes=tuple(notes))


def read_alignments(data_dir: str | Path, split: str, direction: str = "en-de") -> Aligned:
    """The captions of a split in words, with their word alignments, from `<data_dir>/multi30k/aligned_tok`."""
    if split not in SPLITS or direction not in DIRECTIONS:
        raise BadConfig(
            f"there are the splits {', '.join(SPLITS)} and the directions {', '.join(DIRECTIONS)}; "
            f"got {split!r} and {direction!r}"
        )
    stem = Path(data_dir) / ENTRY.name / "aligned_tok" / f"{split}.en-de"
    paths = [
        next((p for p in (Path(f"{stem}.{end}"), Path(f"{stem}.{end}.gz")) if p.is_file()), Path(f"{stem}.{end}"))
        for end in ("src", "trg", "align")
    ]
    english, german, links = ([line.strip() for _, line in each_line(path)] for path in paths)
    if not len(english) == len(german) == len(links):
        raise BadData(
            f"{stem}.src, .trg and .align have {len(english):,}, {len(german):,} and {len(links):,} lines; "
            "as many in each were expected"
        )
    examples, dropped = [], 0
    for number, (source, target, line) in enumerate(zip(english, german, links, strict=True), start=1):
        if source and target:
            read = as_links(line)
            if read is None:
                raise BadData(f"{paths[2]}, line {number}: links like 0-0 1-2 were expected; got {line!r}")
            inside = [(i, j) for i, j in read if i < len(source.split()) and j < len(target.split())]
            examples.append(aligned(source, target, inside, direction))
            dropped += len(read) - len(inside)
    return Aligned(tuple(examples), dropped)


def aligned(english: str, german: str, links: list[tuple[int, int]], direction: str) -> Example:
    """A caption in words, its translation, and the links between them, in the direction wanted."""
    if direction == "de-en":
        english, german, links = german, english, [(j, i) for i, j in links]
    words = tuple(english.split())
    return Example(" ".join(words), words=words, target=" ".join(german.split()), alignment=tuple(sorted(links)))


ENTRY = Entry(
    name="multi30k",
    about="Multi30k: captions of photographs in English and German, to be translated",
    licence="none stated by its makers",
    kind="native",
    load=load,
    variants={
        **{direction: {"direction": direction} for direction in DIRECTIONS},
        "aligned": {"aligned": True},
        "aligned-de-en": {"direction": "de-en", "aligned": True},
    },
    url=PLACE,
    files=FILES,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    substitutes={name: (name.removesuffix(".gz"),) for name in FILES},
    citation="Elliott et al. (2016). Multi30K: Multilingual English-German Image Descriptions. VL Workshop.",
)
