"""Calls that few make: masks of four axes, rows that see nothing, embeddings, caches, beams, autocast, checkpointing.

Whatever the call, watched and unwatched outputs are equal, also of padding.
"""

from collections.abc import Callable

import pytest
import torch
import transformers as hf
from torch import Tensor
from torch.testing import assert_close

from support import zoo
from whence import adopt, attending, sites, uniform
from whence.huggingface.probe import natively_eager

SEED = torch.Generator().manual_seed(1)
IDS = torch.randint(5, 90, (3, 12), generator=SEED)
LEFT = torch.ones_like(IDS)
LEFT[1, :3], LEFT[2, :9] = 0, 0
CAUSAL = torch.ones(12, 12, dtype=torch.bool).tril()[None, None] & LEFT.bool()[:, None, None, :]  # with rows of nothing
ADDED = torch.where(CAUSAL, 0.0, torch.finfo(torch.float32).min)
# fmt: off
INKLING = zoo.family("inkling", "InklingForCausalLM", "InklingTextConfig", **(zoo.GROUPED | {
    "intermediate_size": 32, "moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2}))
# fmt: on
FAMILIES = {name: zoo.BY_NAME[name] for name in ("llama", "gemma2", "gpt-neox", "opt", "falcon", "gpt-j")}
FAMILIES["inkling"] = INKLING  # its biases of positions go through sdpa as a mask that is added


def built(name: str) -> hf.PreTrainedModel:
    return adopt(FAMILIES[name].build())


def compared(model: hf.PreTrainedModel, call: Callable[[], Tensor], close: float = 1e-5) -> None:
    """Watched outputs are those of the model as it is set, sdpa or eager."""
    with torch.no_grad():
        expected = call()
        with attending(model) as tape:
            assert_close(call(), expected, atol=close, rtol=close)
        assert list(tape) == list(sites(model))
        with natively_eager(model):
            expected = call()
            with attending(model):
                assert_close(call(), expected, atol=close, rtol=close)


CALLS: dict[str, Callable[[hf.PreTrainedModel], Tensor]] = {
    "left padding": lambda model: model(IDS, attention_mask=LEFT, use_cache=False).logits,
    "right padding": lambda model: model(IDS, attention_mask=LEFT.flip(1), use_cache=False).logits,
    "an added mask": lambda model: model(IDS, attention_mask=ADDED, use_cache=False).logits,
    "a boolean mask": lambda model: model(IDS, attention_mask=CAUSAL, use_cache=False).logits,
    "embeddings": lambda model: model(inputs_embeds=model.get_input_embeddings()(IDS), use_cache=False).logits,
    "two pieces": lambda model: (
        model(IDS[:, 7:], past_key_values=model(IDS[:, :7], use_cache=True).past_key_values, use_cache=True).logits
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_call(name, call):
    model = built(name)
    try:
        with torch.no_grad():
            CALLS[call](model)
    except (RuntimeError, ValueError, IndexError) as error:
        pytest.skip(f"transformers itself refuses this call: {error}")
    compared(model, lambda: CALLS[call](model))


@pytest.mark.parametrize(
    "options", [{"num_beams": 3}, {"cache_implementation": "static"}, {"use_cache": False}], ids=str
)
@pytest.mark.parametrize("name", ["llama", "gpt-j"])
def test_generating(name, options):
    model = built(name)

    def generated() -> Tensor:
        texts = model.generate(IDS, attention_mask=LEFT, max_new_tokens=4, min_new_tokens=4, do_sample=False, **options)
        return texts.double()

    compared(model, generated, 0.0)


def test_autocast_casts_what_it_casts_unwatched(bfloat16):
    model = built("llama")

    def cast() -> Tensor:
        with torch.autocast("cpu", dtype=bfloat16):
            return model(IDS, attention_mask=LEFT, use_cache=False).logits

    compared(model, cast, 5e-2)


@pytest.mark.parametrize("name", ["llama", "falcon"])
def test_a_row_that_sees_nothing_is_shown_empty_and_not_overridden(name):
    """Under a mask that is added, such a row attends to all keys alike, and goes on to do so; watchers see zeros."""
    model = built(name)
    last = list(sites(model))[-1]
    nothing = ~CAUSAL.any(-1)[:, 0]  # [batch query]
    with torch.no_grad():
        own = model(IDS, attention_mask=ADDED, use_cache=False).logits
        with attending(model, override={last: uniform}) as tape:
            overridden = model(IDS, attention_mask=ADDED, use_cache=False).logits
    assert_close(overridden[nothing], own[nothing], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(overridden[~nothing], own[~nothing], atol=1e-3)
    for call in tape.calls():
        assert not call.weights.sum(-1).mT[nothing].any()
