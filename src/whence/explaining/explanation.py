"""Explaining one text by several methods, side by side."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from whence.attribution.attribution import Attribution
from whence.attribution.options import refuse_options, spread
from whence.attribution.registry import explainer, names
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.explaining.documents import explain_document, read_document, token_words
from whence.explaining.explained import Explained, describe_position, question_of, read_explained, read_prediction
from whence.explaining.flow_diagram import diagram
from whence.explaining.head_importance import HeadImportance, describe_heads, head_importance
from whence.explaining.options import ExplainOptions
from whence.figures.flow.model import Flow
from whence.figures.token_shading import Shading
from whence.figures.tokens import text as drawn
from whence.figures.tokens.pdf import save_pdf
from whence.subject.batch import Batch
from whence.subject.named_targets import asked
from whence.subject.subject import Subject

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
caption {{ text-align: left; font-weight: 600; padding-bottom: .5rem }}
th {{ text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; white-space: nowrap }}
ul, small {{ color: #555; font-size: .85rem }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


@dataclass(frozen=True, eq=False)
class Explanation:
    """One text, the model's prediction, and the text's tokens scored by each method."""

    prediction: str
    probability: float
    attributions: tuple[Attribution, ...]
    where: str = ""  # of a model that predicts at several positions: at which
    notes: tuple[str, ...] = ()
    valued: bool = False  # whether the prediction is a value, which has no probability
    shading: Shading = "strongest"  # from zero to the strongest score, or over the `range` of scores
    heads: tuple[HeadImportance, ...] = ()  # of the model, the most important first
    explained: Explained | None = None  # of which number the scores are; None for a model that predicts a value

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
        explained = [] if self.explained is None else [f"explained: {self.explained.sentence}"]
        return "; ".join([f"{self.prediction}{where}{probable}", *explained, *self.notes])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "prediction": self.prediction,
            "probability": None if self.valued else self.probability,
            "where": self.where,
            "explained": None if self.explained is None else asdict(self.explained),
            "tokens": self.tokens,
            "scores": self.scores,
            "how": {one.method: one.how for one in self.attributions},
            "notes": list(self.notes),
            "heads": [asdict(one) for one in self.heads],
        }

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=1)

    def to_html(self) -> str:
        """As a table in HTML, escaped, and below it the most important heads."""
        table = drawn.as_html(self.tokens, self.scores, self.caption, self.shading)
        heads = escape(describe_heads(self.heads)).replace("\n", "<br>")
        return f"{table}<p><small>{heads}</small></p>" if heads else table

    def to_page(self) -> str:
        """As a whole page of HTML, to be opened in a browser."""
        how = "".join(f"<li>{escape(one.method)}: {escape(one.how)}</li>" for one in self.attributions)
        return PAGE.format(title=escape(self.prediction), body=f"{self.to_html()}<ul>{how}</ul>")

    def to_latex(self) -> str:
        """As a LaTeX tabular."""
        return drawn.as_latex(self.tokens, self.scores, self.shading)

    def to_svg(self) -> str:
        """As a picture."""
        return drawn.as_svg(self.tokens, self.scores, shading=self.shading)

    def save_pdf(self, path: str | Path) -> None:
        """As a PDF file."""
        save_pdf(self.tokens, self.scores, Path(path), shading=self.shading)

    def to_text(self, colour: bool = False) -> str:
        """As lines for a terminal."""
        how = "\n".join(f"{one.method}: {one.how}" for one in self.attributions)
        heads = f"\n\n{describe_heads(self.heads)}" if self.heads else ""
        return f"{self.caption}\n\n{drawn.as_text(self.tokens, self.scores, colour, self.shading)}\n\n{how}{heads}"

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return self.to_text()


def explain_text(subject: Subject, text: str, options: ExplainOptions | None = None) -> Explanation:
    """Explain the model's prediction for a text by each method, with the most important heads in a `summary`.

    Of a translator the last token of the `target` text is explained, given those before it, or the word `at`; of a
    language model the token after the text; of a tagger the tag of the last word, or of the word `at`. `target` names
    another class than the predicted one, `against` one to compare it with. For a model of series the text is one
    window. With `paragraphs` a text of any length is explained paragraph by paragraph (`whence.explaining.documents`),
    without a summary. With `words` the subwords of a word are one token, with the sum of their scores.
    """
    options = options or ExplainOptions()
    if not options.methods:
        raise BadConfig(f"no method was named; choose from: {', '.join(names())}")
    methods = {method.replace("-", "_"): explainer(method) for method in options.methods}
    chosen = method_options(options, methods)
    if options.paragraphs:
        return explain_paragraphs(subject, text, options, methods, chosen)
    batch, example = encode_text(subject, text, options)
    target = asked(subject, batch, [example], question_of(options, subject))
    attributions = tuple(explain(subject, batch, target, **chosen.get(name, {})) for name, explain in methods.items())
    if options.words:
        spelled = subject.encoder.spelled(batch, [example])[0]
        attributions = tuple(one.by_word(spelled) for one in attributions)
    limit = subject.encoder.limit
    notes = (f"the text was longer than {limit} and was cut there",) if bool(batch.truncated[0]) else ()
    heads = head_importance(subject, batch, target) if options.summary else ()
    prediction, probability = read_prediction(subject, batch, target)
    where = describe_position(subject, batch, target)
    return Explanation(
        prediction,
        probability,
        attributions,
        where,
        notes,
        subject.task.predicts_values,
        heads=heads,
        explained=read_explained(subject, batch, target),
    )


def method_options(options: ExplainOptions, methods: Mapping[str, Callable[..., Any]]) -> dict[str, dict[str, Any]]:
    """The options of each method: those shared by several methods, then its own; one that no method has is refused."""
    own = {name.replace("-", "_"): given for name, given in options.method_options.items()}
    refuse_options(own, methods)
    shared = spread(options.shared(), tuple(methods))
    return {name: {**shared.get(name, {}), **own.get(name, {})} for name in methods}


def explain_paragraphs(
    subject: Subject,
    text: str,
    options: ExplainOptions,
    methods: Mapping[str, Callable[..., Any]],
    chosen: Mapping[str, Mapping[str, Any]],
) -> Explanation:
    """Explain a text of any length paragraph by paragraph, each weighted by its share of the prediction."""
    if options.pair is not None or options.at is not None:
        raise BadConfig("only a single text is cut into paragraphs; leave out the second text and at")
    document = read_document(subject, text, question_of(options, subject))
    found = [explain_document(subject, document, explain, chosen.get(name, {})) for name, explain in methods.items()]
    found = [one.by_word(token_words(subject, document)) for one in found] if options.words else found
    note = f"read in paragraphs: {len(document.paragraphs)}, none longer than {subject.encoder.limit}"
    prediction = subject.labels[document.prediction]
    return Explanation(prediction, document.probability, tuple(found), notes=(note, document.describe(subject.labels)))


def flow(subject: Subject, text: str, options: ExplainOptions | None = None) -> Flow:
    """Draw how attention flows from the prediction down to a text's tokens, through layers and heads.

    Wu et al. 2020, Fig. 3. `normalize` and `row` are those of `lat`. `.save("flow.html")` writes it, also as .svg or
    .pdf.
    """
    options = options or ExplainOptions()
    batch, example = encode_text(subject, text, options)
    target = asked(subject, batch, [example], question_of(options, subject))
    prediction, probability = read_prediction(subject, batch, target)
    where = describe_position(subject, batch, target)
    caption = Explanation(prediction, probability, (), where, valued=subject.task.predicts_values).caption
    row = "auto" if options.row is None else options.row
    return diagram(subject, batch, target, caption, options.normalize or "softmax_sum", row)


def encode_text(subject: Subject, text: str, options: ExplainOptions) -> tuple[Batch, Example]:
    """Encode the text as a batch of one; with the example."""
    pair, writes = options.pair, subject.task.needs == "target"
    if not text.strip():
        raise BadData("the text is empty; expected words to explain")
    if pair is not None and not pair.strip():
        raise BadData("the second text is empty; expected words, or no second text")
    if writes and not (options.target or "").strip():
        raise BadData("this model generates a text from a text; expected the text to be explained: --target TEXT")
    example = Example(text, pair=pair, target=options.target if writes else None)
    return subject.encode([example], ahead=True), example
