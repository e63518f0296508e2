"""Explanations of pairs, words, taggers, language models and translators."""

import pytest
import torch
import transformers as hf

from support import saved_models, zoo
from support.tokenizing import byte_pairs, reader, wordpiece
from whence.api import explain
from whence.core.errors import BadData
from whence.data.examples import Example
from whence.subject.subject import Subject, load


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
    of_words = [place for place, token in enumerate(batch.labels[0].tolist()) if token not in ends]
    assert explanation.probability == pytest.approx(float(probs[of_words[-1]].max()))
    assert explanation.where == f"where the target has {subject.tokenizer.tokenize('weak')[-1]!r}"


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
