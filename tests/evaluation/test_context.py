"""The evaluation context: batches are encoded once and whole, and numbers and labels are those of the examples."""

from dataclasses import replace

import pytest

from support.contexts import context as context_of


def test_batches_are_encoded_once(monkeypatch):
    some, batches, calls = context_of("bert", 5, batch_size=2), [], []
    encode = some.subject.encode

    def noted(*arguments):
        calls.append(1)
        return encode(*arguments)

    monkeypatch.setattr(some.subject, "encode", noted)
    for _ in range(2):
        batches.append(list(some.batches()))
    assert len(calls) == len(batches[0]) == 3
    assert all(one is two for one, two in zip(*batches, strict=True))
    assert next(replace(some, batch_size=5).batches()).examples.tolist() == [0, 1, 2, 3, 4]


def test_batches_never_pass_for_complete_after_an_error(monkeypatch):
    some = context_of("bert", 5, batch_size=2)
    encode, calls = some.subject.encode, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return encode(*arguments)

    monkeypatch.setattr(some.subject, "encode", failing)
    with pytest.raises(KeyboardInterrupt):
        list(some.batches())
    assert sorted(number for batch in some.batches() for number in batch.examples.tolist()) == [0, 1, 2, 3, 4]


def test_numbers_and_labels_are_those_of_the_split():
    some = replace(context_of("bert", 3), numbers=[7, 8, 9])
    (batch,) = some.batches()
    order = batch.examples.tolist()
    assert some.numbers_of(batch) == [7 + number for number in order]
    assert some.labels == [example.label for example in some.examples]
    assert some.labels_of(batch) == [some.examples[number].label for number in order]
    assert set(replace(context_of("speaker", 3)).labels) == {""}


def test_random_numbers_follow_the_seed_and_the_purpose():
    some = context_of("bert", 1)
    drawn = [one.generator(purpose).initial_seed() for one in (some, replace(some, seed=1)) for purpose in "aab"]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != drawn[3]
