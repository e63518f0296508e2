"""The laws: what `attending` promises for every model, reference and adopted.

Laws that a change of transformers can break run on every family. Laws of the mechanism (threads, nesting, other batch
shapes, bfloat16) run on representatives of each way in which attention is reached; `--all-families` runs them on all.
"""

import copy
import re
from threading import Thread

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.subjects import outputs, subject
from whence import adopt, attending, imposed, permuted, random, release, sites, uniform
from whence.core.site import AttentionSite, Call
from whence.huggingface.fused_site import FusedSite
from whence.huggingface.probe import natively_eager, probe_inputs

every_family = pytest.mark.parametrize("name", [family.name for family in zoo.EVERY])
representatives = pytest.mark.parametrize("name", zoo.representatives(zoo.EVERY))
adopted_representatives = pytest.mark.parametrize("name", zoo.representatives(zoo.ADOPTED))
every_family_and_precision = pytest.mark.parametrize(
    ("name", "dtype"),
    [(family.name, torch.float32) for family in zoo.EVERY] + zoo.representatives(zoo.EVERY, torch.bfloat16),
    ids=lambda value: str(value).removeprefix("torch."),
    indirect=["dtype"],
)


@pytest.fixture
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    """The precision, if this machine can multiply in it."""
    return request.getfixturevalue("bfloat16") if request.param == torch.bfloat16 else request.param


def untouched(model: torch.nn.Module) -> bool:
    """No session, no replaced forward."""
    return not any(
        (isinstance(module, AttentionSite) and (module.sessions or module.attended)) or "forward" in module.__dict__
        for module in model.modules()
    )


@every_family_and_precision
def test_watching_is_free(name, dtype):
    """Watched and unwatched outputs are equal: bit for bit with eager attention, and close to the model's own sdpa.

    In bfloat16, sdpa and eager round differently, which may send a token to another expert; there eager is compared.
    """
    model, inputs = subject(name, dtype)
    with attending(model) as tape:
        watched = outputs(model, inputs)
    with natively_eager(model):
        eager, on_graph = outputs(model, inputs), model(**inputs).logits.detach()  # which torch may round differently
    fused = any(isinstance(module, FusedSite) for module in model.modules())  # writes out what the kernel fuses
    near = 0.0 if not fused else 1e-5 if dtype == torch.float32 else 2e-2
    compared = inputs["attention_mask"].bool() if name in zoo.PADDING_SEES_NOTHING else ...
    assert_close(watched[compared], eager[compared], atol=near, rtol=near)
    with attending(model):
        assert_close(model(**inputs).logits.detach()[compared], on_graph[compared], atol=near, rtol=near)
    if dtype == torch.float32:
        assert_close(watched, outputs(model, inputs), atol=1e-5, rtol=1e-5)
    assert list(tape) == list(sites(model))


@every_family_and_precision
def test_overriding_with_what_was_recorded_changes_nothing(name, dtype):
    model, inputs = subject(name, dtype)
    with attending(model) as tape:
        watched = outputs(model, inputs)
    with attending(model, override=imposed(tape), watch=None):
        assert_close(outputs(model, inputs), watched, atol=0.0, rtol=0.0)


@representatives
def test_nothing_remains_after_the_block(name):
    model, inputs = subject(name)
    before, keys = outputs(model, inputs), list(model.state_dict())
    with attending(model, override=uniform):
        assert not untouched(model)
        outputs(model, inputs)
    assert untouched(model)
    assert_close(outputs(model, inputs), before, atol=0.0, rtol=0.0)
    assert list(model.state_dict()) == keys


@representatives
def test_nothing_remains_when_the_model_raises(name):
    model, inputs = subject(name)
    before = outputs(model, inputs)

    def fails(call):
        raise ArithmeticError(call.site.name)

    last = list(sites(model))[-1]
    with (
        pytest.raises(ArithmeticError, match=re.escape(last)),
        attending(model, {last: fails}),
    ):
        outputs(model, inputs)
    assert untouched(model)
    assert_close(outputs(model, inputs), before, atol=0.0, rtol=0.0)


