"""Alignment: attention made by hand, a slow loop over translators and pieces, and numerals whose links are known."""

from unittest.mock import patch

import numpy as np
import pytest
import torch

from support import saved_models
from support.contexts import context as context_of
from whence.analysis.alignment import REPORTING, baseline, best, describe_candidate
from whence.core.attending import attending
from whence.core.errors import BadConfig, BadData, UnknownSite
from whence.core.tape import Tape
from whence.data.examples import Example
from whence.data.synthetic import numerals
from whence.evaluation.context import Context
from whence.evaluation.cross_attention import Crossing, crossings
from whence.evaluation.runner import run_experiment
from whence.experiments import alignment
from whence.figures.style import as_svg
from whence.measures.alignment_error import error_rate
from whence.training.config import Training
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe

KINDS = {
    "bahdanau": {"model": "recurrent", "attention": "additive", "layers": 1, "embedding_size": 32},
    "luong": {"model": "recurrent", "attention": "dot", "layers": 1, "embedding_size": 32},
    "transformer": {"model": "transformer", "layers": 2, "heads": 2},
}
SMALL = {"hidden_size": 32, "dropout": 0.0, "data": "numerals"}


def config(**options) -> alignment.Config:
    return alignment.Config(model="m", data="d", **options)


@pytest.fixture(scope="module")
def corpus():
    return numerals.load(sizes={"train": 600, "dev": 30, "test": 40})


def translator(kind, corpus, n=6):
    subject = untrained(Training(**KINDS[kind], **SMALL), corpus)
    return Context(subject, corpus["test"][:n], range(n), quiet=True, name="test", batch_size=4)


class Made:
    """A context whose attention is known: one head that links as the reference does, one that looks at the first word,
    both a step late in `reading`.
    """

    def __init__(self, examples, right=1.0):
        self.examples, self.numbers, self.right = examples, range(len(examples)), right

    def crossings(self, sites):
        for number, example in enumerate(self.examples):
            n_source, n_target = len(example.words), len(example.target.split())
            good, lazy = np.zeros((2, n_target, n_source))
            for i, j in example.alignment:
                good[j, i] = 1.0
            lazy[:, 0] = 1.0
            weights = np.stack([lazy, 0.6 * good + 0.01])
            late = np.concatenate([weights[:, 1:], np.zeros_like(weights[:, :1])], 1)
            nothing = np.full(weights.shape[:2], 0.3)
            yield number, {("c", "producing"): Crossing(weights, nothing), ("c", "reading"): Crossing(late, nothing)}


def run_on(config, examples):
    """The experiment where attention is known."""
    with patch("whence.evaluation.cross_attention.crossings", Made.crossings):
        return alignment.run(config, Made(examples))


def test_heads_made_by_hand(corpus):
    """The head that links as the reference does is chosen; its only wrong links are those of *und*."""
    table = run_on(config(), corpus["test"])
    assert best(table) == {"by": "attention", "site": "c", "layer": 0, "head": 1, "step": "producing"}
    mine = table[(table["head"] == 1) & (table["step"] == "producing")]
    for row in mine.itertuples():
        example = corpus["test"][row.example]
        links, words = set(example.alignment), example.target.split()
        assert (row.found, row.sure, row.found_sure) == (len(words), len(links), len(links))
        assert row.found - row.found_sure == words.count("und")
    quantities = alignment.quantities(table)
    reported = mine[mine["half"] == REPORTING]
    expected = 1 - 2 * reported["sure"].sum() / (reported["found"].sum() + reported["sure"].sum())
    assert quantities["alignment error rate, chosen head"].mean == pytest.approx(expected)
    assert quantities["recall, chosen head"].mean == 1.0
    assert set(table.groupby("example")["half"].nunique()) == {1}
    assert table.groupby("half")["example"].nunique().to_dict() == {"choosing": 20, "reporting": 20}


def test_special_tokens_may_take_words_away(corpus):
    """*und* gives 0.01 to each word and 0.3 to a special token: it is linked to nothing, and no error is left."""
    table = run_on(config(special_tokens=True), corpus["test"])
    assert alignment.quantities(table)["alignment error rate, chosen head"].mean == 0.0
    verdict = alignment.verdict(table)
    assert (verdict.question, verdict.answer) == (6, "yes")
    assert "layer 0, head 1, producing" in verdict.sentence
    assert alignment.effects(table)[0].n == 20


