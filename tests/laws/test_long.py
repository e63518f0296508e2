"""The law of long texts: watching changes nothing at a length beyond every window and top-k of the model."""

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import attending, imposed
from whence.huggingface.longer import window_sizes
from whence.huggingface.probe import all_configs, natively_eager

LENGTH = 37
TEXT = {"input_ids", "attention_mask", "token_type_ids", "decoder_input_ids", "use_cache"}


@pytest.mark.parametrize("name", [family.name for family in zoo.ADOPTED])
def test_watching_a_long_text_changes_nothing(name):
    model, inputs = subject(name)
    if not set(inputs) <= TEXT or name in ("funnel", "bart-classifier"):
        pytest.skip("this family takes no text of another length")
    windows = [size for config in all_configs(model) for size in window_sizes(config)]
    assert all(size < LENGTH or size >= 512 for size in windows), "a small window that this text would not reach"
    times = {key: -(-LENGTH // value.shape[1]) for key, value in inputs.items() if key != "use_cache"}
    longer = {key: inputs[key].repeat(1, count)[:, :LENGTH] for key, count in times.items()} | {"use_cache": False}
    if "use_cache" not in inputs:
        longer.pop("use_cache")
    if "attention_mask" in longer:
        longer["attention_mask"] = torch.ones_like(longer["attention_mask"])
    before = outputs(model, longer)
    with natively_eager(model):
        eager = outputs(model, longer)
    with attending(model) as tape:
        watched = outputs(model, longer)
    assert_close(watched, eager, atol=1e-5, rtol=1e-5)
    assert_close(watched, before, atol=1e-4, rtol=1e-4)
    with attending(model, override=imposed(tape), watch=None):
        assert_close(outputs(model, longer), watched, atol=0.0, rtol=0.0)
