"""Models in wrappers, models that are not in memory, and models that attend out of reach."""

import sys
from types import ModuleType, SimpleNamespace

import accelerate
import peft
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


LORA = {"task_type": "SEQ_CLS", "r": 2, "target_modules": ["query", "value"], "init_lora_weights": False}


def test_a_model_with_lora_is_adopted_by_its_inner_model():
    """The real package: its adapters take part in what the model attends to."""
    model = zoo.BY_NAME["bert"].build()
    inputs = probe_inputs(model)
    with torch.no_grad():
        plain = model(**inputs).logits
        wrapped = peft.get_peft_model(model, peft.LoraConfig(**LORA)).eval()
        adapted = wrapped(**inputs).logits
        assert (plain - adapted).abs().max() > 1e-4, "the adapters change nothing: the test shows nothing"
        assert adopt(wrapped) is wrapped.get_base_model()
        assert len(sites(wrapped)) == 2
        with attending(wrapped) as tape:
            assert_close(wrapped(**inputs).logits, adapted, atol=1e-5, rtol=1e-5)
        assert list(tape) == list(sites(wrapped))
        eager = peft.get_peft_model(zoo.BY_NAME["bert"].build(), peft.LoraConfig(**LORA)).eval()
        eager.load_state_dict(wrapped.state_dict())
        eager.get_base_model().set_attn_implementation("eager")
        own = eager(**inputs, output_attentions=True).attentions
    for call, weights in zip(tape.calls(), own, strict=True):
        real = inputs["attention_mask"].bool()[:, None, :, None]
        assert_close(call.weights * real, weights * real, atol=1e-5, rtol=1e-5)


def test_a_learned_prompt_of_peft_is_refused():
    config = peft.PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=3)
    with pytest.raises(CannotAdopt, match=r"puts a learned prompt before each text.*get_base_model\(\)"):
        adopt(peft.get_peft_model(zoo.BY_NAME["bert"].build(), config).eval())


@pytest.mark.parametrize("way", ["cpu_offload", "disk_offload", "dispatched with a part on disk"])
def test_what_accelerate_has_offloaded_is_refused_and_runs_on(way, tmp_path):
    model = zoo.BY_NAME["bert"].build()
    inputs = probe_inputs(model)
    with torch.no_grad():
        before = model(**inputs).logits
    if way == "cpu_offload":
        accelerate.cpu_offload(model, execution_device=torch.device("cpu"))
    elif way == "disk_offload":
        accelerate.disk_offload(model, str(tmp_path), execution_device=torch.device("cpu"))
    else:
        placed = {"bert.embeddings": "cpu", "bert.encoder": "disk", "bert.pooler": "cpu", "classifier": "cpu"}
        accelerate.dispatch_model(model, placed, main_device="cpu", offload_dir=str(tmp_path))
    with pytest.raises(
        CannotAdopt, match=r"not in memory \(the first is .*offloaded by accelerate or device_map.*load it"
    ):
        adopt(model)
    assert sites(model) == {}
    with torch.no_grad():
        assert_close(model(**inputs).logits, before)


def test_a_model_loaded_by_a_device_map_onto_the_cpu_is_adopted(tmp_path):
    built = zoo.BY_NAME["bert"].build()
    built.save_pretrained(tmp_path)
    inputs = probe_inputs(built)
    model = adopt(type(built).from_pretrained(tmp_path, device_map="cpu").eval())
    with attending(model) as tape, torch.no_grad():
        assert_close(model(**inputs).logits, built(**inputs).logits, atol=1e-5, rtol=1e-5)
    assert list(tape) == list(sites(model))
    assert sites(model)


def test_a_model_that_accelerate_has_put_on_one_device_is_adopted():
    """Its forward is accelerate's, which moves inputs and calls the model's own."""
    model = zoo.BY_NAME["bert"].build()
    inputs = probe_inputs(model)
    with torch.no_grad():
        before = model(**inputs).logits
        accelerate.dispatch_model(model, {"": "cpu"}, main_device="cpu", force_hooks=True)
        assert hasattr(model, "_hf_hook")
        adopt(model)
        with attending(model) as tape:
            assert_close(model(**inputs).logits, before, atol=1e-5, rtol=1e-5)
    assert list(tape) == list(sites(model))


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


LAYOUT = {
    "max_2d_position_embeddings": 64,
    "coordinate_size": 4,
    "shape_size": 8,
    "input_size": 32,
    "visual_embed": False,
}
BROS = {"hidden_size": 64}
LILT = {"hidden_size": 48, "channel_shrink_ratio": 4, "max_2d_position_embeddings": 64}


@pytest.mark.parametrize(
    ("model", "config", "options"),
    [
        ("LayoutLMForSequenceClassification", "LayoutLMConfig", {"max_2d_position_embeddings": 64}),
        ("LayoutLMv3ForSequenceClassification", "LayoutLMv3Config", LAYOUT),
        ("LiltForSequenceClassification", "LiltConfig", LILT),
        ("BrosModel", "BrosConfig", BROS),
    ],
)
def test_boxes_on_a_page_are_made_up_and_reach_the_model(model, config, options):
    built = adopt(getattr(hf, model)(getattr(hf, config)(**(zoo.BERT | options | {"initializer_range": 0.3}))).eval())
    inputs = probe_inputs(built)
    boxes = inputs["bbox"]
    assert boxes.shape == (*inputs["input_ids"].shape, 4)
    assert bool((boxes[..., 2:] > boxes[..., :2]).all()), "left of right, top above bottom"
    with attending(built) as tape, torch.no_grad():
        here = run(built, inputs)[0]
    assert list(tape) == list(sites(built))
    assert all(call.weights.shape[-2:] == (boxes.shape[1],) * 2 for call in tape.calls())
    elsewhere = run(built, inputs | {"bbox": boxes.flip(1)})[0]
    assert (here - elsewhere).abs().max() > 1e-6, "where a word stands must matter"
    with attending(built, override=uniform, watch=None), torch.no_grad():
        assert (run(built, inputs)[0] - here).abs().max() > 0


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
