"""Removals compared with a slow loop: one text and one forward pass for each."""

import numpy as np
import pytest
import torch

from support import saved_models, zoo
from support.contexts import TASKS
from support.contexts import context as context_of
from support.overrides import Trusted
from support.tokenizing import wordpiece
from whence.core.attending import attending
from whence.core.errors import BadConfig, UnknownSite
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.faithfulness.erasers import Eraser, attended_words, erasable_sites
from whence.evaluation.faithfulness.units import units_of
from whence.subject.subject import Subject, load

KINDS = ("delete", "mask", "replace", "attention", "zero")


def logits_at(subject, inputs, position):
    with torch.no_grad():
        return subject.task.positioned(subject.model(**inputs).logits)[0, position].double().numpy()


def slow_unattended(subject, batch, sites, removed, position, renormalise):
    """No weight on some keys, row by row."""

    def erase(call):
        weights = call.weights.clone()
        for head, query in np.ndindex(*weights.shape[1:3]):
            row = weights[0, head, query]
            row[removed] = 0.0
            if renormalise and float(row.sum()) > 0:
                row /= row.sum()
        return weights

    with attending(subject.model, override=dict.fromkeys(sites, Trusted(erase)), watch=None):
        return logits_at(subject, batch.inputs, position)


def slow_deleted(subject, batch, removed, position):
    """The text without some tokens."""
    left = [place for place in range(batch.special.shape[1]) if place not in removed]
    inputs = {name: tensor if name == "labels" else tensor[:, left] for name, tensor in batch.inputs.items()}
    if subject.task.name in ("token-classification", "causal-lm"):
        position -= sum(place < position or subject.task.name == "causal-lm" for place in removed)
    return logits_at(subject, inputs, position)


def slow_replaced(subject, batch, removed, position, put):
    ids = batch.inputs["input_ids"].clone()
    for place in removed:
        ids[0, place] = put[place]
    return logits_at(subject, {**batch.inputs, "input_ids": ids}, position)


def slow(eraser, subject, example, removed, position, kind, put):
    batch = subject.encode([example])
    if kind == "delete":
        return slow_deleted(subject, batch, removed, position)
    if kind in ("mask", "replace"):
        return slow_replaced(subject, batch, removed, position, put)
    return slow_unattended(subject, batch, eraser.sites, removed, position, kind == "attention")


def compare(subject, examples, kind):
    """Several tokens at once, padded on either side, several removals of a text; against the text by itself."""
    together = subject.encode(examples)
    put = torch.randint(3, 9, together.special.shape, generator=torch.Generator().manual_seed(0))
    eraser = Eraser(subject, together, kind, replacement=put)
    inputs = eraser.inputs & attended_words(subject, together)
    rows = torch.tensor([0, 1, 0, 2, 1, 0, 2])
    removed = (torch.rand(7, inputs.shape[1], generator=torch.Generator().manual_seed(1)) < 0.5) & inputs[rows]
    got = eraser(rows, removed)
    for number, row in enumerate(rows.tolist()):
        real = together.mask[row].nonzero().flatten().tolist()
        gone = [place for place, at in enumerate(real) if removed[number, at]]
        new = [int(put[row, at]) for at in real]
        expected = slow(eraser, subject, examples[row], gone, int(eraser.target.positions[row]), kind, new)
        np.testing.assert_allclose(got[number].numpy(), expected, atol=3e-5, err_msg=f"{kind} {number}")
    assert bool(removed.any())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", TASKS)
def test_removals_are_those_of_a_slow_loop(task, kind):
    some = context_of(task, n=3)
    compare(some.subject, some.examples, kind)


