"""Overrides that are no distributions: a sentence that names the site, never a raw error from within torch."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from support.subjects import outputs, subject
from whence import attending, from_logits, imposed, permuted, scaled, sites, temperature, uniform, without
from whence.core.errors import InvalidWeights

SHAPE = (2, 4, 11, 11)  # of bert on its probe
FLOATS = [torch.float64, torch.float16, torch.float32]
more = pytest.mark.every_family


def tensors(rng: random.Random) -> Any:
    """Something that a function might return instead of weights."""
    dtype = rng.choice([torch.int64, torch.int8, torch.bool, torch.complex64, *FLOATS])
    shape = rng.choice([SHAPE, SHAPE, SHAPE, (), (1,), SHAPE[1:], (11,), (2, 4, 11), (0,), (2, 1, 11, 11), (1, *SHAPE)])
    made = torch.randn(shape).softmax(-1) if shape and shape != (0,) else torch.zeros(shape)
    one_hot = torch.zeros(shape).index_fill_(-1, torch.tensor(0), 1.0) if shape and shape != (0,) else made
    return rng.choice([made, one_hot, made - 1, made * float("nan")]).to(dtype)


def junk(rng: random.Random) -> Any:
    return rng.choice([None, 1, 0.5, True, "uniform", [], [uniform], (), {}, object(), range(3), 1j, tensors(rng)])


def run_with(model: Any, inputs: Any, site: str, rule: Any) -> None:
    with attending(model, {site: rule}, watch=None):
        outputs(model, inputs)


def complaint(action: Callable[[], None]) -> str | None:
    """The sentence that came, if one did; any other error passes."""
    try:
        action()
    except InvalidWeights as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[more] * (seed >= 6)) for seed in range(30)])
@pytest.mark.filterwarnings("ignore")
def test_what_an_override_returns_is_checked(seed):
    """A hundred a seed, at either kind of site: 600 in all, and 3,000 with `--all-families`."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    model, inputs = subject(rng.choice(["bert", "deberta-v2"]))
    site = rng.choice(list(sites(model)))
    for _ in range(100):
        given = junk(rng)
        error = complaint(partial(run_with, model, inputs, site, lambda call, given=given: given))
        if error is None:
            assert isinstance(given, torch.Tensor)
            assert (given.dtype, given.shape) == (torch.float32, SHAPE)
        else:
            assert repr(site) in error
            assert any(words in error for words in ("expected", "call.mask", "divide each row"))


@pytest.mark.parametrize("rule", [[uniform], [uniform, permuted(0)], 3, "uniform", torch.ones(SHAPE), (uniform,)])
def test_what_is_no_rule_is_refused_before_the_model_runs(rule):
    model, _ = subject("bert")
    with pytest.raises(InvalidWeights, match=r"the override for site '\*' is a \w+; expected a function"):
        attending(model, rule).__enter__()
    with pytest.raises(InvalidWeights, match=r"the override for site '\*layer\.0\*' is a"):
        attending(model, {"*layer.0*": rule}).__enter__()


@pytest.mark.parametrize("make", [imposed, from_logits])
@pytest.mark.parametrize("given", [None, 3, "x", [[0.5, 0.5]], torch.ones(SHAPE, dtype=torch.complex64)])
def test_what_is_no_tensor_of_numbers_cannot_be_imposed(make, given):
    with pytest.raises(InvalidWeights, match=r"must be a tensor of real numbers \[batch head query key\]; got a"):
        make(given)


@pytest.mark.parametrize("make", [imposed, from_logits])
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[more] * (seed >= 2)) for seed in range(5)])
def test_imposed_tensors_that_do_not_fit_name_the_site(make, seed):
    rng = random.Random(seed)
    model, inputs = subject("bert")
    site = next(iter(sites(model)))
    for _ in range(30):
        given = tensors(rng)
        if given.is_complex():
            continue
        error = complaint(partial(run_with, model, inputs, site, make(given)))
        assert error is None or repr(site) in error


@pytest.mark.parametrize("seed", ["x", 1.5, None, [1]])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match=r"the seed of permuted must be a whole number or a torch\.Generator"):
        permuted(seed)


@pytest.mark.parametrize("shared", ["junk", None, 3, ""])
def test_who_shares_a_permutation_is_one_of_four(shared):
    with pytest.raises(ValueError, match="shared must be one of none, heads, rows, all; it is"):
        permuted(0, shared=shared)


@pytest.mark.parametrize("number", ["x", None, -1, float("nan"), torch.ones(3)])
def test_numbers_are_numbers(number):
    with pytest.raises(ValueError, match="temperature must be a number above 0"):
        temperature(number)
    with pytest.raises(ValueError, match="factor must be a number, 0 or more, and finite"):
        scaled([0], number)


@pytest.mark.parametrize("keys", ["x", 99, [1, 99], [0.5], {"a"}, torch.ones(3), torch.ones(2, 2, dtype=torch.bool)])
def test_keys_that_are_not_there_name_the_site(keys):
    model, inputs = subject("bert")
    site = next(iter(sites(model)))
    for rule in (without(keys), uniform.sparing(keys), uniform.only(heads=keys), uniform.only(queries=keys)):
        with pytest.raises(ValueError, match=site.replace(".", r"\.")), attending(model, {site: rule}, watch=None):
            outputs(model, inputs)


@pytest.mark.parametrize("watch", [3, [3], ["*", None]])
def test_what_cannot_be_watched_is_refused(watch):
    with pytest.raises(ValueError, match="watch takes names or globs of sites, watchers, or None"):
        attending(subject("bert")[0], watch=watch).__enter__()
