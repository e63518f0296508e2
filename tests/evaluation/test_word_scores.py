"""Occurrences of words: beside a slow loop over texts and tokens; and models that have learned nothing."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from support.contexts import context as context_of
from whence.attribution.options import written_options
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.data.lexical.words import STOP_WORDS, tidy
from whence.data.registry import load as load_corpus
from whence.evaluation import retraining
from whence.evaluation.context import Context
from whence.evaluation.word_scores import occurrences, traced_heads
from whence.subject.targets import predicted
from whence.training.config import Training


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("Film", "film"),
        ("film,", "film"),
        ("(well-made)", "well-made"),
        ("'s", "'s"),
        ("’s", "'s"),
        ("n't", "n't"),
        ("'great'", "great"),
        ("...", ""),
        ("--", ""),
        ("_x_", "x"),
        ("don't", "don't"),
        ("8\xa01/2", "8\xa01/2"),
    ],
)
def test_words_are_tidied(word, found):
    assert tidy(word) == found


def test_stop_words_are_written_as_words_are_tidied():
    assert all(tidy(word) == word for word in STOP_WORDS)
    assert {"the", "n't", "'s"} <= STOP_WORDS
    assert not {"good", "film", "bad"} & STOP_WORDS


@pytest.mark.parametrize("kind", ["bert", "additive"])
def test_every_occurrence_is_scored_as_in_a_slow_loop(kind):
    some = context_of(kind, n=9, batch_size=4)
    found = list(occurrences(some, ("raw_attention", "leave_one_out")))
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example])
        target = predicted(some.subject, batch, "probability")
        for method in ("raw_attention", "leave_one_out"):
            one = explainer(method)(some.subject, batch, target)
            sums: defaultdict[str, float] = defaultdict(float)
            counts: Counter[str] = Counter()
            words = re.findall(r"\w+|[^\w\s]", example.text.lower())  # as these tokenizers cut
            for word, score in zip(words, one.words(0), strict=True):
                if word.isalnum():
                    sums[word] += score
                    counts[word] += 1
            mine = [o for o in found if (o.example, o.method) == (number, method)]
            assert {o.word: o.n for o in mine} == counts
            assert {o.word: o.score for o in mine} == pytest.approx(sums, abs=1e-5)


def test_words_of_a_corpus_that_comes_in_words_are_its_own():
    some = context_of("bert", n=1)
    words = ("Good", "film.", "...", "good", "--", "unwatchable")
    own = Context(some.subject, [Example(" ".join(words), words=words)], [7], quiet=True)
    found = {o.word: (o.example, o.n) for o in occurrences(own, ("random",))}
    assert found == {"good": (7, 2), "film": (7, 1), "unwatchable": (7, 1)}
    scores = {o.word: o.score for o in occurrences(own, ("random",))}
    assert scores["unwatchable"] < 1, "in many pieces, but chance is the first one's"


def test_both_texts_of_a_pair_count():
    some = context_of("bert", n=1)
    pair = Context(some.subject, [Example("good film", pair="a film")], [0], quiet=True)
    assert {o.word: o.n for o in occurrences(pair, ("random",))} == {"good": 1, "film": 2, "a": 1}


def test_random_scores_follow_the_seed_and_options_are_read():
    some = [context_of("bert", n=2, seed=seed) for seed in (0, 0, 1)]
    first, again, other = ([o.score for o in occurrences(one, ("random",))] for one in some)
    assert first == again != other
    assert [o.score for o in occurrences(some[0], ("random",), ("random.seed=1",))] == other


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("lat", "is written METHOD.OPTION=VALUE"),
        ("lat.normalize", "got 'lat.normalize'"),
        ("lat.colour=red", "lat has no option 'colour'; it has: normalize, row"),
        ("rollout.row=first", "options were given for rollout, which is not among the methods: lat"),
    ],
)
def test_options_that_make_no_sense(written, said):
    with pytest.raises(BadConfig, match=said):
        written_options(("lat",), (written,))


def test_options_have_kinds():
    written = ("raw_attention.layer=-1", "raw_attention.row=mean", "rollout.residual=false")
    assert written_options(("raw_attention", "rollout"), written) == {
        "raw_attention": {"layer": -1, "row": "mean"},
        "rollout": {"residual": False},
    }


def test_heads_bring_down_what_lat_sums():
    some = context_of("bert", n=5, batch_size=3)
    for batch, words, heads, real in traced_heads(some):
        lat = explainer("lat")(some.subject, batch, predicted(some.subject, batch), normalize="none")
        np.testing.assert_allclose(heads.sum(1), lat.scores, atol=1e-5)
        assert [[bool(word) for word in row] for row in words] == [
            [mark and token.isalnum() for mark, token in zip(*row, strict=True)]
            for row in zip(real.tolist(), [[t.lstrip("#") for t in row] for row in batch.tokens], strict=True)
        ]


def test_an_untrained_model_is_of_the_same_kind_and_follows_the_seed():
    some = context_of("bert", n=3)
    fresh, again = retraining.untrained(some), retraining.untrained(some)
    assert fresh.subject.fingerprint == again.subject.fingerprint != some.subject.fingerprint
    assert list(fresh.subject.sites) == list(some.subject.sites)
    assert fresh.subject.predict(fresh.first_batch()).shape == some.subject.predict(some.first_batch()).shape


def test_a_model_that_was_trained_here_goes_back_to_its_beginning():
    corpus = load_corpus("reviews")
    training = Training(model="transformer", data="reviews", limit=40, hidden_size=16, layers=1, heads=2, seed=3)
    from whence.training.init import untrained

    begun = untrained(training, corpus)
    with torch.no_grad():
        begun.model.get_input_embeddings().weight.add_(1)
    some = Context(begun, corpus["test"][:3], range(3), quiet=True, training=training, corpus=corpus)
    fresh = retraining.untrained(some)
    assert fresh.training is None
    assert len(fresh.subject.tokenizer) < len(begun.tokenizer)  # the words of the forty examples it learned from
    assert next(iter(occurrences(fresh, ("lat",)))).n >= 1
