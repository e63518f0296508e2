"""Raw attention compared with a slow reading of the tape."""

from itertools import product

import pytest
import torch
from numpy.testing import assert_allclose
from tokenizers.processors import TemplateProcessing

from support import zoo
from support.explained import EXAMPLES, tape_of
from support.models.additive import WORDED, additive
from support.tokenizing import reader, wordpiece
from support.tracing import READ_AT
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.subject.subject import Subject
from whence.subject.targets import predicted


def slow_row(weights, mask, row, position):
    """Of one text's weights [head query key], by a loop, those from the queries that are meant: [head key]."""
    real = [place for place in range(weights.shape[1]) if mask[place]]
    queries = {"first": real[:1], "last": real[-1:], "mean": real, "prediction": [position]}[row]
    return torch.stack([torch.stack([head[query] for query in queries]).mean(0) for head in weights])


@pytest.mark.parametrize("layer", ["last", "mean", 0, 1, -2])
def test_every_choice_against_a_slow_reading_of_the_tape(layer):
    subject = reader("xlm-roberta")
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    tape = tape_of(subject, batch)
    recorded = [tape.only(name).weights for name in subject.sites]
    layers = {"last": recorded[1:], "mean": recorded}.get(layer) or [recorded[layer]]
    for heads, row in product(["mean", "max", "min", 0, 3, -1], ["first", "last", "mean", "prediction"]):
        found = explainer("raw_attention")(subject, batch, target, layer=layer, heads=heads, row=row)
        for number in range(len(EXAMPLES)):
            expected = torch.zeros(batch.special.shape[1])
            for weights in layers:
                reduced = weights[number]
                if heads in ("max", "min"):  # first over heads, then over rows
                    reduced = reduced.amax(0, keepdim=True) if heads == "max" else reduced.amin(0, keepdim=True)
                rows = slow_row(reduced, batch.mask[number], row, int(target.positions[number]))
                expected += (rows.mean(0) if isinstance(heads, str) else rows[heads]) / len(layers)
            assert_allclose(found.scores[number], expected, atol=1e-6)
        assert found.how == f"layer: {layer}, heads: {heads}, from: {row}"
        assert not found.signed


def test_a_pooling_attention_has_one_row():
    subject = additive(torch.float32)
    batch = subject.encode(WORDED)
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    assert_allclose(found.scores, tape_of(subject, batch).only("attention").weights[:, 0, 0])
    assert_allclose(found.scores.sum(1), 1.0, rtol=1e-5)
    assert (found.scores[batch.special.numpy()] == 0).all()
    assert found.how == "layer: the only one, heads: mean, from: first"


@pytest.mark.parametrize(
    ("name", "row"),
    [*READ_AT, ("bart", "prediction"), ("bart-classifier", "last"), ("transformer-pre-none", "mean")],
)
def test_left_to_itself_it_reads_where_the_answer_is_read(name, row):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    found = explainer("raw_attention")(subject, batch, target)
    assert found.how.endswith(f"from: {row}")
    assert_allclose(found.scores, explainer("raw_attention")(subject, batch, target, row=row).scores)


def test_xlnet_is_read_at_its_end():
    tokenizer = wordpiece()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A [SEP] [CLS]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    subject = Subject(zoo.BY_NAME["xlnet"].build(), tokenizer)
    batch = subject.encode(EXAMPLES)
    assert all(tokens[-1] == "[CLS]" for tokens in batch.tokens)  # padded on the left
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    last = tape_of(subject, batch).only(list(subject.sites)[-1]).weights[:, :, -1].mean(1)
    assert_allclose(found.scores, last, atol=1e-6)


def test_a_translator_is_read_across_and_from_its_target():
    subject = reader("bart")
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    across = [name for name, site in subject.sites.items() if site.kind == "cross"]
    weights = tape_of(subject, batch).only(across[-1]).weights.mean(1)  # [batch target source]
    for row, places in (("last", [4, 2, 3]), ("first", [0, 0, 0]), ("prediction", target.positions.tolist())):
        found = explainer("raw_attention")(subject, batch, target, row=row).scores
        assert_allclose(found, weights[torch.arange(3), places], atol=1e-6)
    found = explainer("raw_attention")(subject, batch, target, row="mean").scores
    assert_allclose(found[1], weights[1, :3].mean(0), atol=1e-6)


def test_the_share_of_a_sink_goes_to_no_token():
    subject = reader("gpt-oss")
    batch = subject.encode(EXAMPLES)
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    assert found.scores.shape == batch.special.shape
    assert (found.scores.sum(1) < 1).all()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"layer": 2}, "no layer 2; there are 2, counted from 0"),
        ({"layer": -3}, "no layer -3; there are 2"),
        ({"layer": "first"}, "no layer 'first'; choose from: last, mean, or a number"),
        ({"heads": 4}, "no head 4; there are 4, counted from 0"),
        ({"heads": -5}, "no head -5; there are 4"),
        ({"heads": "sum"}, "no heads 'sum'; choose from: mean, max, min, or a number"),
        ({"row": "middle"}, "no row 'middle'; choose from: auto, first, last, mean, prediction, or a token's number"),
    ],
)
def test_choices_that_do_not_exist(options, complaint):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match=complaint):
        explainer("raw_attention")(subject, batch, predicted(subject, batch), **options)
