"""Syntax: a slow loop over sentences, heads and words; attention that follows trees is found, other is not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.special import rel_entr

from support import zoo
from support.experiments.syntax import CONFIG, FIRST, SECOND, THIRD, context_of, reader, tagger
from whence.analysis.syntax.heads import ranking, rows
from whence.core.attending import attending
from whence.core.overrides import uniform
from whence.data.syntax.forest import TRUE, Measuring, grown
from whence.data.syntax.random_trees import BASELINES
from whence.data.syntax.tree_attention import REFERENCES
from whence.evaluation.tree_attention import tree_divergences
from whence.experiments import syntax
from whence.measures.tree_divergence import arcs_of, by_sentence, sentence_divergence, tree_divergence
from whence.training.config import Training
from whence.training.init import untrained

PAIR = [
    replace(one, pair=" ".join(two.words), pair_words=two.words, pair_heads=two.heads)
    for one, two in ((FIRST, THIRD), (THIRD, SECOND))
]


def slow_words(subject, example, segment, renormalise):
    """The words' attention in one sentence, from the model's own eager weights: sum to, mean from, in plain loops."""
    texts = [" ".join(example.words)] + ([" ".join(example.pair_words)] if example.pair_words else [])
    encoded = subject.tokenizer(*texts, return_tensors="pt")
    plain = zoo.BY_NAME[subject.name].build()
    plain.set_attn_implementation("eager")
    layers = plain(**encoded, output_attentions=True).attentions
    words = (example.words, example.pair_words)[segment]
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:-1]
    pieces: list[list[int]] = [[] for _ in words]
    for place, (own, (begin, end)) in enumerate(
        zip(encoded.sequence_ids(0), encoded.encodings[0].offsets, strict=True)
    ):
        if own == segment and end > begin:
            pieces[int((starts <= begin).sum()) - 1].append(place)
    found = np.zeros((len(layers), layers[0].shape[1], len(words), len(words)))
    for layer, head, i, j in np.ndindex(found.shape):
        weights = layers[layer][0, head].detach().numpy().astype(float)
        found[layer, head, i, j] = np.mean([sum(weights[q, k] for k in pieces[j]) for q in pieces[i]])
    return found / found.sum(-1, keepdims=True) if renormalise else found


def slow_mean(p, q, may, masked, floor):
    """The mean divergence of a sentence's words."""
    each = []
    for word in range(len(p)):
        if not p[word].any():
            continue
        if masked == "floor":
            each.append(rel_entr(p[word], np.maximum(q[word] * may[word], floor)).sum())
            continue
        kept = p[word] * may[word]
        if masked == "skip" and not kept.any():
            continue
        there = kept > 0
        each.append((rel_entr(kept / (kept.sum() if masked == "skip" else 1), q[word])[there]).sum())
    return np.mean(each) if each else np.nan


@pytest.mark.parametrize("renormalise", [True, False])
@pytest.mark.parametrize(
    ("family", "examples", "reference", "masked"),
    [
        ("bert", (FIRST, SECOND, THIRD), "parent", "zero"),
        ("bert", PAIR, "neighbours", "skip"),
        ("bert", (FIRST, THIRD), "nearness", "floor"),
        ("gpt2", (FIRST, THIRD), "parent", "zero"),
        ("gpt2", (FIRST, THIRD), "children", "skip"),
        ("gpt2", (FIRST, SECOND, THIRD), "parent", "floor"),
    ],
)
def test_a_pass_is_a_slow_loop(family, examples, reference, masked, renormalise):
    """Of sentences, layers, heads and words, for true and random trees, by scipy; also the parents that are found."""
    subject, how = reader(family), Measuring(reference, masked, 1e-3, renormalise)
    forest = grown(examples, ("uniform", "chain"), 2)
    found = list(tree_divergences(context_of(subject, examples, batch_size=2), forest, how).values())
    assert len(found) == 2
    for number, sentence in enumerate(forest.sentences):
        n = len(sentence.heads)
        q = slow_words(subject, examples[sentence.example], sentence.segment, renormalise)
        may = np.tri(n, dtype=bool) if family == "gpt2" else np.ones((n, n), bool)
        for layer, one in enumerate(found):
            for kind, draws in forest.kinds.items():
                p = [REFERENCES[reference](trees[number]) for trees in draws]
                for head in range(4):
                    expected = [slow_mean(each, q[layer, head], may, masked, 1e-3) for each in p]
                    assert one.divergence[kind][number, head] == pytest.approx(np.mean(expected), abs=1e-4, nan_ok=True)
            turned, seen = (q[layer].swapaxes(-1, -2), may.T) if reference == "children" else (q[layer], may)
            arcs = [(i, h) for i, h in enumerate(sentence.heads) if h >= 0 and (masked != "skip" or seen[i, h])]
            assert one.arcs[number] == len(arcs)
            for head in range(4):
                hits = sum(
                    max((k for k in range(n) if k != i and seen[i, k]), default=-1, key=lambda k: turned[head, i, k])
                    == h
                    for i, h in arcs
                )
                assert one.hits[number, head] == hits
    assert {"past", "future"} >= found[0].sees
    assert ("future" in found[0].sees) == (family == "bert")


