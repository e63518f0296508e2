"""Syntax: a slow loop over sentences, heads and words; attention that follows trees is found, other is not."""

import json
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import torch
import transformers as hf
from numpy.testing import assert_allclose
from scipy.special import rel_entr
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from support import zoo
from support.tokenizing import wordpiece
from whence.analysis.syntax import Again, ranking, rows
from whence.core.attending import attending
from whence.core.errors import BadConfig, BadData
from whence.core.overrides import uniform
from whence.data.examples import Corpus, Example
from whence.data.syntax.forest import TRUE, Measuring, grown
from whence.data.syntax.random_trees import BASELINES
from whence.data.syntax.tree_attention import REFERENCES
from whence.data.synthetic import clauses
from whence.evaluation.context import Context
from whence.evaluation.runner import run_experiment
from whence.evaluation.tree_attention import self_attention_sites, tree_divergences
from whence.experiments import syntax
from whence.measures.bootstrap import paired_bootstrap
from whence.measures.holm import holm
from whence.measures.tree_divergence import arcs_of, by_sentence, sentence_divergence, tree_divergence
from whence.models import TransformerConfig, TransformerForTokenClassification
from whence.subject.subject import Subject
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.vocabulary import word_tokenizer

# "unbelievable" and "movies" are in pieces, "?" is a word of its own
FIRST = Example(
    "the movies was unbelievable ?", words=("the", "movies", "was", "unbelievable", "?"), heads=(1, 3, 3, -1, 3)
)
SECOND = Example("not good", words=("not", "good"), heads=(1, -1))
THIRD = Example("a bad story", words=("a", "bad", "story"), heads=(2, 2, -1))
PAIR = [
    replace(one, pair=" ".join(two.words), pair_words=two.words, pair_heads=two.heads)
    for one, two in ((FIRST, THIRD), (THIRD, SECOND))
]
CONFIG = syntax.Config(model="m", data="made")


def context_of(subject, examples, **options):
    return Context(subject, examples, range(len(examples)), quiet=True, predictions=False, **options)


def reader(family):
    return Subject(zoo.BY_NAME[family].build(), wordpiece(), name=family)


def slow_words(subject, example, segment, renormalise):
    """The words' attention in one sentence, from the model's own eager weights: sum to, mean from, in plain loops."""
    texts = [" ".join(example.words)] + ([" ".join(example.pair_words)] if example.pair_words else [])
    encoded = subject.tokenizer(*texts, return_tensors="pt")
    plain = zoo.BY_NAME[subject.name].build()
    plain.set_attn_implementation("eager")
    layers = plain(**encoded, output_attentions=True).attentions
    words = (example.words, example.pair_words)[segment]
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:-1]
    pieces = [[] for _ in words]
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


@pytest.fixture(scope="module")
def corpus():
    return clauses.load(sizes={"train": 300, "dev": 30, "test": 120}, task="parents")


def tagger(corpus, seed=0, heads=4):
    tokenizer = word_tokenizer(corpus["train"])
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=heads,
        intermediate_size=16,
        id2label=dict(enumerate(corpus.labels)),
    )
    return Subject(TransformerForTokenClassification(config), tokenizer, name="tagger")


def made_weights(subject, examples):
    """Heads of which the first follows the trees, the second is even, the third drawn at random, the fourth looks left.

    For all examples in one batch, as the context lays them out.
    """
    (batch,) = subject.batches(examples, len(examples), answered=False)
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
    assert ranked["p_holm"][1] < 1e-6
    assert (ranked["p_holm"].drop(1) > 0.5).all()
    assert ranked["attachment"][1] == 1.0
    assert ranked["attachment_p_holm"][1] < 1e-6
    assert ranked["attachment"][4] == pytest.approx(
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
    even = table[(table["head"] == 2) & (table["tree"] == TRUE)].iloc[0]
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
        table = pd.DataFrame({"epoch": -1, **row} for row in rows(found, forest, seed))
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


# statistics


def test_intervals_are_those_of_the_plain_bootstrap_and_pairs_are_drawn_whole():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 2))
    found = Again(np.arange(300), seed=1, draws=4000).mean(values)
    plain = paired_bootstrap(values[None, :, 0], draws=4000)
    assert found.mean[0] == pytest.approx(values[:, 0].mean())
    assert (found.low[0], found.high[0]) == pytest.approx((plain.low, plain.high), abs=0.01)
    assert found.error[1] == pytest.approx(values[:, 1].std() / np.sqrt(300), rel=0.06)
    twice = Again(np.repeat(np.arange(300), 2), seed=1, draws=4000).mean(np.repeat(values, 2, axis=0))
    assert_allclose(twice.error, found.error)  # two texts that are alike tell no more than one
    some = values.copy()
    some[::3] = np.nan
    assert Again(np.arange(300)).mean(some).mean[0] == pytest.approx(np.nanmean(some[:, 0]))
    assert np.isnan(Again(np.arange(300)).mean(np.full((300, 2), np.nan)).mean).all()


