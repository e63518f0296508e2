"""Models that cannot be adopted are refused with the reason, and left as they were."""

import pytest
import torch
import transformers as hf
from torch import nn

from support import zoo
from support.subjects import outputs, subject
from whence import adopt, attending, sites, uniform
from whence.core.errors import CannotAdopt, CannotAttend, NoAttention
from whence.huggingface.interface_site import InterfaceSite


def test_a_sink_that_the_weights_do_not_show_is_refused():
    """Upstream scales the context down after the softmax instead; the rows would sum to one without the sink."""
    config = hf.GraniteSWAConfig(**zoo.GROUPED, sliding_window=4)
    with pytest.raises(CannotAdopt, match=r"layers\.0\.self_attn attends in part to a sink, but counts it after the"):
        adopt(hf.GraniteSWAForCausalLM(config).eval())


def test_fused_execution_is_refused_when_it_is_to_be_overridden():
    model = adopt(zoo.BY_NAME["bert"].build())
    model.config._attn_implementation = "flash_attention_2"
    with pytest.raises(CannotAttend, match=r"'flash_attention_2'.*set_attn_implementation\(\"sdpa\"\)"):
        attending(model, override=uniform).__enter__()
    assert not any(module.sessions for module in model.modules() if isinstance(module, InterfaceSite))
    model.config._attn_implementation = "sdpa"
    outputs(model, subject("bert")[1])


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
        CannotAdopt, match=r"an example is the keyword arguments of the model.*got a dict without tensors"
    ):
        adopt(zoo.BY_NAME["bert"].build(), example)


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
