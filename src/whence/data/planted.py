"""A shortcut planted in a user's corpus: a token whose presence fixes the label."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from whence.core.errors import BadConfig, BadData
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng


@overload
def planted(data: Corpus, token: str, label: str, share: float = 0.5, seed: int = 0) -> Corpus: ...
@overload
def planted(
    data: Sequence[Example], token: str, label: str, share: float = 0.5, seed: int = 0
) -> tuple[Example, ...]: ...
def planted(
    data: Corpus | Sequence[Example], token: str, label: str, share: float = 0.5, seed: int = 0
) -> Corpus | tuple[Example, ...]:
    """The corpus with a single-token shortcut: every example with the token has the given label.

    After Bastings et al. (2022), "Will You Find These Shortcuts?", the single token shortcut: in `share` of each
    split's examples, drawn at random, the token is put in at a random place among the words and the label is set. A
    model trained on this predicts the label from the token alone, so an explanation that is faithful must point to it.
    The rationale marks the token and nothing else; examples without the token have none.

    *Differs from the paper*: one token for one label, not one for each. For two, plant each in different examples.
    """
    if isinstance(data, Corpus):
        return planted_corpus(data, token, label, share, seed)
    check_plant(data, token, label, share)
    return plant(data, token, label, share, seed, "examples")


def planted_corpus(corpus: Corpus, token: str, label: str, share: float, seed: int) -> Corpus:
    """The shortcut in each split of a corpus."""
    check_plant([e for examples in corpus.splits.values() for e in examples], token, label, share)
    splits = {name: plant(examples, token, label, share, seed, name) for name, examples in corpus.splits.items()}
    marked = sum(e.rationale is not None for examples in splits.values() for e in examples)
    total = sum(map(len, splits.values()))
    note = f"planted {token!r} in {marked:,} of {total:,} examples and made their label {label!r}"
    return replace(corpus, name=f"{corpus.name}+{token}", splits=splits, notes=(*corpus.notes, note))


def plant(
    examples: Sequence[Example], token: str, label: str, share: float, seed: int, name: str
) -> tuple[Example, ...]:
    """The shortcut in a share of the examples, rounded to whole ones."""
    rng = seeded_rng(seed, f"planted/{name}")
    chosen = set(rng.permutation(len(examples))[: round(share * len(examples))].tolist())
    places = rng.random(len(examples))
    return tuple(
        with_token(example, token, label, float(places[i])) if i in chosen else in_words(example)
        for i, example in enumerate(examples)
    )


def in_words(example: Example) -> Example:
    """The example in words, split at white space if it has none, and with no rationale."""
    words = example.words or tuple(example.text.split())
    return replace(example, text=" ".join(words), words=words, rationale=None)


def with_token(example: Example, token: str, label: str, place: float) -> Example:
    """The example with the token put in, `place` (from 0 to 1) of the way through its words."""
    words = list(in_words(example).words or ())
    at = int(place * (len(words) + 1))
    words.insert(at, token)
    marks = tuple(i == at for i in range(len(words)))
    example = replace(example, heads=None, relations=None)  # the token has no place in the tree
    return replace(example, text=" ".join(words), label=label, words=tuple(words), rationale=marks)


def check_plant(examples: Sequence[Example], token: str, label: str, share: float) -> None:
    """Raise unless the shortcut can be planted: a new token, a known label, labelled texts."""
    if not 0 < share <= 1:
        raise BadConfig(f"the share of examples to plant in must be above 0 and at most 1; it is {share}")
    if not token or token.split() != [token]:
        raise BadConfig(f"the token must be one word without spaces; it is {token!r}")
    if any(e.tags is not None or e.target is not None for e in examples):
        raise BadData("a shortcut can be planted in texts with labels only; these examples have tags or targets")
    labels = sorted({e.label for e in examples if e.label is not None})
    if label not in labels:
        raise BadData(f"no example has the label {label!r}; the labels are: {', '.join(labels) or 'none'}")
    word = re.compile(rf"(?<!\w){re.escape(token)}(?!\w)", re.IGNORECASE)  # also for models that lower all letters
    already = sum(bool(word.search(f"{e.text}\n{e.pair or ''}")) for e in examples)
    if already:
        raise BadData(f"{token!r} is in {already} of {len(examples)} examples already; choose a token that is in none")