def test_the_head_is_chosen_on_other_sentences(corpus):
    """The candidate with the lowest rate on one half is the worst of the other half, and is reported there."""
    table = run_on(config(), corpus["test"])
    mine = table[(table["head"] == 1) & (table["step"] == "producing") & (table["half"] == REPORTING)].index
    table.loc[mine, ["found_sure", "found_possible"]] = 0.0
    assert best(table)["head"] == 1, "what is reported must not be looked at to choose"
    assert alignment.quantities(table)["alignment error rate, chosen head"].mean == 1.0
    assert alignment.verdict(table).answer == "no"


def test_baselines_by_hand():
    example = Example("a b c", words=("a", "b", "c"), target="x y z", alignment=((0, 0), (2, 1), (1, 2)))
    table = run_on(config(), [example] * 4)
    diagonal, random = (table[table["by"] == by].iloc[0] for by in ("diagonal", "random"))
    assert (diagonal["found"], diagonal["found_sure"]) == (3, 1)
    assert (random["found"], random["found_sure"]) == (3, pytest.approx(1.0))
    assert alignment.quantities(table)["alignment error rate, diagonal"].mean == pytest.approx(2 / 3)
    assert describe_candidate(baseline("diagonal")) == "diagonal"
    assert "too few" in alignment.verdict(table).sentence


