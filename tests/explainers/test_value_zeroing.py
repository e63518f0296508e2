"""Value zeroing against a loop: one pass of the whole model for each token and layer, its value set to zero."""

import numpy as np
import pytest
import torch
import transformers as hf
from numpy.testing import assert_allclose

from support import zoo
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.attribution.single_layers import layers_alone
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers import value_zeroing
from whence.subject.subject import Subject
from whence.subject.targets import predicted

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]
# a layer, and in it the linear map that makes the values
VALUES = {
    "bert": ("bert.encoder.layer.{}", "attention.self.value"),
    "llama": ("model.layers.{}", "self_attn.v_proj"),
    "gemma2": ("model.layers.{}", "self_attn.v_proj"),
    "deberta-v2": ("deberta.encoder.layer.{}", "attention.self.value_proj"),
    "transformer-pre-none": ("encoder.layers.{}", "self_attention.values"),
    "bart": ("model.decoder.layers.{}", "encoder_attn.v_proj"),
    "t5": ("decoder.block.{}", "layer.1.EncDecAttention.v"),
}


def explained(subject, batch, **options):
    return explainer("value_zeroing")(subject, batch, predicted(subject, batch), **options)


@torch.no_grad()
def layer_output(subject, batch, layer, value, token=None):
    """What a layer gives in a pass of the whole model, the value of one token being zero."""

    def zeroed(module, args, made):
        made = made.clone()
        if token is not None:
            made[:, token] = 0
        return made

    seen = []
    hooks = [
        subject.model.get_submodule(f"{layer}.{value}").register_forward_hook(zeroed),
        subject.model.get_submodule(layer).register_forward_hook(
            lambda module, args, out: seen.append(out if isinstance(out, torch.Tensor) else out[0])
        ),
    ]
    subject.model(**batch.inputs)
    for hook in hooks:
        hook.remove()
    return seen[0].double()


def slow(subject, batch, layer, value):
    """C(i, j) of one layer, token by token: [batch query key], rows that sum to one."""
    whole = layer_output(subject, batch, layer, value)
    found = torch.zeros(*whole.shape[:2], batch.special.shape[1], dtype=torch.float64)
    for token in range(batch.special.shape[1]):
        without = layer_output(subject, batch, layer, value, token)
        found[:, :, token] = 1 - torch.cosine_similarity(whole, without, -1)
    found = found.clamp_min(0) * batch.mask[:, None]
    return (found / found.sum(-1, keepdim=True)).numpy()


@pytest.mark.parametrize("name", VALUES)
def test_a_pass_of_the_model_for_each_token_and_layer(name, monkeypatch):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    path, value = VALUES[name]
    layers = [slow(subject, batch, path.format(number), value) for number in range(2)]
    across = subject.model.config.is_encoder_decoder
    found = explained(subject, batch)
    for tokens in (value_zeroing.TOKENS, 12):  # all copies at once, one after another
        monkeypatch.setattr(value_zeroing, "TOKENS", tokens)
        for number in range(2):
            alone = explained(subject, batch, layer=number, row="prediction" if across else "first")
            for text in range(3):
                place = int(target.positions[text]) if across else 0
                assert_allclose(alone.scores[text], layers[number][text, place], atol=1e-5)
    for text in range(3):
        if across:
            expected = np.mean([layer[text, int(target.positions[text])] for layer in layers], 0)
        else:
            real = batch.mask[text].numpy()
            read = {"llama": int(target.positions[text]), "gemma2": int(target.positions[text])}.get(name, 0)
            start = np.eye(len(real))[read] if name != "transformer-pre-none" else real / real.sum()
            expected = np.nan_to_num(start @ layers[1][text] if start.any() else 0)
            rows = np.where(real[:, None], np.nan_to_num(layers[1][text]), 0)
            expected = (start @ rows) @ np.where(real[:, None], np.nan_to_num(layers[0][text]), 0)
        assert_allclose(found.scores[text], expected, atol=1e-5)
    assert found.how == ("layer: mean, from: prediction" if across else found.how)


@pytest.mark.parametrize("target", ["a", "the good movie"])
def test_a_batch_is_told_from_as_many_heads_and_from_as_long_a_target(target):
    torch.manual_seed(0)
    model = hf.T5ForConditionalGeneration(hf.T5Config(**{**zoo.T5, "num_heads": 2})).eval()
    subject = Subject(model, reader("t5").tokenizer)
    batch = subject.encode([Example("the movie was", target=target)])
    place = int(predicted(subject, batch).positions[0])
    expected = slow(subject, batch, "decoder.block.1", "layer.1.EncDecAttention.v")[0, place]
    assert_allclose(explained(subject, batch, layer=1).scores[0], expected, atol=1e-5)


def test_a_local_attention_turns_its_context():
    subject = reader("additive-lstm-additive")
    batch = subject.encode(EXAMPLES)
    with torch.no_grad(), attending(subject.model, keep=("values",)) as tape:
        subject.model(**batch.inputs)
    call = tape.only("attention")
    found = explained(subject, batch)
    for text in range(3):
        weights, values = call.weights[text, 0, 0].double(), call.values[text, 0].double()
        context = weights @ values
        turns = [1 - torch.cosine_similarity(context, context - w * v, 0) for w, v in zip(weights, values, strict=True)]
        turns = np.array([float(turn) for turn in turns]) * (weights > 0).numpy()
        expected = turns / turns.sum() if turns.sum() > 1e-12 else turns * 0
        assert_allclose(found.scores[text], expected, atol=1e-4)


def test_many_texts_are_as_each_alone_and_nothing_is_left_behind():
    subject = reader("albert")  # one layer, called twice
    batch, before = subject.encode(EXAMPLES), hooks(subject)  # transformers may have left its own
    together = explained(subject, batch)
    alone = explained(subject, subject.encode(EXAMPLES[1:2]))
    assert_allclose(together.words(1), alone.words(0), atol=1e-5)
    assert_allclose(together.scores.sum(1), 1.0, rtol=1e-5)
    assert hooks(subject) == before


def hooks(subject):
    """The hooks of every module."""
    return [list(module._forward_hooks.values()) for module in subject.model.modules()]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("xlnet", "value_zeroing runs each layer by itself, and the one around .* cannot: "),
        ("xlm", "around transformer.attentions.0 there is no module that is a whole layer"),
        ("squeezebert", "around transformer.encoder.layers.0.attention there is no module that the model calls as one"),
        ("funnel", "around .* there is no module that the model calls as one"),
        ("hierarchical", "needs keys that are tokens"),
    ],
)
def test_models_whose_layers_do_not_run_alone(name, complaint):
    subject = reader(name)
    with pytest.raises(BadConfig, match=complaint):
        explained(subject, subject.encode(EXAMPLES))


@torch.no_grad()
@pytest.mark.parametrize(("name", "given"), [("bert", True), ("llama", True), ("bart", True), ("deberta-v2", False)])
def test_contexts_are_handed_to_sites_that_take_them(name, given):
    """There nothing is mixed again; both ways give the same output."""
    subject = reader(name)
    batch = subject.encode(EXAMPLES[:1])
    names = [site for site, about in subject.sites.items() if about.kind == "cross" or name != "bart"]
    for layer in layers_alone(subject, batch.inputs, names).values():
        assert layer.takes_contexts is given
        keys = torch.arange(layer.permitted.shape[-1])
        quick = layer.without(keys)
        layer.takes_contexts = False
        assert_allclose(quick, layer.without(keys), atol=2e-5)
