"""Dependencies from constituents: in every phrase one part is the head, and the others hang on the head's word.

The table is that of Collins (1999, Appendix A), after Magerman (1995). Two schemes:

- `collins`, as printed: function words head their phrases (*has* of *has slept*, *that* of *that he slept*).
- `content`, nearer to the Stanford dependencies that Varano 2019 used: auxiliaries and copulas hang on the verb,
  adjective or noun that they go with, *that* on its clause, *'s* on its noun, and the first of coordinated parts is
  their head. Prepositions head their phrases in both, as in Stanford dependencies.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from whence.core.errors import BadConfig
from whence.data.syntax.trees import ROOT

SCHEMES = {"collins": "head rules (Collins)", "content": "head rules (Collins), content words as heads"}
PIECE = re.compile(r"[()]|[^\s()]+")
PUNCTUATION = {".", ",", ":", "``", "''", "-LRB-", "-RRB-"}
LEFT, RIGHT = False, True  # the side from which parts are searched
RULES: dict[str, tuple[bool, str]] = {
    "ADJP": (LEFT, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": (RIGHT, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": (RIGHT, "CC RB IN"),
    "FRAG": (RIGHT, ""),
    "INTJ": (LEFT, ""),
    "LST": (RIGHT, "LS :"),
    "NAC": (LEFT, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": (RIGHT, "IN TO VBG VBN RP FW"),
    "PRN": (LEFT, ""),
    "PRT": (RIGHT, "RP"),
    "QP": (LEFT, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": (RIGHT, "VP NP ADVP ADJP PP"),
    "S": (LEFT, "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": (LEFT, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": (LEFT, "SQ S SINV SBARQ FRAG"),
    "SINV": (LEFT, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": (LEFT, "VBZ VBD VBP VB MD VP SQ"),
    "UCP": (RIGHT, ""),
    "VP": (LEFT, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": (LEFT, "CC WRB JJ ADJP"),
    "WHADVP": (RIGHT, "CC WRB"),
    "WHNP": (LEFT, "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": (RIGHT, "IN TO FW"),
}
CONTENT: dict[str, tuple[bool, str]] = {
    "S": (LEFT, "VP S SBAR ADJP UCP NP TO IN"),
    "SBAR": (LEFT, "S SQ SINV SBAR FRAG WHNP WHPP WHADVP WHADJP IN DT"),
    "SINV": (LEFT, "VP VBZ VBD VBP VB MD S SINV ADJP NP"),
    "SQ": (LEFT, "VP VBZ VBD VBP VB MD SQ"),
    "WHNP": (LEFT, "NN NNS NNP NNPS WDT WP WP$ WHADJP WHPP WHNP"),
}
NOUNS = ("NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR")
BE = {"am", "is", "are", "was", "were", "be", "been", "being", "'s", "'re", "'m"}
AUXILIARIES = BE | {"has", "have", "had", "having", "'ve", "'d", "do", "does", "did", "get", "gets", "got", "getting"}
TABLES = {
    scheme: {label: (side, tuple(wanted.split())) for label, (side, wanted) in rules.items()}
    for scheme, rules in (("collins", RULES), ("content", {**RULES, **CONTENT}))
}


class Part(NamedTuple):
    """A phrase whose head word is known: its label, the position of that word, and the word."""

    label: str
    place: int
    word: str


@lru_cache(maxsize=50_000)
def dependencies(parse: str, scheme: str = "collins") -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words of a bracketed parse, `(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))`, and the heads of its tree.

    ValueError says what is wrong with the brackets.
    """
    if scheme not in SCHEMES:
        raise BadConfig(f"there are the schemes {' and '.join(SCHEMES)}; {scheme!r} is neither")
    open_parts: list[list[str | Part]] = [[]]
    words: list[str] = []
    heads: dict[int, int] = {}
    for piece in PIECE.findall(parse):
        if piece == "(":
            open_parts.append([])
        elif piece != ")":
            open_parts[-1].append(piece)
        elif len(open_parts) == 1:
            raise ValueError("a bracket is closed that was not opened")
        else:
            inside = open_parts.pop()
            open_parts[-1].append(closed(inside[0] if inside else "", inside[1:], words, heads, scheme))
    if len(open_parts) > 1 or len(open_parts[0]) != 1 or not words:
        raise ValueError(f"one tree with words was expected; {len(open_parts) - 1} brackets are not closed")
    return tuple(words), tuple(heads.get(place, ROOT) for place in range(len(words)))


