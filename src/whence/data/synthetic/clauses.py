"""Sentences of a small grammar with their dependency trees, their chunks, and a task that needs the parent of a word.

*near the tall goat , the sailor that had watched the heron waited .* Every sentence has exactly one parse: verbs with
and without an object are different words, relative clauses are not nested, and no phrase could attach to two words.
Trees follow Universal Dependencies: prepositions, *that* and *had* depend on content words.

Two tasks, one tag per word:

- `clauses`: chunks (B-NP, I-NP, B-VP, ...), as in the CoNLL-2000 shared task.
- `clauses:parents`: the class of the word's *parent*. Nouns are a `person` or an `animal`, verbs `loud` or `quiet`,
  adjectives a `colour` or a `size`, each drawn independently with equal probability; only the root has no parent. So
  the tag depends on the parent alone: without that word, the rest of the sentence gives half of the tags by chance. A
  word and its parent may be far apart (*sailor* and *waited* above). There is no rationale, since each word has its
  own: its head.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from whence.core.errors import BadConfig
from whence.data.entry import Entry
from whence.data.examples import Corpus, Example
from whence.data.rng import pick, seeded_rng
from whence.data.syntax.trees import ROOT
from whence.data.synthetic.shared import clause_words
from whence.data.synthetic.shared.clause_words import CLASSES, INTRANSITIVE, TRANSITIVE, Lexicon

SIZES = {"train": 4000, "dev": 500, "test": 500}
CHUNKS = ("O", *(f"{place}-{kind}" for kind in ("NP", "VP", "PP", "ADVP", "SBAR") for place in "BI"))
CHUNK_LABELS = tuple(tag for tag in CHUNKS if tag not in ("I-PP", "I-ADVP", "I-SBAR"))  # these are of one word
PARENTS = (*CLASSES, "root")


@dataclass
class Node:
    """A word and its dependents, before it and after it. `like` is its class, `chunk` the kind of its chunk.

    Dependents `within` the chunk of their parent (*the* of *the goat*) are part of that chunk.
    """

    word: str
    relation: str
    chunk: str = ""
    like: str = ""
    before: list["Node"] = field(default_factory=list)
    after: list["Node"] = field(default_factory=list)
    within: bool = False

    def in_order(self) -> Iterator["Node"]:
        """The words from left to right."""
        for part in self.before:
            yield from part.in_order()
        yield self
        for part in self.after:
            yield from part.in_order()


def load(seed: int = 0, sizes: Mapping[str, int] | None = None, task: str = "chunks") -> Corpus:
    """Sentences with their trees, all different; both tasks have the same sentences."""
    if task not in ("chunks", "parents"):
        raise BadConfig(f"clauses has the tasks chunks and parents; {task!r} is neither")
    rng, seen = seeded_rng(seed, "clauses"), set[str]()
    splits = {
        split: tuple(new_sentence(rng, task, seen) for _ in range(size)) for split, size in (sizes or SIZES).items()
    }
    name, labels = ("clauses", CHUNK_LABELS) if task == "chunks" else ("clauses:parents", PARENTS)
    return Corpus(name, splits, labels, ENTRY.about, ("trees: as the grammar made them, like Universal Dependencies",))


def new_sentence(rng: np.random.Generator, task: str, seen: set[str]) -> Example:
    """A sentence that has not been seen."""
    while True:
        made = example(sentence(rng), task)
        if made.text not in seen:
            seen.add(made.text)
            return made


def sentence(rng: np.random.Generator) -> Node:
    """A main clause, sometimes with a complement clause or a coordinated one."""
    kind = pick(rng, ("plain", "plain", "says", "linked"))
    root = clause(rng, "root", clause_words.SAYING if kind == "says" else None)
    if kind == "says":
        root.after.append(marked(clause(rng, "ccomp"), "that"))
    elif kind == "linked":
        root.after.append(marked(clause(rng, "advcl"), pick(rng, clause_words.LINKS)))
    root.after.append(Node(".", "punct"))
    return root


def marked(verb: Node, word: str) -> Node:
    """A clause with the conjunction that introduces it."""
    verb.before.insert(0, Node(word, "mark", "SBAR"))
    return verb


def clause(rng: np.random.Generator, relation: str, lexicon: Lexicon | None = None) -> Node:
    """A subject and a verb, sometimes with an object; a phrase of time or place may come first."""
    lexicon = lexicon or pick(rng, (INTRANSITIVE, TRANSITIVE))
    first = []
    if rng.random() < 0.4:
        what = (
            Node(pick(rng, clause_words.TIMES), "advmod", "ADVP")
            if rng.random() < 0.5
            else oblique(rng, "obl", clause_words.NEAR)
        )
        first = [what, Node(",", "punct")]
    verb = predicate(rng, relation, lexicon)
    verb.before = [*first, noun_phrase(rng, "nsubj", 1), *verb.before]
    if lexicon is TRANSITIVE:
        verb.after.append(noun_phrase(rng, "obj", 1))
    return verb


def predicate(rng: np.random.Generator, relation: str, lexicon: Lexicon) -> Node:
    """A verb, sometimes with *had* before it."""
    word, like = draw_word(rng, lexicon)
    had = [Node("had", "aux", "VP", within=True)] if rng.random() < 0.3 else []
    return Node(word, relation, "VP", like, before=had)


def noun_phrase(rng: np.random.Generator, relation: str, depth: int) -> Node:
    """*the very tall goat*; while `depth` lasts, sometimes with another noun (*of the heron*) or a relative clause."""
    word, like = draw_word(rng, clause_words.NOUNS)
    noun = Node(word, relation, "NP", like, before=[Node("the", "det", "NP", within=True)])
    if rng.random() < 0.5:
        word, like = draw_word(rng, clause_words.ADJECTIVES)
        very = [Node(pick(rng, clause_words.INTENSIFIERS), "advmod", "NP", within=True)] if rng.random() < 0.5 else []
        noun.before.append(Node(word, "amod", "NP", like, before=very, within=True))
    more = rng.random() if depth else 1.0
    if more < 0.4:
        noun.after.append(relative(rng))
    elif more < 0.55:
        noun.after.append(oblique(rng, "nmod", clause_words.OF))
    return noun


def oblique(rng: np.random.Generator, relation: str, prepositions: tuple[str, ...]) -> Node:
    """A noun with its preposition."""
    noun = noun_phrase(rng, relation, 0)
    noun.before.insert(0, Node(pick(rng, prepositions), "case", "PP"))
    return noun


def relative(rng: np.random.Generator) -> Node:
    """*that slept*, *that watched the goat* or *that the goat watched*."""
    kind = pick(rng, ("alone", "subject", "object"))
    verb = predicate(rng, "acl:relcl", INTRANSITIVE if kind == "alone" else TRANSITIVE)
    that = Node("that", "obj" if kind == "object" else "nsubj", "NP")
    other = [] if kind == "alone" else [noun_phrase(rng, "nsubj" if kind == "object" else "obj", 0)]
    verb.before = [that, *(other if kind == "object" else []), *verb.before]
    verb.after = other if kind == "subject" else []
    return verb


def draw_word(rng: np.random.Generator, lexicon: Lexicon) -> tuple[str, str]:
    """A word and its class, each class equally likely."""
    like = pick(rng, tuple(lexicon))
    return pick(rng, lexicon[like]), like


def example(root: Node, task: str) -> Example:
    """A sentence in words, with its tree and the tags of a task."""
    nodes = list(root.in_order())
    place = {id(node): number for number, node in enumerate(nodes)}
    parent = {id(part): node for node in nodes for part in (*node.before, *node.after)}
    heads = tuple(place[id(parent[id(node)])] if id(node) in parent else ROOT for node in nodes)
    words = tuple(node.word for node in nodes)
    tags = (
        chunks(nodes, parent) if task == "chunks" else tuple(PARENTS[-1] if h == ROOT else nodes[h].like for h in heads)
    )
    return Example(" ".join(words), words=words, tags=tags, heads=heads, relations=tuple(n.relation for n in nodes))


def chunks(nodes: list[Node], parent: Mapping[int, Node]) -> tuple[str, ...]:
    """The chunk tag of every word, B- where a chunk begins; words within a chunk have its tag."""
    tags, last = [], None
    for node in nodes:
        whole = node
        while whole.within:
            whole = parent[id(whole)]
        tags.append(f"{'I' if whole is last else 'B'}-{node.chunk}" if node.chunk else "O")
        last = whole
    return tuple(tags)


ENTRY = Entry(
    name="clauses",
    about="generated sentences with their dependency trees, to be tagged with chunks or with what each parent is like",
    licence="the same as Whence",
    kind="synthetic",
    load=load,
    variants={"chunks": {"task": "chunks"}, "parents": {"task": "parents"}},
    citation="Chunks as in Tjong Kim Sang & Buchholz (2000). Introduction to the CoNLL-2000 Shared Task. CoNLL.",
)