@pytest.mark.parametrize("kind", KINDS)
def test_words_attend_as_a_text_alone_shows_step_by_step(kind, corpus):
    """Texts one by one, unpadded; here a token is a word, and the last key is the end of the text."""
    context = translator(kind, corpus)
    found = dict(crossings(context, ("*",)))
    assert sorted(found) == list(range(6))
    for number, example in enumerate(context.examples):
        batch, tape = context.subject.encode([example]), Tape()
        with torch.no_grad(), attending(context.subject.model, watch=tape):
            context.subject.model(**batch.inputs)
        n_source, n_target = len(example.words), len(example.target.split())
        for (site, step), one in found[number].items():
            weights = tape.joined(site).weights[0].numpy()  # [head n_target+1 n_source+1]
            first = 1 if step == "reading" else 0
            expected = weights[:, first : first + n_target]
            np.testing.assert_allclose(one.weights, expected[..., :n_source], atol=1e-6)
            np.testing.assert_allclose(one.nothing, expected[..., n_source], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_weights_of_producing_a_word_are_those_that_its_probability_depends_on(kind, corpus):
    """Other weights in query t change the answer at t, and none before it; the step of reading it comes after."""
    context = translator(kind, corpus)
    subject, batch, step = context.subject, context.subject.encode(context.examples[:1]), 1
    base = subject.predict(batch)[0]
    seen = {"queries": 0}

    def first_key(call):
        weights = call.weights.clone()
        for query in range(weights.shape[2]):
            if seen["queries"] + query == step:
                weights[:, :, query] = 0.0
                weights[:, :, query, 0] = 1.0
        seen["queries"] += weights.shape[2] if call.weights.shape[2] == 1 else 0
        return weights

    site = [name for name, one in subject.sites.items() if one.kind == "cross"][-1]
    with attending(subject.model, override={site: first_key}, watch=None):
        changed = subject.predict(batch)[0]
    torch.testing.assert_close(changed[:step], base[:step], atol=1e-6, rtol=0)
    assert float((changed[step] - base[step]).abs().max()) > 1e-6


def test_pieces_are_summed_over_the_source_and_averaged_over_the_target():
    """A BART whose words are in pieces, beside a loop over pieces."""
    some = context_of("translator", n=1)
    texts = [("the mlif is dull", "a mlif doog"), ("etilop film", "film")]  # words that it does not know are in letters
    examples = [Example(a, words=tuple(a.split()), target=b, alignment=((0, 0),)) for a, b in texts]
    context = Context(some.subject, examples, range(2), quiet=True, batch_size=2)
    in_pieces = False
    for number, found in crossings(context, ("*",)):
        example = context.examples[number]
        batch, tape = context.subject.encode([example]), Tape()
        with torch.no_grad(), attending(context.subject.model, watch=tape):
            context.subject.model(**batch.inputs)
        keys, queries = (places_of_words(context.subject.tokenizer, text) for text in (example.text, example.target))
        in_pieces |= any(len(places) > 1 for places in keys + queries)
        for (site, step), one in found.items():
            weights = tape.joined(site).weights[0].numpy()
            later = 1 if step == "reading" else 0
            assert one.weights.shape[1:] == (len(queries), len(keys))
            for head, j, i in np.ndindex(*one.weights.shape):
                rows = [weights[head, q + later, keys[i]].sum() for q in queries[j]]
                assert one.weights[head, j, i] == pytest.approx(np.mean(rows), abs=1e-6)
    assert in_pieces


def places_of_words(tokenizer, text):
    """For each word between spaces the places of its tokens."""
    found: list[list[int]] = [[] for _ in text.split()]
    for place, (begin, end) in enumerate(tokenizer(text, return_offsets_mapping=True)["offset_mapping"]):
        if end > begin:
            found[text[:begin].count(" ")].append(place)
    return found


def test_a_translator_of_numerals_links_words_better_than_their_places(corpus):
    context = translator("luong", corpus, n=40)
    fit(
        context.subject, corpus["train"], corpus["dev"], Recipe(epochs=8, batch_size=16, learning_rate=1e-2), quiet=True
    )
    table = alignment.run(config(), context)
    verdict = alignment.verdict(table)
    assert verdict.answer == "yes", verdict.sentence
    assert alignment.quantities(table)["alignment error rate, chosen head"].mean < 0.3


def test_figures_and_what_may_be_shown(corpus):
    table = run_on(config(), corpus["test"])
    assert table["shown"].notna().sum() == 6  # one pair: the mean and two heads, in two steps
    drawn = alignment.figures(table)
    assert set(drawn) == {"sentence", "heads"}
    word = corpus["test"][int(table.loc[table["shown"].notna(), "example"].iloc[0])].target.split()[0]
    assert word in as_svg(drawn["sentence"])
    numbered = alignment.without_texts(table)
    assert list(numbered.dtypes) == list(table.dtypes)
    svg = as_svg(alignment.figures(numbered)["sentence"])
    assert word not in svg
    assert "word 1" in svg
    assert "on the diagonal" in as_svg(alignment.figure(table))
    listed = alignment.summary(table)
    assert listed["by"].tolist()[-2:] == ["diagonal", "random"]
    assert listed["error rate, choosing"][:-2].is_monotonic_increasing


def test_bad_input_gets_a_sentence(corpus):
    context = translator("luong", corpus)
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'"):
        alignment.run(config(sites=("nowhere",)), context)
    plain = [Example(e.text, target=e.target) for e in context.examples]
    with pytest.raises(BadData, match="6 of 6 examples of d have no reference links"):
        alignment.run(config(), Context(context.subject, plain, range(6), quiet=True))
    empty = [Example(e.text, words=e.words, target=e.target, alignment=()) for e in context.examples]
    with pytest.raises(BadData, match="the 6 examples of d have no reference link at all"):
        alignment.run(config(), Context(context.subject, empty, range(6), quiet=True))
    with pytest.raises(BadConfig, match="attention from a translation to its text"):
        list(crossings(context_of("tagger"), ("*",)))
    classifier = alignment.Config(model=str(saved_models.bert()), data="numerals", limit=9)
    with pytest.raises(BadConfig, match=r"there is none at these sites of .* \(sequence-classification\)"):
        run_experiment("alignment", classifier, quiet=True)
    with pytest.raises(BadData, match="fewer than two fit"):
        alignment.run(config(), Context(context.subject, context.examples[:1], range(1), quiet=True))


def test_cut_texts_are_left_out(corpus):
    context = translator("luong", corpus)
    context.subject.encoder.max_length = 5
    long = {n for n, e in enumerate(context.examples) if max(len(e.words), len(e.target.split())) > 4}
    assert long
    assert {number for number, _ in crossings(context, ("*",))} == set(range(6)) - long


def test_error_rates_are_of_sums_over_sentences(corpus):
    table = run_on(config(), corpus["test"])
    mine = table[(table["by"] == "diagonal") & (table["half"] == REPORTING)]
    sums = mine[["found", "sure", "found_sure", "found_possible"]].to_numpy().sum(0)
    assert alignment.quantities(table)["alignment error rate, diagonal"].mean == pytest.approx(float(error_rate(sums)))
