"""The search for adversarial attention compared with scipy, a slow loop, and brute force over all attentions."""

from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch.special import entr

from support import zoo
from support.contexts import context as context_of
from support.experiments.instance_adversary import TEXTS, config, context, jsd
from support.tokenizing import reader, wordpiece
from whence.core.attending import attending
from whence.core.overrides import from_logits, imposed
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.exclusivity import attention_search as _adversaries
from whence.evaluation.exclusivity.editable_attention import EditableAttention, single_site
from whence.experiments import instance_adversary
from whence.subject.subject import Subject


@pytest.mark.parametrize("probabilities", ["model", "calibrated"])
def test_with_two_words_the_best_of_a_fine_grid_is_found(probabilities):
    """α̃ = (a, 1 − a): every a is tried."""
    some, limits = context("additive-lstm-additive", ["good movie", "bad film", "not story"]), (0.002, 0.01, 0.03)
    table = instance_adversary.run(config(max_output_change=limits, probabilities=probabilities), some)
    (factor,) = set(table["factor"])
    grid = np.linspace(0, 1, 2001)
    rows = np.stack([0 * grid, grid, 1 - grid, 0 * grid], -1)  # the first and last token get none
    for number, example in enumerate(some.examples):
        with attending(some.subject.model, watch="attention") as tape, torch.no_grad():
            base = some.subject.logits(some.subject.encode([example]))[0, 0].double()
        own = tape.only("attention").weights[0, 0, 0].double().numpy()
        every = some.subject.encode([example] * len(grid))
        given = imposed(torch.tensor(rows).float()[:, None, None])
        with attending(some.subject.model, override=given, watch=None), torch.no_grad():
            logits = some.subject.logits(every)[:, 0].double()
        moved = ((factor * logits).softmax(-1) - (factor * base).softmax(-1)).abs().sum(-1) / 2
        moved = torch.where(logits.argmax(-1) == base.argmax(-1), moved, torch.inf).numpy()
        for limit in limits:
            best = max((jsd(row, own) for row, by in zip(rows, moved, strict=True) if by <= limit), default=0.0)
            (got,) = table[(table["example"] == number) & (table["limit"] == limit)]["jsd"]
            assert got == pytest.approx(best, abs=0.01 * best + 1e-3)
            assert best > 1e-3


def corners(own, margins, limit):
    """The largest JSD within the limit, by trying every corner of what is allowed.

    Of two classes the margin of the logits is Σ α̃ d. JSD is convex in α̃, so it is largest at a corner of the simplex
    cut by low ≤ Σ α̃ d ≤ high: all weight on one word, or on two such that the margin is at one of the ends. The margin
    must not change its sign.
    """
    base = 1 / (1 + np.exp(-own @ margins))
    least, most = (0.5, 1.0) if base > 0.5 else (0.0, 0.5)
    with np.errstate(divide="ignore"):
        low, high = (np.log(p) - np.log(1 - p) for p in (max(base - limit, least), min(base + limit, most)))
    single = np.eye(len(own))
    tried = [single[k] for k in range(len(own)) if low <= margins[k] <= high]
    for end in (end for end in (low, high) if np.isfinite(end)):
        for i, j in permutations(range(len(own)), 2):
            if margins[i] < end < margins[j]:
                share = (end - margins[i]) / (margins[j] - margins[i])
                tried.append((1 - share) * single[i] + share * single[j])
    return max((jsd(row, own) for row in tried), default=0.0)


