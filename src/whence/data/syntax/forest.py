"""The trees of a corpus's sentences, and random ones to compare them with."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from whence.core.errors import BadData
from whence.data.examples import Corpus, Example
from whence.data.rng import seeded_rng
from whence.data.syntax.parsers import parsed
from whence.data.syntax.random_trees import Tree, baseline
from whence.data.syntax.tree_attention import REFERENCES
from whence.data.syntax.trees import padded, share_before
from whence.measures.tree_divergence import Masked

TRUE = "true"


@dataclass(frozen=True)
class Measuring:
    """How attention is compared with trees: see the options of `syntax`."""

    reference: str = "parent"
    masked: Masked = "zero"
    floor: float = 1e-6
    renormalise: bool = True
    sites: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class Sentence:
    """A text with its tree: of which example (by its place among those evaluated), and whether it is the first (0)."""

    example: int
    segment: int
    heads: Tree


@dataclass(frozen=True, eq=False)
class Forest:
    """Sentences, and of each kind (`true`, or a baseline) one or more trees for each; None where there is none."""

    sentences: Sequence[Sentence]
    kinds: Mapping[str, Sequence[Sequence[Tree | None]]]  # [draw][sentence]

    @property
    def examples(self) -> Int[ndarray, " sentence"]:
        """The example of each sentence."""
        return np.array([sentence.example for sentence in self.sentences])

    @cached_property
    def before(self) -> Mapping[str, float]:
        """Of each kind the share of words, roots left out, whose parent comes before them (Varano 2019, §5.1)."""
        return {
            kind: share_before(tree for trees in drawn for tree in trees if tree is not None)
            for kind, drawn in self.kinds.items()
        }

    @cached_property
    def by_example(self) -> Mapping[int, Sequence[int]]:
        """The numbers of each example's sentences."""
        found = defaultdict[int, list[int]](list)
        for number, sentence in enumerate(self.sentences):
            found[sentence.example].append(number)
        return found

    @property
    def places(self) -> Mapping[str, slice]:
        """The positions of the trees of each kind, if all trees of a sentence are in one list."""
        ends = list(accumulate(len(drawn) for drawn in self.kinds.values()))
        return {kind: slice(end - len(drawn), end) for end, (kind, drawn) in zip(ends, self.kinds.items(), strict=True)}

    def references(self, numbers: Sequence[int], name: str) -> Float[ndarray, "tree sentence word word"]:
        """What attention to all trees of these sentences would be, padded to the longest."""
        longest = max(len(self.sentences[number].heads) for number in numbers)
        draws = [trees for drawn in self.kinds.values() for trees in drawn]
        rows = np.zeros((len(draws), len(numbers), longest, longest))
        for place, trees in enumerate(draws):
            for row, tree in zip(rows[place], (trees[number] for number in numbers), strict=True):
                if tree is not None:
                    row[: len(tree), : len(tree)] = REFERENCES[name](tree)
        return rows

    def heads(self, numbers: Sequence[int]) -> Int[ndarray, "sentence word"]:
        """The true parents of these sentences' words, -1 for roots and past a sentence's end."""
        return padded([self.sentences[number].heads for number in numbers])


def grown(examples: Sequence[Example], baselines: Sequence[str], times: int, seed: int = 0) -> Forest:
    """The trees of all texts of two words or more, and of each baseline so many draws (one, where nothing is random).

    A pair has two texts; the second is left out if it has no tree.
    """
    texts = [
        (number, segment, heads)
        for number, example in enumerate(examples)
        for segment, heads in enumerate((example.heads, example.pair_heads))
        if heads is not None
    ]
    sentences = [Sentence(*text) for text in texts if len(text[2]) > 1]
    if not sentences:
        raise BadData("none of the trees has two words or more; expected sentences in which words hang on each other")
    true = [sentence.heads for sentence in sentences]
    kinds: dict[str, list[Sequence[Tree | None]]] = {TRUE: [true]}
    for name in baselines:
        n = 1 if name == "chain" else times
        kinds[name] = [baseline(name, true, seeded_rng(seed, f"{name} {number}")) for number in range(n)]
    return Forest(sentences, kinds)


def with_trees(
    examples: Sequence[Example], parser: str | None, corpus: str, notes: Sequence[str]
) -> tuple[Sequence[Example], str]:
    """The examples with their trees, and where these come from; by a parser, if one is named."""
    if parser is not None:
        made = parsed(Corpus(corpus, {"": tuple(examples)}), parser)
        return made[""], made.notes[-1]
    lacking = sum(example.heads is None for example in examples)
    if lacking:
        raise BadData(
            f"{lacking} of {len(examples)} examples of {corpus} have no tree. Take a corpus with trees (ud_ewt,"
            " clauses, snli:parsed, a .conllu file, a table with a column of heads), or let a parser make them:"
            " --parser spacy:en_core_web_sm"
        )
    return examples, next((note for note in notes if note.startswith("trees: ")), "trees: as the corpus has them")
