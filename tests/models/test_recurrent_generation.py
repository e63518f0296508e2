"""The recurrent translator generates with its state kept as it does from the whole prefix."""

import math

import pytest
import torch
from torch import tensor
from torch.testing import assert_close
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from support.models.recurrent import MASK, SOURCE, TARGET, both_forms, built
from whence import attending
from whence.models import RecurrentConfig


@both_forms
@torch.no_grad()
def test_steps_that_go_on_from_a_state_are_those_of_the_whole_target(attention):
    model = built(attention)
    whole = model(SOURCE, MASK, decoder_input_ids=TARGET).logits
    memory, parts = None, []
    for piece in TARGET.split([1, 2, 1], dim=1):
        output = model(SOURCE, MASK, decoder_input_ids=piece, past_key_values=memory, use_cache=True)
        memory = output.past_key_values
        parts.append(output.logits)
    assert_close(torch.cat(parts, dim=1), whole)


@pytest.mark.parametrize("beams", [1, 3])
@both_forms
def test_generating_with_the_state_kept_is_generating_from_the_whole_prefix(attention, beams):
    model = built(attention)
    asked = {"attention_mask": MASK, "max_new_tokens": 7, "num_beams": beams, "do_sample": False}
    seen = {}
    for kept in (True, False):
        with attending(model) as tape:
            seen[kept] = model.generate(SOURCE, **asked, use_cache=kept)
        if attention == "dot":  # each step reads one token where the state is kept, else the whole prefix
            n_query = [call.weights.shape[2] for call in tape["attention"]]
            assert n_query == ([1] * len(n_query) if kept else list(range(1, len(n_query) + 1)))
    assert torch.equal(seen[True], seen[False])


@both_forms
def test_greedy_generation_is_argmax_step_by_step(attention):
    model = built(attention)
    prefix = tensor([[1], [1]])
    with torch.no_grad():
        for _ in range(6):
            logits = model(SOURCE, MASK, decoder_input_ids=prefix).logits[:, -1]
            logits[:, 2] = -math.inf  # six new tokens are asked for, so the end may not come before
            prefix = torch.cat([prefix, logits.argmax(-1, keepdim=True)], 1)
    generated = model.generate(SOURCE, attention_mask=MASK, max_new_tokens=6, min_new_tokens=6, do_sample=False)
    assert torch.equal(generated, prefix)


@both_forms
def test_saved_and_loaded_through_the_auto_classes(attention, tmp_path):
    model = built(attention)
    model.save_pretrained(tmp_path)
    assert isinstance(AutoConfig.from_pretrained(tmp_path), RecurrentConfig)
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    assert_close(
        loaded(SOURCE, MASK, labels=TARGET).logits, model(SOURCE, MASK, labels=TARGET).logits, atol=0.0, rtol=0.0
    )
    assert loaded.lm_head.weight is not loaded.embeddings.weight
    assert torch.equal(loaded.generate(SOURCE, max_new_tokens=4), model.generate(SOURCE, max_new_tokens=4))
    with pytest.raises(NotImplementedError, match="make a new model with another vocab_size"):
        loaded.resize_token_embeddings(40)
    with pytest.raises(Exception, match="attention"):
        RecurrentConfig(attention="general")