@pytest.mark.parametrize("trained", [False, True])
def test_the_search_comes_near_the_furthest_attention_there_is_and_never_beyond(trained):
    some = context_of("additive", 12) if trained else context("additive-lstm-additive", TEXTS[:3] + TEXTS[4:])
    table = instance_adversary.run(config(restarts=8, max_output_change=(0.005, 0.02)), some)
    shares = []
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example])
        with attending(some.subject.model, watch="attention") as tape:
            some.subject.predict(batch)
        call = tape.only("attention")
        words = call.mask[0, 0, 0].nonzero().flatten().tolist()
        single = torch.nn.functional.one_hot(torch.tensor(words), call.weights.shape[-1]).float()[:, None, None]
        with attending(some.subject.model, override=imposed(single), watch=None), torch.no_grad():
            logits = some.subject.logits(some.subject.encode([example] * len(words)))[:, 0].double().numpy()
        margins = table["factor"].iloc[0] * (logits[:, 1] - logits[:, 0])
        own = call.weights[0, 0, 0, words].double().numpy()
        for limit in (0.005, 0.02):
            (got,) = table[(table["example"] == number) & (table["limit"] == limit)]["jsd"]
            best = corners(own, margins, limit)
            assert got <= best + 1e-5
            shares.append(got / best)
    assert np.mean(shares) > 0.95


def slow_search(subject: Subject, example: Example, site: str, begin: torch.Tensor, asked, steps: int):
    """One text, one start, one full forward pass for each step; Adam as Kingma & Ba and Reddi et al. write it."""
    batch = subject.encode([example])
    with attending(subject.model, watch=site) as tape:
        base = subject.logits(batch)[0, 0].softmax(-1).detach()
    own = tape.only(site).weights.detach()
    logits, mean, square, largest = begin.clone(), torch.zeros(()), torch.zeros(()), torch.zeros(())
    for step in range(1, steps + 2):
        logits.requires_grad_()
        with attending(subject.model, override={site: from_logits(logits)}) as tape:
            probs = subject.logits(batch)[0, 0].softmax(-1)
        row, before = (weights[call.mask] for call in [tape.only(site)] for weights in (call.weights, own))
        apart = (entr((row + before) / 2) - entr(row) / 2 - entr(before) / 2).sum()
        change = (probs - base).abs().sum() / 2
        if step > steps:
            return apart.item(), change.item()
        (slope,) = torch.autograd.grad(apart - asked.penalty * (change - asked.penalised[0]).clamp_min(0), logits)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        largest = torch.maximum(largest, square)
        size = (largest / (1 - 0.999**step)).sqrt() + 1e-8
        logits = (logits + asked.learning_rate * mean / (1 - 0.9**step) / size).detach()
    raise AssertionError


@pytest.mark.parametrize("name", ["additive-lstm-additive", "pooled-post-sinusoidal-cross_entropy"])
def test_the_search_is_that_of_a_slow_loop(name):
    some, steps = context(name, TEXTS[:3]), 12
    asked = config(restarts=2, keep="last", learning_rate=0.1, max_output_change=(0.02,))
    (batch,) = some.batches()
    site = single_site(some.subject, "auto")
    there = EditableAttention(some.subject, batch, site)
    draws = [some.generator(str(number)) for number in range(3)]
    begin = _adversaries.starts(there, 2, draws)
    search = _adversaries.Search(there, asked, begin, 0.1)
    for _ in range(steps):
        search.step()
    search.look()
    for place, number in enumerate(batch.examples.tolist()):
        for restart in range(2):
            alone = begin[restart, [place]][..., : len(some.subject.encode([some.examples[number]]).tokens[0])]
            apart, change = slow_search(some.subject, some.examples[number], site, alone, asked, steps)
            assert search.best.jsd[restart, place] == pytest.approx(apart, abs=2e-4)
            assert search.best.change[restart, place] == pytest.approx(change, abs=2e-4)


