"""What adoption must get right beyond the laws: caches, generation, windows, sinks, empty rows, shared layers."""

import copy

import pytest
import torch
import transformers as hf
from torch import nn
from torch.testing import assert_close
from transformers.modeling_outputs import SequenceClassifierOutput

from support import zoo
from support.subjects import outputs, run, subject
from whence import adopt, attending, permuted, release, sites, uniform
from whence.core.errors import CannotAttend
from whence.core.site import AttentionSite, Site
from whence.huggingface.eager_site import EagerSite
from whence.huggingface.fused_site import FusedSite
from whence.huggingface.interface_site import InterfaceSite
from whence.huggingface.probe import natively_eager, probe_inputs

REPORTS_ATTENTIONS = [
    family.name
    for family in zoo.ADOPTED
    if family.name
    not in {"xlnet", "funnel", "xlm", "gpt-oss", "bloom", "falcon", "modernbert", "beit", "llama4", "squeezebert"}
]


@pytest.mark.parametrize("name", REPORTS_ATTENTIONS)
def test_the_weights_are_those_that_the_model_itself_reports(name):
    """An oracle we did not write: eager attention with output_attentions=True."""
    model, inputs = subject(name)
    with attending(model) as tape:
        outputs(model, inputs)
    with natively_eager(model), torch.no_grad():
        reported = model(**inputs, output_attentions=True)
    kinds = {"self": "encoder_attentions", "causal": "decoder_attentions", "cross": "cross_attentions"}
    for kind in {call.site.kind for call in tape.calls()}:
        theirs = reported[kinds[kind]] if model.config.is_encoder_decoder else reported["attentions"]
        ours = [call.weights for call in tape.calls() if call.site.kind == kind]
        assert len(ours) == len(theirs) > 0
        for own, their in zip(ours, theirs, strict=True):
            rows = own.any(-1)  # upstream fills rows that may see nothing (DeBERTa's padding) with uniform attention
            assert_close(own[rows], their[rows], atol=0.0, rtol=0.0)
            assert_close(own[0], their[0], atol=0.0, rtol=0.0)


@pytest.mark.parametrize(
    ("name", "route"), [("bert", InterfaceSite), ("deberta-v2", EagerSite), ("xlnet", EagerSite), ("falcon", FusedSite)]
)
def test_each_route_has_its_models(name, route):
    model, _ = subject(name)
    found = [module for module in model.modules() if isinstance(module, InterfaceSite | EagerSite | FusedSite)]
    assert len(found) == 2
    assert {type(site) for site in found} == {route}


def test_kinds_and_layers_are_told_apart():
    described = list(sites(subject("t5")[0]).values())
    assert [(site.kind, site.layer) for site in described] == [
        ("self", 0),
        ("self", 1),
        ("causal", 0),
        ("cross", 0),
        ("causal", 1),
        ("cross", 1),
    ]
    assert {site.kind for site in sites(subject("llama")[0]).values()} == {"causal"}
    assert {site.kind for site in sites(subject("bert")[0]).values()} == {"self"}


def test_a_decoder_with_cross_attention_has_both_kinds():
    config = hf.BertConfig(**zoo.BERT, is_decoder=True, add_cross_attention=True)
    model = hf.BertLMHeadModel(config).eval()
    example = {
        "input_ids": torch.arange(3, 8)[None],
        "encoder_hidden_states": torch.randn(1, 9, 32),
        "use_cache": False,
    }
    adopt(model, example)
    assert [site.kind for site in sites(model).values()] == ["causal", "cross"] * 2
    with attending(model) as tape:
        outputs(model, example)
    assert {tuple(call.weights.shape[-2:]) for call in tape.select(kind="cross").calls()} == {(5, 9)}