def test_many_trees_at_once_are_each_by_itself():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(5), (3, 2, 5))
    references = rng.random((4, 3, 5, 5)) * (rng.random((4, 3, 5, 5)) < 0.3)
    references[1, 2] = 0
    allowed = np.broadcast_to(np.tri(5, dtype=bool), (3, 5, 5))
    for masked in ("zero", "skip", "floor"):
        values, coverage = sentence_divergence(arcs_of(references), weights, allowed, masked=masked)
        for tree, reference in enumerate(references):
            one = tree_divergence(reference, weights, allowed, masked=masked)
            assert_allclose(values[tree], by_sentence(one.values))
            assert_allclose(coverage[tree], by_sentence(one.coverage[:, None])[:, 0])
    assert np.isnan(values[1, 2]).all()


def made_weights(subject, examples):
    """Heads of which the first follows the trees, the second is even, the third drawn at random, the fourth looks left.

    For all examples in one batch, as the context lays them out.
    """
    (batch,) = subject.batches(examples, len(examples), labelled=False)
    n, rng = batch.special.shape[1], np.random.default_rng(0)
    real = batch.mask.numpy()
    weights = np.stack(
        [
            np.full((len(batch), n, n), 1.0),
            np.full((len(batch), n, n), 1.0),
            rng.gamma(1.0, size=(len(batch), n, n)),
            np.full((len(batch), n, n), 1.0),
        ],
        1,
    )
    for row, number in enumerate(batch.examples.tolist()):
        for word, head in enumerate(examples[number].heads):
            weights[row, 0, word + 1, head + 1] += 100.0 * (head >= 0)  # the first token is <s>
            weights[row, 3, word + 1, word] += 100.0
    weights *= real[:, None, None]
    return torch.from_numpy(weights / weights.sum(-1, keepdims=True)).float()


def imposing(made):
    """These weights for the whole batch; a sentence that is looked at by itself keeps its own."""
    return lambda call: made if call.weights.shape == made.shape else call.weights


def test_a_head_that_follows_the_trees_is_found_and_no_other_is(corpus):
    subject, examples = tagger(corpus), corpus["test"]
    made = made_weights(subject, examples)
    with attending(subject.model, override=imposing(made), watch=None):
        table = syntax.run(CONFIG, context_of(subject, examples, batch_size=len(examples)))
    ranked = ranking(table).set_index("head")
    assert ranked["p_holm"][0] < 1e-6
    assert (ranked["p_holm"].drop(0) > 0.5).all()
    assert ranked["attachment"][0] == 1.0
    assert ranked["attachment_p_holm"][0] < 1e-6
    assert ranked["attachment"][3] == pytest.approx(
        np.mean(
            [
                max(word - 1, word == 0) == head
                for example in examples
                for word, head in enumerate(example.heads)
                if head >= 0
            ]
        )
    )
    found = syntax.verdict(table)
    assert (found.question, found.answer) == (6, "yes")
    assert "1 of 4 heads is nearer to the true trees than to every kind of random ones" in found.sentence
    assert "1 of 4 find the parent more often" in found.sentence
    even = table[(table["head"] == 1) & (table["tree"] == TRUE)].iloc[0]
    mean_log = np.mean([np.log(len(example.words)) for example in examples])  # -ln(1/n), over the words alone
    assert even["divergence"] == pytest.approx(mean_log, abs=1e-4)
    assert even["coverage"] == 1.0
    assert (table["sentences"][table["tree"] != "others"] == 120).all()


def test_even_attention_is_not_nearer_to_anything(corpus):
    subject, examples = tagger(corpus), corpus["test"]
    with attending(subject.model, override=uniform, watch=None):
        table = syntax.run(CONFIG, context_of(subject, examples))
    found = syntax.verdict(table)
    assert found.answer == "no"
    assert found.sentence.startswith("Attention is hardly nearer to syntax than to random trees: 0 of 4 heads are")
    few = table.assign(sentences=9)
    assert syntax.verdict(few).sentence.startswith("There are 9 examples, too few")


def directional(corpus, seed):
    return untrained(Training(model="disan", data="clauses", embedding_size=16, hidden_size=8, seed=seed), corpus)


@pytest.mark.parametrize(("make", "seeds", "most"), [(tagger, 20, 1), (directional, 10, 0)])
def test_untrained_models_give_no_false_alarm(corpus, make, seeds, most):
    """Of twenty models that have learned nothing, at most one may have a head that seems to follow syntax.

    Words of DiSAN see one side only, so that the directions of arcs alone bring it near to true trees or away.
    """
    alarms, examples = 0, corpus["test"][:60]
    forest = grown(examples, BASELINES, 2)
    for seed in range(seeds):
        found = tree_divergences(context_of(make(corpus, seed), examples), forest, Measuring())
        table = pd.DataFrame({"epoch": -1, **row} for row in rows(found, forest))
        alarms += bool((ranking(table)["p_holm"] < 0.05).any())
    assert alarms <= most


def test_special_tokens_in_or_out(corpus):
    """A head that gives half of its weight to the first token: out, rows sum to one; in, ln 2 more for every word."""
    subject, examples = tagger(corpus), corpus["test"][:20]
    made = made_weights(subject, examples)
    made[..., 0] = 0.0
    made /= made.sum(-1, keepdim=True)
    made = made / 2
    made[..., 0] += 0.5
    found = {}
    for renormalise in (True, False):
        with attending(subject.model, override=lambda call: made, watch=None):
            forest = grown(examples, ("chain",), 1)
            (one,) = tree_divergences(
                context_of(subject, examples), forest, Measuring(renormalise=renormalise)
            ).values()
        found[renormalise] = one.divergence[TRUE]
    alike = found[False] - found[True]
    assert (alike > np.log(2)).all()  # </s> gets some too
    assert_allclose(alike[:, 0], np.log(2), atol=0.1)
