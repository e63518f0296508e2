"""Trees from a parser that the user has installed: spaCy (the extra `parsers`) or Stanza.

A parser is named `spacy:PACKAGE` (`spacy:en_core_web_sm`, or a folder) or `stanza:LANGUAGE` (`stanza:en`). It is given
the words as they are, one sentence each, and never fetches anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.syntax.trees import ROOT

Sentences = Sequence[tuple[str, ...]]
Trees = list[tuple[int, ...]]
Parser = Callable[[Sentences], Trees]


def parser(name: str) -> Parser:
    """A parser by its name: a function from sentences in words to their heads."""
    kind, _, model = name.partition(":")
    if kind not in LOADERS or not model:
        raise BadConfig(f"a parser is named spacy:PACKAGE or stanza:LANGUAGE, like spacy:en_core_web_sm; got {name!r}")
    return LOADERS[kind](model)


def parsed(corpus: Corpus, name: str) -> Corpus:
    """A corpus with trees for its texts and for their second texts; those not in words are split at spaces.

    The note says which parser made them, and its version.
    """
    parse, splits = parser(name), {}
    for split, examples in corpus.splits.items():
        in_words = [with_words(example) for example in examples]
        trees = parse([e.words or () for e in in_words])
        pairs = iter(parse([e.pair_words for e in in_words if e.pair_words]))
        splits[split] = tuple(
            replace(e, heads=heads, relations=None, pair_heads=next(pairs) if e.pair_words else None)
            for e, heads in zip(in_words, trees, strict=True)
        )
    return replace(corpus, splits=splits, notes=(*corpus.notes, f"trees: by {name} ({version(name)})"))


def with_words(example: Example) -> Example:
    """The example in words, its texts split at spaces where it has none."""
    words = example.words or tuple(example.text.split())
    pair = example.pair_words or (None if example.pair is None else tuple(example.pair.split()))
    return replace(example, words=words, pair_words=pair)


def load_spacy(package: str) -> Parser:
    """A pipeline of spaCy's; of its parts, only what the parser needs is run."""
    spacy = imported("spacy")
    try:
        pipeline = spacy.load(package, exclude=["ner", "lemmatizer", "attribute_ruler"])
    except OSError as error:
        raise BadData(
            f"spaCy has no pipeline {package!r} here; install it (python -m spacy download {package}) or "
            "name the folder that holds it"
        ) from error
    if "parser" not in pipeline.pipe_names:
        raise BadData(f"spaCy's {package!r} has no dependency parser; it has: {', '.join(pipeline.pipe_names)}")

    def parse(sentences: Sentences) -> Trees:
        starts = ([place == 0 for place in range(len(words))] for words in sentences)
        documents = [
            spacy.tokens.Doc(pipeline.vocab, words=list(words), sent_starts=first)
            for words, first in zip(sentences, starts, strict=True)
        ]
        return [
            one_root([ROOT if word.head.i == word.i else word.head.i for word in document])
            for document in pipeline.pipe(documents)
        ]

    return parse


def load_stanza(language: str) -> Parser:
    """A pipeline of Stanza's; its models must have been downloaded."""
    stanza = imported("stanza")
    try:
        pipeline = stanza.Pipeline(
            language,
            processors="tokenize,pos,lemma,depparse",
            tokenize_pretokenized=True,
            download_method=None,
            verbose=False,
        )
    except Exception as error:  # stanza raises its own kinds, and others for damaged files
        raise BadData(
            f"Stanza has no models for {language!r} here ({type(error).__name__}); get them with "
            f"stanza.download({language!r})"
        ) from error

    def parse(sentences: Sentences) -> Trees:
        if not sentences:
            return []
        document = pipeline([list(words) for words in sentences])
        return [one_root([word.head - 1 for word in sentence.words]) for sentence in document.sentences]

    return parse


def one_root(heads: list[int]) -> tuple[int, ...]:
    """Heads with one root: where a parser found several sentences, the later roots hang on the first."""
    first = heads.index(ROOT)
    return tuple(first if head == ROOT and place != first else head for place, head in enumerate(heads))


def imported(package: str) -> Any:
    """A package that may not be installed."""
    try:
        return __import__(package)
    except ImportError as error:
        how = "pip install 'whence[parsers]'" if package == "spacy" else f"pip install {package}"
        raise BadData(f"trees by {package} need the package `{package}`: {how}") from error


def version(name: str) -> str:
    """The version of the package that a parser comes from."""
    kind = name.partition(":")[0]
    return f"{kind} {imported(kind).__version__}"


LOADERS: dict[str, Callable[[str], Parser]] = {"spacy": load_spacy, "stanza": load_stanza}
