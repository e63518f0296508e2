"""One text by several methods, in every form; what a user writes is escaped."""

import inspect
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
import torch

from support import saved_models, zoo
from support.tokenizing import reader, wordpiece
from whence.api import explain
from whence.attribution.options import refuse_options
from whence.attribution.registry import USUAL, explainer, names
from whence.core.errors import BadConfig, BadData, NoAttention
from whence.data.examples import Example
from whence.models import (
    AdditiveConfig,
    AdditiveForSequenceClassification,
    ReaderConfig,
    ReaderForSequenceClassification,
)
from whence.subject.subject import Subject, load
from whence.subject.targets import predicted
from whence.training.vocabulary import word_tokenizer

SCRIPT = "<script>alert(1)</script>"


FREE = ("gradient_x_input", "gradient_squared", "integrated_gradients", "leave_one_out", "random")  # of attention


@pytest.fixture(scope="module")
def subject():
    """A word model to which the script is a word."""
    text = f"a {SCRIPT} film & more"
    tokenizer = word_tokenizer([Example(text, words=tuple(text.split()))])
    config = AdditiveConfig(
        vocab_size=len(tokenizer),
        embedding_size=8,
        hidden_size=4,
        bos_token_id=2,
        eos_token_id=3,
        id2label={0: "<b>", 1: "good"},
    )
    torch.manual_seed(0)
    return Subject(AdditiveForSequenceClassification(config), tokenizer)


@pytest.fixture(scope="module")
def explanation(subject):
    return explain(subject, f"A {SCRIPT} film")


def unattending():
    """An LSTM that is read at its end."""
    config = ReaderConfig(attention="none", embedding_size=12, hidden_size=8, **zoo.TEXT)
    return Subject(ReaderForSequenceClassification(config), wordpiece(), name="silent")