@pytest.mark.parametrize(
    "name", ["xlnet", "gpt2", "bart-classifier", "additive-dot-pairs-bypass", "recurrent-additive", "recurrent-dot"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_removals_from_any_model(name, kind):
    subject = Subject(zoo.BY_NAME[name].build(), wordpiece())
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    texts = ("the film is not bad at all", "a bad film", "not bad")
    compare(subject, [Example(text, pair=pair, target="a good film !") for text in texts], kind)


@pytest.mark.parametrize(("kind", "width"), [("delete", 4), ("mask", 5), ("attention", 5)])
def test_padding_of_other_texts_is_not_run(kind, width):
    subject = Subject(zoo.BY_NAME["bert"].build(), wordpiece())
    batch = subject.encode([Example("the film is not bad at all"), Example("a bad film")])
    eraser = Eraser(subject, batch, kind, replacement=torch.full(batch.special.shape, 4))
    removed = torch.zeros(1, batch.special.shape[1], dtype=torch.bool)
    removed[0, 2] = True
    widths = list[int]()
    hook = subject.model.register_forward_pre_hook(
        lambda module, args, kwargs: widths.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    eraser(torch.tensor([1]), removed)
    hook.remove()
    assert widths == [width]
    assert eraser.lengths(torch.tensor([1]), removed).tolist() == [width]


def test_only_the_sites_that_are_named_are_erased():
    some = context_of("bert", n=3)
    first, last = some.subject.sites
    batch = some.first_batch()
    removed = torch.zeros(1, batch.special.shape[1], dtype=torch.bool)
    removed[0, 2] = True
    for sites, chosen in ((("*",), [first, last]), (("*.0.*",), [first]), ((last,), [last])):
        eraser = Eraser(some.subject, batch, "attention", sites)
        assert eraser.sites == chosen
        expected = slow_unattended(some.subject, batch, chosen, [2], 0, True)
        np.testing.assert_allclose(eraser(torch.tensor([0]), removed)[0].numpy(), expected, atol=1e-5)
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'; choose from: bert"):
        Eraser(some.subject, batch, "attention", ("nowhere",))


def test_attention_that_is_not_on_the_text_cannot_be_erased():
    subject = load(saved_models.translator())
    (inner,) = [name for name, site in subject.sites.items() if site.kind == "causal"]
    with pytest.raises(BadConfig, match=f"the keys at {inner} are not the tokens of the text, so none can be erased"):
        erasable_sites(subject, (inner,))


def test_a_second_text_that_is_not_attended_is_no_input(story_reader, stories):
    some = Context(story_reader, stories["test"][:2], range(2), quiet=True)
    (batch,) = some.batches()
    expected = ~batch.special & (batch.segment == 0)
    assert torch.equal(attended_words(some.subject, batch), expected)


def test_units_are_words_or_spans_of_equally_many():
    subject = Subject(zoo.BY_NAME["bert"].build(), wordpiece())
    batch = subject.encode([Example("a good film"), Example("unbelievable good"), Example("a " * 9 + "film")])
    inputs = (~batch.special).numpy()
    words = units_of(batch, inputs)
    assert words.count.tolist() == [3, 2, 10]
    assert words.span.tolist() == [1, 1, 1]
    pieces = (batch.word[1] == 0).numpy() & inputs[1]
    assert pieces.sum() > 1, "no word in pieces: this shows nothing"
    assert set(words.index[1][pieces]) == {0}
    tokens = units_of(batch, inputs, "tokens")
    assert tokens.count.tolist() == inputs.sum(1).tolist()
    spans = units_of(batch, inputs, most=4)
    assert spans.count.tolist() == [3, 2, 4]
    assert spans.span.tolist() == [1, 1, 3]
    assert np.bincount(spans.index[2][inputs[2]]).tolist() == [3, 3, 3, 1]
    removed = words.removed(np.array([0, 2]), np.array([0b101, 0b1]))
    assert removed[0].nonzero()[0].tolist() == inputs[0].nonzero()[0][[0, 2]].tolist()
    assert removed[1].nonzero()[0].tolist() == inputs[2].nonzero()[0][[0]].tolist()
    scores = np.arange(inputs.size, dtype=float).reshape(inputs.shape)
    assert words.sums(scores)[1][0] == scores[1][pieces].sum()
