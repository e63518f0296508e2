"""Chunkers in experiments: points of F1, from counts that a table holds."""

import numpy as np
import pandas as pd
import pytest
import torch
from seqeval.metrics import f1_score

import whence
from whence.analysis.scores import Scores, metric_and_counts, metric_name
from whence.data.synthetic import clauses
from whence.evaluation.context import Context
from whence.evaluation.locations import places
from whence.evaluation.scoring import scores
from whence.experiments import ablation, layers, score
from whence.subject.metrics import all_chunks
from whence.training.config import Training
from whence.training.init import untrained

N = 24


@pytest.fixture(scope="module")
def context():
    corpus = clauses.load(sizes={"train": 60, "dev": 12, "test": N})
    subject = untrained(Training(model="transformer", data="clauses", hidden_size=16, layers=2, heads=2), corpus)
    with torch.no_grad():
        for name, parameter in subject.model.named_parameters():
            if "norm" not in name:
                parameter.normal_(std=0.5, generator=torch.Generator().manual_seed(len(name)))
    return Context(subject, corpus["test"], range(N), quiet=True, name="chunks", batch_size=5)


def config(experiment, **options):
    return experiment.Config(model="m", data="clauses", **options)


def test_marks_carry_what_f1_is_summed_from(context):
    scored = scores(context, config(score))
    assert scored.counts.tolist() == all_chunks(context.subject, context.examples).tolist()
    right, said, true = scored.counts.T
    assert scored.values == pytest.approx(2 * right / (said + true))
    assert scored.counts_as_text()[0] == " ".join(f"{count:g}" for count in scored.counts[0])


def test_marks_under_an_alteration_are_summed_over_the_draws(context):
    (everywhere,) = places(context.subject, "all", context.first_batch(), ("*",))
    plain = config(ablation, special_tokens=True)
    altered = scores(context, plain, lambda _: whence.uniform, everywhere, draws=3)
    alone = all_chunks(context.subject, context.examples, override=whence.uniform)
    assert altered.counts.tolist() == (3 * alone).tolist()
    assert alone.tolist() != scores(context, plain).counts.tolist()


def test_three_kinds_of_marks_are_known_by_their_counts():
    scores = pd.Series([0.5, 1.0])
    ten, three, none = (
        pd.Series(Scores(np.array([0.5, 1.0]), counts).counts_as_text(), dtype=object)
        for counts in (np.ones((2, 10)), np.array([[1.0, 2.0, 2.0], [1.0, 1.0, 1.0]]), None)
    )
    assert [metric_name(counts) for counts in (ten, three, none)] == ["BLEU", "F1", "accuracy"]
    measure, counts = metric_and_counts(scores, three)
    assert float(measure(counts.sum(0))) == pytest.approx(100 * 2 * 2 / (3 + 3))
    measure, counts = metric_and_counts(scores, none)
    assert float(measure(counts.sum(0))) == 75


def test_the_score_is_f1(context):
    table = score.run(config(score), context)
    assert set(table["measure"]) == {"F1"}
    said = []
    for example in context.examples:
        batch = context.subject.encode([example])
        best = context.subject.predict(batch)[0].argmax(-1)[batch.predicted_positions[0]]
        said.append([context.subject.labels[number] for number in best.tolist()])
    expected = 100 * f1_score([list(example.tags) for example in context.examples], said)
    assert score.quantities(table)["F1"].mean == pytest.approx(expected)
    assert f"{expected:.1f} points of F1" in score.verdict(table).sentence
    score.figure(table)


def test_ablation_and_layers_lose_points_of_f1(context):
    lost = ablation.run(config(ablation, variants=("uniform",), special_tokens=True), context)
    (effect,) = ablation.effects(lost)
    assert effect.unit == "points of F1 lost"
    both = (all_chunks(context.subject, context.examples, override=rule).sum(0) for rule in (None, whence.uniform))
    base, altered = (100 * 2 * right / (said + true) for right, said, true in both)
    assert effect.value == pytest.approx(base - altered)
    assert ablation.summary(lost)["base"].iloc[0] == pytest.approx(base, abs=0.05)
    assert "Where F1 falls" in ablation.verdict(lost).means
    figure = layers.figure(layers.run(config(layers, draws=2), context))
    assert any(axis.get_ylabel() == "F1" for axis in figure.axes)
