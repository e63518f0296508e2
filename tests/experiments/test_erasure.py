"""Erasure compared with a slow loop, one text and one forward pass for each removal; ΔJS compared with scipy."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from support import saved_models, zoo
from support.contexts import TASKS
from support.contexts import context as context_of
from support.overrides import Trusted
from support.tokenizing import wordpiece
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadConfig, UnknownSite
from whence.data.examples import Example
from whence.evaluation import removal_orders as _removals
from whence.evaluation import token_erasure as _erasing
from whence.evaluation.context import Context
from whence.evaluation.token_erasure import TokenErasure
from whence.experiments import erasure
from whence.subject.subject import Subject, load
from whence.subject.targets import predicted

ERASE = ("attention", "zero", "input")


def config(**options) -> erasure.Config:
    return erasure.Config(model="m", data="d", **options)


def close_calls(kind: str) -> Context:
    """The three texts that the model is least sure of: their decisions change most easily."""
    some = context_of(kind, n=12)
    batch = some.subject.encode(some.examples)
    positions = predicted(some.subject, batch).positions
    sure = some.subject.predict(batch)[torch.arange(12), positions].topk(2).values
    least = (sure[:, 0] - sure[:, 1]).argsort()[:3].tolist()
    examples = [some.examples[number] for number in least]
    return Context(some.subject, examples, range(3), quiet=True, name="erasure", batch_size=2)


def probabilities(subject, inputs, position):
    with torch.no_grad():
        logits = subject.task.positioned(subject.model(**inputs).logits)
    return logits[0, position].double().softmax(-1).numpy()


def slow_erased(subject, batch, sites, removed, position, renormalise):
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
        return probabilities(subject, batch.inputs, position)


def slow_deleted(subject, batch, removed, position):
    """The text without some tokens."""
    left = [place for place in range(batch.special.shape[1]) if place not in removed]
    inputs = {name: tensor if name == "labels" else tensor[:, left] for name, tensor in batch.inputs.items()}
    if subject.task.name in ("token-classification", "causal-lm"):
        position -= sum(place < position or subject.task.name == "causal-lm" for place in removed)
    return probabilities(subject, inputs, position)


def slow_row(subject, example, number, erase, seed=0):
    """What the experiment says of one text, as it is defined."""
    batch = subject.encode([example], [number])
    target = predicted(subject, batch, "margin")
    position = int(target.positions)
    sites = [name for name, site in subject.sites.items() if subject.task.name != "seq2seq" or site.kind == "cross"]
    inputs = [place for place in range(batch.special.shape[1]) if not batch.special[0, place]]
    if subject.task.name == "causal-lm":
        inputs = [place for place in inputs if place <= position]
    if subject.task.name == "token-classification" and erase == "input":
        inputs.remove(position)

    def without(removed):
        if erase == "input":
            return slow_deleted(subject, batch, removed, position)
        return slow_erased(subject, batch, sites, removed, position, erase == "attention")

    methods = {"attention": "raw_attention", "gradient": "gradient_x_input", "random": "random"}
    scores = {order: explainer(method)(subject, batch, target).scores[0] for order, method in methods.items()}
    orders = {order: sorted(inputs, key=lambda place: -given[place]) for order, given in scores.items()}
    base, top = probabilities(subject, batch.inputs, position), orders["attention"][0]
    other = next(place for place in orders["random"] if place != top)
    weights = scores["attention"]
    row = {
        "position": position,
        "inputs": len(inputs),
        "top": top,
        "other": other,
        "delta_weight": weights[top] - weights[other],
        "js_top": jensenshannon(base, without([top])) ** 2,
        "js_other": jensenshannon(base, without([other])) ** 2,
    }
    for order, places in orders.items():
        turned = (n for n in range(1, len(places)) if without(places[:n]).argmax() != base.argmax())
        row[f"flip_{order}"] = next(turned, np.nan) / len(inputs)
    return row


@pytest.mark.parametrize("erase", ERASE)
@pytest.mark.parametrize("kind", TASKS)
def test_the_table_is_that_of_a_slow_loop(kind, erase, monkeypatch):
    monkeypatch.setattr(_removals, "DEPTHS", 3)  # several goes
    monkeypatch.setattr(_erasing, "AT_ONCE", 150)  # several passes
    some = close_calls(kind)
    table = erasure.run(config(erase=erase), some)
    assert table["example"].tolist() == [0, 1, 2]
    slow = pd.DataFrame([slow_row(some.subject, e, n, erase) for n, e in enumerate(some.examples)])
    for column in slow:
        np.testing.assert_allclose(table[column], slow[column], atol=2e-6, err_msg=column)
    np.testing.assert_allclose(table["delta_js"], slow["js_top"] - slow["js_other"], atol=2e-6)
    assert (slow["top"] != slow["other"]).all()
    assert slow["js_top"].max() > 0, "nothing moved: the loop shows nothing"
    flips = slow[["flip_attention", "flip_gradient", "flip_random"]]
    if kind == "additive" or (erase == "input" and kind != "translator"):  # of others decisions may stay what they are
        assert flips.notna().any(axis=None), "no decision changed: the loop shows nothing"
    assert set(table["erased"]) == {erase}
    assert table["weights"].str.startswith("layer: ").all()
    assert erasure.figure(table).axes


@pytest.mark.parametrize("kind", ["bert", "additive"])
def test_decisions_that_change_are_found(kind):
    """Models that were trained change their decisions, so that the loop above shows something."""
    table = erasure.run(config(), context_of(kind, n=12))
    flips = table[["flip_attention", "flip_gradient", "flip_random"]]
    assert flips.notna().any(axis=None)
    assert flips.max(axis=None) < 1


def test_only_the_sites_that_are_named_are_erased():
    some = context_of("bert", n=3)
    first, last = some.subject.sites
    batch = some.first_batch()
    removed = np.zeros((1, *batch.special.shape), dtype=bool)
    removed[0, 0, 2] = True
    for sites, chosen in ((("*",), [first, last]), (("*.0.*",), [first]), ((last,), [last])):
        erasing = TokenErasure(some.subject, batch, "attention", sites)
        assert erasing.sites == chosen
        slow = slow_erased(some.subject, batch, chosen, [2], 0, True)
        np.testing.assert_allclose(erasing(removed)[0, 0], slow, atol=1e-6)
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'; there are: bert"):
        erasure.run(config(sites=("nowhere",)), some)


def test_attention_that_is_not_on_the_text_cannot_be_erased():
    subject = load(saved_models.translator())
    batch = subject.encode([Example("a b c d", target="a")])
    (inner,) = [name for name, site in subject.sites.items() if site.kind == "causal"]
    with pytest.raises(BadConfig, match=f"the keys at {inner} are not the tokens of the text, so none can be erased"):
        _erasing.TokenErasure(subject, batch, "attention", (inner,))


def test_a_model_that_attends_to_sentences_is_erased_by_deleting():
    subject = Subject(zoo.BY_NAME["hierarchical"].build(), wordpiece())
    batch = subject.encode([Example("not bad ! a good film"), Example("bad")])
    with pytest.raises(BadConfig, match="or delete from the text"):
        _erasing.TokenErasure(subject, batch, "attention", ("*",))
    erasing = _erasing.TokenErasure(subject, batch, "input", ("*",))
    assert np.array_equal(erasing.inputs, ~batch.special.numpy())
    some = Context(subject, [Example("not bad ! a good film"), Example("bad")], range(2), quiet=True)
    table = erasure.run(config(erase="input"), some)
    assert table["weights"].str.contains("word × sentence").all()
    assert np.isfinite(table["delta_js"]).tolist() == [True, False]


def test_a_second_text_that_is_not_attended_is_no_input(story_reader, stories):
    some = Context(story_reader, stories["test"][:2], range(2), quiet=True, name="erasure")
    (batch,) = some.batches()
    erasing = TokenErasure(some.subject, batch, "attention", ("*",))
    assert np.array_equal(erasing.inputs, (~batch.special & (batch.segment == 0)).numpy())


def test_one_word_has_no_other():
    subject = load(saved_models.additive())
    some = Context(subject, [Example("dull", "negative"), Example("so dull", "negative")], range(2), quiet=True)
    table = erasure.run(config(), some)
    alone, two = table.to_dict("records")
    assert (alone["inputs"], alone["top"], alone["other"]) == (1, -1, -1)
    assert np.isnan([alone[name] for name in ("delta_js", "delta_weight", "flip_attention", "flip_random")]).all()
    assert {two["top"], two["other"]} == {1, 2}


def test_r_is_never_the_top_and_every_other_input_gets_its_turn():
    drawn = np.random.default_rng(0).random((900, 6))
    inputs = np.array([[False, True, True, False, True, True]]).repeat(900, 0)
    weights = np.array([[9.0, 0.1, 0.3, 9.0, 0.3, 0.2]]).repeat(900, 0)
    top, other = _removals.top_and_other(weights, drawn, inputs)
    assert set(top.tolist()) == {2}  # of two that are equal the first
    counts = np.bincount(other, minlength=6)
    assert counts[[0, 2, 3]].tolist() == [0, 0, 0]
    assert counts[[1, 4, 5]].min() > 250


def test_attentions_order_changes_decisions_earlier_than_random_where_it_is_known_to_matter(story_reader, stories):
    some = Context(story_reader, stories["test"], range(300), quiet=True, name="erasure")
    table = erasure.run(config(), some)
    moved, random, gradient = erasure.effects(table)
    print(moved, random, gradient, sep="\n")
    assert moved.low > erasure.SMALLEST
    assert random.low > 0.3
    assert erasure.verdict(table).answer == "yes"


@pytest.mark.parametrize(
    "name", ["xlnet", "gpt2", "bart-classifier", "additive-dot-pairs-bypass", "recurrent-additive", "recurrent-dot"]
)
@pytest.mark.parametrize("erase", ERASE)
def test_any_removal_from_any_model_is_that_of_the_text_alone(name, erase):
    """Padded on either side, several tokens at once; against the text by itself, without padding."""
    subject = Subject(zoo.BY_NAME[name].build(), wordpiece())
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    texts = ("the film is not bad at all", "a bad film", "not bad")
    examples = [Example(text, pair=pair, target="a good film !") for text in texts]
    together = subject.encode(examples)
    erasing = _erasing.TokenErasure(subject, together, erase, ("*",))
    drawn = np.random.default_rng(0).random((4, *erasing.inputs.shape)) < 0.5
    got = erasing(drawn & erasing.inputs)
    for time, row in np.ndindex(4, 3):
        batch, real = subject.encode([examples[row]]), together.mask[row].nonzero().flatten().tolist()
        removed = [n for n, place in enumerate(real) if (drawn & erasing.inputs)[time, row, place]]
        position = int(erasing.target.positions[row])
        slow = (
            slow_deleted(subject, batch, removed, position)
            if erase == "input"
            else slow_erased(subject, batch, erasing.sites, removed, position, erase == "attention")
        )
        np.testing.assert_allclose(got[time, row], slow, atol=2e-5)
