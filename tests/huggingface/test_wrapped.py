"""Models in wrappers, models that are not in memory, and models that attend out of reach."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch
import transformers as hf
from torch import nn
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, run
from whence import adopt, attending, sites, uniform
from whence.core.errors import CannotAdopt, CannotAttend
from whence.huggingface.probe import probe_inputs


class PeftModel(nn.Module):
    """As PEFT's: the model is wrapped twice, and its adapters are in the model itself."""

    def __init__(self, model, prompts=False):
        super().__init__()
        self.base_model = nn.ModuleDict({"model": model})
        self.peft_config = {"default": SimpleNamespace(is_prompt_learning=prompts)}

    def get_base_model(self):
        return self.base_model["model"]

    def forward(self, **inputs):
        return self.get_base_model()(**inputs)


PeftModel.__module__ = "peft.peft_model"


@pytest.mark.parametrize("wrap", [PeftModel, nn.DataParallel, lambda model: nn.DataParallel(PeftModel(model))])
def test_a_wrapped_model_is_adopted_by_its_inner_model(wrap):
    model = zoo.BY_NAME["bert"].build()
    inputs = probe_inputs(model)
    wrapped = wrap(model)
    assert adopt(wrapped) is model
    assert len(sites(wrapped)) == 2
    with attending(model, override=uniform, watch=None):
        expected = outputs(model, inputs)
    with attending(wrapped, override=uniform) as tape, torch.no_grad():
        assert_close(wrapped(**inputs).logits, expected, atol=0.0, rtol=0.0)
    assert list(tape) == list(sites(wrapped))


def test_real_peft_where_it_is_installed():
    peft = pytest.importorskip("peft")
    model = peft.get_peft_model(zoo.BY_NAME["bert"].build(), peft.LoraConfig(task_type="SEQ_CLS", r=2))
    assert adopt(model.eval()) is model.get_base_model()
    assert len(sites(model)) == 2


def test_a_learned_prompt_is_outside_the_model():
    with pytest.raises(CannotAdopt, match=r"puts a learned prompt before each text.*get_base_model\(\)"):
        adopt(PeftModel(zoo.BY_NAME["bert"].build(), prompts=True))


def test_data_parallel_on_several_devices_says_what_to_attend_to():
    model = adopt(zoo.BY_NAME["bert"].build())
    wrapped = nn.DataParallel(model)
    wrapped.device_ids = [0, 1]
    with pytest.raises(CannotAttend, match=r"attending\(model\.module\)"):
        attending(wrapped).__enter__()


def test_weights_that_are_not_in_memory_are_refused():
    model = zoo.BY_NAME["bert"].build()
    model.bert.encoder.to("meta")  # as accelerate leaves what it has offloaded
    with pytest.raises(CannotAdopt, match=r"not in memory \(the first is bert\.encoder.*onto one device"):
        adopt(model)
    assert sites(model) == {}


def test_torchs_own_encoder_says_what_to_do():
    class Torches(hf.PreTrainedModel):
        config_class = hf.BertConfig

        def __init__(self, config):
            super().__init__(config)
            self.words = nn.Embedding(99, 32)
            self.layer = nn.TransformerEncoderLayer(32, 4, 37, batch_first=True)
            self.post_init()

        def forward(self, input_ids):
            return {"logits": self.layer(self.words(input_ids))}

    with pytest.raises(CannotAdopt, match=r"layer\.self_attn is torch's own nn\.MultiheadAttention.*AttentionSite"):
        adopt(Torches(hf.BertConfig(**zoo.BERT)).eval())


REFORMER = {
    "vocab_size": 99,
    "hidden_size": 32,
    "attention_head_size": 8,
    "num_attention_heads": 4,
    "feed_forward_size": 37,
    "attn_layers": ["local", "lsh"],
    "axial_pos_shape": [4, 8],
    "axial_pos_embds_dim": [16, 16],
    "num_buckets": 4,
    "lsh_attn_chunk_length": 4,
    "local_attn_chunk_length": 4,
    "max_position_embeddings": 32,
}


@pytest.mark.parametrize(
    ("model", "config", "options"),
    [
        ("ReformerModel", "ReformerConfig", REFORMER),
        ("YosoModel", "YosoConfig", zoo.BERT),
        ("MraModel", "MraConfig", zoo.BERT | {"max_position_embeddings": 64}),
    ],
)
def test_attention_out_of_reach_is_said_to_be_attention(model, config, options):
    built = getattr(hf, model)(getattr(hf, config)(**options)).eval()
    with pytest.raises(CannotAdopt, match=r"Attention\) attends, but not through .*use a model with full attention"):
        adopt(built)


@pytest.mark.parametrize(
    ("model", "config", "options"),
    [
        ("LxmertModel", "LxmertConfig", {"visual_feat_dim": 16, "l_layers": 1, "x_layers": 1, "r_layers": 1}),
        ("CLIPModel", "CLIPConfig", None),
    ],
)
def test_inputs_besides_the_text_are_made_up(model, config, options):
    settings = (
        zoo.BERT | options
        if options
        else {
            "text_config": zoo.BERT,
            "vision_config": {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, **zoo.PICTURE},
        }
    )
    built = adopt(getattr(hf, model)(getattr(hf, config)(**settings)).eval())
    inputs = probe_inputs(built)
    with attending(built) as tape:
        run(built, inputs)
    assert list(tape) == list(sites(built))


def test_a_reason_is_given_once():
    class Wants(hf.BertModel):
        def forward(self, input_ids, token_type_ids=None, attention_mask=None, tune=None):
            raise ValueError("a tune is wanted")

    with pytest.raises(CannotAdopt) as raised:
        adopt(Wants(hf.BertConfig(**zoo.BERT)).eval())
    assert str(raised.value).count("a tune is wanted") == 1


def test_no_module_is_taken_for_peft_by_its_name_alone():
    assert not isinstance(sys.modules.get("peft"), ModuleType) or hasattr(sys.modules["peft"], "PeftModel")
    stranger = type("PeftModel", (nn.Linear,), {})(2, 2)
    with pytest.raises(CannotAdopt, match="adopt takes a Hugging Face model"):
        adopt(stranger)
