"""Matrices of attention: a number in every square, words at both sides."""

import pytest

from whence.core.errors import BadData
from whence.figures.attention_matrices import attention_matrices


def test_every_weight_is_written_in_per_cent_and_words_stand_at_both_sides():
    figure = attention_matrices({"one": (["a", "b"], [[0.25, 0.75], [1.0, 0.0]]), "two": (["c"], [[1.0]])})
    first, second = figure.axes
    assert [text.get_text() for text in first.texts] == ["25", "75", "100", "0"]
    assert [text.get_text() for text in second.texts] == ["100"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["a", "b"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["a", "b"]
    assert (first.get_xlabel(), second.get_xlabel()) == ("one", "two")
    assert first.texts[0].get_position() == (0, 0)
    assert first.texts[1].get_position() == (1, 0)  # keys from left to right


def test_too_many_words_and_none_are_refused():
    with pytest.raises(BadData, match=r"at most 16 words; got \[17\]"):
        attention_matrices({"one": (["a"] * 17, [[0.0] * 17] * 17)})
    with pytest.raises(BadData, match="got none"):
        attention_matrices({})
