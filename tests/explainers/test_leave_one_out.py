"""Leaving one token out compared with really taking it from the text."""

import pytest
import torch
from numpy.testing import assert_allclose

from support import zoo
from support.explained import EXAMPLES
from support.models.additive import WORDED, additive
from support.tokenizing import reader, wordpiece
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted


@pytest.mark.parametrize("options", [{}, {"encoder": "cnn"}, {"encoder": "average"}])
def test_really_taking_the_word_from_the_text(options):
    subject = additive(**options)
    batch = subject.encode(WORDED)
    target = predicted(subject, batch, "probability")
    found = explainer("leave_one_out")(subject, batch, target)
    for row, example in enumerate(WORDED):
        words = example.text.split()
        whole = subject.predict(subject.encode([example]))[0, 0, target.classes[row]]
        for place in range(len(words)):
            left = " ".join(words[:place] + words[place + 1 :])
            without = subject.predict(subject.encode([Example(left)]))[0, 0, target.classes[row]]
            assert found.words(row)[place] == pytest.approx(float(whole - without), abs=1e-6)
    assert (found.scores[batch.special.numpy()] == 0).all()


@pytest.mark.parametrize(
    "name", ["bert", "gpt2", "xlnet", "bart", "t5", "bart-classifier", "additive-dot-pairs-bypass"]
)
def test_really_taking_the_token_from_the_numbers(name):
    """The text alone, without padding, and its numbers without one."""
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [Example(e.text, pair=pair, target=e.target) for e in EXAMPLES]
    together = subject.encode(examples)
    target = predicted(subject, together, "logit")
    found = explainer("leave_one_out")(subject, together, target)
    for row, example in enumerate(examples):
        batch = subject.encode([example])
        own = Target(target.classes[row : row + 1], target.positions[row : row + 1], "logit")
        real = together.mask[row].nonzero().flatten().tolist()
        for place in (~batch.special[0]).nonzero().flatten().tolist():
            left = [other for other in range(batch.special.shape[1]) if other != place]
            inputs = {name: t if name == "labels" else t[:, left] for name, t in batch.inputs.items()}
            fall = own.of(subject.logits(batch)) - own.of(subject.logits(batch.with_inputs(**inputs)))
            assert found.scores[row, real[place]] == pytest.approx(float(fall.detach()), abs=2e-5)
        assert not found.scores[row, together.special[row].numpy()].any()


def test_a_taggers_answer_moves_with_its_word():
    subject = reader("xlm-roberta")
    batch = subject.encode(EXAMPLES)
    target = Target(torch.tensor([1, 0, 1]), torch.tensor([3, 1, 1]), "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    ids = batch.inputs["input_ids"][0]
    for place in (1, 2, 4, 5):
        left = torch.cat([ids[:place], ids[place + 1 :]])[None]
        left = left[left != 0][None]
        answer = 3 - (place < 3)
        expected = subject.logits(batch)[0, 3, 1] - subject.model(input_ids=left).logits[0, answer, 1]
        assert found.scores[0, place] == pytest.approx(float(expected.detach()), abs=1e-5)
    assert found.scores[0, 3] == 0  # its own word
    assert found.scores[2].tolist() == [0.0] * batch.special.shape[1]  # the only word


def test_a_language_models_answer_is_about_the_tokens_before_it():
    subject = reader("llama")
    batch = subject.encode(EXAMPLES)
    target = Target(torch.tensor([5, 6, 7]), torch.tensor([3, 2, 1]), "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    whole = subject.model(**batch.inputs).logits
    for row in range(3):
        position, ids = int(target.positions[row]), batch.inputs["input_ids"][row]
        for place in range(1, position + 1):
            left = torch.cat([ids[:place], ids[place + 1 : position + 1]])[None]  # the answer is read at the last
            expected = whole[row, position, 5 + row] - subject.model(input_ids=left).logits[0, -1, 5 + row]
            assert found.scores[row, place] == pytest.approx(float(expected.detach()), abs=1e-5)
        assert not found.scores[row, position + 1 :].any()


def test_a_short_text_without_special_tokens():
    """Two tokens, one answer: the place of a token is not the place of the answer."""
    subject = Subject(zoo.BY_NAME["gpt2"].build(), wordpiece(model_input_names=["input_ids", "attention_mask"]))
    subject.tokenizer.backend_tokenizer.post_processor = None
    batch = subject.encode([Example("good film"), Example("bad")])
    assert batch.special.shape[1] == 2
    target = predicted(subject, batch, "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    one, two = batch.inputs["input_ids"][0]
    logits = [
        subject.model(input_ids=torch.tensor([ids])).logits[0, target.classes[0]].item()
        for ids in ([one, two], [two], [one])
    ]
    assert_allclose(found.scores[0], [logits[0] - logits[1], logits[0] - logits[2]], atol=1e-5)
    assert found.scores[1].tolist() == [0.0, 0.0]  # nothing is left of it without its only token


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_a_long_text_is_left_out_in_runs(name):
    """Eleven words in at most four runs: of three neighbours each, and the rest."""
    subject = reader(name)
    long, short = "the movie was not good and the story was bad !", "bad film"
    batch = subject.encode([Example(long), Example(short)])
    target = predicted(subject, batch, "logit")
    found = explainer("leave_one_out")(subject, batch, target, at_most=4)
    exact = explainer("leave_one_out")(subject, batch, target, at_most=99)
    assert "neighbours at a time" in found.how
    assert "token deleted" in exact.how
    short_run = (~batch.special[1]).nonzero().flatten().tolist()
    assert len(short_run) <= 4
    assert_allclose(found.scores[1], exact.scores[1], atol=1e-6)
    alone = subject.encode([Example(long)])
    places = (~alone.special[0]).nonzero().flatten()
    if subject.task.name == "causal-lm":
        places = places[places <= int(target.positions[0])]
    size = -(-len(places) // 4)
    real = batch.mask[0].nonzero().flatten()
    moves = subject.task.name == "causal-lm"
    own = Target(target.classes[:1], target.positions[:1] - (int(real[0]) if moves else 0), "logit")
    for run in places.split(size):
        left = [place for place in range(alone.special.shape[1]) if place not in run.tolist()]
        inputs = {name: tensor[:, left] for name, tensor in alone.inputs.items()}
        position = own.positions - (len(run) if moves else 0)
        without = Target(own.classes, position, "logit").of(subject.logits(alone.with_inputs(**inputs)))
        fall = float((own.of(subject.logits(alone)) - without).detach()) / len(run)
        assert_allclose(found.scores[0, real[run]], fall, atol=2e-5)


def test_too_few_runs_are_refused():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match="two runs at least"):
        explainer("leave_one_out")(subject, batch, predicted(subject, batch), at_most=1)