class Tags(HTMLParser):
    """Which tags a page has, and what text."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_tokens_scores_and_prediction(subject, explanation):
    assert explanation.tokens == ["a", SCRIPT, "film"]
    assert list(explanation.scores) == list(USUAL)
    assert all(len(scores) == 3 for scores in explanation.scores.values())
    assert sum(explanation.scores["raw_attention"]) == pytest.approx(1, abs=1e-5)
    probs = subject.predict(subject.encode([Example(f"a {SCRIPT} film")]))[0, 0]
    assert explanation.probability == pytest.approx(float(probs.max()))
    assert explanation.prediction == subject.labels[int(probs.argmax())]
    assert f"{float(probs.max()):.3f}" in explanation.caption


def test_html_is_escaped(explanation):
    page = Tags()
    page.feed(explanation.to_html())
    assert "script" not in page.tags
    assert page.tags.count("tr") == len(USUAL)
    assert page.text.count(SCRIPT) == len(USUAL)
    assert explanation._repr_html_() == explanation.to_html()


def test_svg_is_escaped_and_well_formed(explanation):
    root = ET.fromstring(explanation.to_svg())
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert "".join(root.itertext()).count(SCRIPT) == len(USUAL)


def test_latex_and_text_show_the_token(explanation):
    assert explanation.to_latex().count("alert(1)") == len(USUAL)
    assert explanation.to_latex().count(r"\begin{tabular}") == explanation.to_latex().count(r"\end{tabular}") == 1
    plain = explanation.to_text()
    assert plain.count(SCRIPT) == len(USUAL)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", explanation.to_text(colour=True)).count(SCRIPT) == len(USUAL)
    assert repr(explanation) == plain
    assert all(f"{one.method}: {one.how}" in plain for one in explanation.attributions)


def test_json_holds_everything(explanation):
    read = json.loads(explanation.to_json())
    assert read["tokens"] == explanation.tokens
    assert read["scores"] == explanation.scores
    assert read["prediction"] == explanation.prediction
    assert set(read["how"]) == set(USUAL)


def test_pdf_is_written(explanation, tmp_path):
    explanation.save_pdf(tmp_path / "tokens.pdf")
    written = (tmp_path / "tokens.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    assert written.rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_text_is_refused(subject, empty):
    with pytest.raises(BadData, match="the text is empty; expected words to explain"):
        explain(subject, empty)


@pytest.mark.parametrize("method", [name for name in names() if name not in FREE])
def test_a_model_without_attention_has_none_to_look_at(method):
    silent = unattending()
    with pytest.raises(NoAttention, match=r"^silent has no attention; methods that need none are gradient"):
        explain(silent, "good film", methods=(method,))


def test_a_model_without_attention_is_explained_by_methods_that_need_none():
    explained = explain(unattending(), "good film", methods=FREE)
    assert list(explained.scores) == list(FREE)
    assert explained.heads == ()


def test_an_unknown_method_is_refused_before_anything_is_run(subject):
    with pytest.raises(BadConfig, match=r"no explainer 'leave_one_aut' \(did you mean leave_one_out\?\)"):
        explain(subject, "film", methods=("random", "leave_one_aut"))


def test_options_reach_their_method():
    given = {"raw_attention": {"layer": 0, "heads": "max"}, "random": {"seed": 7}}
    explained = explain(reader("bert"), "the good movie", methods=("raw_attention", "random"), **given)
    assert [one.how for one in explained.attributions] == ["layer: 0, heads: max, from: first", "U(0, 1), seed 7"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"integrated_gradients": {"steps": "abc"}}, "integrated_gradients.steps takes a whole number; got 'abc'"),
        ({"rollout": {"residual": "maybe"}}, "rollout.residual takes true or false; got 'maybe'"),
        ({"rollout": {"without_sinks": "yes"}}, "rollout.without_sinks takes true or false or a number; got 'yes'"),
        ({"sinks": {"least": True}}, "sinks.least takes a number; got True"),
        ({"raw_attention": {"layer": 0.5}}, "raw_attention.layer takes a whole number or a name; got 0.5"),
    ],
)
def test_options_of_another_kind_are_refused(options, complaint):
    with pytest.raises(BadConfig, match=re.escape(complaint)):
        explain(reader("bert"), "good", methods=tuple(options), **options)


@pytest.mark.parametrize("method", names())
def test_what_an_option_is_by_itself_is_of_a_kind_that_it_takes(method):
    given = {
        name: one.default
        for name, one in inspect.signature(explainer(method)).parameters.items()
        if one.kind == one.KEYWORD_ONLY
    }
    refuse_options({method: given}, {method: explainer(method)})


def test_no_method_is_refused():
    with pytest.raises(BadConfig, match="no method was named; choose from: attention_gradient"):
        explain(reader("bert"), "good", methods=())


@pytest.mark.parametrize("measure", ["logit", "margin", "probability"])
def test_what_is_explained_is_said(measure):
    explained = explain(reader("bert"), "good", methods=("gradient_x_input",), measure=measure)
    assert explained.attributions[0].how.startswith(f"of the {measure}")


def test_an_attribution_shows_itself_escaped(subject):
    batch = subject.encode([Example(f"A {SCRIPT} film"), Example("more film")])
    shown = explainer("random")(subject, batch, predicted(subject, batch))
    assert repr(shown) == "Attribution(random: U(0, 1), seed 0; 2 texts)"
    html = shown._repr_html_()
    assert html.count("<table") == 2
    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_a_text_that_was_cut_says_so():
    cut = explain(load(saved_models.bert()), "the plot is dull " * 100, methods=("random",))
    note = "the text was longer than the model's 64 tokens and was cut there"
    assert cut.notes == (note,)
    assert cut.as_dict()["notes"] == [note]
    assert note in cut.to_text()
    assert note in cut.to_html().replace("&#x27;", "'")
    assert explain(load(saved_models.bert()), "dull", methods=("random",)).notes == ()


def test_words_that_the_model_does_not_know_are_shown_as_they_were_written(subject):
    assert explain(subject, "a Zebra film").tokens == ["a", "Zebra", "film"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"measure": "entropy"}, "measure: input should be 'probability', 'logit' or 'margin', got 'entropy'"),
        ({"raw_atention": {"layer": 0}}, "options were given for raw_atention, which is not among the methods"),
        ({"raw_attention": {"layers": 0}}, "no option 'layers'; it has: layer, heads, row"),
        ({"leave_one_out": {"seed": 0}}, "leave_one_out has no option 'seed'; it has: at_most"),
    ],
)
def test_what_nobody_reads_is_refused(subject, given, words):
    with pytest.raises(BadConfig, match=words):
        explain(subject, "film", **given)


def test_a_pair_model_asks_for_the_second_text():
    with pytest.raises(BadData, match=r"reads two texts and got one; give the second \(--pair TEXT"):
        explain(Subject(zoo.BY_NAME["additive-additive-pairs"].build(), wordpiece()), "film")
