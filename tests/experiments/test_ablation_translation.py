"""Experiments on translators that write freely: beside sacrebleu and slow loops, one text at a time."""

from collections import Counter

import numpy as np
import pytest
import torch
from sacrebleu.metrics.bleu import BLEU

import whence
from whence.analysis.scores import metric_name
from whence.core.attending import attending
from whence.core.errors import BadConfig, UnknownSite
from whence.core.overrides import Override
from whence.data.synthetic import numerals
from whence.evaluation.context import Context
from whence.evaluation.locations import places
from whence.evaluation.scoring import scores
from whence.experiments import ablation, layers, permutation
from whence.subject.generation import encoded_once, step_probabilities, translate
from whence.training.config import Training
from whence.training.fit import fit
from whence.training.init import untrained
from whence.training.recipe import Recipe

KINDS = {
    "bahdanau": {"model": "recurrent", "attention": "additive", "layers": 1, "embedding_size": 32},
    "luong": {"model": "recurrent", "attention": "dot", "layers": 1, "embedding_size": 32},
    "transformer": {"model": "transformer", "layers": 2, "heads": 2},
}


@pytest.fixture(scope="module")
def corpus():
    return numerals.load(sizes={"train": 600, "dev": 30, "test": 12})


@pytest.fixture(scope="module", params=KINDS)
def context(request, corpus):
    """A translator that has begun to learn: its texts end, and its attention is not all alike."""
    small = {"hidden_size": 32, "dropout": 0.0, "data": "numerals"}
    subject = untrained(Training(**KINDS[request.param], **small), corpus)
    fit(subject, corpus["train"], corpus["dev"], Recipe(epochs=8, batch_size=16, learning_rate=1e-2), quiet=True)
    return Context(subject, corpus["test"], range(12), quiet=True, name="test", batch_size=5)


def config(kind, **options):
    return kind.Config(model="m", data="d", **options)


def one_by_one(context, override=None, beams=1):
    """BLEU of the test texts, translated one by one."""
    counts_as_text = []
    for example in context.examples:
        with attending(context.subject.model, override=override, watch=None):
            counts_as_text += translate(context.subject, context.subject.encode([example]), beams=beams)
    return BLEU().corpus_score(counts_as_text, [[example.target for example in context.examples]]).score


@pytest.mark.parametrize("beams", [1, 3])
def test_ablation_is_the_bleu_of_texts_translated_one_by_one(context, beams):
    options = {"variants": ("uniform",), "special_tokens": True, "beams": beams, "sites": ("*attention*",)}
    table = ablation.run(config(ablation, **options), context)
    assert metric_name(table["base_counts"]) == "BLEU"
    (row,) = ablation.summary(table).itertuples()
    assert row.base == pytest.approx(one_by_one(context, None, beams), abs=0.06)
    assert row.ablated == pytest.approx(one_by_one(context, whence.uniform, beams), abs=0.06)
    assert row.base > row.ablated + 1, "nothing is lost: the loop shows nothing"
    (effect,) = ablation.effects(table)
    assert effect.unit == "points of BLEU lost"
    assert effect.value == pytest.approx(row.base - row.ablated, abs=0.11)  # two rounded numbers
    assert ablation.figure(table).axes[0].get_xlabel() == "points of BLEU lost"


def test_special_tokens_keep_their_weight_in_every_beam(context):
    """With beams each text stands several times at the decoder; its own end token must be spared every time."""
    seen = []

    def watching(call):
        if call.site.kind == "cross":
            seen.append(call.weights.shape[0])
        return whence.uniform(call)

    three = config(ablation, variants=("uniform",), beams=3, sites=("*attention*",))
    scored = scores(context, three, lambda _: whence.uniform, _everywhere(context))
    alone = scores(context, config(ablation, sites=("*attention*",)), lambda _: whence.uniform, _everywhere(context))
    assert scored.counts.shape == alone.counts.shape == (12, 10)
    with attending(context.subject.model, override=watching, watch=None):
        translate(context.subject, context.subject.encode(context.examples[:2]), beams=3)
    assert set(seen) == {6}


def _everywhere(context):
    (place,) = places(context.subject, "all", context.first_batch())
    return place


def test_forced_decoding_counts_right_tokens(context):
    table = ablation.run(config(ablation, variants=("uniform",), decoding="forced"), context)
    assert metric_name(table["base_counts"]) == "accuracy"
    shares = []
    for example in context.examples:
        batch = context.subject.encode([example])
        said = context.subject.predict(batch)[0].argmax(-1)
        shares.append(float((said == batch.labels[0])[batch.predicted_positions[0]].float().mean()))
    np.testing.assert_allclose(table["base"], shares, atol=1e-6)


