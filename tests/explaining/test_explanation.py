"""One text by several methods, in every form; what a user writes is escaped."""

import inspect
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
import torch
import transformers as hf

from support import saved_models, zoo
from support.tokenizing import byte_pairs, reader, wordpiece
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
    with pytest.raises(NoAttention, match=r"^silent has no attention to look at; methods that need none are gradient"):
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
        ({"integrated_gradients": {"steps": "abc"}}, "integrated_gradients.steps takes a whole number; came 'abc'"),
        ({"rollout": {"residual": "maybe"}}, "rollout.residual takes true or false; came 'maybe'"),
        ({"rollout": {"without_sinks": "yes"}}, "rollout.without_sinks takes true or false or a number; came 'yes'"),
        ({"sinks": {"least": True}}, "sinks.least takes a number; came True"),
        ({"raw_attention": {"layer": 0.5}}, "raw_attention.layer takes a whole number or a name; came 0.5"),
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
    with pytest.raises(BadConfig, match="no method was named; there are: attention_gradient"):
        explain(reader("bert"), "good", methods=())


def test_words_have_the_sum_of_their_pieces():
    subject, text = reader("bert"), "an unbelievable movie"
    pieces = explain(subject, text, methods=("random", "rollout"))
    whole = explain(subject, text, methods=("random", "rollout"), words=True)
    assert len(pieces.tokens) > len(whole.tokens)
    assert whole.tokens == text.split()
    for method, one in zip(("random", "rollout"), pieces.attributions, strict=True):
        assert whole.scores[method] == pytest.approx(one.words(0).tolist(), rel=1e-5)
    assert all(one.how.endswith("; words: sums over their subwords") for one in whole.attributions)
    pair = explain(subject, "unbelievable", pair="unbelievable movies", words=True)
    assert pair.tokens == ["unbelievable", "unbelievable", "movies"]


def test_words_of_a_language_model_which_is_asked_for_one_more():
    pieces, whole = (explain(speaker(), "an unbelievable movie", words=words) for words in (False, True))
    assert whole.tokens == ["an", "unbelievable", "movie"]
    for method, scores in whole.scores.items():
        assert sum(scores) == pytest.approx(sum(pieces.scores[method]), rel=1e-4, abs=1e-6)


def test_words_of_paragraphs_have_the_sum_of_their_pieces():
    subject, text = reader("bert"), "an unbelievable movie\n\nunbelievable\n\nunbelievable movies !"
    pieces = explain(subject, text, methods=("random",), paragraphs=True)
    whole = explain(subject, text, methods=("random",), paragraphs=True, words=True)
    assert whole.tokens == text.split()
    assert whole.scores["random"] == pytest.approx(pieces.attributions[0].words(0).tolist(), rel=1e-5)


def test_both_texts_of_a_pair_are_shown():
    explained = explain(reader("bert"), "the movie", pair="good film")
    assert explained.tokens == ["the", "movie", "good", "film"]


@pytest.mark.parametrize("measure", ["logit", "margin", "probability"])
def test_what_is_explained_is_said(measure):
    explained = explain(reader("bert"), "good", methods=("gradient_x_input",), measure=measure)
    assert explained.attributions[0].how.startswith(f"of the {measure}")


def test_a_taggers_and_a_language_models_answers_have_names():
    config = hf.BertConfig(**zoo.BERT, id2label={0: "O", 1: "PLACE"})
    tagged = explain(Subject(hf.BertForTokenClassification(config), wordpiece()), "good film")
    assert tagged.prediction in ("O", "PLACE")
    assert explain(reader("llama"), "the movie was good").prediction in reader("llama").tokenizer.get_vocab()


def test_a_translator_is_asked_about_a_target():
    subject = load(saved_models.translator())
    for target in (None, " "):
        with pytest.raises(BadData, match=r"expected the text to be explained: --target TEXT"):
            explain(subject, "the plot is dull", target=target)
    explanation = explain(subject, "the plot is dull", target="the cast is weak", methods=("leave_one_out",))
    batch = subject.encode([Example("the plot is dull", target="the cast is weak")])
    probs = subject.predict(batch)[0]  # [position class]
    ends = subject.tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])  # it has no token of its own for the end
    of_words = [place for place, token in enumerate(batch.gold[0].tolist()) if token not in ends]
    assert explanation.probability == pytest.approx(float(probs[of_words[-1]].max()))
    assert explanation.where == f"where the target has {subject.tokenizer.tokenize('weak')[-1]!r}"


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


def speaker(**tokenizer):
    torch.manual_seed(0)
    config = hf.GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
    return Subject(hf.GPT2LMHeadModel(config), byte_pairs(**tokenizer))


@pytest.mark.parametrize("text", ["the plot is so", "a"])
def test_a_language_model_is_asked_for_what_comes_next(text):
    """Also where no end token is added, and of one token."""
    subject = speaker()
    ids = subject.tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        probs = subject.model(input_ids=ids).logits[0, -1].softmax(-1)
    explained = explain(subject, text)
    assert explained.probability == pytest.approx(float(probs.max()), abs=1e-6)
    assert explained.prediction == subject.tokenizer.convert_ids_to_tokens(int(probs.argmax()))
    assert len(explained.tokens) == ids.shape[1]
    assert explained.scores["raw_attention"][-1] > 0
    assert explained.scores["gradient_x_input"][-1] != 0
    assert explained.caption.startswith(f"{explained.prediction} after {explained.tokens[-1]!r} (prob")


def test_a_taggers_and_a_translators_captions_name_the_place():
    tagged = explain(load(saved_models.tagger()), "so dull", methods=("random",))
    assert tagged.where in [f"of {token!r}" for token in tagged.tokens[1:]]
    translated = explain(load(saved_models.translator()), "so dull", target="the cast", methods=("random",))
    assert translated.where.startswith("where the target has '")


def test_words_that_the_model_does_not_know_are_shown_as_they_were_written(subject):
    assert explain(subject, "a Zebra film").tokens == ["a", "Zebra", "film"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"measure": "entropy"}, "measure: input should be 'probability', 'logit' or 'margin', came 'entropy'"),
        ({"raw_atention": {"layer": 0}}, "options came for raw_atention, which is not among the methods"),
        ({"raw_attention": {"layers": 0}}, "no option 'layers'; it has: layer, heads, row"),
        ({"leave_one_out": {"seed": 0}}, "leave_one_out has no option 'seed'; it has: none"),
    ],
)
def test_what_nobody_reads_is_refused(subject, given, words):
    with pytest.raises(BadConfig, match=words):
        explain(subject, "film", **given)


def test_a_pair_model_asks_for_the_second_text():
    with pytest.raises(BadData, match=r"reads two texts and came with one; name the second \(--pair TEXT"):
        explain(Subject(zoo.BY_NAME["additive-additive-pairs"].build(), wordpiece()), "film")
