"""The table of faithfulness: comprehensiveness and sufficiency as DeYoung et al. 2020 define them, by hand."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from support import saved_models, zoo
from support.contexts import TASKS
from support.contexts import context as context_of
from support.tokenizing import wordpiece
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.evaluation.faithfulness import orders
from whence.experiments import faithfulness
from whence.subject.subject import Subject, load
from whence.subject.targets import predicted


def config(**options) -> faithfulness.Config:
    return faithfulness.Config(model="m", data="d", **options)


def slow_probabilities(subject, batch, kept):
    """The prediction for some tokens of one text; the special ones are always there."""
    left = [place for place in range(batch.special.shape[1]) if batch.special[0, place] or place in kept]
    with torch.no_grad():
        logits = subject.model(**{name: tensor[:, left] for name, tensor in batch.inputs.items()}).logits
    return logits[0].double().softmax(-1).numpy(), logits[0].double().numpy()


def margin(logits, chosen):
    return logits[chosen] - np.delete(logits, chosen).max()


@pytest.mark.parametrize("kind", ["bert", "additive"])
def test_comprehensiveness_and_sufficiency_by_their_definition(kind, monkeypatch):
    monkeypatch.setattr(orders, "DIGITS", 5)  # untrained models attend nearly alike to all tokens
    some = context_of(kind, n=3)
    methods = ("raw_attention", "gradient_x_input", "random")
    table = faithfulness.run(config(method=methods, erase=("delete",), units="tokens", steps=50, soft_draws=0), some)
    compared = 0
    for number, example in enumerate(some.examples):
        batch = some.subject.encode([example], [number])
        target = predicted(some.subject, batch, "margin")
        tokens = np.flatnonzero(~batch.special[0].numpy())
        whole, logits = slow_probabilities(some.subject, batch, tokens)
        chosen = whole.argmax()
        for method in methods[:2]:
            scores = explainer(method)(some.subject, batch, target).scores[0][tokens]
            if len(np.unique(np.round(scores / np.abs(scores).max(), 5))) < len(scores):
                continue  # equal but for rounding: in random order
            compared += 1
            order = tokens[np.argsort(-scores, kind="stable")]
            without, only, margins, flips = [], [], [], []
            for k in range(1, len(order)):
                after, raw = slow_probabilities(some.subject, batch, order[k:])
                kept, _ = slow_probabilities(some.subject, batch, order[:k])
                without.append(whole[chosen] - after[chosen])
                only.append(whole[chosen] - kept[chosen])
                margins.append(
                    (logits[chosen] - np.delete(logits, chosen).max()) - (raw[chosen] - np.delete(raw, chosen).max())
                )
                flips += [k / len(order)] if after.argmax() != chosen else []
            (row,) = table[(table["example"] == number) & (table["method"] == method)].to_dict("records")
            assert row["comprehensiveness"] == pytest.approx(np.mean(without), abs=1e-4)
            assert row["sufficiency"] == pytest.approx(np.mean(only), abs=1e-4)
            assert row["area"] == pytest.approx(np.mean(margins), abs=1e-3)
            assert row["flip"] == pytest.approx(flips[0] if flips else np.nan, nan_ok=True)
            first, _ = slow_probabilities(some.subject, batch, order[1:])
            assert row["js_top"] == pytest.approx(jensenshannon(whole, first) ** 2, abs=1e-6)
            assert row["top"] == order[0] != row["other"]
            assert row["against"] == float(margins[0] < 0)
            share = (row["area"] - row["worst"]) / (row["best"] - row["worst"])
            assert row["normalised_comprehensiveness"] == pytest.approx(share)
            assert 0 <= row["normalised"] <= 1
    assert compared > 2


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_has_its_table(kind):
    some = context_of(kind, n=4)
    table = faithfulness.run(config(steps=3, random_orders=1), some)
    assert set(table["erase"]) == {"delete", "mask", "replace", "attention"}
    assert table["normalised"].dropna().between(0, 1).all()
    assert set(table["method"]) == set(faithfulness.METHODS)
    assert faithfulness.figure(table).axes
    assert set(faithfulness.figures(table)) == {"kinds", "flips"}
    assert faithfulness.verdict(table).answer == "undecided"  # four texts
    assert len(faithfulness.summary(table)) == 6


def test_the_table_does_not_depend_on_batches():
    tables = [
        faithfulness.run(config(steps=3, method=("raw_attention", "random")), context_of("bert", n=6, batch_size=size))
        for size in (1, 4)
    ]
    measured = ["area", "reversed", "best", "worst", "comprehensiveness", "sufficiency"]
    numbers = [table[measured].to_numpy(float) for table in tables]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=2e-3)  # rounding of a pass, over a small range


def test_a_model_that_attends_to_sentences_is_judged_by_its_inputs():
    subject = Subject(zoo.BY_NAME["hierarchical"].build(), wordpiece())
    some = Context(subject, [Example("not bad ! a good film"), Example("bad")], range(2), quiet=True)
    table = faithfulness.run(config(steps=3), some)
    assert set(table["erase"]) == {"delete", "mask", "replace"}
    assert set(table["example"]) == {0}  # a single word has no order
    with pytest.raises(BadConfig, match="--erase delete"):
        faithfulness.run(config(erase=("attention",)), some)


def test_texts_of_one_word_are_refused():
    some = Context(load(saved_models.additive()), [Example("dull", "negative")] * 2, range(2), quiet=True)
    with pytest.raises(BadConfig, match="two words or more"):
        faithfulness.run(config(), some)


def test_layers_and_heads_can_be_chosen():
    some = context_of("bert", n=3)
    chosen = faithfulness.run(config(method=("raw_attention", "random"), layer=0, head=1, erase=("delete",)), some)
    assert chosen[chosen["method"] == "raw_attention"]["how"].str.startswith("layer: 0, heads: 1").all()
    with pytest.raises(BadConfig, match="no head 99"):
        faithfulness.run(config(method=("raw_attention", "random"), head=99), some)
