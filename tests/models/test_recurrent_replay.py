"""The recurrent translator explained, and replayed with other attention."""

import torch
from numpy.testing import assert_allclose
from torch.testing import assert_close

from support.models.recurrent import MASK, SOURCE, TARGET, both_forms, built
from support.tokenizing import reader
from whence import Replay, attending, from_logits, imposed, permuted, uniform, without
from whence.attribution.registry import explainer
from whence.data.examples import Example
from whence.subject.targets import predicted


@both_forms
def test_raw_attention_reads_the_step_that_is_answered(attention):
    subject = reader(f"recurrent-{attention}")
    batch = subject.encode([Example("the movie was good", target="the good movie"), Example("bad", target="a film")])
    target = predicted(subject, batch)
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    weights = tape.joined("attention").weights[:, 0]  # [batch target source]
    assert weights.shape[1] == batch.predicted_positions.shape[1]
    for row, places in (
        ("prediction", target.positions.tolist()),
        ("auto", target.positions.tolist()),
        ("last", [4, 3]),
    ):
        found = explainer("raw_attention")(subject, batch, target, row=row)
        assert_allclose(found.scores, weights[[0, 1], places], atol=1e-6)
    found = explainer("raw_attention")(subject, batch, target, row="mean")
    assert_allclose(found.scores[1], weights[1, :4].mean(0), atol=1e-6)
    assert found.how == "layer: the only one, heads: mean, from: mean"


@both_forms
@torch.no_grad()
def test_a_replay_alters_every_step_as_attending_does(attention):
    model = built(attention)
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    replay = Replay(model, "attention", inputs)
    assert replay.strategy == "batch", replay.rejected
    assert replay.steps == (4 if attention == "additive" else 1)
    with attending(model, override=permuted(3), watch=None):
        expected = model(**inputs).logits
    assert_close(replay(permuted(3))[0], expected)  # the same draws, step by step
    in_parts = Replay(model, "attention", inputs, budget=1)
    for override in (uniform, uniform.only(examples=1), uniform.sparing(SOURCE == 2)):
        with attending(model, override=override, watch=None):
            expected = model(**inputs).logits.expand(3, -1, -1, -1)
        assert_close(replay(override, times=3), expected)
        assert_close(in_parts(override, times=3), expected)
    keys = torch.eye(5, dtype=torch.bool)[:3, None].expand(3, 2, 5)  # another key is taken away each time
    expected = []
    for key in range(3):
        with attending(model, override=without(key), watch=None):
            expected.append(model(**inputs).logits)
    for some in (replay, in_parts):
        assert_close(some(without(keys), times=3), torch.stack(expected))
    outcomes = replay(permuted(0), times=6)
    assert len({tuple(outcome.flatten().tolist()) for outcome in outcomes}) == 6


@torch.no_grad()
def test_a_replay_of_steps_is_not_that_of_the_first_step_alone():
    model = built("additive")
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    with attending(model) as tape:
        model(**inputs)
    later = uniform(tape["attention"][3])

    def last_step_alone(call):
        return later if call.step == 3 else call.weights

    got = Replay(model, "attention", inputs)(last_step_alone)[0]
    before = model(**inputs).logits
    assert_close(got[:, :3], before[:, :3])
    assert not torch.allclose(got[:, 3], before[:, 3])
    same = Replay(model, "attention", inputs)(imposed(tape))[0]
    assert_close(same, before)


def test_gradients_flow_from_a_replayed_output_to_what_every_step_imposes():
    model = built("additive")
    inputs = {"input_ids": SOURCE, "attention_mask": MASK, "decoder_input_ids": TARGET}
    logits = torch.zeros(2, 1, 1, 5, requires_grad=True)
    with attending(model, override=from_logits(logits), watch=None):
        (expected,) = torch.autograd.grad(model(**inputs).logits.pow(2).sum(), logits)
    replay = Replay(model, "attention", inputs)
    (got,) = torch.autograd.grad(replay(from_logits(logits)).pow(2).sum(), logits)
    assert_close(got, expected, atol=1e-6, rtol=1e-4)
    assert not replay(uniform).requires_grad
