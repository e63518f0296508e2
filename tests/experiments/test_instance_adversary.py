"""Adversarial attention, text by text: beside scipy, a slow loop, and brute force over all attentions."""

from itertools import combinations

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.special import rel_entr

from test_permutation import bench as bench_of
from tokenizing import reader
from whence.core.attending import attending
from whence.core.errors import BadConfig, UnknownSite
from whence.core.overrides import imposed
from whence.data.examples import Example
from whence.experiments import _adversaries, instance_adversary
from whence.experiments._alterable import Alterable
from whence.experiments._bench import Bench
from whence.models.subject import Subject
from whence.models.targets import predicted
from whence.results.verdict import Effect

TEXTS = [
    "good movie",
    "the film was not good .",
    "a bad bad story . the movie was good !",
    "bad",
    "was the story good ?",
]
SINGLE = ["additive-lstm-additive", "additive-average-additive", "additive-lstm-dot", "pooled-post-sinusoidal-cross_entropy",
          "pooled-query-none-binary", "hierarchical"]  # fmt: skip
OTHERS = ["bert", "albert", "xlnet", "gpt2", "modernbert", "deberta-v2", "transformer-pre-none", "bart-classifier",
          "xlm-roberta", "gpt-oss"]  # fmt: skip


def config(**options) -> instance_adversary.Config:
    return instance_adversary.Config(model="m", data="d", **options)


def bench(name: str, texts=TEXTS, **options) -> Bench:
    examples = [Example(text, ("LABEL_0", "LABEL_1")[n % 2]) for n, text in enumerate(texts)]
    return Bench(reader(name), examples, range(len(texts)), quiet=True, name="instance_adversary", **options)


def jsd(p, q) -> float:
    """In nats, with scipy's relative entropy."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    return float(rel_entr(p, (p + q) / 2).sum() + rel_entr(q, (p + q) / 2).sum()) / 2


def alone(subject: Subject, example: Example, there: Alterable, rows: torch.Tensor, place: int):
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
    some = bench(name)
    (batch,) = some.batches()
    asked = config(restarts=2, rows=rows, max_output_change=(0.01, 0.1))
    there, found = some.adversaries(batch, asked, some.site_called("auto"), 8)
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
    some = bench(name, TEXTS[:3])
    (batch,) = some.batches()
    there, (found,) = some.adversaries(batch, config(max_output_change=(0.5,), restarts=2), some.site_called("auto"), 5)
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
    some, limits = bench("additive-lstm-additive", ["good movie", "bad film", "not story"]), (0.002, 0.01, 0.03)
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