def test_the_divergence_is_scipys_and_its_gradient_that_of_differences():
    draw = torch.Generator().manual_seed(0)
    p, q = (torch.randn(4, 3, 2, 5, 7, generator=draw).mul(3).softmax(-1) for _ in range(2))
    p[0, 0, 0, 0], q = torch.eye(7)[0], q[0]
    q[0, 0, 0] = torch.eye(7)[1]  # disjoint: ln 2
    found = _adversaries.Divergence.apply(p, q)
    for at in np.ndindex(*found.shape):
        assert float(found[at]) == pytest.approx(jsd(p[at].double(), q[at[1:]].double()), abs=1e-6)
        assert float(found[at]) == pytest.approx(jensenshannon(p[at].double(), q[at[1:]].double()) ** 2, abs=1e-6)
    assert float(found[0, 0, 0, 0]) == pytest.approx(np.log(2), abs=1e-6)
    logits = torch.randn(2, 1, 1, 1, 4, dtype=torch.float64, generator=draw).requires_grad_()
    own = q[:1, :1, :1, :4].double() + 0.1
    assert torch.autograd.gradcheck(lambda given: _adversaries.Divergence.apply(given.softmax(-1), own), (logits,))


@pytest.mark.parametrize("restarts", [2, 3, 4, 5])
def test_the_mean_between_restarts_is_that_of_all_pairs(restarts):
    some = context("additive-lstm-additive", TEXTS[:3])
    (batch,) = some.batches()
    there = EditableAttention(some.subject, batch, "attention")
    drawn = torch.randn(2 * restarts, *there.own.shape, generator=torch.Generator().manual_seed(0))  # two levels
    rows = there.weights(drawn).requires_grad_()
    found = _adversaries.between(there, rows, restarts)
    told = found.detach()
    pairs = list(combinations(range(restarts), 2))
    for level, text in np.ndindex(2, 3):
        each = rows[restarts * level : restarts * (level + 1), text, 0, 0].detach().double().numpy()
        assert float(told[level, text]) == pytest.approx(np.mean([jsd(each[i], each[j]) for i, j in pairs]), abs=1e-6)
    (slope,) = torch.autograd.grad(found.sum(), rows)
    one, by_level = rows.detach()[:, 0, 0, 0].double().requires_grad_(), torch.zeros(())
    for i, j in ((level * restarts + i, level * restarts + j) for level in range(2) for i, j in pairs):
        words = batch.special[0].logical_not()
        p, q = one[i, words], one[j, words]
        by_level = by_level + (entr((p + q) / 2) - entr(p) / 2 - entr(q) / 2).sum() / len(pairs)
    (expected,) = torch.autograd.grad(by_level, one)
    torch.testing.assert_close(slope[:, 0, 0, 0][:, words], expected[:, words].float(), atol=1e-5, rtol=1e-4)


def test_a_text_finds_the_same_in_any_batch_and_from_the_same_seed():
    asked = config(steps=60, probabilities="model")  # the calibrated depend on all of the texts
    whole = instance_adversary.run(asked, context("additive-lstm-additive"))
    for number, text in enumerate(TEXTS):
        some = Context(
            reader("additive-lstm-additive"), [Example(text)], [number], quiet=True, name="instance_adversary"
        )
        one = instance_adversary.run(asked, some)
        there = whole[whole["example"] == number]
        np.testing.assert_allclose(one["jsd"], there["jsd"], atol=1e-3)
        np.testing.assert_allclose(one["max_weight"], there["max_weight"], atol=1e-6)
        assert one["inputs"].tolist() == there["inputs"].tolist()
    again = instance_adversary.run(asked, context("additive-lstm-additive"))
    assert again.equals(whole)
    other = instance_adversary.run(asked, context("additive-lstm-additive", seed=1))
    assert not other["jsd"].equals(whole["jsd"])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
@pytest.mark.parametrize("name", ["additive-average-additive", "bert"])
def test_in_other_precisions(name, dtype):
    subject = Subject(zoo.BY_NAME[name].build(dtype), wordpiece(), name=name)
    some = Context(subject, [Example(text) for text in TEXTS], range(len(TEXTS)), quiet=True, name="instance_adversary")
    table = instance_adversary.run(config(steps=10, max_output_change=(0.05,)), some)
    assert (table["change"] <= 0.05).all()
    assert table["jsd"].max() > 0.01