def test_attention_that_the_probe_did_not_reach_is_not_passed_over():
    """Cross-attention without a source is not run; when it is, later on, it would be neither watched nor replaced."""
    config = hf.BertConfig(**zoo.BERT, is_decoder=True, add_cross_attention=True)
    model = hf.BertLMHeadModel(config).eval()
    ids = {"input_ids": torch.arange(3, 8)[None], "use_cache": False}
    both = ids | {"encoder_hidden_states": torch.randn(1, 9, 32)}
    expected = outputs(model, both)
    adopt(model)
    assert [site.kind for site in sites(model).values()] == ["causal"] * 2
    assert_close(outputs(model, both), expected, atol=0.0, rtol=0.0)
    copied = copy.deepcopy(model)
    with attending(model, override=uniform) as tape:
        outputs(model, ids)
        assert_close(outputs(copied, both), expected, atol=0.0, rtol=0.0)  # nobody attends to the copy
        with pytest.raises(CannotAttend, match=r"layer\.0\.crossattention attends, but has no site.*example=\.\.\."):
            outputs(model, both)
    assert len(tape) == 2
    with attending(copied), pytest.raises(CannotAttend, match="has no site"):
        outputs(copied, both)
    release(model)
    assert not any(module._forward_pre_hooks for module in model.modules())
    adopt(model, both)
    assert [site.kind for site in sites(model).values()] == ["causal", "cross"] * 2


def test_a_learned_query_that_reads_all_places_is_a_pooling_site():
    """One query is not the length of any sequence; its row over all keys is a row all the same."""
    config = hf.Aimv2VisionConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=37, **zoo.PICTURE
    )
    model = adopt(hf.Aimv2VisionModel(config).eval())
    assert [site.kind for site in sites(model).values()] == ["self", "pool"]
    inputs = probe_inputs(model)
    with attending(model, watch="head") as tape:
        run(model, inputs)
    assert tape.only().weights.shape == (2, 4, 1, 16)


def test_a_shared_layer_has_one_name_per_call():
    model, inputs = subject("albert")
    path = "albert.encoder.albert_layer_groups.0.albert_layers.0.attention"
    assert sites(model) == {f"{path}#0": Site(f"{path}#0", 0, "self"), f"{path}#1": Site(f"{path}#1", 1, "self")}
    with attending(model, override={f"{path}#1": uniform}) as tape:
        outputs(model, inputs)
    with attending(model) as plain:
        outputs(model, inputs)
    assert_close(tape.only("*#0").weights, plain.only("*#0").weights, atol=0.0, rtol=0.0)
    assert_close(tape.only("*#1").weights[0], torch.full((4, 11, 11), 1 / 11))


def test_a_pass_that_broke_off_does_not_confuse_the_calls_of_a_shared_layer():
    model, inputs = subject("albert")
    with attending(model) as plain:
        outputs(model, inputs)
    for broken in ("*#0", "*#1"):
        raised: list[object] = []

        def once(call, raised=raised):
            if not raised:
                raised.append(call)
                raise ArithmeticError
            return call.weights

        with attending(model, override={broken: once}) as tape:
            with pytest.raises(ArithmeticError):
                outputs(model, inputs)
            outputs(model, inputs)
        assert_close(tape.only("*#1").weights, plain.only("*#1").weights, atol=0.0, rtol=0.0)


def test_grouped_queries_have_weights_for_every_query_head():
    model, inputs = subject("llama")  # four query heads, two key heads
    with attending(model, keep=["values"]) as tape:
        outputs(model, inputs)
    for call in tape.calls():
        assert call.weights.shape == (2, 4, 11, 11)
        assert_close(call.values[:, 0], call.values[:, 1])
        assert not torch.allclose(call.values[:, 1], call.values[:, 2])


def test_a_sliding_window_is_in_the_mask():
    model, inputs = subject("mistral")
    with attending(model) as tape:
        outputs(model, inputs)
    query, key = torch.arange(11)[:, None], torch.arange(11)
    window = (key <= query) & (key > query - 4)
    for call in tape.calls():
        assert torch.equal(call.mask[0, 0], window)
        assert ((call.weights[0] > 0) == window).all()


