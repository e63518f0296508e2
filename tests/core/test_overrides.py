"""Every override gives distributions, wherever it is confined to, and says what it means."""

import itertools
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, tensor
from torch.testing import assert_close

from whence import from_logits, imposed, permuted, random, scaled, temperature, uniform, without
from whence.core.errors import InvalidWeights
from whence.core.overrides import Override
from whence.core.site import Call, Site, masked_softmax
from whence.core.tape import Tape


def call_of(scores: Tensor, mask: Tensor | None = None, sinks: int = 0, layer: int = 0) -> Call:
    batch, heads, _, keys = scores.shape
    mask = torch.ones(batch, 1, 1, keys, dtype=torch.bool) if mask is None else mask
    return Call(
        Site("here", layer, "self"), masked_softmax(scores, mask), mask, scores, None, sinks, tuple(range(heads)), heads
    )


# batch, heads, queries, keys; mask per head, per query; share of keys permitted; sinks; seed
SPECS = st.tuples(
    *(st.integers(1, n) for n in (3, 3, 3, 5)),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.3, 0.7, 1.1]),
    st.integers(0, 1),
    st.integers(0, 2**16),
)


def call_from(spec) -> Call:
    """Calls of all shapes, with masks per key, per query or per head, with and without a sink, with empty rows."""
    batch, heads, queries, keys, by_head, by_query, share, sinks, seed = spec
    generator = torch.Generator().manual_seed(seed)
    shape = (batch, heads if by_head else 1, queries if by_query else 1, keys)
    mask = torch.rand(shape, generator=generator) < share
    scores = 3 * torch.randn(batch, heads, queries, keys + sinks, generator=generator)
    return call_of(scores, torch.nn.functional.pad(mask, (0, sinks), value=True), sinks)


def overrides_for(call: Call) -> list[Override]:
    batch, _, _, keys = call.weights.shape
    logits = torch.randn(batch, 1, 1, keys, generator=torch.Generator().manual_seed(1))
    given = masked_softmax(logits.expand_as(call.weights), call.mask)
    first = torch.zeros(batch, keys - call.sinks, dtype=torch.bool)
    first[:, 0] = True
    return [
        uniform,
        random(0),
        permuted(0),
        permuted(0, "heads"),
        permuted(0, "rows"),
        permuted(0, "all"),
        imposed(given),
        without(first),
        from_logits(logits),
        scaled(first, 3.0),
        temperature(2.0),
        temperature(0.5),
    ]


def assert_distribution(weights: Tensor, call: Call, may_lose: bool = False) -> None:
    mask = call.mask.expand_as(weights)
    assert torch.isfinite(weights).all()
    assert (weights >= 0).all()
    assert not weights[~mask].any()
    sums, expected = weights.sum(-1), mask.any(-1).to(weights)
    if may_lose:  # a row whose every free key is erased keeps only what was not free
        expected = torch.where(sums < 1, sums, expected)
    assert_close(sums, expected)


@given(SPECS)
@settings(max_examples=60, deadline=None)
def test_every_override_gives_distributions(spec):
    call = call_from(spec)
    for override in overrides_for(call):
        assert_distribution(override(call), call, may_lose=override.name == "without")


@given(SPECS, *(st.integers(0, 4) for _ in range(4)))
@settings(max_examples=60, deadline=None)
def test_every_override_stays_where_it_is_confined_to(spec, head, query, example, key):
    call = call_from(spec)
    batch, heads, queries, keys = call.weights.shape
    head, query, example = head % heads, query % queries, example % batch
    spared = torch.zeros(batch, keys - call.sinks, dtype=torch.bool)
    spared[:, key % spared.shape[1]] = True
    outside = torch.ones_like(call.weights, dtype=torch.bool)
    outside[example, head, query] = False
    for override in overrides_for(call):
        confined = override.only(heads=head, queries=[query], examples=example).sparing(spared)(call)
        assert_distribution(confined, call, may_lose=override.name == "without")
        assert_close(confined[outside], call.weights[outside], atol=0.0, rtol=0.0)
        untouched = torch.nn.functional.pad(spared, (0, call.sinks), value=True)[:, None, None].expand_as(confined)
        assert_close(confined[untouched], call.weights[untouched])
        elsewhere = override.only(layers=[1, 2])(call)
        assert_close(elsewhere, call.weights, atol=0.0, rtol=0.0)


def test_uniform_by_hand():
    mask = tensor([[[[True, False, True, True]]], [[[False, False, False, False]]]])
    call = call_of(torch.randn(2, 1, 1, 4), mask)
    assert_close(uniform(call)[:, 0, 0], tensor([[1 / 3, 0, 1 / 3, 1 / 3], [0, 0, 0, 0]]))


def test_a_spared_key_and_a_sink_keep_their_share():
    call = call_of(tensor([[[[1.0, 2.0, 0.0, 0.5, 3.0]]]]), sinks=1)
    kept = call.weights[0, 0, 0, [0, 4]]
    weights = uniform.sparing(0)(call)[0, 0, 0]
    assert_close(weights[[0, 4]], kept)
    assert_close(weights[1:4], ((1 - kept.sum()) / 3).expand(3))


