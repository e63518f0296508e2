"""Corpora: examples, in splits, with the names of their classes."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from whence.core.errors import BadData
from whence.core.unicode import refuse_surrogates
from whence.data.syntax.trees import check_tree

# of the fields that a checksum covers, these are left out where they are None; the others count as null
OMITTED_IF_NONE = ("alignment", "windows", "values", "heads", "relations", "pair_heads", "pair_rationale")
TEXTS = ("text", "pair", "label", "target")
LISTS = ("words", "pair_words", "tags", "windows", "relations", "features")  # of strings
NOT_IN_CHECKSUM = ("features",)  # only `probes` reads them, and it has its own checksum for them


@dataclass(frozen=True)
class Example:
    """One text, or a pair of texts, with what is to be predicted from it.

    `words` and `pair_words` are set where the corpus comes in words; `text` and `pair` are then those words joined by
    spaces. `pair` is the second text: the question asked of a story, the hypothesis for a premise. What is predicted is
    a `label`, or `tags` (one for each word), or a `target` text. `rationale` says of each word of `words` whether it
    decides the label, where that is known, and `pair_rationale` the same of each word of `pair_words`; `alignment`
    which word of `words` and which word of the target (split at spaces), both counted from 0, are translations of each
    other.

    A narrative comes in `windows` of time, which joined by spaces are its `text`; for each window one of the `values`
    is predicted. Its `words` are all words of all windows.

    `heads` is a dependency tree of `words`: for each word the position of its head, counted from 0, and -1 for the
    root; `relations` names each word's relation to its head, and `pair_heads` is a tree of `pair_words`. `features` has
    for each word of a treebank its part of speech and its morphology, as in `UPOS=NOUN|Number=Sing`.
    """

    text: str
    label: str | None = None
    pair: str | None = None
    words: tuple[str, ...] | None = None
    pair_words: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    target: str | None = None
    rationale: tuple[bool, ...] | None = None
    alignment: tuple[tuple[int, int], ...] | None = None
    windows: tuple[str, ...] | None = None
    values: tuple[float, ...] | None = None
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None
    pair_heads: tuple[int, ...] | None = None
    features: tuple[str, ...] | None = None
    pair_rationale: tuple[bool, ...] | None = None

    def __post_init__(self) -> None:
        check_unicode(self)
        if self.windows is not None or self.values is not None:
            check_windows(self)
        if self.alignment is not None:
            check_alignment(self.alignment, len(self.words or ()), len((self.target or "").split()))
        if self.heads is not None:
            check_tree(self.heads, len(self.words or ()))
        if self.pair_heads is not None:
            check_tree(self.pair_heads, len(self.pair_words or ()), "pair_heads")
        for name in ("tags", "rationale", "relations", "features"):
            values = getattr(self, name)
            if values is not None and (self.words is None or len(values) != len(self.words)):
                words = "no words" if self.words is None else f"{len(self.words)} words"
                raise BadData(f"{name} needs one value for each word; it has {len(values)}, for {words}: {self.text!r}")
        if self.pair_rationale is not None and len(self.pair_rationale) != len(self.pair_words or ()):
            raise BadData(
                f"pair_rationale needs one value for each word of the second text; it has {len(self.pair_rationale)},"
                f" for {len(self.pair_words or ())} words: {self.pair!r}"
            )

    @property
    def deciding(self) -> tuple[bool, ...] | None:
        """Which words decide the explained prediction, where that is known: those of the rationale; of a translation,
        whose last word is explained, the words aligned with it.
        """
        if self.rationale is not None or self.alignment is None:
            return self.rationale
        last = len((self.target or "").split()) - 1
        return tuple((place, last) in self.alignment for place in range(len(self.words or ())))


def check_unicode(example: Example) -> None:
    """Raise if a string is not Unicode text."""
    for name in TEXTS:
        if text := getattr(example, name):
            refuse_surrogates(text, f"the {name}")
    for name in LISTS:
        if texts := getattr(example, name):
            refuse_surrogates(" ".join(texts), f"one of the {name}")


def check_alignment(links: tuple[tuple[int, int], ...], source: int, target: int) -> None:
    """Raise if a link points past the words of the text or of the target."""
    wrong = [link for link in links if not (0 <= link[0] < source and 0 <= link[1] < target)]
    if wrong:
        raise BadData(f"the alignment has {wrong[0]}; there are {source} words and {target} words in the target")


def check_windows(example: Example) -> None:
    """Raise if the windows are not those of the text, or if there is not one finite value for each."""
    windows, values, shown = example.windows or (), example.values, example.text[:80]
    if not windows or not all(window.split() for window in windows):
        empty = next((number for number, window in enumerate(windows) if not window.split()), None)
        came = "there are none" if empty is None else f"window {empty} (counted from 0) is empty"
        raise BadData(f"values are predicted for windows of words; {came}: {shown!r}")
    if " ".join(windows) != example.text:
        raise BadData(f"the text of a narrative is its windows joined by spaces; it is another: {shown!r}")
    if example.words is not None and example.words != tuple(" ".join(windows).split()):
        raise BadData(f"the words of a narrative are those of its windows; they are others: {shown!r}")
    if values is not None and len(values) != len(windows):
        raise BadData(f"every window needs a value; there are {len(windows)} windows and {len(values)}: {shown!r}")
    wrong = [number for number, value in enumerate(values or ()) if not math.isfinite(value)]
    if values is not None and wrong:
        raise BadData(
            f"window {wrong[0]} (counted from 0) has the value {values[wrong[0]]}; a number was expected: {shown!r}"
        )


def narrative(
    windows: Sequence[Sequence[str]],
    values: Sequence[float] | None = None,
    rationale: Sequence[Sequence[bool]] | None = None,
) -> Example:
    """A narrative from the words of each window, with its values, and with the rationale of each window's words."""
    words = tuple(word for window in windows for word in window)
    decides = None if rationale is None else tuple(mark for window in rationale for mark in window)
    floats = None if values is None else tuple(float(value) for value in values)
    texts = tuple(" ".join(window) for window in windows)
    return Example(" ".join(texts), words=words, rationale=decides, windows=texts, values=floats)


