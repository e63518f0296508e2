"""Planted shortcuts: the token, the fine-tuned copy and the linear probe, with what is known of each."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from support import saved_models
from support.contexts import context as context_of
from whence.api import explain
from whence.data.examples import Corpus, Example
from whence.evaluation.context import Context
from whence.evaluation.validity import linear_probe, planted_copy, planted_token, shortcut_found
from whence.subject.subject import load


@pytest.fixture(scope="module")
def bert() -> Context:
    corpus = saved_models.corpus()
    subject = load(saved_models.bert())
    return Context(subject, corpus["test"][:24], range(24), quiet=True, name="controls", corpus=corpus)


@pytest.fixture(scope="module")
def trial(bert) -> shortcut_found.Trial:
    methods = ("leave_one_out", "raw_attention", "random")
    (only,) = shortcut_found.trials(bert, methods, 600.0, 6)
    return only


def test_the_token_is_one_that_texts_lack_and_the_model_knows(bert):
    token = planted_token.choose_token(bert.subject, bert.examples, 0)
    assert not any(token in example.text.split() for example in bert.examples)
    with_it, without = (
        bert.subject.encode([Example(f"it is {token} there"), Example("it is there")]).mask.sum(1).tolist()
    )
    assert with_it == without + 1


def test_where_every_word_occurs_the_rarest_is_taken(bert):
    words = list(planted_token.single_words(bert.subject, sorted(bert.subject.tokenizer.get_vocab())))
    everywhere = [Example(" ".join(words)), Example(" ".join(words[1:]))]
    assert planted_token.choose_token(bert.subject, everywhere, 3) == words[0]


def test_texts_without_and_with_the_token():
    examples = [
        Example("a good film", "x"),
        Example("Zebra, again"),
        Example("so dull", tags=("A", "B"), words=("so", "dull")),
    ]
    found = planted_token.plant(examples, "zebra", "y", 0)
    assert [text.number for text in found] == [0, 2]
    for text in found:
        words = list(text.marked.words)
        assert words.pop(text.place) == "zebra"
        assert tuple(words) == text.plain.words
        assert (text.plain.label, text.marked.label) == (None, "y")


def test_what_is_learned_from_is_not_tested(bert):
    learned, held = planted_token.texts_to_learn_from(bert)
    assert held == set()
    assert set(learned) <= set(saved_models.corpus()["train"])
    alone = replace(bert, corpus=Corpus("few", {"test": tuple(bert.examples)}, saved_models.LABELS))
    learned, held = planted_token.texts_to_learn_from(alone)
    assert held == set(range(0, 24, 2))
    assert learned == [bert.examples[number] for number in sorted(held)]


def test_the_copy_provably_uses_the_token_and_the_model_stays(bert, trial):
    shortcut = trial.shortcut
    assert (trial.model, trial.why) == ("copy", "")
    assert shortcut.used >= 0.9
    assert load(saved_models.bert()).fingerprint == bert.subject.fingerprint
    for text, changed in zip(shortcut.texts, shortcut.changed, strict=True):  # one text at a time
        without, with_it = (
            int(shortcut.subject.predict(shortcut.subject.encode([one]))[0, 0].argmax())
            for one in (text.plain, text.marked)
        )
        assert without != shortcut.label
        assert (with_it == shortcut.label) == changed
    own = planted_copy.classes_of(bert.subject, [text.plain for text in shortcut.texts])
    assert np.mean([one != shortcut.label for one in own]) > 0.5  # the copy predicts the rest much as the model does


def test_the_token_is_ranked_as_a_slow_loop_ranks_it(trial):
    shortcut = trial.shortcut
    changed = [text for text, one in zip(shortcut.texts, shortcut.changed, strict=True) if one][:6]
    assert sorted(one.example for one in trial.found if one.method == "random") == [text.number for text in changed]
    for text in changed:
        (one,) = (o for o in trial.found if (o.method, o.example) == ("raw_attention", text.number))
        shown = explain(shortcut.subject, text.marked.text, methods=("raw_attention",)).attributions[0].words(0)
        assert one.first == float(shown.argmax() == text.place)
        assert one.chance == 1 / len(text.marked.words)
    assert np.mean([one.first for one in trial.found if one.method == "leave_one_out"]) > 0.5


def test_the_class_that_is_predicted_least_is_planted(bert):
    label = shortcut_found.rarest_class(bert)
    counts = [0, 0]
    for example in bert.examples:
        counts[int(bert.subject.predict(bert.subject.encode([example]))[0, 0].argmax())] += 1
    assert counts[label] == min(counts)


def test_without_time_or_classes_there_is_a_probe_and_a_reason(bert):
    assert "no time was given" in shortcut_found.why_no_copy(bert, 0.0)
    assert "token-classification" in shortcut_found.why_no_copy(context_of("tagger"), 60.0)
    assert shortcut_found.why_no_copy(bert, 1.0) == ""


def test_a_copy_that_has_too_little_time_proves_nothing(bert):
    first, second = shortcut_found.trials(bert, ("leave_one_out",), 1e-9, 3)
    assert (first.model, second.model) == ("copy", "probe")
    assert first.found == []
    assert "and not 90 %" in first.why == second.why


def probe_of(kind: str):
    some = context_of(kind, n=20)
    token = planted_token.choose_token(some.subject, some.examples, 0)
    texts = planted_token.plant(some.examples, token, "", 0)
    texts = [text._replace(marked=replace(text.marked, label=None)) for text in texts]
    return some, token, texts, linear_probe.planted_probe(some.subject, texts, token)


@pytest.mark.parametrize("kind", ["bert", "tagger", "speaker", "translator"])
def test_the_probe_is_the_linear_classifier_it_should_be(kind):
    some, token, texts, probe = probe_of(kind)
    vectors = some.subject.model.get_input_embeddings().weight.detach().double().numpy()
    ids = [i for text in texts for i in probe.tokenizer(text.plain.text)["input_ids"]]
    seen = vectors[ids]
    moment = seen.T @ seen / len(seen)
    own = vectors[probe.tokenizer(f"a {token}", add_special_tokens=False)["input_ids"][-1]]
    weight = np.linalg.solve(moment + 1e-3 * np.diag(moment).mean() * np.eye(len(moment)), own)
    weight /= weight @ own
    sums = [(vectors[probe.tokenizer(text.plain.text)["input_ids"]] @ weight).sum() for text in texts]
    for text in texts[:3]:
        y = (vectors[probe.tokenizer(text.marked.text)["input_ids"]] @ weight).sum() - np.mean(sums) - 0.5
        logits = probe.logits(probe.encode([text.marked]))[0, 0].tolist()
        assert logits == pytest.approx([0.0, y], abs=2e-3)


def test_explainers_of_the_probe_have_closed_forms():
    _, _, texts, probe = probe_of("bert")
    given = {
        method: explain(probe, texts[0].marked.text, methods=(method,), measure="logit").attributions[0]
        for method in ("gradient_x_input", "leave_one_out")
    }
    batch = probe.encode([replace(texts[0].marked, label=None)])
    with torch.no_grad():
        each = (probe.model.embeddings(batch.inputs["input_ids"][0]) @ probe.model.weight).numpy()
    for found in given.values():
        sign = np.sign((found.scores[0] * each)[~found.special[0]].sum())  # of the predicted class
        np.testing.assert_allclose(found.scores[0][~found.special[0]], sign * each[~found.special[0]], atol=1e-4)