def test_random_is_uniform_numbers_divided_by_their_sum():
    """Against numbers drawn one by one: the mean of u1 / (u1 + u2 + u3) is 1/3, its spread known by simulation."""
    weights = random(0)(call_of(torch.zeros(2000, 1, 1, 3)))
    other = torch.rand(100_000, 3, generator=torch.Generator().manual_seed(9))
    other /= other.sum(-1, keepdim=True)
    assert_close(weights.mean((0, 1, 2)), torch.full((3,), 1 / 3), atol=0.02, rtol=0.0)
    assert_close(weights[:, 0, 0, 0].std(), other[:, 0].std(), atol=0.01, rtol=0.0)


def test_draws_are_new_at_every_call_and_the_same_for_the_same_seed():
    call = call_of(torch.randn(1, 2, 3, 6))
    for make in (random, permuted):
        override = make(5)
        first, second = override(call), override(call)
        assert not torch.equal(first, second)
        assert_close(make(5)(call), first, atol=0.0, rtol=0.0)
        assert not torch.equal(make(6)(call), first)
        given = torch.Generator().manual_seed(3)
        again = torch.Generator().manual_seed(3)
        assert_close(make(given)(call), make(again)(call), atol=0.0, rtol=0.0)


def test_every_permutation_of_the_free_keys_is_equally_likely():
    """Brute force: 24 orders of 4 free keys among 6, counted over 12,000 rows; chi-squared with 23 degrees."""
    values = tensor([0.1, 0.0, 0.2, 0.3, 0.0, 0.4])
    mask = tensor([True, False, True, True, False, True])
    rows = 12_000
    call = Call(
        Site("here", 0, "self"), values.expand(rows, 1, 1, 6), mask.expand(rows, 1, 1, 6), None, None, 0, (0,), 1
    )
    shuffled = permuted(0)(call)[:, 0, 0]
    assert not shuffled[:, ~mask].any()
    counts = Counter(tuple(round(float(w), 1) for w in row[mask]) for row in shuffled)
    assert set(counts) == set(itertools.permutations([0.1, 0.2, 0.3, 0.4]))
    expected = rows / 24
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 49.7  # p = 0.001


@pytest.mark.parametrize(
    ("shared", "same_for_heads", "same_for_rows"),
    [("none", False, False), ("heads", True, False), ("rows", False, True), ("all", True, True)],
)
def test_who_shares_a_permutation(shared, same_for_heads, same_for_rows):
    row = torch.arange(1.0, 9.0) / 36
    call = call_of(row.log().expand(1, 4, 5, 8))
    shuffled = permuted(0, shared)(call)[0]
    assert bool((shuffled == shuffled[:1]).all()) is same_for_heads
    assert bool((shuffled == shuffled[:, :1]).all()) is same_for_rows


def test_rows_that_share_an_order_keep_to_their_own_keys():
    """With a causal mask, the order of any row is that of the last, restricted to the keys it may see."""
    scores = torch.arange(6.0).expand(1, 1, 6, 6)
    call = call_of(scores, torch.ones(1, 1, 6, 6, dtype=torch.bool).tril())
    shuffled = permuted(0, "all")(call)[0, 0]
    order = shuffled[5].argsort().argsort()  # which of the six original weights lies where
    for query in range(6):
        ranks = shuffled[query, : query + 1].argsort().argsort().tolist()
        kept = [int(key) for key in order if key <= query]
        assert ranks == kept


def test_imposed_weights_are_checked():
    call = call_of(torch.zeros(2, 1, 1, 3), tensor([[[[True, True, False]]]]).expand(2, 1, 1, 3))
    good = tensor([0.25, 0.75, 0.0]).expand(2, 1, 1, 3)
    assert_close(imposed(good)(call), good)
    assert_close(imposed(good[:1])(call), good)
    for bad in (good * 2, good.flip(-1), tensor([1.5, -0.5, 0.0]).expand(2, 1, 1, 3), good * torch.nan):
        with pytest.raises(InvalidWeights, match="imposed at site 'here' are not a distribution"):
            imposed(bad)(call)
    with pytest.raises(InvalidWeights, match=r"given for site 'here' are \[2, 1, 1, 4\]; expected \[2, 1, 1, 3\]"):
        imposed(torch.full((2, 1, 1, 4), 0.25))(call)


def test_imposing_a_tape_goes_step_by_step():
    call = call_of(torch.randn(1, 1, 2, 3))
    tape = Tape({"here": [call, Call(**(call.__dict__ | {"weights": call.weights.flip(-1)}))]})
    again = Call(**(call.__dict__ | {"step": 1}))
    assert_close(imposed(tape)(call), call.weights)
    assert_close(imposed(tape)(again), call.weights.flip(-1))
    with pytest.raises(InvalidWeights, match="the tape holds 2 calls of site 'here', and this is call 3"):
        imposed(tape)(Call(**(call.__dict__ | {"step": 2})))