def row(head, tree, difference, error, **others):
    about = {
        "epoch": -1,
        "site": "a",
        "layer": 1,
        "sees": "all",
        "head": head,
        "tree": tree,
        "divergence": 2.0,
        "difference": difference,
        "difference_error": error,
        "attachment": 0.3,
        "offset_attachment": 0.25,
        "beyond_error": 0.02,
        "difference_low": difference - 0.2,
        "difference_high": difference + 0.2,
        "sentences": 50,
        "coverage": 1.0,
        "before": 0.5,
        "source": "trees: made",
        "reference": "parent",
        "masked": "zero",
        "shown": None,
    }
    return about | others


def test_the_baseline_that_is_hardest_to_beat_counts_and_holm_over_heads():
    made = []
    for head, (one, two) in enumerate([(-0.5, -0.4), (-0.9, -0.12), (-0.3, 0.4)], start=1):
        made += [
            row(head, TRUE, np.nan, np.nan, attachment=0.2 + 0.1 * head),
            row(head, "uniform", one, 0.1),
            row(head, "chain", two, 0.1),
        ]
    ranked = ranking(pd.DataFrame(made))
    assert ranked["head"].tolist() == [1, 2, 3]
    assert ranked["nearest"].tolist() == ["chain"] * 3
    each = [norm.cdf((two + 0.1) / 0.1) for two in (-0.4, -0.12, 0.4)]
    expected = [3 * each[0], 2 * each[1], 1.0]
    assert_allclose(ranked["p_holm"], expected, rtol=1e-6)
    assert ranked["low"][0] == pytest.approx(-0.4 - norm.isf(0.025 / 3) * 0.1)
    sure = [norm.sf((share - 0.25) / 0.02) for share in (0.3, 0.4, 0.5)]
    assert_allclose(ranked["attachment_p_holm"], [sure[0], 2 * sure[1], 3 * sure[2]], rtol=1e-6)


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(0).random(40) ** 4
    assert_allclose(holm(p), multipletests(p, method="holm")[1])


def test_nothing_that_varies_is_sure_or_not_at_all():
    made = [
        row(1, TRUE, np.nan, np.nan),
        row(1, "chain", -0.4, 0.0),
        row(2, TRUE, np.nan, np.nan),
        row(2, "chain", -0.05, 0.0),
    ]
    assert ranking(pd.DataFrame(made))["p_holm"].tolist() == [0.0, 1.0]


# trees


def test_the_kinds_of_random_trees_are_those_of_the_data_room():
    assert get_args(syntax.Kind) == BASELINES


def test_trees_are_drawn_by_the_seed_and_chains_once(corpus):
    forest = grown(corpus["test"], BASELINES, 3, seed=5)
    assert {kind: len(draws) for kind, draws in forest.kinds.items()} == {
        TRUE: 1,
        "arc_standard": 3,
        "uniform": 3,
        "lengths": 3,
        "direction": 3,
        "chain": 1,
        "others": 3,
    }
    assert forest.kinds == grown(corpus["test"], BASELINES, 3, seed=5).kinds
    assert forest.kinds["uniform"] != grown(corpus["test"], BASELINES, 3, seed=6).kinds["uniform"]
    assert forest.before["direction"] == pytest.approx(forest.before[TRUE])
    assert forest.places["others"] == slice(14, 17)


