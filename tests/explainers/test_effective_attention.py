"""Effective attention: what was taken away changes nothing, and nothing that is left could be."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers.effective_attention import effective
from whence.subject.targets import predicted

SHORT = [Example("the movie was good", target="a"), Example("bad", target="bad film")]
LONG = [
    Example("the movie was not good and the story was not bad but a film", target="the film"),
    Example("bad !", target="a"),
]


def explained(subject, batch, **options):
    return explainer("effective_attention")(subject, batch, predicted(subject, batch), **options)


def test_the_null_space_and_nothing_else_is_taken_away():
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(2, 3, 4, 9, generator=generator, dtype=torch.float64)
    values = torch.randn(2, 3, 9, 5, generator=generator, dtype=torch.float64)
    permitted = torch.ones(2, 3, 4, 9, dtype=torch.bool)
    permitted[1, ..., 6:] = False
    weights = weights * permitted / (weights * permitted).sum(-1, keepdim=True)
    found = effective(weights, values, permitted)
    assert_allclose(found @ values, weights @ values, atol=1e-12)  # the context is the same
    there = found.numpy()
    for text, keys in ((0, 9), (1, 6)):
        for head in range(3):
            free = null_space(values[text, head, :keys].numpy().T)  # [key dimension]: u T = 0
            assert free.shape == (keys, keys - 5)
            assert_allclose(there[text, head, :, :keys] @ free, 0, atol=1e-12)
            own = weights[text, head, :, :keys].numpy()
            assert_allclose(there[text, head, :, :keys], own - own @ free @ free.T, atol=1e-12)
    assert not there[1, ..., 6:].any()


def test_of_all_weights_with_this_context_they_are_the_shortest():
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(1, 1, 8, 3, generator=generator, dtype=torch.float64)
    weights = torch.rand(1, 1, 1, 8, generator=generator, dtype=torch.float64)
    found = effective(weights, values, torch.ones(1, 1, 1, 8, dtype=torch.bool))
    context = (weights @ values)[0, 0, 0].numpy()
    shortest = np.linalg.lstsq(values[0, 0].numpy().T, context, rcond=None)[0]
    assert_allclose(found[0, 0, 0], shortest, atol=1e-12)


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart", "mistral", "gpt-oss"])
def test_a_models_heads_row_by_row(name):
    subject = reader(name)
    batch = subject.encode(LONG)
    target = predicted(subject, batch)
    with torch.no_grad(), attending(subject.model, keep=("values",)) as tape:
        subject.model(**batch.inputs)
    site = [s for s, about in subject.sites.items() if about.kind == "cross" or name != "bart"][-1]
    call = tape.only(site)
    found = explained(subject, batch, row="prediction" if name == "bart" else "last")
    for text in range(2):
        place = int(target.positions[text]) if name == "bart" else int(batch.mask[text].nonzero()[-1])
        expected = np.zeros(batch.special.shape[1])
        for head in range(4):
            n_key = call.weights.shape[-1] - call.sinks
            seen = call.mask[text].expand(4, call.weights.shape[2], -1)[head, place, :n_key].numpy()
            values = call.values[text, head].double().numpy() * seen[:, None]
            row = call.weights[text, head, place, :n_key].double().numpy()
            expected += row @ values @ np.linalg.pinv(values, rcond=1e-6) / 4
        assert_allclose(found.scores[text], expected, atol=1e-5)
    assert found.signed


def test_it_warns_where_texts_are_longer_than_heads_are_wide():
    subject = reader("bert")
    assert "6 keys for heads 8 wide, so the weights are identifiable" in explained(subject, subject.encode(SHORT)).how
    said = explained(subject, subject.encode(LONG)).how
    assert "16 keys for heads 8 wide, so the weights are NOT identifiable: 8 dimensions of each row change noth" in said
    short = subject.encode(SHORT)
    raw = explainer("raw_attention")(subject, short, predicted(subject, short))
    assert_allclose(explained(subject, short).scores, raw.scores, atol=1e-5)  # identifiable: nothing to take away


def test_what_cannot_be_done():
    subject = reader("bert")
    with pytest.raises(
        BadConfig, match=r"effective_attention has no layer 'rollout'; choose from: last, mean, or a numb"
    ):
        explained(subject, subject.encode(SHORT), layer="rollout")
    with pytest.raises(BadConfig, match="does not expose the values"):
        explained(reader("deberta-v2"), reader("deberta-v2").encode(SHORT))
