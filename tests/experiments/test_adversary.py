"""Trained adversaries: what stands in the table beside slow loops, what becomes of it, and known answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import rel_entr
from scipy.stats import t

from support.models.hand_set_heads import reviews
from support.tokenizing import reader
from support.trainings import WORD_BY_WORD
from whence.analysis.adversary import decide, describe_basins, effects, numbers, outcomes
from whence.core.errors import BadConfig
from whence.data.examples import Corpus, Example
from whence.data.synthetic import stories
from whence.evaluation.context import Context
from whence.evaluation.model_comparison import compare, nearest_orders
from whence.evaluation.runner import run_experiment
from whence.experiments import adversary
from whence.results.store import Store
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.train import train

pytestmark = pytest.mark.usefixtures("one_process")

TEXTS = ["the movie was good", "a bad story . the film was not good !", "bad", "was the story good ?"]


def context(subject: Subject) -> Context:
    tagged = subject.task.name == "token-classification"
    examples = [
        Example(text, words=tuple(text.split()), tags=("LABEL_1",) * len(text.split()))
        if tagged
        else Example(text, "LABEL_0")
        for text in TEXTS
    ]
    return Context(subject, examples, range(len(TEXTS)), batch_size=2, quiet=True, name="adversary")


def shifted(name: str, amount: float = 0.3) -> Subject:
    from support import zoo
    from support.tokenizing import wordpiece

    model = zoo.BY_NAME[name].build()
    with torch.no_grad():
        torch.manual_seed(2)
        for parameter in model.parameters():
            parameter.add_(amount * torch.randn_like(parameter))
    return Subject(model, wordpiece(), name=name)


@pytest.mark.parametrize("name", ["additive-lstm-additive", "bert", "transformer-tagger"])
def test_two_models_beside_each_other_are_as_far_apart_as_a_loop_over_single_texts_says(name):
    subject, other = reader(name), shifted(name)
    there = context(subject)
    found = compare(there, replace(there, subject=other))
    from whence.core.attending import attending

    for number, example in enumerate(there.examples):
        batch = subject.encode([example])
        tapes, probs = [], []
        for one in (other, subject):
            with torch.no_grad(), attending(one.model) as tape:
                probs.append(one.predict(batch)[0].double().numpy())
            tapes.append(tape)
        jsd, kl, cells = [], [], []
        for site in tapes[0]:
            p, q = (tape[site][0].weights[0].double().numpy() for tape in tapes)  # [head query key]
            m = (p + q) / 2
            jsd.append(((rel_entr(p, m) + rel_entr(q, m)).sum(-1) / 2).mean())
            kl.append(rel_entr(p, q).sum(-1).mean())
            permitted = tapes[0][site][0].mask[0].any((0, 1)).sum().item()
            cells.append(rel_entr(p, q).sum(-1).mean() / permitted)
        at = batch.predicted_positions[0].numpy()
        assert found.jsd[number] == pytest.approx(np.mean(jsd), rel=1e-4)
        assert found.kl[number] == pytest.approx(np.mean(kl), rel=1e-4)
        assert found.kl_cells[number] == pytest.approx(np.mean(cells), rel=1e-4)
        assert found.tvd[number] == pytest.approx((abs(probs[0] - probs[1]).sum(-1) / 2)[at].mean(), rel=1e-4)
        assert found.same[number] == (probs[0].argmax(-1) == probs[1].argmax(-1))[at].mean()
        gold = batch.labels[0].numpy()[at]
        assert found.nll[number] == pytest.approx(-np.log(probs[0][at][range(len(gold)), gold]).mean(), rel=1e-4)


def test_a_model_with_its_heads_in_another_order_is_no_other_model():
    subject, other = reader("transformer-pre-none"), reader("transformer-pre-none")
    other = shifted("transformer-pre-none", 0.0)
    order = [1, 0]
    with torch.no_grad():
        for layer in other.model.encoder.layers:
            attention = layer.self_attention
            for part in (attention.queries, attention.keys, attention.values):
                for tensor in (part.weight, part.bias):
                    tensor.copy_(tensor.unflatten(0, (2, -1))[order].flatten(0, 1))
            attention.output.weight.copy_(attention.output.weight.unflatten(1, (2, -1))[:, order].flatten(1))
    there = context(subject)
    found = compare(there, replace(there, subject=other))
    assert nearest_orders(there, other, ("*",)) == dict.fromkeys(subject.sites, order)
    assert found.tvd.max() < 1e-5
    assert found.jsd.min() > 1e-3
    assert found.jsd_matched.max() < 1e-6


def table(*, right: float = 1.0, **models) -> pd.DataFrame:
    """`λ: [(jsd, tvd, score), ...]`, one for each seed; forty texts that are all alike."""
    rows = []
    for name, seeds in {"base": [(0.0, 0.0, 0.9)], **models}.items():
        who = name if name in ("base", "uniform") else "seed" if name == "seeds" else "adversary"
        strength = float(name[1:].replace("_", ".")) if who == "adversary" else np.nan
        for seed, (jsd, tvd, score) in enumerate(seeds):
            rows += [
                {
                    "example": n,
                    "label": "x",
                    "correct": right if n % 3 else 1.0,
                    "chance": 0.5,
                    "who": who,
                    "strength": strength,
                    "seed": seed,
                    "jsd": jsd,
                    "jsd_matched": jsd,
                    "kl": 2 * jsd,
                    "kl_cells": jsd / 5,
                    "tvd": tvd,
                    "same": 1.0,
                    "nll": 1 - score,
                    "base": 0.9,
                    "score": float(n < 40 * score),
                    "base_counts": None,
                    "counts": None,
                }
                for n in range(40)
            ]
    return adversary.COLUMNS.table(rows)


def test_the_numbers_are_means_over_texts_and_seeds():
    found = numbers(table(l0_2=[(0.1, 0.02, 0.9), (0.3, 0.04, 0.8)], seeds=[(0.05, 0.01, 0.9)]))
    assert found["JSD at 0.2"].mean == pytest.approx(0.2)
    assert found["TVD at 0.2"].mean == pytest.approx(0.03)
    assert found["KL at 0.2"].mean == pytest.approx(0.04)
    assert found["NLL at 0.2"].mean == pytest.approx(0.15)
    assert found["score at 0.2"].mean == pytest.approx(85.0)
    assert found["score at base"].mean == pytest.approx(90.0)
    assert found["JSD at seeds"].mean == pytest.approx(0.05)
    assert (found["JSD at 0.2"].low, found["JSD at 0.2"].high) == pytest.approx((0.0, np.log(2)))  # all that there is
    assert found["KL at 0.2"].low == pytest.approx(0.04 - t.ppf(0.975, 1) * 0.02)  # of two seeds that differ


def test_the_verdict_follows_the_adversary_that_goes_furthest():
    far = table(l0_2=[(0.05, 0.01, 0.9)], l1=[(0.5, 0.02, 0.9)], seeds=[(0.1, 0.05, 0.9)], uniform=[(0.3, 0.3, 0.5)])
    verdict = adversary.verdict(far)
    assert verdict.answer == "no"
    assert "λ = 1" in verdict.sentence
    assert "other seeds: 0 %" in verdict.sentence
    near = adversary.verdict(table(l0_2=[(0.05, 0.01, 0.9)], l1=[(0.5, 0.4, 0.6)]))
    assert near.answer == "yes"
    assert near.question == 5
    half = table(l1=[(0.5, 0.02, 0.9), (0.1, 0.02, 0.9)])
    assert adversary.verdict(half).answer == "undecided"
    assert "too few" in decide(effects(far[far["example"] < 5]))[1]
    assert adversary.verdict(table(l1=[(0.5, 0.02, 0.9)])).answer == "no"
    gated = adversary.verdict(table(right=0.25, l1=[(0.5, 0.02, 0.9)]))
    assert gated.answer == "undecided"
    assert "not clearly better than chance" in gated.sentence


def test_two_groups_are_told_from_a_point_and_from_a_slow_fall():
    safe = table(l1=[(0.1, 0.0, 0.9)] * 2, l2=[(0.1, 0.0, 0.875)] * 2, l3=[(0.1, 0.0, 0.5)] * 2)
    assert "separated between λ = 2 and 3" in describe_basins(safe)
    mixed = table(l1=[(0.1, 0.0, 0.9)] * 2, l2=[(0.1, 0.0, 0.5), (0.1, 0.0, 0.9)], l3=[(0.1, 0.0, 0.9), (0.1, 0, 0.5)])
    assert "no safe point, but two basins" in describe_basins(mixed)
    slow = table(l1=[(0.1, 0.0, 0.9)], l2=[(0.1, 0.0, 0.8)], l3=[(0.1, 0.0, 0.7)], l4=[(0.1, 0.0, 0.6)])
    assert "without a break" in describe_basins(slow)
    flat = table(l1=[(0.1, 0.0, 0.9)] * 3, l2=[(0.1, 0.0, 0.875)] * 3)
    assert "without a break" in describe_basins(flat)
    assert describe_basins(table(l1=[(0.1, 0.0, 0.9)])) == ""


def test_the_summary_has_a_row_for_each_model_and_the_figure_is_drawn():
    there = table(l0_2=[(0.1, 0.02, 0.9), (0.3, 0.04, 0.8)], seeds=[(0.05, 0.01, 0.9)], uniform=[(0.3, 0.1, 0.7)])
    assert list(outcomes(there)["who"]) == ["base", "adversary", "adversary", "seed", "uniform"]
    assert len(adversary.figure(there).axes) == 2


def test_a_translator_is_refused():
    with pytest.raises(BadConfig, match="generates texts"):
        adversary.run(adversary.Config(model="m", data="d"), context(reader("bart")))


def known_answer(corpus, training, folder, **options):
    """The verdict on a model that is trained for it."""
    train(training, folder / "base", corpus=corpus, quiet=True)
    config = adversary.Config(model=str(folder / "base"), data=training.data, **options)
    return adversary.verdict(run_experiment("adversary", config, Store(folder), corpus=corpus, quiet=True).table)


def test_where_one_fact_decides_and_attention_is_the_only_road_there_is_no_adversary(tmp_path):
    corpus = stories.load(sizes={"train": 600, "dev": 100, "test": 300}, short=True)
    verdict = known_answer(corpus, WORD_BY_WORD, tmp_path, strengths=(0.5,))
    assert verdict.answer == "yes", verdict.sentence


def test_where_every_state_knows_the_answer_there_are_adversaries(tmp_path):
    """Three copies of the deciding word, read by an LSTM: whichever word it attends to, it knows."""
    sizes = {"train": 400, "dev": 80, "test": 100}
    splits = {split: tuple(reviews(n, 3, seed)) for seed, (split, n) in enumerate(sizes.items())}
    corpus = Corpus("reviews", splits, ("negative", "positive"))
    training = Training(data="reviews", encoder="lstm", embedding_size=16, hidden_size=16, epochs=8, learning_rate=5e-3)
    verdict = known_answer(corpus, training, tmp_path, strengths=(0.5,))
    assert verdict.answer == "no", verdict.sentence
