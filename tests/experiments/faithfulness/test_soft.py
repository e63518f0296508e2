"""Soft metrics compared with a slow loop over texts, tokens and dimensions."""

import numpy as np
import pytest
import torch

from support.contexts import context as context_of
from whence.core.seeds import stream
from whence.evaluation.faithfulness.soft import scaled, soft_metrics, thinned
from whence.subject.targets import predicted


def probability(subject, batch, vectors, target):
    with torch.no_grad(), subject.embedded(vectors):
        logits = subject.logits(batch)[0, int(target.positions)].double()
    return float(logits.softmax(-1)[int(target.classes)])


@pytest.mark.parametrize("kind", ["bert", "additive", "tagger"])
def test_soft_metrics_are_those_of_a_slow_loop(kind):
    some = context_of(kind, n=3)
    subject, batch = some.subject, some.subject.encode(some.examples)
    target = predicted(subject, batch)
    inputs = (~batch.special & batch.mask.cpu()).numpy()
    scores = {"made": np.random.default_rng(0).normal(size=inputs.shape)}
    (both,) = soft_metrics(subject, batch, target, scores, inputs, [7, 8, 9], 2, 5).values()
    with torch.no_grad(), subject.embedded() as leaves:
        subject.logits(batch)
    width = batch.special.shape[1]
    for row in range(3):
        alone = batch.only(torch.tensor([row]))
        one = type(target)(target.classes[[row]], target.positions[[row]])
        vectors = leaves[0].detach()[[row]]
        whole = probability(subject, alone, vectors, one)
        zero = vectors.clone()
        zero[0, inputs[row]] = 0.0
        spared = max(0.0, whole - probability(subject, alone, zero, one))
        fallen = []
        given = scores["made"][row]
        low, high = given[inputs[row]].min(), given[inputs[row]].max()
        for name in ("comprehensiveness", "sufficiency"):
            drops = []
            for draw in range(2):
                random = torch.rand(width, vectors.shape[-1], generator=stream(5, f"soft {name} {draw} {7 + row}"))
                less = vectors.clone()
                for token in range(width):
                    share = (given[token] - low) / (high - low)
                    keep = share if name == "sufficiency" else 1 - share
                    for dimension in range(vectors.shape[-1]):
                        if inputs[row, token] and random[token, dimension] >= keep:
                            less[0, token, dimension] = 0.0
                drops.append(max(0.0, whole - probability(subject, alone, less, one)))
            fallen.append(np.mean(drops))
        if spared > 1e-9:
            expected = fallen[0] / spared, (spared - fallen[1]) / spared
            assert (both[0][row], both[1][row]) == pytest.approx(expected, abs=1e-4 / spared)
        else:
            assert np.isnan(both[0][row])


def test_scores_are_scaled_within_each_text():
    inputs = np.array([[False, True, True, True], [False, True, True, False]])
    found = scaled(np.array([[9.0, 1.0, 2.0, 5.0], [9.0, 3.0, 3.0, 9.0]]), inputs)
    assert found.tolist() == [[1.0, 0.0, 0.25, 1.0], [1.0, 0.5, 0.5, 1.0]]


def test_elements_are_kept_as_often_as_asked():
    vectors = torch.ones(1, 3, 4000)
    kept = thinned(vectors, torch.tensor([[0.0, 0.3, 1.0]]), [1], "test", 0).mean(-1)[0]
    assert kept.tolist() == pytest.approx([0.0, 0.3, 1.0], abs=0.03)