def test_texts_without_trees_say_what_to_do(corpus):
    bare = [replace(example, heads=None, relations=None) for example in corpus["test"][:5]]
    with pytest.raises(BadData, match=r"5 of 5 examples of made have no tree. Take .* --parser spacy:en_core_web_sm"):
        syntax.run(CONFIG, context_of(tagger(corpus), bare))
    single = [Example("a", words=("a",), heads=(-1,))]
    with pytest.raises(BadData, match="none of the trees has two words or more"):
        syntax.run(CONFIG, context_of(tagger(corpus), single))


def test_a_parser_makes_the_trees(corpus, monkeypatch):
    """Texts that are not in words are split at spaces; where the trees come from is in the table."""

    def left(sentences):
        return [tuple(range(-1, len(words) - 1)) for words in sentences]

    monkeypatch.setattr("whence.data.syntax.parsers.parser", lambda name: left)
    monkeypatch.setattr("whence.data.syntax.parsers.version", lambda name: "spacy 3")
    bare = [Example(example.text) for example in corpus["test"][:8]]
    config = CONFIG.model_copy(update={"parser": "spacy:some", "baselines": ("uniform",)})
    table = syntax.run(config, context_of(tagger(corpus), bare))
    assert set(table["source"]) == {"trees: by spacy:some (spacy 3)"}
    assert table[table["tree"] == TRUE]["before"].iloc[0] == 1.0
    assert (table["sentences"] == 8).all()


def test_sentences_that_were_cut_are_left_out():
    long = Example(" ".join(["the"] * 90), words=("the",) * 90, heads=(-1, *range(89)))
    subject = reader("bert")
    table = syntax.run(CONFIG.model_copy(update={"baselines": ("chain",)}), context_of(subject, [FIRST, long, THIRD]))
    assert (table["sentences"] == 2).all()
    with pytest.raises(BadConfig, match="every text was cut before its end"):
        syntax.run(CONFIG, context_of(subject, [long]))


# models


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (hf.BertModel(hf.BertConfig(**zoo.BERT)), 2),
        (hf.BertForMaskedLM(hf.BertConfig(**zoo.BERT)), 2),
        (zoo.BY_NAME["bart"].build(), 2),
        (zoo.BY_NAME["gpt-oss"].build(), 2),
        (zoo.BY_NAME["deberta-v2"].build(), 2),
    ],
)
def test_encoders_without_a_head_translators_and_sinks(model, n):
    """A translator's encoder is looked at; no text is asked for, and no label."""
    subject = Subject(model, wordpiece())
    config = CONFIG.model_copy(update={"baselines": ("uniform",)})
    table = syntax.run(config, context_of(subject, [FIRST, SECOND, THIRD]))
    assert table["site"].nunique() == n
    assert table["divergence"].notna().all()
    assert set(table["layer"]) == {1, 2}


def test_what_cannot_be_set_beside_trees_is_said(corpus):
    additive = Subject(zoo.BY_NAME["additive-lstm-dot"].build(), wordpiece(), name="reader")
    with pytest.raises(BadConfig, match=r"there is none at these sites of reader. There are: attention \(pool\)"):
        self_attention_sites(additive, ("*",))
    series = Subject(zoo.BY_NAME["pooled-series"].build(), wordpiece(), name="series")
    with pytest.raises(BadConfig, match="series reads narratives window by window"):
        syntax.run(CONFIG, context_of(series, [FIRST]))


def test_a_silent_model_is_refused_where_answers_are_needed(tmp_path):
    model = hf.BertModel(hf.BertConfig(**zoo.BERT))
    model.save_pretrained(tmp_path)
    wordpiece().save_pretrained(tmp_path)
    corpus = Corpus("mine", {"test": (FIRST, THIRD)}, ("a",))
    result = run_experiment("syntax", syntax.Config(model=str(tmp_path), data="mine"), corpus=corpus, quiet=True)
    assert len(result.table) == 2 * 5 * 7
    from whence.experiments import score

    with pytest.raises(
        BadConfig, match=r"was saved for 'base' \(hidden states alone.*\) and score needs answers; train"
    ):
        run_experiment("score", score.Config(model=str(tmp_path), data="mine"), corpus=corpus, quiet=True)