@dataclass(frozen=True)
class Corpus:
    """Named splits of examples. `labels` are the classes (or tags) in the order of their numbers.

    `notes` says in sentences what was inferred, dropped or changed while reading.
    """

    name: str
    splits: Mapping[str, tuple[Example, ...]]
    labels: tuple[str, ...] = ()
    about: str = ""
    notes: tuple[str, ...] = field(default=())
    numbers: Mapping[str, tuple[int, ...]] | None = None  # of a sample: which numbers its examples have in the whole

    def __getitem__(self, split: str) -> tuple[Example, ...]:
        if split not in self.splits:
            raise BadData(f"{self.name} has no split {split!r}; it has: {', '.join(self.splits)}")
        return self.splits[split]

    def numbers_of(self, split: str, places: Sequence[int]) -> list[int]:
        """The numbers that the examples at these places have in the whole split."""
        return list(places) if self.numbers is None else [self.numbers[split][place] for place in places]

    @cached_property
    def checksum(self) -> str:
        """sha256 of all examples in order, without their features: corpora are the same if this is. Computed once."""
        digest = hashlib.sha256()
        for split, examples in self.splits.items():
            digest.update(split.encode())
            for example in examples:
                fields = {name: value for name, value in vars(example).items() if _counts(name, value)}
                digest.update(json.dumps(fields, ensure_ascii=False, sort_keys=True).encode())
        return digest.hexdigest()


def _counts(name: str, value: object) -> bool:
    return name not in NOT_IN_CHECKSUM and not (value is None and name in OMITTED_IF_NONE)
