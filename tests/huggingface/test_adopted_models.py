"""Adopted models trained, copied, adopted again, switched to another implementation, and released."""

import copy

import pytest
import torch
import transformers as hf
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import adopt, attending, release, sites, uniform
from whence.core.errors import CannotAttend, NoAttention


def test_weights_are_recorded_before_dropout():
    model = zoo.BY_NAME["bert"].build()
    adopt(model)
    inputs = subject("bert")[1]
    with attending(model) as in_evaluation:
        outputs(model, inputs)
    model.train()
    with attending(model, watch="*layer.0*") as in_training:
        outputs(model, inputs)
    first = in_training.only().weights
    assert_close(first.sum(-1), torch.ones(2, 4, 11))  # dropout would leave holes, and 1/(1-p) elsewhere
    assert first[0].gt(0).all()
    assert in_evaluation.only("*layer.0*").weights.shape == first.shape


def test_adoption_leaves_the_training_mode_of_every_module_alone():
    model = zoo.BY_NAME["bert"].build().train()
    model.bert.embeddings.eval()
    modes = {name: module.training for name, module in model.named_modules()}
    adopt(model)
    assert {name: module.training for name, module in model.named_modules() if "attention_site" not in name} == modes


def test_adopting_twice_is_adopting_once():
    model, _ = subject("bert")
    names = list(sites(model))
    assert adopt(model) is model
    assert list(sites(model)) == names


def test_a_model_that_was_adopted_in_part_is_adopted_whole():
    encoder = adopt(hf.BertModel(hf.BertConfig(**zoo.BERT)).eval())
    decoder = hf.BertLMHeadModel(hf.BertConfig(**zoo.BERT, is_decoder=True, add_cross_attention=True))
    model = hf.EncoderDecoderModel(encoder=encoder, decoder=decoder).eval()
    adopt(model)
    assert [site.kind for site in sites(model).values()] == ["self", "self", "causal", "cross", "causal", "cross"]


def test_a_copy_of_an_adopted_model_is_adopted(tmp_path):
    model, inputs = subject("bert")
    before = outputs(model, inputs)
    copied = copy.deepcopy(model)
    with attending(copied, override=uniform, watch=None):
        assert not torch.allclose(outputs(copied, inputs), before)
        assert_close(outputs(model, inputs), before, atol=0.0, rtol=0.0)
    model.save_pretrained(tmp_path)
    loaded = hf.BertForSequenceClassification.from_pretrained(tmp_path).eval()
    assert_close(outputs(loaded, inputs), before)
    with pytest.raises(NoAttention):
        attending(loaded).__enter__()


def test_an_eager_model_may_be_watched_too():
    model = zoo.BY_NAME["bert"].build()
    model.set_attn_implementation("eager")
    inputs = subject("bert")[1]
    before = outputs(model, inputs)
    with attending(adopt(model)) as tape:
        assert_close(outputs(model, inputs), before, atol=0.0, rtol=0.0)
    assert not tape.only("*0*").mask[1, ..., 8:].any()


def test_the_implementation_may_be_changed_after_adoption():
    model = adopt(zoo.BY_NAME["llama"].build())
    inputs = subject("llama")[1]
    with attending(model) as with_sdpa:
        outputs(model, inputs)
    model.set_attn_implementation("eager")
    with attending(model) as with_eager:
        outputs(model, inputs)
    for ours, theirs in zip(with_sdpa.calls(), with_eager.calls(), strict=True):
        assert_close(ours.weights, theirs.weights)


def test_a_released_model_has_no_sites_and_cannot_be_released_while_attended():
    model = adopt(zoo.BY_NAME["bert"].build())
    *_, last = names = list(sites(model))
    with attending(model, watch=last), pytest.raises(CannotAttend, match="release it after"):
        release(model)
    assert list(sites(model)) == names
    release(model)
    assert sites(model) == {}