def test_tags_that_the_model_does_not_know_do_not_matter(corpus):
    other = Corpus("mine", {"test": tuple(replace(e, tags=("X",) * len(e.words)) for e in corpus["test"][:6])}, ("X",))
    config = CONFIG.model_copy(update={"baselines": ("chain",)})
    assert (
        run_experiment("syntax", config, subject=tagger(corpus), corpus=other, quiet=True)
        .table["divergence"]
        .notna()
        .all()
    )


# figures


def test_figures_and_quantities_from_the_table_alone(corpus):
    table = syntax.run(CONFIG, context_of(tagger(corpus), corpus["test"][:30]))
    table = syntax.COLUMNS.table(table.to_dict("records"))  # as it comes back from disk
    assert syntax.figure(table).axes
    assert set(syntax.figures(table)) == {"heads", "tree", "sentence"}
    mean, *single = (json.loads(shown) for shown in table["shown"].dropna())
    for shown in (mean, *single):
        assert np.shape(shown["weights"]) == (len(shown["words"]),) * 2
        assert_allclose(np.sum(shown["weights"], -1), 1.0, atol=1e-2)
    (drawn,) = (example for example in corpus["test"][:30] if list(example.words) == mean["words"])
    assert_allclose(mean["tree"], REFERENCES["parent"](drawn.heads))
    assert set(syntax.figures(table.assign(shown=None))) == {"heads"}
    found = syntax.quantities(table)
    assert found["parents before, true"].mean == pytest.approx(100 * found_before(corpus["test"][:30]))
    assert found["KL to chain, sees all, epoch -1"].low < found["KL to chain, sees all, epoch -1"].mean
    assert len(syntax.summary(table)) == 4
    ranked = ranking(table)
    nearest = found["KL to true less to the nearest random, surest head"]
    assert (nearest.mean, nearest.low) == (ranked["difference"][0], ranked["low"][0])
    assert found["models with such a head, %"].mean == found["heads that follow syntax, %"].mean == 0
    assert found["parents found by the best head, %"].mean == 100 * ranked["attachment"].max()
    assert found["parents found by the best offset, %"].mean == 100 * ranked["by offset"][0]
    assert (
        found["KL to true less to chain, sees all, at the end"] == found["KL to true less to chain, sees all, epoch -1"]
    )


def test_several_models_are_drawn_as_one():
    low, high = (
        [
            row(0, tree, -0.5, 0.1, divergence=at, divergence_low=at - 1, divergence_high=at + 2, epoch=epoch)
            for epoch in (0, 1)
            for tree, at in ((TRUE, 1.0), ("chain", 2.0))
        ],
        [],
    )
    high = [{**one, "divergence": 3.0, "divergence_low": 2.5, "divergence_high": 6.0} for one in low]
    others = [row(1, TRUE, np.nan, np.nan)]
    made = syntax.pooled([pd.DataFrame(low + others), pd.DataFrame(high)])
    assert made["head"].tolist() == [0] * 4
    first = made[(made["epoch"] == 0) & (made["tree"] == TRUE)].iloc[0]
    assert (first["divergence"], first["divergence_low"], first["divergence_high"]) == (2.0, 0.0, 6.0)
    assert (first["difference_low"], first["difference_high"]) == (-0.7, -0.3)
    assert syntax.figure(made).axes


def found_before(examples):
    marks = [head < word for e in examples for word, head in enumerate(e.heads) if head >= 0]
    return sum(marks) / len(marks)


def test_a_table_can_be_shown_without_the_words_of_a_sentence():
    shown = json.dumps({"words": ["very", "secret"], "weights": [[1.0, 0.0], [0.5, 0.5]], "tree": [[0, 1], [1, 0]]})
    table = pd.DataFrame({"head": [0, 1], "shown": [shown, None]})
    masked = syntax.without_texts(table)
    assert json.loads(masked["shown"][0])["words"] == ["word 1", "word 2"]
    assert json.loads(masked["shown"][0])["weights"] == [[1.0, 0.0], [0.5, 0.5]]
    assert masked["shown"].isna().tolist() == [False, True]
    assert "secret" in table["shown"][0]
