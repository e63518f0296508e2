"""Whether labels go with the valence of words, whatever the labels are called."""

import numpy as np

from whence.data.examples import Example
from whence.data.lexical.valence import labels_go_with_valence

GOOD, BAD, PLAIN = ("great", "lovely", "fun"), ("awful", "horrible", "sad"), ("table", "the", "chair", "walks")


def texts(pools, n=60):
    rng = np.random.default_rng(0)
    return [
        Example(" ".join([*rng.choice(PLAIN, 4), str(rng.choice(pools[i % len(pools)]))]), f"x{i % len(pools)}")
        for i in range(n)
    ]


def test_texts_of_good_and_bad_words():
    assert labels_go_with_valence(texts([GOOD, BAD]))
    assert labels_go_with_valence(texts([BAD, PLAIN, GOOD]))


def test_labels_that_have_nothing_to_do_with_valence():
    assert not labels_go_with_valence(texts([GOOD + BAD, BAD + GOOD]))
    assert not labels_go_with_valence(texts([PLAIN, PLAIN])), "no word is rated"
    assert not labels_go_with_valence(texts([GOOD])), "one label"
    assert not labels_go_with_valence([]), "no text"