@every_family_and_precision
def test_rows_are_distributions_over_permitted_keys(name, dtype):
    model, inputs = subject(name, dtype)
    with attending(model) as tape:
        outputs(model, inputs)
    for call in tape.calls():
        mask = call.mask.expand_as(call.weights)
        sums = call.weights.float().sum(-1)
        assert (call.weights >= 0).all()
        assert not call.weights[~mask].any()
        assert_close(sums, mask.any(-1).float(), atol=1e-5 if dtype == torch.float32 else 2e-2, rtol=0.0)


@pytest.mark.parametrize("shape", [(3, 6), (1, 6), (2, 1), (6, 6)], ids=str)
@representatives
def test_batches_of_other_shapes(name, shape):
    """Without padding, one text, one token, as many texts as tokens: identity and override hold there too."""
    model, inputs = subject(name)
    if "input_ids" not in inputs or name in ("funnel", "bart-classifier"):
        pytest.skip("this family takes no such batch")
    if "pairs" in name and shape[1] == 1:
        pytest.skip("a pair has two tokens at least")
    other = {key: value[:1].repeat(shape[0], 1)[:, : shape[1]] for key, value in inputs.items() if key != "use_cache"}
    other["input_ids"] = 3 + torch.arange(shape[0] * shape[1]).reshape(shape) % 50
    if name == "gpt2":
        other["input_ids"][:, -1] = 2
    with attending(model) as tape:
        watched = outputs(model, other)
    assert_close(watched, outputs(model, other), atol=1e-4, rtol=1e-4)
    with attending(model, override=imposed(tape), watch=None):
        assert_close(outputs(model, other), watched, atol=0.0, rtol=0.0)
    for override in (uniform, random(0), permuted(0)):
        with attending(model, override=override) as altered:
            assert torch.isfinite(outputs(model, other)).all()
        for call in altered.calls():
            assert_close(call.weights.sum(-1), call.mask.any(-1).expand(call.weights.shape[:-1]).float())
            assert call.weights.shape[0] == shape[0]


@every_family
def test_padding_is_never_attended(name):
    """No token looks at padding, and the mask that a call shows says so, at every site that looks at the padded text.

    What padding itself looks at is the model's affair (XLNet lets it see itself).
    """
    model, inputs = subject(name)
    if "attention_mask" not in inputs:
        pytest.skip("this family takes no padding")
    with attending(model) as tape:
        outputs(model, inputs)
    padding = inputs["attention_mask"] == 0
    looked = 0
    if hasattr(model, "token_weights"):  # whose sites look at parts of the text
        looked = 1
        assert not model.token_weights(tape, **inputs)[padding].any()
    for call in tape.calls():
        if call.site.keys == "tokens" and call.weights.shape[-1] - call.sinks == padding.shape[1]:
            looked += 1
            on_padding = padding[:, None, None, :].expand(*call.weights.shape[:-1], -1)
            if call.weights.shape[-2] == padding.shape[1]:
                on_padding = on_padding & ~padding[:, None, :, None]
            assert not call.weights[..., : padding.shape[1]][on_padding].any()
            assert not call.mask.expand_as(call.weights)[..., : padding.shape[1]][on_padding].any()
    assert looked


@every_family_and_precision
def test_an_override_reaches_the_output_from_every_site(name, dtype):
    model, inputs = subject(name, dtype)
    before = outputs(model, inputs)
    for site in sites(model):
        with attending(model, override={site: random(0)}, watch=None):
            assert (outputs(model, inputs) - before).abs().max() > 1e-6, site


@every_family_and_precision
def test_gradients_reach_the_weights(name, dtype):
    model, inputs = subject(name, dtype)
    with attending(model) as tape:
        logits = model(**inputs).logits.float()
    direction = torch.randn(logits.shape, generator=torch.Generator().manual_seed(0))
    weights = [call.weights for call in tape.calls()]
    for gradient in torch.autograd.grad((logits * direction).sum(), weights):
        assert torch.isfinite(gradient).all()
        assert gradient.abs().max() > 0


