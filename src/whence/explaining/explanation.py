"""Explaining one text by several methods, side by side."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, cast, get_args

from whence.attribution.attribution import Attribution
from whence.attribution.options import refuse_options
from whence.attribution.registry import USUAL, explainer, names
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.explaining.documents import of_document, read_document, spelled_in
from whence.explaining.flow_diagram import diagram
from whence.explaining.head_importance import Carried, carried, in_words
from whence.figures.flow.model import Flow
from whence.figures.token_shading import Shading
from whence.figures.tokens import text as drawn
from whence.figures.tokens.pdf import save_pdf
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Measure, Target, predicted


@dataclass(frozen=True, eq=False)
class Explanation:
    """One text, what the model says of it, and its tokens scored by each method."""

    prediction: str
    probability: float
    attributions: tuple[Attribution, ...]
    where: str = ""  # of a model that answers at several places: which answer this is
    notes: tuple[str, ...] = ()
    valued: bool = False  # whether the prediction is a value, which has no probability
    shading: Shading = "strongest"  # from zero to the strongest score, or over the `range` of scores
    heads: tuple[Carried, ...] = ()  # of the model, the one that carries most first

    @property
    def tokens(self) -> list[str]:
        """The tokens of the text, without special ones."""
        return [token for token, _ in self.attributions[0].text(0)]

    @property
    def scores(self) -> dict[str, list[float]]:
        """The scores of the tokens by method."""
        return {one.method: [score for _, score in one.text(0)] for one in self.attributions}

    @property
    def caption(self) -> str:
        """What is explained, in words."""
        where = f" {self.where}" if self.where else ""
        probable = "" if self.valued else f" (probability {self.probability:.3f})"
        return "; ".join([f"{self.prediction}{where}{probable}", *self.notes])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "prediction": self.prediction, "probability": None if self.valued else self.probability,
            "where": self.where, "tokens": self.tokens, "scores": self.scores,
            "how": {one.method: one.how for one in self.attributions}, "notes": list(self.notes),
            "heads": [asdict(one) for one in self.heads],
        }  # fmt: skip

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=1)

    def to_html(self) -> str:
        """As a table in HTML, escaped, and below it which heads carry the answer."""
        table = drawn.as_html(self.tokens, self.scores, self.caption, self.shading)
        heads = escape(in_words(self.heads)).replace("\n", "<br>")
        return f"{table}<p><small>{heads}</small></p>" if heads else table

    def to_latex(self) -> str:
        """As a LaTeX tabular."""
        return drawn.as_latex(self.tokens, self.scores, self.shading)

    def to_svg(self) -> str:
        """As a picture."""
        return drawn.as_svg(self.tokens, self.scores, shading=self.shading)

    def save_pdf(self, path: Path) -> None:
        """As a PDF file."""
        save_pdf(self.tokens, self.scores, path, shading=self.shading)

    def to_text(self, colour: bool = False) -> str:
        """As lines for a terminal."""
        how = "\n".join(f"{one.method}: {one.how}" for one in self.attributions)
        heads = f"\n\n{in_words(self.heads)}" if self.heads else ""
        return f"{self.caption}\n\n{drawn.as_text(self.tokens, self.scores, colour, self.shading)}\n\n{how}{heads}"

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return self.to_text()


def explain_text(
    subject: Subject,
    text: str,
    pair: str | None = None,
    methods: tuple[str, ...] = USUAL,
    measure: Measure | str = "probability",
    options: dict[str, dict[str, Any]] | None = None,
    target: str | None = None,
    paragraphs: bool = False,
    summary: bool = True,
    words: bool = False,
) -> Explanation:
    """What the model predicts for a text, explained by each method; in a `summary` which heads carry the answer.

    A translator is asked for the last token of the `target` text, given those before it; a language model for what
    comes after the text; a tagger for the tag of the last word. For a model of series the text is one window. With
    `paragraphs` a text of any length is read and explained paragraph by paragraph (`explainers._paragraphs`), without a
    summary. With `words` the pieces of a word are one token, with the sum of their scores.
    """
    if measure not in get_args(Measure):
        raise BadConfig(f"no measure {measure!r}; there are: {', '.join(get_args(Measure))}")
    if not methods:
        raise BadConfig(f"no method was named; there are: {', '.join(names())}")
    found = {method.replace("-", "_"): explainer(method) for method in methods}
    chosen = {name.replace("-", "_"): given for name, given in (options or {}).items()}
    refuse_options(chosen, found)
    if paragraphs:
        if pair is not None or target is not None:
            raise BadConfig("one text is cut into paragraphs; leave the second text and the target out")
        return by_paragraph(subject, text, found, cast("Measure", measure), chosen, words)
    batch = encoded(subject, text, pair, target)
    explained = predicted(subject, batch, cast("Measure", measure))
    attributions = tuple(
        explain(subject, batch, explained, **chosen.get(method, {})) for method, explain in found.items()
    )
    if words:
        spelled = subject.encoder.spelled(batch, [Example(text, pair=pair, target=target)])[0]
        attributions = tuple(one.by_word(spelled) for one in attributions)
    cut = (f"the text was longer than {subject.encoder.limit} and was cut there",) if bool(batch.truncated[0]) else ()
    said = answer_of(subject, batch, explained)
    heads = carried(subject, batch, explained) if summary else ()
    place = place_of(subject, batch, explained)
    return Explanation(*said, attributions, place, cut, subject.task.valued, heads=heads)


def by_paragraph(
    subject: Subject,
    text: str,
    methods: Mapping[str, Any],
    measure: Measure,
    options: Mapping[str, Mapping[str, Any]],
    words: bool = False,
) -> Explanation:
    """A text of any length: paragraph by paragraph, each weighed by its part in the answer."""
    document = read_document(subject, text)
    found = [of_document(subject, document, explain, measure, options.get(name, {}))
             for name, explain in methods.items()]  # fmt: skip
    found = [one.by_word(spelled_in(subject, document)) for one in found] if words else found
    note = f"read in paragraphs: {len(document.paragraphs)}, none longer than {subject.encoder.limit}"
    return Explanation(subject.labels[document.answer], document.probability, tuple(found), notes=(note,))


def flow(
    subject: Subject,
    text: str,
    pair: str | None = None,
    target: str | None = None,
    *,
    normalize: str = "softmax_sum",
    row: int | str = "auto",
) -> Flow:
    """How attention flows from the answer down to the tokens of a text, through layers and heads (Wu et al. 2020, Fig.
    3).

    `normalize` and `row` are those of `lat`. `.save("flow.html")` writes it, also as .svg or .pdf.
    """
    batch = encoded(subject, text, pair, target)
    explained = predicted(subject, batch)
    said, place = answer_of(subject, batch, explained), place_of(subject, batch, explained)
    answer = Explanation(*said, (), place, valued=subject.task.valued).caption
    return diagram(subject, batch, explained, answer, normalize, row)


def encoded(subject: Subject, text: str, pair: str | None, target: str | None) -> Batch:
    """The text as a batch of one."""
    if not text.strip():
        raise BadData("the text is empty; expected words to explain")
    if pair is not None and not pair.strip():
        raise BadData("the second text is empty; expected words, or no second text")
    if subject.task.needs == "target" and not (target or "").strip():
        raise BadData("this model makes a text of a text; expected the text it is to be asked about: --target TEXT")
    if subject.task.needs != "target" and target is not None:
        raise BadConfig(f"a target is for models that make a text of a text; this one is for {subject.task.name}")
    return subject.encode([Example(text, pair=pair, target=target)], ahead=True)


def answer_of(subject: Subject, batch: Batch, explained: Target) -> tuple[str, float]:
    """What the model says, and how probable it finds it; a value has no probability."""
    position, number = int(explained.positions[0]), int(explained.classes[0])
    found = float(subject.predict(batch)[0, position, number])
    return (f"the value {found:+.3f}", float("nan")) if subject.task.valued else (name_of(subject, number), found)


def place_of(subject: Subject, batch: Batch, explained: Target) -> str:
    """Which of a model's answers is explained, in words; nothing where it gives one."""
    position = int(explained.positions[0])
    if subject.task.needs == "label" or subject.task.valued:
        return ""
    if subject.task.needs == "target":
        return f"where the target has {name_of(subject, int(batch.gold[0, position]))!r}"
    return f"{'of' if subject.task.needs == 'tags' else 'after'} {batch.tokens[0][position]!r}"


def name_of(subject: Subject, number: int) -> str:
    """The name of a class, or the token of a vocabulary."""
    if subject.task.needs in ("label", "tags"):
        return subject.labels[number]
    return str(subject.tokenizer.convert_ids_to_tokens(number))
