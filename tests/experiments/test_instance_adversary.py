"""Adversarial attention, text by text: beside scipy, a slow loop, and brute force over all attentions."""

from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr
from torch.special import entr

from support import zoo
from support.contexts import context as context_of
from support.tokenizing import reader, wordpiece
from whence.core.attending import attending
from whence.core.errors import BadConfig, UnknownSite
from whence.core.overrides import from_logits, imposed
from whence.data.examples import Example
from whence.evaluation import attention_search as _adversaries
from whence.evaluation.attention_search import furthest_attention
from whence.evaluation.context import Context
from whence.evaluation.editable_attention import EditableAttention, single_site
from whence.experiments import instance_adversary
from whence.subject.subject import Subject
from whence.subject.targets import predicted

TEXTS = [
    "good movie",
    "the film was not good .",
    "a bad bad story . the movie was good !",
    "bad",
    "was the story good ?",
]
SINGLE = [
    "additive-lstm-additive",
    "additive-average-additive",
    "additive-lstm-dot",
    "hierarchical",
    "pooled-post-sinusoidal-cross_entropy",
    "pooled-query-none-binary",
]
OTHERS = [
    "bert",
    "albert",
    "xlnet",
    "gpt2",
    "modernbert",
    "deberta-v2",
    "transformer-pre-none",
    "bart-classifier",
    "xlm-roberta",
    "gpt-oss",
]


def config(**options) -> instance_adversary.Config:
    return instance_adversary.Config(model="m", data="d", **options)


def context(name: str, texts=TEXTS, **options) -> Context:
    examples = [Example(text, ("LABEL_0", "LABEL_1")[n % 2]) for n, text in enumerate(texts)]
    return Context(reader(name), examples, range(len(texts)), quiet=True, name="instance_adversary", **options)