def test_without_by_hand():
    call = call_of(tensor([[[[0.1, 0.2, 0.7]]]]).log())
    assert_close(without(2)(call)[0, 0, 0], tensor([1 / 3, 2 / 3, 0.0]))
    assert_close(without([2], renormalise=False)(call)[0, 0, 0], tensor([0.1, 0.2, 0.0]))
    assert_close(without(slice(None))(call)[0, 0, 0], torch.zeros(3))
    assert_close(without(tensor([[False, True, False]]))(call)[0, 0, 0], tensor([1 / 8, 0.0, 7 / 8]))


def test_temperature_and_scaled_by_hand():
    call = call_of(tensor([[[[0.0, math.log(4.0)]]]]))
    assert_close(temperature(2.0)(call)[0, 0, 0], tensor([1 / 3, 2 / 3]))
    assert_close(temperature(0.5)(call)[0, 0, 0], tensor([1 / 17, 16 / 17]))
    assert_close(scaled(0, 4.0)(call)[0, 0, 0], tensor([0.5, 0.5]))
    assert_close(scaled(0, 0.0)(call)[0, 0, 0], tensor([0.0, 1.0]))


def test_temperature_sees_what_the_override_before_it_made():
    call = call_of(torch.randn(1, 1, 1, 4))
    after = Call(**(call.__dict__ | {"weights": uniform(call), "scores": None}))
    assert_close(temperature(1.0)(after), uniform(call))


def test_confinements_add_up_and_are_not_said_twice():
    call = call_of(torch.randn(2, 3, 2, 4), layer=1)
    confined = uniform.only(heads=[0]).only(layers=1, examples=1)(call)
    changed = (confined != call.weights).any(-1)
    assert changed.nonzero().tolist() == [[1, 0, 0], [1, 0, 1]]
    with pytest.raises(ValueError, match="uniform is already confined to some heads"):
        uniform.only(heads=0).only(heads=1)
    with pytest.raises(ValueError, match="already spares some keys"):
        uniform.sparing(0).sparing(1)


def test_small_weights_are_shared_out_rightly_in_half_precision():
    call = call_of(torch.zeros(1, 1, 1, 4).half())
    call = Call(**(call.__dict__ | {"weights": tensor([[[[1.0, 3e-5, 0.0, 0.0]]]]).half()}))
    assert_close(without(0)(call)[0, 0, 0].float(), tensor([0.0, 1.0, 0.0, 0.0]))


def test_learnable_logits_get_a_gradient():
    call = call_of(torch.zeros(1, 1, 1, 3))
    logits = tensor([[[[0.0, 1.0, 2.0]]]], requires_grad=True)
    (gradient,) = torch.autograd.grad(from_logits(logits)(call)[..., 0].sum(), logits)
    p = logits.detach().softmax(-1)[0, 0, 0]
    assert_close(gradient[0, 0, 0], p[0] * (tensor([1.0, 0.0, 0.0]) - p))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_logits_that_are_no_numbers_are_refused(wrong):
    """A learnable override that diverged would hand NaN to the model."""
    mask = tensor([[[[True, True, False]]]])
    call = call_of(torch.zeros(1, 1, 1, 3), mask)
    assert_close(from_logits(tensor([[[[0.0, 0.0, wrong]]]]))(call)[0, 0, 0], tensor([0.5, 0.5, 0.0]))
    with pytest.raises(InvalidWeights, match="the logits given for site 'here' hold NaN or infinity"):
        from_logits(tensor([[[[0.0, wrong, 0.0]]]]))(call)


@pytest.mark.parametrize("make", [lambda w: permuted(0), lambda w: without(1), lambda w: scaled(1, 2.0)])
def test_gradients_pass_through_to_the_models_own_weights(make):
    scores = torch.randn(1, 1, 2, 4, requires_grad=True)
    call = call_of(scores)
    (gradient,) = torch.autograd.grad((make(call.weights)(call) * torch.arange(4.0)).sum(), scores)
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: temperature(0.0), "temperature must be a number above 0, it is 0.0"),
        (lambda: scaled(0, -1.0), "factor must be a number, 0 or more, and finite; it is -1.0"),
        (lambda: scaled(0, math.inf), "factor must be a number, 0 or more, and finite; it is inf"),
        (lambda: uniform.only(heads=7)(call_of(torch.zeros(1, 2, 1, 3))), "no head 7 at site 'here'; there are 2"),
        (lambda: without(3)(call_of(torch.zeros(1, 2, 1, 3))), "no key 3 at site 'here'; there are 3"),
        (
            lambda: uniform.sparing(torch.zeros(2, 4, dtype=torch.bool))(call_of(torch.zeros(1, 2, 1, 3))),
            r"a mask of key positions at site 'here' must be truth values \[1, 3\]",
        ),
    ],
)
def test_bad_arguments_are_answered_in_a_sentence(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_overrides_keep_the_precision(dtype):
    call = call_of(torch.randn(2, 2, 3, 4).to(dtype))
    for override in overrides_for(call):
        weights = override(call)
        assert weights.dtype == dtype, override.name
        assert_close(weights.float().sum(-1), torch.ones(2, 2, 3), atol=2e-2, rtol=0.0)
