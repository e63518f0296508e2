"""Interchangeable words: text and label are renamed alike, and nothing else is touched."""

import pytest
import torch

from whence.core.errors import BadConfig
from whence.data.examples import Corpus, Example
from whence.training.config import Training
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe
from whence.training.renaming import Renaming

ACTORS, PLACES = "mary john sandra", "kitchen garden office hall"
TRAIN = tuple(
    Example(text=f"{who} went to the {where} .", pair=f"where is {who} ?", label=where)
    for who in ACTORS.split()
    for where in PLACES.split()
)
CORPUS = Corpus("places", {"train": TRAIN, "dev": TRAIN[:6]}, labels=tuple(PLACES.split()))


@pytest.fixture
def subject():
    options = {"encoder": "average", "embedding_size": 8, "hidden_size": 8}
    return untrained(Training(data="stories", **options), CORPUS)


def words(subject, batch):
    return [subject.tokenizer.convert_ids_to_tokens(row) for row in batch.inputs["input_ids"].tolist()]


def test_names_change_together_with_the_label_and_within_their_group(subject, generator):
    batch = subject.encode(TRAIN)
    found = Renaming(subject, [ACTORS, PLACES], 1.0).renamed(batch, generator)
    changed = 0
    for before, after, label in zip(
        words(subject, batch), words(subject, found), found.labels[:, 0].tolist(), strict=True
    ):
        actor, place = after[1], after[5]
        assert actor in ACTORS.split() and place == subject.labels[label]  # noqa: PT018
        assert after[10] == actor  # in the question too: the same name
        assert [w for w in after if w not in (actor, place)] == [w for w in before if w not in (before[1], before[5])]
        changed += before != after
    assert changed > len(TRAIN) / 2


def test_orders_are_uniform_and_a_share_of_texts_is_left_alone(subject, generator):
    renaming, batch = Renaming(subject, [PLACES], 0.5), subject.encode([TRAIN[0]] * 4000)
    labels = renaming.renamed(batch, generator).labels[:, 0]
    shares = torch.bincount(labels, minlength=4) / 4000
    assert shares[batch.labels[0, 0]] == pytest.approx(0.5 + 0.5 / 4, abs=0.03)
    assert sorted(shares.tolist())[:3] == pytest.approx([0.125] * 3, abs=0.03)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["mary paul"], "two or more of the vocabulary; came 'mary paul', of which paul are not in it"),
        (["mary"], "two or more of the vocabulary; came 'mary'"),
        (["mary kitchen"], "all must be labels or none; these are: kitchen"),
    ],
)
def test_groups_that_make_no_sense_are_refused(subject, groups, message):
    with pytest.raises(BadConfig, match=message):
        Renaming(subject, groups, 0.5)


def test_renaming_begins_when_it_should_and_is_the_same_for_a_seed(subject):
    states = {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}
    losses = []
    for begins in (0, 0, 1, 9):
        subject.model.load_state_dict(states)
        recipe = Recipe(epochs=2, interchangeable=(ACTORS, PLACES), rename_from=begins, rename_share=1.0, patience=9)
        losses.append(fit(subject, TRAIN, TRAIN[:6], recipe, quiet=True).losses)
    at_once, again, later, never = losses
    assert at_once == again
    assert later[0] == never[0] != at_once[0]
    assert later[1] != never[1]