def jsd(p, q) -> float:
    """In nats, with scipy's relative entropy."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    return float(rel_entr(p, (p + q) / 2).sum() + rel_entr(q, (p + q) / 2).sum()) / 2


def alone(subject: Subject, example: Example, there: EditableAttention, rows: torch.Tensor, place: int):
    """The JSD of rows that were found in a batch, and the change when they are imposed on the text by itself."""
    batch, real = subject.encode([example]), there.batch.mask[place].nonzero().flatten()
    with attending(subject.model, watch=there.site) as tape:
        base = subject.logits(batch)
    own = tape.only(there.site).weights.detach()
    sinks = there.replay.call.sinks
    keys = [*real.tolist(), *range(rows.shape[-1] - sinks, rows.shape[-1])]
    if there.replay.call.site.keys == "parts":
        keys, real = list(range(own.shape[-1])), torch.zeros(1)
    weights, apart = own.clone(), []
    for row, query in enumerate(there.places[place].tolist()):
        if there.share[place, 0, row] > 0:
            query -= int(real[0])  # the text by itself has no padding before it
            weights[0, :, query] = rows[place, :, row, keys]
            apart += [jsd(weights[0, head, query], own[0, head, query]) for head in range(own.shape[1])]
    with attending(subject.model, override={there.site: imposed(weights)}, watch=None):
        altered = subject.logits(batch)
    position = int(predicted(subject, batch).positions[0])
    p, q = (found[0, position].detach().double().softmax(-1).numpy() for found in (base, altered))
    return np.mean(apart), abs(p - q).sum() / 2


@pytest.mark.parametrize(
    ("name", "rows"), [(name, "read") for name in SINGLE + OTHERS] + [(name, "all") for name in OTHERS]
)
def test_every_adversary_keeps_to_its_limit_when_the_text_is_run_by_itself(name, rows):
    some = context(name)
    (batch,) = some.batches()
    asked = config(restarts=2, rows=rows, max_output_change=(0.01, 0.1))
    there, found = furthest_attention(some, batch, asked, single_site(some.subject, "auto"), 8)
    assert [one.limit for one in found] == [0.01, 0.1]
    for one in found:
        for place, number in enumerate(batch.examples.tolist()):
            apart, moved = alone(some.subject, some.examples[number], there, one.rows, place)
            assert moved <= one.limit + 1e-5
            assert moved == pytest.approx(one.tvd[place], abs=1e-5)
            assert apart == pytest.approx(one.jsd[place], abs=1e-5)
            assert (one.restart[place] >= 0) == (one.jsd[place] > 0)
    assert (found[1].jsd >= found[0].jsd).all()
    assert found[1].jsd.max() > 0.05, "nothing moved: the limits show nothing"


@pytest.mark.parametrize("name", ["bert", "gpt-oss", "xlnet"])
def test_special_tokens_and_sinks_keep_their_weight(name):
    some = context(name, TEXTS[:3])
    (batch,) = some.batches()
    there, (found,) = furthest_attention(
        some, batch, config(max_output_change=(0.5,), restarts=2), single_site(some.subject, "auto"), 5
    )
    width = batch.special.shape[1]
    kept = torch.zeros(found.rows.shape[0], found.rows.shape[-1], dtype=torch.bool)
    kept[:, :width] = batch.special
    kept[:, width:] = True
    held = kept[:, None, None].expand_as(found.rows)
    torch.testing.assert_close(found.rows[held], there.own[held])
    assert found.jsd.max() > 0.01
    assert (found.rows.sum(-1) - 1).abs().max() < 1e-5


def test_with_two_words_the_best_of_a_fine_grid_is_found():
    """α̃ = (a, 1 − a): every a is tried."""
    some, limits = context("additive-lstm-additive", ["good movie", "bad film", "not story"]), (0.002, 0.01, 0.03)
    table = instance_adversary.run(config(max_output_change=limits), some)
    grid = np.linspace(0, 1, 2001)
    rows = np.stack([0 * grid, grid, 1 - grid, 0 * grid], -1)  # the first and last token get none
    for number, example in enumerate(some.examples):
        with attending(some.subject.model, watch="attention") as tape:
            base = some.subject.predict(some.subject.encode([example]))[0, 0].double().numpy()
        own = tape.only("attention").weights[0, 0, 0].double().numpy()
        every = some.subject.encode([example] * len(grid))
        given = imposed(torch.tensor(rows).float()[:, None, None])
        with attending(some.subject.model, override=given, watch=None):
            moved = abs(some.subject.predict(every)[:, 0].double().numpy() - base).sum(-1) / 2
        for limit in limits:
            best = max((jsd(row, own) for row, by in zip(rows, moved, strict=True) if by <= limit), default=0.0)
            (got,) = table[(table["example"] == number) & (table["limit"] == limit)]["jsd"]
            assert got == pytest.approx(best, abs=0.01 * best + 1e-3)
            assert best > 1e-3


def corners(own, margins, limit):
    """The largest JSD within the limit, by trying every corner of what is allowed.

    Of two classes the margin of the logits is Σ α̃ d. JSD is convex in α̃, so it is largest at a corner of the simplex
    cut by low ≤ Σ α̃ d ≤ high: all weight on one word, or on two such that the margin is at one of the ends.
    """
    base = 1 / (1 + np.exp(-own @ margins))
    with np.errstate(divide="ignore"):
        low, high = (np.log(p) - np.log(1 - p) for p in (max(base - limit, 0.0), min(base + limit, 1.0)))
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
        margins = logits[:, 1] - logits[:, 0]
        own = call.weights[0, 0, 0, words].double().numpy()
        for limit in (0.005, 0.02):
            (got,) = table[(table["example"] == number) & (table["limit"] == limit)]["jsd"]
            best = corners(own, margins, limit)
            assert got <= best + 1e-5
            shares.append(got / best)
    assert np.mean(shares) > 0.85


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
        some = rows[restarts * level : restarts * (level + 1), text, 0, 0].detach().double().numpy()
        assert float(told[level, text]) == pytest.approx(np.mean([jsd(some[i], some[j]) for i, j in pairs]), abs=1e-6)
    (slope,) = torch.autograd.grad(found.sum(), rows)
    one, by_level = rows.detach()[:, 0, 0, 0].double().requires_grad_(), 0.0
    for i, j in ((level * restarts + i, level * restarts + j) for level in range(2) for i, j in pairs):
        words = batch.special[0].logical_not()
        p, q = one[i, words], one[j, words]
        by_level = by_level + (entr((p + q) / 2) - entr(p) / 2 - entr(q) / 2).sum() / len(pairs)
    (expected,) = torch.autograd.grad(by_level, one)
    torch.testing.assert_close(slope[:, 0, 0, 0][:, words], expected[:, words].float(), atol=1e-5, rtol=1e-4)


def test_a_text_finds_the_same_in_any_batch_and_from_the_same_seed():
    whole = instance_adversary.run(config(steps=60), context("additive-lstm-additive"))
    for number, text in enumerate(TEXTS):
        some = Context(
            reader("additive-lstm-additive"), [Example(text)], [number], quiet=True, name="instance_adversary"
        )
        one = instance_adversary.run(config(steps=60), some)
        there = whole[whole["example"] == number]
        np.testing.assert_allclose(one["jsd"], there["jsd"], atol=1e-3)
        np.testing.assert_allclose(one["max_weight"], there["max_weight"], atol=1e-6)
        assert one["inputs"].tolist() == there["inputs"].tolist()
    again = instance_adversary.run(config(steps=60), context("additive-lstm-additive"))
    assert again.equals(whole)
    other = instance_adversary.run(config(steps=60), context("additive-lstm-additive", seed=1))
    assert not np.allclose(other["jsd"], whole["jsd"], atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
@pytest.mark.parametrize("name", ["additive-average-additive", "bert"])
def test_in_other_precisions(name, dtype):
    subject = Subject(zoo.BY_NAME[name].build(dtype), wordpiece(), name=name)
    some = Context(subject, [Example(text) for text in TEXTS], range(len(TEXTS)), quiet=True, name="instance_adversary")
    table = instance_adversary.run(config(steps=10, max_output_change=(0.05,)), some)
    assert (table["change"] <= 0.05).all()
    assert table["jsd"].max() > 0.01


def test_a_text_of_one_word_keeps_its_own_attention():
    table = instance_adversary.run(config(steps=5), context("additive-lstm-additive", ["bad", "good movie"]))
    one = table[table["example"] == 0]
    assert one["inputs"].tolist() == [1, 1]
    assert one["jsd"].max() < 1e-6
    assert instance_adversary.effects(table)[0].n == 1  # the other text


def test_without_candidates_the_own_attention_is_kept():
    """Limits so narrow that a few steps from far away do not meet them."""
    table = instance_adversary.run(
        config(steps=1, restarts=1, max_output_change=(1e-7,)), context("additive-lstm-additive")
    )
    missed = table[table["inputs"] > 1]
    assert not missed["met"].any()
    assert (missed["restart"] == -1).all()
    assert (missed[["jsd", "tvd", "change"]] == 0).all(axis=None)


def test_the_authors_measure_is_twice_the_total_variation_of_several_classes():
    assert [_adversaries.change_factor("author_code", classes) for classes in (2, 3)] == [1, 2]
    assert [_adversaries.change_factor("total_variation", classes) for classes in (2, 3)] == [1, 1]
    some = context("pooled-pre-none-cross_entropy")
    asked = config(steps=20, measure="author_code", penalised_change=0.01, keep="last", max_output_change=(0.05,))
    table = instance_adversary.run(asked, some)
    np.testing.assert_allclose(table["change"], table["tvd"], atol=1e-12)


def test_the_short_cut_is_taken_where_a_linear_map_reads_the_text():
    for name, there in (
        ("additive-lstm-additive", True),
        ("additive-dot-pairs-bypass", False),
        ("pooled-query-none-binary", False),
        ("hierarchical", True),
        ("bert", False),
    ):
        subject = reader(name)
        pair = "the movie was bad" if "pairs" in name else None
        batch = subject.encode(
            [Example("a good film .", pair=pair), Example("the story was not good . bad !", pair=pair)]
        )
        site = instance_adversary_site(subject)
        assert (EditableAttention(subject, batch, site).at_each_key is not None) == there, name


def instance_adversary_site(subject: Subject) -> str:
    return single_site(subject, "auto")


def made(**by_limit: list[float]):
    """A table with these divergences, by limit."""
    rows = [
        {
            "example": n,
            "label": "a",
            "prediction": "a",
            "limit": float(limit.replace("_", ".")[1:]),
            "inputs": 9,
            "max_weight": 0.3,
            "met": far > 0,
            "restart": 0,
            "jsd": far,
            "tvd": 0.0,
            "change": 0.0,
            "site": "attention",
            "steps": 500,
        }
        for limit, apart in by_limit.items()
        for n, far in enumerate(apart)
    ]
    return instance_adversary.COLUMNS.table(rows)


@pytest.mark.parametrize(
    ("strict", "wide", "answer"),
    [
        ([0.5] * 40, [0.6] * 40, "no"),
        ([0.1] * 40, [0.15] * 40, "yes"),
        ([0.1] * 40, [0.6] * 40, "undecided"),
        ([0.5] * 20 + [0.1] * 20, [0.6] * 40, "undecided"),
        ([0.5] * 10, [0.6] * 10, "undecided"),
    ],
)
def test_no_is_said_at_the_strictest_limit_and_yes_at_the_widest(strict, wide, answer):
    table = made(e0_01=strict, e0_05=wide)
    verdict = instance_adversary.verdict(table)
    assert (verdict.question, verdict.answer) == (5, answer)
    assert [effect.variant for effect in verdict.effects] == ["0.01", "0.05"]
    assert "Wiegreffe & Pinter" in verdict.does_not_mean
    assert instance_adversary.quantities(table)["JSD within 0.05"].mean == pytest.approx(np.mean(wide))
    assert len(instance_adversary.summary(table)) == 2
    assert instance_adversary.figure(table).axes


def test_what_cannot_be_asked_is_said():
    with pytest.raises(BadConfig, match="needs one prediction per text, and bart generates texts"):
        instance_adversary.run(config(), context("bart"))
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'"):
        instance_adversary.run(config(site="nowhere"), context("bert"))
    with pytest.raises(BadConfig, match=r"replaced at one site, and '\*layer\*' matches bert.encoder.layer.0"):
        instance_adversary.run(config(site="*layer*"), context("bert"))
    with pytest.raises(ValidationError, match="must be above 0"):
        config(max_output_change=(0.0, 0.1))
