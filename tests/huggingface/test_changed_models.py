"""Models that are changed after adoption, or whose layers are shared: nothing is passed over in silence."""

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from whence import adopt, attending, sites, uniform
from whence.core.errors import CannotAttend

INPUTS = {"input_ids": torch.tensor([[5, 7, 9, 11, 13]])}


def bert() -> hf.BertForSequenceClassification:
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.3,
    )
    return hf.BertForSequenceClassification(config).eval()


def replace_a_layer(model):
    model.bert.encoder.layer[1] = bert().bert.encoder.layer[1]


def remove_a_layer(model):
    del model.bert.encoder.layer[2]


def share_a_layer(model):
    model.bert.encoder.layer[2] = model.bert.encoder.layer[0]


@pytest.mark.parametrize("change", [replace_a_layer, remove_a_layer, share_a_layer])
def test_a_model_that_was_changed_must_be_adopted_again(change):
    model = adopt(bert())
    change(model)
    with pytest.raises(CannotAttend, match=r"other layers than when it was adopted .* call adopt\(model\) again"):
        attending(model).__enter__()
    adopt(model)
    with torch.no_grad(), attending(model, override=uniform) as tape:
        model(**INPUTS)
    expected = torch.full((1, 2, 5, 5), 0.2)
    assert len(tape.calls()) == len(model.bert.encoder.layer)
    for call in tape.calls():
        assert_close(call.weights, expected)


def test_a_part_may_be_adopted_after_the_whole():
    model = adopt(bert())
    adopt(model.bert)
    with torch.no_grad(), attending(model) as tape:
        model(**INPUTS)
    assert list(tape) == list(sites(model))


def test_sites_of_a_layer_that_is_used_twice_come_in_the_order_of_the_run():
    model = bert()
    share_a_layer(model)
    adopt(model)
    layer = "bert.encoder.layer.{}.attention.self"
    names = [layer.format("0") + "#0", layer.format("1"), layer.format("0") + "#1"]
    assert list(sites(model)) == names
    assert [site.layer for site in sites(model).values()] == [0, 1, 2]
    assert len({site.stack for site in sites(model).values()}) == 1
    with torch.no_grad(), attending(model) as tape:
        given = model(**INPUTS, output_attentions=True).attentions
    for name, weights in zip(names, given, strict=True):
        assert_close(tape.only(name).weights, weights)