@every_family
def test_gradients_flow_through_an_override(name):
    """A learnable override gets a gradient, and it agrees with a finite difference."""
    model, inputs = subject(name)
    site = next(iter(sites(model)))
    with attending(model, watch=site) as tape:
        outputs(model, inputs)
    recorded = [call.weights for call in tape[site]]  # of each step

    def mixed(call: Call, share: torch.Tensor) -> torch.Tensor:
        mask = call.mask.expand_as(call.weights)
        other = mask / mask.sum(-1, keepdim=True).clamp_min(1)
        return (1 - share) * recorded[call.step] + share * other

    def output(share: torch.Tensor) -> torch.Tensor:
        with attending(model, override={site: lambda call: mixed(call, share)}, watch=None):
            return model(**inputs).logits.double().pow(2).sum()

    share = torch.tensor(0.5, requires_grad=True)
    (gradient,) = torch.autograd.grad(output(share), share)
    with torch.no_grad():
        numeric = (output(share + 1e-3) - output(share - 1e-3)) / 2e-3  # a step too small to change an expert
    assert_close(gradient.double(), numeric.double(), rtol=5e-2, atol=2e-2)


@representatives
def test_nested_blocks_override_from_outside_in_and_every_tape_shows_what_was_used(name):
    model, inputs = subject(name)
    with attending(model) as outer, attending(model, override=uniform) as inner:
        outputs(model, inputs)
    with attending(model, override=uniform) as alone:
        outputs(model, inputs)
    for site in sites(model):
        assert_close(outer.joined(site).weights, alone.joined(site).weights, atol=0.0, rtol=0.0)
        assert_close(inner.joined(site).weights, alone.joined(site).weights, atol=0.0, rtol=0.0)
    with attending(model, override=uniform, watch=None), attending(model, override=permuted(0)) as tape:
        outputs(model, inputs)  # a permuted uniform row is uniform
    site = next(iter(sites(model)))
    assert_close(tape.joined(site).weights, alone.joined(site).weights)


@representatives
def test_a_site_called_many_times_has_a_list_of_calls(name):
    model, inputs = subject(name)
    with attending(model) as tape:
        outputs(model, inputs)
        outputs(model, inputs)
    for calls in tape.values():
        once = len(calls) // 2  # more than one call a pass where a decoder attends step by step
        assert [call.step for call in calls] == list(range(2 * once))
        for first, second in zip(calls[:once], calls[once:], strict=True):
            assert_close(first.weights, second.weights, atol=0.0, rtol=0.0)


@representatives
def test_two_threads_on_two_models_do_not_mix(name):
    model, inputs = subject(name)
    other = copy.deepcopy(model)
    expected = {}
    for key, override in [("uniform", uniform), ("random", random(0))]:
        with attending(model, override=override, watch=None):
            expected[key] = outputs(model, inputs)
    got: dict[str, list[torch.Tensor]] = {"uniform": [], "random": []}

    def work(key, subject_model, make):
        for _ in range(3):
            with attending(subject_model, override=make(), watch=None):
                got[key].append(outputs(subject_model, inputs))

    threads = [
        Thread(target=work, args=("uniform", model, lambda: uniform)),
        Thread(target=work, args=("random", other, lambda: random(0))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key, results in got.items():
        assert len(results) == 3
        for result in results:
            assert_close(result, expected[key], atol=0.0, rtol=0.0)


@adopted_representatives
def test_release_gives_the_model_back(name):
    model = zoo.BY_NAME[name].build()
    outputs(model, probe_inputs(model))  # some models keep things from a forward pass
    printed, keys = repr(model), list(model.state_dict())
    attributes = {path: set(module.__dict__) for path, module in model.named_modules()}
    configs = {path: module.__dict__.get("config") for path, module in model.named_modules()}
    release(adopt(model))
    assert (repr(model), list(model.state_dict())) == (printed, keys)
    assert {path: set(module.__dict__) for path, module in model.named_modules()} == attributes
    assert all(module.__dict__.get("config") is configs[path] for path, module in model.named_modules())


@adopted_representatives
def test_only_attended_layers_leave_their_fast_path(name):
    model, _ = subject(name)
    asked, *others = (model.get_submodule(site.partition("#")[0]) for site in sites(model))
    with attending(model, watch=next(iter(sites(model)))):
        assert asked.attention_site.sessions
        for host in (other for other in others if other is not asked):
            assert "forward" not in host.__dict__
            assert not host.attention_site.sessions
