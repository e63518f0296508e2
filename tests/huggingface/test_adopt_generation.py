"""Adopted models that generate: left padding, caches, overrides step by step."""

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import adopt, attending, imposed, sites, uniform


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