def test_steps_are_those_of_writing_one_token_after_another(context):
    """Each distribution is the model's, given what it wrote so far; after the end all is on the end token."""
    subject, steps = context.subject, 14
    batch = subject.encode(context.examples[:4])
    found = step_probabilities(subject, batch, steps)
    end, start = subject.tokenizer.eos_token_id, subject.model.config.decoder_start_token_id
    for row, example in enumerate(context.examples[:4]):
        source = {name: value for name, value in subject.encode([example]).inputs.items() if name != "labels"}
        counts_as_text = [start]
        for step in range(steps):
            if end in counts_as_text:
                assert found[row, step].argmax() == end
                assert float(found[row, step, end]) == 1.0
                continue
            with torch.no_grad():
                logits = subject.model(**source, decoder_input_ids=torch.tensor([counts_as_text])).logits[0, -1]
            torch.testing.assert_close(found[row, step], logits.softmax(-1), atol=1e-5, rtol=0)
            counts_as_text.append(int(logits.argmax()))
    assert found.shape[1] == steps


class Shifts:
    """In the place of random orders, orders that are known: the n-th shuffle moves free weights n keys on."""

    def __call__(self, generator):
        self.done: Counter[str] = Counter()
        return Override("shifted", self.rule, generator)

    def rule(self, call, free):
        weights, free = call.weights.clone(), free.expand_as(call.weights)
        size = len(weights) // call.copies
        for row, head, query in np.ndindex(*weights.shape[:3]):
            keys = free[row, head, query].nonzero().flatten()
            weights[row, head, query, keys] = call.weights[row, head, query, keys.roll(-(1 + row // size))]
        return weights


@pytest.mark.parametrize("decoding", ["forced", "free"])
@pytest.mark.parametrize("steps", ["all", "quartile"])
def test_shuffled_translations_against_a_slow_loop(context, decoding, steps, monkeypatch):
    monkeypatch.setattr(whence, "permuted", Shifts(), raising=False)
    asked = config(
        permutation,
        permutations=3,
        decoding=decoding,
        steps=steps,
        sites=("*cross*", "attention")[-1:] if "attention" in context.subject.sites else ("*cross*",),
    )
    table = permutation.run(asked, context)
    lengths = [int(context.subject.encode([e]).predicted_positions.sum()) for e in context.examples]
    step = int(np.quantile(lengths, 0.25)) - 1
    assert table["example"].tolist() == [n for n, length in enumerate(lengths) if steps == "all" or length > step]
    sites = [name for name, site in context.subject.sites.items() if site.kind == "cross"]
    for row in table.itertuples():
        batch = context.subject.encode([context.examples[row.example]])
        compared = range(lengths[row.example]) if steps == "all" else [step]
        expected = slow_median(context.subject, batch, sites, decoding, compared)
        assert row.median_tvd == pytest.approx(expected, abs=2e-5)
    assert table["median_tvd"].max() > 0


def slow_median(subject, batch, sites, decoding, compared):
    def read():
        if decoding == "forced":
            return subject.predict(batch)[0]
        return step_probabilities(subject, batch, max(compared) + 1)[0]

    base, changes = read(), []
    for shift in (1, 2, 3):

        def moved(call, shift=shift):
            weights = call.weights.clone()
            for head, query in np.ndindex(*weights.shape[1:3]):
                free = [k for k in range(weights.shape[-1]) if not batch.special[0, k]]
                for place, key in enumerate(free):
                    weights[0, head, query, key] = call.weights[0, head, query, free[(place + shift) % len(free)]]
            return weights

        with attending(subject.model, override=dict.fromkeys(sites, moved), watch=None):
            probs = read()
        changes.append(np.mean([float((probs[at] - base[at]).abs().sum() / 2) for at in compared]))
    return float(np.median(changes))


def test_the_encoder_runs_once_for_many_copies(context):
    batch = context.subject.encode(context.examples[:3])
    many = encoded_once(context.subject, batch, 4)
    ran = []
    hook = context.subject.model.get_encoder().register_forward_hook(lambda *_: ran.append(1))
    probs = context.subject.predict(many).unflatten(0, (4, 3))
    hook.remove()
    assert not ran
    torch.testing.assert_close(probs, context.subject.predict(batch).expand(4, -1, -1, -1), atol=1e-5, rtol=0)


def test_layers_of_a_translator_are_marked_by_bleu(context):
    table = layers.run(config(layers, draws=1, special_tokens=True), context)
    found = layers.losses(table)
    assert found["left"].iloc[0] == pytest.approx(one_by_one(context), abs=1e-6)
    assert {effect.unit for effect in layers.effects(table)} == {"points of BLEU lost"}
    assert layers.figure(table).axes


def test_the_quartile_is_for_translators_and_sites_must_be_there(context):
    with pytest.raises(UnknownSite, match="no attention site 'nowhere'; choose from:"):
        ablation.run(config(ablation, sites=("nowhere",)), context)


def test_the_quartile_is_for_translators():
    from support.contexts import context as classifiers

    with pytest.raises(BadConfig, match="steps=quartile is for translators"):
        permutation.run(config(permutation, steps="quartile"), classifiers("bert"))
