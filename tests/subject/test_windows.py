"""Narratives as batches: windows of tokens, the words they are pieces of, what is predicted: by hand."""

import pytest
import torch
from torch.testing import assert_close

from support.narratives import BRIEF, LONG, reader
from whence.core.errors import BadData
from whence.data.examples import Example, narrative
from whence.subject.targets import predicted
from whence.training.vocabulary import subword_tokenizer


def test_by_hand():
    batch = reader().encode([LONG, BRIEF], [7, 3])
    assert batch.inputs["input_ids"].shape == batch.inputs["attention_mask"].shape == (2, 3, 6)
    assert batch.tokens[0] == (
        "<s>",
        "a",
        "lovely",
        "day",
        "</s>",
        "<pad>",
        "<s>",
        "then",
        "</s>",
        "<pad>",
        "<pad>",
        "<pad>",
        "<s>",
        "grim",
        "news",
        "</s>",
        "<pad>",
        "<pad>",
    )
    assert batch.tokens[1][6:] == ("<s>", "news", "</s>", *["<pad>"] * 9)
    assert batch.word[0].tolist() == [-1, 0, 1, 2, -1, -1, -1, 3, -1, -1, -1, -1, -1, 4, 5, -1, -1, -1]
    assert batch.word[1].tolist() == [-1, 0, 1, 2, 3, -1, -1, 4, -1, -1, -1, -1, *[-1] * 6]
    assert torch.equal(batch.special, batch.word < 0)
    assert batch.window.tolist() == [[0] * 6 + [1] * 6 + [2] * 6] * 2
    assert batch.predicted_positions.tolist() == [[True] * 3, [True, True, False]]
    assert batch.labels[0].tolist() == [0.5, 0.5, -0.25]
    assert batch.labels[1, :2].tolist() == [-0.5, 0.0]
    assert batch.labels[1, 2].isnan()
    assert batch.inputs["labels"].tolist() == [[0.5, 0.5, -0.25], [-0.5, 0.0, 0.0]]
    assert (batch.segment == 0).all()
    assert not batch.truncated.any()
    assert (batch.examples.tolist(), len(batch)) == ([7, 3], 2)
    assert torch.equal(batch.mask, torch.tensor([[token != "<pad>" for token in row] for row in batch.tokens]))


def test_a_row_for_each_window():
    batch = reader().encode([LONG, BRIEF], [7, 3])
    rows = batch.by_window()
    assert rows.tokens[1] == ("<s>", "then", "</s>", "<pad>", "<pad>", "<pad>")
    assert (len(rows), rows.special.shape, rows.mask.shape) == (6, (6, 6), (6, 6))
    assert rows.examples.tolist() == [7, 7, 7, 3, 3, 3]
    assert rows.window[:, 0].tolist() == [0, 1, 2, 0, 1, 2]
    assert rows.predicted_positions.flatten().tolist() == [True] * 5 + [False]
    assert rows.labels.shape == (6, 1)
    for name in ("special", "word", "segment", "window", "mask"):
        assert torch.equal(getattr(rows, name).reshape(2, 18), getattr(batch, name)), name
    assert rows.inputs is batch.inputs


def test_each_window_is_read_as_it_is_alone():
    subject = reader()
    rows = subject.encode([LONG, BRIEF]).by_window()
    for example, first in ((LONG, 0), (BRIEF, 3)):
        for number, window in enumerate(example.windows):
            alone = subject.encode([Example(window)])
            assert alone.inputs["input_ids"].shape[:2] == (1, 1), "a text is one window"
            length = alone.special.shape[1]
            assert rows.tokens[first + number][:length] == alone.tokens[0]
            assert rows.special[first + number, length:].all()


def test_without_values_nothing_is_told_and_all_is_predicted():
    subject, untold = reader(), narrative([["a"], ["grim", "day"]])
    batch = subject.encode([untold])
    assert "labels" not in batch.inputs
    assert batch.labels.isnan().all()
    assert subject.predict(batch).shape == (1, 2, 1)
    assert "labels" not in subject.encode([LONG, untold]).inputs


def test_company_does_not_change_a_narratives_values():
    subject = reader()
    together = subject.predict(subject.encode([LONG, BRIEF]))
    assert_close(together[0], subject.predict(subject.encode([LONG]))[0])
    assert_close(together[1, :2], subject.predict(subject.encode([BRIEF]))[0])
    assert together[1, 2] == 0, "padding"


def test_words_are_counted_through_also_where_they_come_in_pieces():
    spaced = Example("lovely day, then news", windows=("lovely day,", "then news"))
    subject = reader(subword_tokenizer([LONG, BRIEF, spaced], 24))
    batch = subject.encode([spaced])
    words = [batch.word[0][batch.window[0] == window] for window in (0, 1)]
    assert set(words[0].tolist()) == {-1, 0, 1, 2}
    assert set(words[1].tolist()) == {-1, 3, 4}, "the comma is a word of the tokenizer's"


def test_long_windows_are_cut_and_it_is_said():
    subject = reader()
    subject.encoder.max_length = 4
    batch = subject.encode([BRIEF, LONG])
    assert batch.truncated.tolist() == [True, True]
    assert batch.inputs["input_ids"].shape == (2, 3, 4)
    assert batch.word[0].tolist()[:8] == [-1, 0, 1, -1, -1, 4, -1, -1], "words that were cut are counted"


def test_every_token_is_spelled():
    subject = reader()
    for examples in ([LONG, BRIEF], [BRIEF]):
        batch = subject.encode(examples)
        spelled = subject.encoder.spelled(batch, examples)
        for row, example in enumerate(examples):
            assert spelled[row] == [example.words[word] if word >= 0 else "" for word in batch.word[row].tolist()]


def test_copies_keep_their_windows():
    batch = reader().encode([LONG, BRIEF])
    copies = batch.repeated(3)
    assert torch.equal(copies.window[4:], batch.window)
    assert copies.inputs["input_ids"].shape == (6, 3, 6)


def test_what_is_explained_is_the_value_of_the_last_window():
    subject = reader()
    batch = subject.encode([LONG, BRIEF])
    target = predicted(subject, batch)
    assert target.positions.tolist() == [2, 1]
    values = subject.logits(batch)
    assert_close(target.of(values), torch.stack([values[0, 2, 0], values[1, 1, 0]]))


def test_a_second_text_is_refused():
    with pytest.raises(BadData, match="a narrative is one text, and this one has a second"):
        reader().encode([Example("a day", pair="news")])
    with pytest.raises(BadData, match="its text is empty"):
        reader().encode([Example(" ")])