def closed(label: str | Part, inside: list[str | Part], words: list[str], heads: dict[int, int], scheme: str) -> Part:
    """A phrase from what stood between its brackets: a word, which is noted, or phrases, which are hung on its head."""
    if isinstance(label, str) and len(inside) == 1:
        if isinstance(inside[0], Part):
            return Part(label, *inside[0][1:])
        words.append(inside[0])
        there = "there " if words[-2:-1] in (["There"], ["there"]) else ""  # in *there is* a copula is none
        return Part(label, len(words) - 1, there + inside[0].lower())
    parts = [part for part in inside if isinstance(part, Part)]
    if not isinstance(label, str) or not parts or len(parts) < len(inside):
        raise ValueError("a label and then one word or phrases were expected between brackets")
    head = head_of(label, parts, scheme)
    heads.update({part.place: head.place for part in parts if part is not head})
    return Part(label, head.place, head.word)


def head_of(label: str, parts: list[Part], scheme: str) -> Part:
    """The part that heads a phrase; punctuation heads nothing that has other parts."""
    words = [part for part in parts if part.label not in PUNCTUATION] or parts
    content = scheme == "content"
    if label in ("NP", "NX"):
        place = nominal(words, content)
    else:
        place = searched(words, *TABLES[scheme].get(label, (RIGHT, ())))
    if content:
        return first_of_all(parts, words[with_content(label, words, place)])
    return words[place - 2] if place >= 2 and words[place - 1].label == "CC" else words[place]


def searched(parts: list[Part], from_right: bool, wanted: tuple[str, ...]) -> int:
    """The first part of the first label that occurs, searched from one side; else the part on that side."""
    labels = [part.label for part in parts]
    for label in wanted:
        if label in labels:
            return len(labels) - 1 - labels[::-1].index(label) if from_right else labels.index(label)
    return len(labels) - 1 if from_right else 0


def nominal(parts: list[Part], content: bool) -> int:
    """The head of a noun phrase: the last noun, else the first noun phrase, else other things from the right."""
    last = range(len(parts))[::-1]
    if parts[-1].label == "POS" and not content:
        return len(parts) - 1
    nouns = tuple(label for label in NOUNS if label != "POS" or not content)
    for order, labels in (
        (last, nouns),
        (last[::-1], ("NP",)),
        (last, ("$", "ADJP", "PRN")),
        (last, ("CD",)),
        (last, ("JJ", "JJS", "RB", "QP")),
    ):
        for place in order:
            if parts[place].label in labels:
                return place
    return len(parts) - 1


def first_of_all(parts: list[Part], chosen: Part) -> Part:
    """Of coordinated parts the first: what is of the chosen one's kind before the first conjunction or comma."""
    labels = [part.label for part in parts]
    if "CC" not in labels[1:] or parts.index(chosen) < labels.index("CC", 1):
        return chosen
    ends = min(labels.index(mark, 1) for mark in ("CC", ",") if mark in labels[1:])
    alike = [part for part in parts[:ends] if kind(part.label) == kind(chosen.label)]
    return alike[-1] if alike else chosen


def kind(label: str) -> str:
    """What labels have in common: NN, NNS and NP are nouns, VB and VBZ are verbs."""
    return "NN" if label in ("NP", "NX") else label[:2]


def with_content(label: str, parts: list[Part], place: int) -> int:
    """The part that an auxiliary or a copula goes with, if that heads a verb phrase; else what heads it."""
    chosen = parts[place]
    if label not in ("VP", "SQ", "SINV") or not (chosen.word in AUXILIARIES or chosen.label in ("MD", "TO")):
        return place
    goes_with = ("VP", "ADJP", "NP") if chosen.word in BE else ("VP",)
    labels = [part.label for part in parts[place + 1 :]]
    return next((place + 1 + labels.index(label) for label in goes_with if label in labels), place)