def test_softcapped_scores_are_what_the_softmax_was_given():
    model, inputs = subject("gemma2")  # capped at ±2
    with attending(model, keep=["scores"]) as tape:
        outputs(model, inputs)
    for call in tape.calls():
        scores = call.scores[call.mask.expand_as(call.scores)]
        assert scores.abs().max() <= 2.0
        assert_close(call.weights[0], call.scores[0].softmax(-1))


def test_a_sink_is_shown_and_never_renormalised_away():
    model, inputs = subject("gpt-oss")
    with attending(model) as tape:
        outputs(model, inputs)
    with natively_eager(model), torch.no_grad():
        reported = model(**inputs, output_attentions=True).attentions
    for call, theirs in zip(tape.calls(), reported, strict=True):
        assert call.sinks == 1
        assert call.weights.shape == (2, 4, 11, 12)
        assert_close(call.weights[..., :-1], theirs, atol=0.0, rtol=0.0)  # upstream drops the column
        sink = call.weights[..., -1]
        assert (sink > 0).all()
        assert_close(call.weights.sum(-1), torch.ones(2, 4, 11))
        assert call.mask[..., -1].all()
        shuffled = permuted(0)(call)
        assert_close(shuffled[..., -1], sink, atol=0.0, rtol=0.0)
        assert_close(uniform(call)[..., -1], sink, atol=0.0, rtol=0.0)


@pytest.mark.parametrize("batch", [1, 3, 4])
def test_heads_folded_into_the_batch_are_unfolded_whatever_the_example(batch):
    model = zoo.BY_NAME["trocr"].build()
    ids = torch.arange(3, 3 + 5 * batch).reshape(batch, 5)
    adopt(model, example={"input_ids": ids, "use_cache": False})
    with attending(model) as tape:
        outputs(model, {"input_ids": ids[:1].repeat(2, 1), "use_cache": False})
    assert {tuple(call.weights.shape) for call in tape.calls()} == {(2, 4, 5, 5)}


def test_a_model_that_attends_in_its_own_forward_is_adopted():
    class Bare(hf.PreTrainedModel):
        config_class = hf.BertConfig

        def __init__(self, config):
            super().__init__(config)
            self.words = nn.Embedding(99, 32)
            self.post_init()

        def forward(self, inputs_embeds):
            weights = torch.softmax(inputs_embeds @ inputs_embeds.transpose(1, 2), dim=-1)
            return {"logits": weights @ inputs_embeds @ self.words.weight.T}

    example = {"inputs_embeds": torch.randn(2, 5, 32)}
    model = adopt(Bare(hf.BertConfig(**zoo.BERT)).eval(), example)
    assert sites(model) == {"attention_site": Site("attention_site", 0, "self")}
    with attending(model, override=uniform) as tape:
        logits = model(**example)["logits"]
    mean = example["inputs_embeds"].mean(1, keepdim=True).expand(-1, 5, -1)
    assert_close(logits, mean @ model.words.weight.T)
    assert tape.only().weights.shape == (2, 1, 5, 5)


def test_a_model_with_a_site_of_its_own_around_a_hugging_face_model_has_both():
    class Pooling(hf.PreTrainedModel):
        config_class = hf.BertConfig

        def __init__(self, config):
            super().__init__(config)
            self.bert, self.score = hf.BertModel(config), nn.Linear(32, 1)
            self.pool = AttentionSite("pool")
            self.post_init()

        def forward(self, input_ids):
            hidden = self.bert(input_ids).last_hidden_state
            weights = self.pool(self.score(hidden).transpose(1, 2)[:, None])[:, 0]  # [batch 1 token]
            return SequenceClassifierOutput(logits=(weights @ hidden)[:, 0])

    model = adopt(Pooling(hf.BertConfig(**zoo.BERT)).eval())
    assert [site.kind for site in sites(model).values()] == ["self", "self", "pool"]
    ids = {"input_ids": torch.arange(3, 13).reshape(2, 5)}
    before = outputs(model, ids)
    with attending(model) as tape:
        assert_close(outputs(model, ids), before)
    assert [len(calls) for calls in tape.values()] == [1, 1, 1]
    assert adopt(model) is model
    assert list(sites(release(model))) == ["pool"]
