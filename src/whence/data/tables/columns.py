"""Which column is what: named by the user, or inferred from usual names and from contents."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median
from typing import Annotated, Any

from whence.core.errors import BadData
from whence.data.formats.text import Table, short
from whence.data.syntax.trees import is_tree
from whence.data.tables.cells import as_heads, as_list, as_marks, missing
from whence.options import usually

# fmt: off
USUAL = {
    "tokens": ("tokens", "words"),
    "text": (
        "text", "sentence", "review", "content", "premise", "sentence1", "question1", "story", "passage", "context",
        "document", "comment", "comment_text", "body", "tweet", "utterance", "message", "review_text",
    ),
    "pair": ("pair", "text_pair", "question", "hypothesis", "sentence2", "question2", "text2", "query"),
    "tags": ("tags", "ner_tags", "chunk_tags", "pos_tags", "upos", "labels"),
    "heads": ("heads", "head"),
    "relations": ("relations", "deprel"),
    "features": ("feats",),
    "label": (
        "label", "class", "sentiment", "gold_label", "target", "category", "labels", "polarity", "answer", "topic", "y",
    ),
    "rationale": ("rationale", "rationales"),
}
# fmt: on
LONG = 3  # words in the middle cell of a column of texts
FEW = 20  # values in a column of classes


FITS: dict[str, Callable[[Any], bool]] = {  # what a cell must hold for its column to be inferred
    "tokens": lambda cell: bool(as_list(cell)),
    "tags": lambda cell: bool(as_list(cell)),
    "rationale": lambda cell: bool(as_marks(cell)),
    "heads": lambda cell: is_tree(as_heads(cell) or ()),
    "relations": lambda cell: bool(as_list(cell)),
    "features": lambda cell: all(part == "_" or "=" in part for part in as_list(cell) or ("",)),
    "pair": lambda cell: isinstance(cell, str) and not missing(cell),
    "text": lambda cell: True,
    "label": lambda cell: not isinstance(cell, list | dict),
}


Name = Annotated[str | None, usually("inferred", "NAME")]
NotInferred = Annotated[str | None, usually("none", "NAME")]


@dataclass(frozen=True)
class Columns:
    """The names of a table's columns; those not named are inferred, except `target` and `alignment`.

    `text` and `pair` are the texts, `label` the class; `tokens`, `tags` and `rationale` hold one value for each word,
    as a list (JSON in CSV and TSV) or separated by spaces; `target` is a text to be produced. `heads` is a tree: for
    each word the position of its head, from 0 with -1 for the root, or from 1 with 0 for the root; `relations` its
    relation, `features` its part of speech and morphology (UPOS=NOUN|Number=Sing). `alignment` links words of the text
    and of the target (split at spaces, counted from 0): `0-0 1-2`.
    """

    text: Name = None  # the text
    pair: Name = None  # the second text: a question, a hypothesis
    label: Name = None  # the class
    tokens: Name = None  # the text in words
    tags: Name = None  # a tag for each word
    target: NotInferred = None  # a text to be produced
    rationale: Name = None  # for each word whether it decides
    heads: Name = None  # for each word its head in a dependency tree
    relations: Name = None  # for each word its relation to its head
    alignment: NotInferred = None  # which words of text and target belong together: 0-0 1-2
    features: Name = None  # for each word its part of speech and morphology

    def named(self) -> dict[str, str]:
        """The role of each named column."""
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {role: name for role, name in pairs if name is not None}


def infer_columns(table: Table, columns: Columns, where: str) -> tuple[Columns, list[str]]:
    """The columns to read, those not named inferred, and notes on what was inferred."""
    for role, name in columns.named().items():
        if name not in table.columns:
            raise BadData(f"{where} has no column {name!r} for the {role}; it has: {listed(table)}")
    columns, notes = by_usual_names(table, columns)
    if columns.text is None and columns.tokens is None:
        columns, inferred = by_contents(table, columns, where)
        notes += inferred
    elif not {"label", "tags", "target"} & columns.named().keys():
        columns, inferred = label_by_contents(table, columns)
        notes += inferred
    return columns, notes


def by_usual_names(table: Table, columns: Columns) -> tuple[Columns, list[str]]:
    """Take columns by their usual names; a column is taken once only, and only if it holds what is wanted."""
    notes = []
    lowered = {name.strip().lower(): name for name in reversed(table.columns)}
    for role, usual in USUAL.items():
        taken = set(columns.named().values())
        found = [lowered[name] for name in usual if name in lowered and lowered[name] not in taken]
        if not found or not wanted(role, columns, lowered):
            continue
        if not all(FITS[role](cell) for cell in cells(table, found[0])):
            notes.append(f"did not take column {found[0]!r} as the {role}, since not every row holds one")
            continue
        columns = replace(columns, **{role: found[0]})
        others = f" (and not {', '.join(map(repr, found[1:]))})" if found[1:] else ""
        notes.append(f"took column {found[0]!r} as the {role}{others}")
    return columns, notes


def wanted(role: str, columns: Columns, there: Collection[str]) -> bool:
    """Whether a column is to be looked for, given the known ones: words only with tags or a rationale."""
    if role == "tokens":
        marked = (
            columns.tags or columns.rationale or any(n in there for n in (*USUAL["tags"][:-1], *USUAL["rationale"]))
        )
        return not columns.tokens and not columns.text and bool(marked or not any(n in there for n in USUAL["text"]))
    if role == "text":
        return not columns.text and not columns.tokens
    if role in ("tags", "heads", "relations", "features"):
        return getattr(columns, role) is None and columns.tokens is not None
    return getattr(columns, role) is None and bool(columns.text or columns.tokens or role == "label")


def by_contents(table: Table, columns: Columns, where: str) -> tuple[Columns, list[str]]:
    """Take the one column of long texts as the text and the one column of few values as the label, if that is clear."""
    taken = set(columns.named().values())
    texts = [name for name in table.columns if name not in taken and holds_texts(cells(table, name))]
    if len(texts) == 1:
        columns = replace(columns, text=texts[0])
        others, notes = label_by_contents(table, columns)
        if columns.label is not None or others.label is not None:
            return others, [f"took column {texts[0]!r} as the text, since it alone holds longer texts", *notes]
    raise BadData(
        f"{where}: no column has a usual name for a text ({', '.join(USUAL['text'][:4])} ...) and it is not clear "
        f"which one it is; the columns are: {listed(table)}. Name it with --columns.text NAME, "
        "and the label with --columns.label NAME; if the first line is a row and no header, put a header before it"
    )


def label_by_contents(table: Table, columns: Columns) -> tuple[Columns, list[str]]:
    """Take the one column of few values as the label; if there is not exactly one, note that there is no label."""
    if columns.label is not None:
        return columns, []
    taken = {*columns.named().values(), *(name for name in table.columns if name.strip().lower() == "split")}
    few = [name for name in table.columns if name not in taken and holds_classes(cells(table, name))]
    if len(few) == 1:
        return replace(columns, label=few[0]), [f"took column {few[0]!r} as the label, since it alone holds few values"]
    return columns, ["took no column as the label; name one with --columns.label NAME"]


def cells(table: Table, name: str) -> list[Any]:
    """All cells of a column."""
    return [row.get(name) for row in table.rows]


def holds_texts(column: Sequence[Any]) -> bool:
    """Whether these are strings of several words, at least the middle one."""
    strings = [cell for cell in column if isinstance(cell, str)]
    return len(strings) == len(column) and median(len(cell.split()) for cell in strings) >= LONG


def holds_classes(column: Sequence[Any]) -> bool:
    """Whether these are short strings or whole numbers of which few differ, most of them more than once."""
    plain = [cell for cell in column if isinstance(cell, str | int | float) and cell != ""]
    values = set(plain)
    return len(plain) == len(column) and 2 <= len(values) <= FEW and 2 * len(values) <= len(column)


def listed(table: Table) -> str:
    """The names of the columns there are, the first dozen if there are many."""
    more = f" and {len(table.columns) - 12} more" if len(table.columns) > 12 else ""
    return (", ".join(short(name) for name in table.columns[:12]) or "none") + more
