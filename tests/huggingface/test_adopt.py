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
from whence import adopt, attending, imposed, permuted, release, sites, uniform
from whence.core.errors import CannotAdopt, CannotAttend, NoAttention
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
        raised = []

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


def test_a_sink_that_the_weights_do_not_show_is_refused():
    """Upstream scales the context down after the softmax instead; the rows would sum to one without the sink."""
    config = hf.GraniteSWAConfig(**zoo.GROUPED, sliding_window=4)
    with pytest.raises(CannotAdopt, match=r"layers\.0\.self_attn attends in part to a sink, but counts it after the"):
        adopt(hf.GraniteSWAForCausalLM(config).eval())


@pytest.mark.parametrize("name", ["gpt2", "llama", "gpt-j", "bloom", "falcon"])
def test_rows_of_left_padding_see_nothing_and_disturb_nobody(name):
    """Before the first token a causal row has no permitted key: zeros for the watcher, and the model as it was."""
    model, _ = subject(name)
    ids = torch.tensor([[5, 6, 7, 8, 9, 10], [0, 0, 0, 11, 12, 2]])
    inputs = {"input_ids": ids, "attention_mask": (ids != 0).long(), "use_cache": False}
    before = outputs(model, inputs)
    with attending(model) as tape:
        assert_close(outputs(model, inputs), before, atol=1e-5, rtol=1e-4)
    for call in tape.calls():
        assert not call.weights[1, :, :3].any()
        assert not call.mask.expand_as(call.weights)[1, :, :3].any()
        assert_close(call.weights[1, :, 3:].sum(-1), torch.ones(call.weights.shape[1], 3))
    with attending(model, override=imposed(tape), watch=None):
        assert_close(outputs(model, inputs), before, atol=1e-5, rtol=1e-4)


GENERATES = [
    "gpt2",
    "gpt-neox",
    "gpt-j",
    "opt",
    "llama",
    "mistral",
    "qwen3",
    "gemma2",
    "gpt-oss",
    "t5",
    "bart",
    "marian",
    "bloom",
    "falcon",
    "modernbert-decoder",
    "llama4",
    "minicpm3",
    "youtu",
    "deepseek-v32",
    "transformer-seq2seq-pre",
]


def generating(name):
    family = zoo.BY_NAME[name]
    if name == "gpt2":
        family = zoo.family("gpt2", "GPT2LMHeadModel", "GPT2Config", **zoo.GPT)
    model = family.build()
    return model if family.ours else adopt(model)


@pytest.mark.parametrize("name", GENERATES)
def test_generation_with_a_cache_is_unchanged_and_watched_step_by_step(name):
    model = generating(name)
    ids = torch.tensor([[5, 6, 7, 8], [9, 10, 11, 12]])
    settings = {"attention_mask": torch.ones_like(ids), "max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False}
    expected = model.generate(ids, **settings)
    with attending(model) as tape:
        assert torch.equal(model.generate(ids, **settings), expected)
    causal = [name for name, site in sites(model).items() if site.kind == "causal"]
    for site in causal:
        lengths = [call.weights.shape[-1] - call.sinks for call in tape[site]]
        assert len(lengths) == 4
        start = 1 if model.config.is_encoder_decoder else 4
        config = model.config  # what a cache with a window keeps
        window = getattr(config, "sliding_window", None) or getattr(config, "attention_chunk_size", None) or 100
        growing = list(range(start, start + 4))
        kept = [min(length, window) for length in growing]
        assert lengths in (growing, kept, [start, *kept[1:]])
        assert [call.step for call in tape[site]] == [0, 1, 2, 3]


def test_an_override_during_generation_changes_what_is_generated():
    model = generating("bart")
    ids = torch.tensor([[5, 6, 7, 8, 9, 10]])
    before = model.generate(ids, max_new_tokens=8, num_beams=2, output_logits=True, return_dict_in_generate=True)
    with attending(model, override={"*.encoder_attn": uniform}, watch=None):
        after = model.generate(ids, max_new_tokens=8, num_beams=2, output_logits=True, return_dict_in_generate=True)
    assert not torch.allclose(before.logits[0], after.logits[0])


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


@pytest.mark.parametrize("batch", [1, 3, 4])
def test_heads_folded_into_the_batch_are_unfolded_whatever_the_example(batch):
    model = zoo.BY_NAME["trocr"].build()
    ids = torch.arange(3, 3 + 5 * batch).reshape(batch, 5)
    adopt(model, example={"input_ids": ids, "use_cache": False})
    with attending(model) as tape:
        outputs(model, {"input_ids": ids[:1].repeat(2, 1), "use_cache": False})
    assert {tuple(call.weights.shape) for call in tape.calls()} == {(2, 4, 5, 5)}


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


def test_fused_execution_is_refused_when_it_is_to_be_overridden():
    model = adopt(zoo.BY_NAME["bert"].build())
    model.config._attn_implementation = "flash_attention_2"
    with pytest.raises(CannotAttend, match=r"'flash_attention_2'.*set_attn_implementation\(\"sdpa\"\)"):
        attending(model, override=uniform).__enter__()
    assert not any(module.sessions for module in model.modules() if isinstance(module, InterfaceSite))
    model.config._attn_implementation = "sdpa"
    outputs(model, subject("bert")[1])


def test_a_released_model_has_no_sites_and_cannot_be_released_while_attended():
    model = adopt(zoo.BY_NAME["bert"].build())
    *_, last = names = list(sites(model))
    with attending(model, watch=last), pytest.raises(CannotAttend, match="release it after"):
        release(model)
    assert list(sites(model)) == names
    release(model)
    assert sites(model) == {}


def test_a_model_without_attention_is_refused():
    config = hf.FNetConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=2, intermediate_size=37, tpu_short_seq_length=11
    )
    with pytest.raises(NoAttention, match=r"FNetModel has no attention that could be found.*Whence is for models with"):
        adopt(hf.FNetModel(config))
    mamba = hf.MambaModel(hf.MambaConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4))
    with pytest.raises(NoAttention, match="MambaModel has no attention"):
        adopt(mamba)


