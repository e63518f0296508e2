"""The English Web Treebank of Universal Dependencies: blogs, mails, answers and reviews with hand-annotated trees.

Native format: `en_ewt-ud-{train,dev,test}.conllu`. (Silveira et al. 2014; Nivre et al. 2020.)
"""

from pathlib import Path

from whence.core.errors import BadConfig
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example
from whence.data.formats.conllu import Sentence, describe_skipped, read_conllu

FILES = {
    "en_ewt-ud-train.conllu": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    "en_ewt-ud-dev.conllu": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
    "en_ewt-ud-test.conllu": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
}
PLACE = "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/r2.15"
TAGS = ("upos", "xpos", "relations")
SCHEME = "trees: Universal Dependencies, basic, annotated by people (UD_English-EWT 2.15)"


def load(data_dir: str | Path, tags: str = "upos") -> Corpus:
    """The sentences with their trees, from the folder `<data_dir>/ud_ewt`.

    What is predicted is a tag for each word: its part of speech (`upos`, 17 of all languages, or `xpos`, those of the
    Penn Treebank) or its relation to its head.
    """
    if tags not in TAGS:
        raise BadConfig(f"ud_ewt has the tags {', '.join(TAGS)}; {tags!r} is none of them")
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    paths = {split: folder.paths(name)[0] for split, name in zip(("train", "dev", "test"), FILES, strict=True)}
    read = {split: read_conllu(path) for split, path in paths.items()}
    splits = {split: tuple(example(sentence, tags) for sentence in sentences) for split, sentences in read.items()}
    labels = sorted({tag for examples in splits.values() for e in examples for tag in e.tags or ()})
    notes = (*folder.notes, SCHEME, *describe_skipped([s for sentences in read.values() for s in sentences]))
    return Corpus("ud_ewt" if tags == "upos" else f"ud_ewt:{tags}", splits, tuple(labels), ENTRY.about, notes)


def example(sentence: Sentence, tags: str = "upos") -> Example:
    """A sentence with its tree and the tags that are to be predicted."""
    return Example(
        " ".join(sentence.words),
        words=sentence.words,
        tags=getattr(sentence, tags),
        heads=sentence.heads,
        relations=sentence.relations,
        features=sentence.features,
    )


ENTRY = Entry(
    name="ud_ewt",
    about="English Web Treebank of Universal Dependencies: sentences from the web with part-of-speech tags and trees",
    licence="CC BY-SA 4.0 (the annotation); the texts as in LDC2012T13",
    kind="native",
    load=load,
    variants={name: {"tags": name} for name in TAGS},
    url="https://github.com/UniversalDependencies/UD_English-EWT",
    files=FILES,
    sources=tuple(Source(f"{PLACE}/{name}", keep=name) for name in FILES),
    citation="Silveira et al. (2014). A Gold Standard Dependency Corpus for English. LREC.",
)