def test_attention_in_bands_is_refused():
    config = hf.LongformerConfig(**zoo.BERT, attention_window=4, max_position_embeddings=64)
    with pytest.raises(CannotAdopt, match=r"LongformerSelfAttention\) attends in a form that has no row over all keys"):
        adopt(hf.LongformerModel(config))


@pytest.mark.parametrize(
    ("model", "config", "options", "host"),
    [
        ("LongT5ForConditionalGeneration", "LongT5Config", zoo.T5 | {"local_radius": 3}, "LongT5LocalAttention"),
        (
            "ProphetNetForConditionalGeneration",
            "ProphetNetConfig",
            zoo.TEXT
            | {
                "hidden_size": 32,
                "num_encoder_layers": 1,
                "num_decoder_layers": 1,
                "encoder_ffn_dim": 37,
                "decoder_ffn_dim": 37,
                "num_encoder_attention_heads": 4,
                "num_decoder_attention_heads": 4,
            },
            "ProphetNetNgramSelfAttention",
        ),
    ],
)
def test_attention_that_has_five_axes_is_refused_and_not_passed_over(model, config, options, host):
    """Some of the model's attention is of the usual form; sites for that part alone would be half the truth."""
    model = getattr(hf, model)(getattr(hf, config)(**options)).eval()
    with pytest.raises(CannotAdopt, match=rf"\({host}\) attends in a form that has no row over all keys"):
        adopt(model)
    assert sites(model) == {}


def test_attention_in_blocks_is_refused_before_a_short_text_makes_it_another_model():
    options = zoo.BERT | {"block_size": 2, "num_random_blocks": 1, "max_position_embeddings": 64}
    model = hf.BigBirdForSequenceClassification(hf.BigBirdConfig(**options)).eval()
    with pytest.raises(CannotAdopt, match=r"attends in blocks .*load it with attention_type=\"original_full\""):
        adopt(model)
    assert model.bert.attention_type == "block_sparse"
    full = hf.BigBirdForSequenceClassification(hf.BigBirdConfig(**options, attention_type="original_full")).eval()
    assert [site.kind for site in sites(adopt(full)).values()] == ["self", "self"]


def test_what_hides_in_torch_is_refused():
    class Hidden(hf.PreTrainedModel):
        config_class = hf.BertConfig

        def __init__(self, config):
            super().__init__(config)
            self.words = nn.Embedding(99, 32)
            self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
            self.post_init()

        def forward(self, input_ids, **kwargs):
            x = self.words(input_ids)
            return self.attention(x, x, x)

    with pytest.raises(CannotAdopt, match=r"attention is torch's own nn.MultiheadAttention, which hides its weights"):
        adopt(Hidden(hf.BertConfig(**zoo.BERT)))


def test_only_hugging_face_models_are_adopted():
    with pytest.raises(CannotAdopt, match=r"adopt takes a Hugging Face model .* this is a Linear"):
        adopt(nn.Linear(2, 2))
    with pytest.raises(CannotAdopt, match=r"compiled by torch.compile"):
        adopt(torch.compile(zoo.BY_NAME["bert"].build(), backend="eager"))


def test_a_model_whose_input_cannot_be_made_up_asks_for_an_example():
    class Strange(hf.BertPreTrainedModel):
        main_input_name = "pulse"

        def __init__(self, config):
            super().__init__(config)
            self.bert = hf.BertModel(config)
            self.post_init()

        def forward(self, pulse, **kwargs):
            return self.bert(inputs_embeds=pulse)

    model = Strange(hf.BertConfig(**zoo.BERT)).eval()
    with pytest.raises(CannotAdopt, match=r"could not make up an input for Strange; .*adopt\(model, example=\.\.\.\)"):
        adopt(model)
    adopt(model, example={"pulse": torch.randn(2, 5, 32)})
    assert len(sites(model)) == 2


@pytest.mark.parametrize("example", [{}, {"use_cache": False}])
def test_an_example_that_is_no_input_gets_a_sentence(example):
    with pytest.raises(
        CannotAdopt, match=r"an example is the keyword arguments of the model.*came a dict without tensors"
    ):
        adopt(zoo.BY_NAME["bert"].build(), example)


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


def test_an_adoption_that_does_not_prove_right_is_undone():
    """A model whose eager attention is not what it runs: the oracle says so, and nothing remains."""

    class Cheating(hf.BertModel):
        def forward(self, *args, **kwargs):
            output = super().forward(*args, **kwargs)
            if self.config._attn_implementation == "eager":
                output.last_hidden_state = output.last_hidden_state + 0.1
            return output

    model = Cheating(hf.BertConfig(**zoo.BERT)).eval()
    with pytest.raises(
        CannotAdopt, match=r"differs from Cheating with native eager attention by 0\.\d+ \(allowed: 1e-05"
    ):
        adopt(model)
    assert sites(model) == {}


def test_a_model_that_outputs_nan_is_refused_with_the_reason():
    model = zoo.BY_NAME["bert"].build()
    torch.nn.init.constant_(model.classifier.weight, float("nan"))
    with pytest.raises(CannotAdopt, match=r"outputs NaN even without sites: check its weights, or use another dtype"):
        adopt(model)
