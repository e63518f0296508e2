"""What tokens give to a layer: parts that sum to what the model itself made, norms and contributions by slow loops."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.testing import assert_close

from support.tokenizing import reader
from whence.attribution.contributions import Layer, linear_norm, parts, taken_apart
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.explainers.attention_norm import norms
from whence.explainers.decomposition import contributions, output
from whence.subject.targets import predicted

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]
METHODS = ("attention_norm", "decomposition")
# where the model itself has what the first layer's attention made: what a module gives, or what it is given
MADE = {
    "bert": ("bert.encoder.layer.0.attention.output", "gives"),
    "distilbert": ("distilbert.transformer.layer.0.sa_layer_norm", "gives"),
    "gpt2": ("transformer.h.0.ln_2", "given"),
    "llama": ("model.layers.0.post_attention_layernorm", "given"),
    "qwen3": ("model.layers.0.post_attention_layernorm", "given"),  # which norms queries and keys as well
    "opt": ("model.decoder.layers.0.final_layer_norm", "given"),
    "gpt-oss": ("model.layers.0.post_attention_layernorm", "given"),
    "modernbert": ("model.layers.0.mlp_norm", "given"),
    "t5": ("decoder.block.0.layer.2.layer_norm", "given"),
    "bart": ("model.decoder.layers.0.encoder_attn_layer_norm", "gives"),
}


@torch.no_grad()
def layers_of(subject, batch, residual=True):
    found: list[Layer] = []
    names = [name for name, site in subject.sites.items() if site.kind == "cross"] or list(subject.sites)
    taken_apart(subject, batch, names, residual, found.append)
    return found


def noted(subject, batch, path, how):
    seen = []
    hook = subject.model.get_submodule(path).register_forward_hook(
        lambda module, args, out: seen.append(args[0] if how == "given" else out)
    )
    with torch.no_grad():
        subject.model(**batch.inputs)
    hook.remove()
    return seen[0]


def explained(method, subject, batch, **options):
    return explainer(method)(subject, batch, predicted(subject, batch), **options)


@pytest.mark.parametrize("name", MADE)
def test_parts_and_biases_sum_to_what_the_model_made(name):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    layer = layers_of(subject, batch)[0]
    expected = noted(subject, batch, *MADE[name]).reshape(layer.residual.shape)
    whole = next(parts(layer)).sum(2)
    deviation = 1.0
    if layer.norm is not None:
        summed = layer.sum()
        deviation = ((summed - summed.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True).add(layer.norm.eps).sqrt()
        whole = whole + layer.norm.bias.double()
    if layer.bias is not None:
        whole = whole + linear_norm(layer.norm, layer.bias) / deviation
    if layer.call.site.kind == "cross":  # what goes past it is the target's own
        whole = whole + linear_norm(layer.norm, layer.residual) / deviation
    real = batch.predicted_positions if layer.call.site.kind == "cross" else batch.mask
    assert_close(whole[real], expected[real].double(), atol=2e-5, rtol=1e-4)
    assert_close(output(layer)[real], expected[real].double(), atol=2e-5, rtol=1e-4)
    assert (layer.norm is not None) == (MADE[name][1] == "gives")


@pytest.mark.parametrize("name", ["bert", "gpt2", "bart", "transformer-post-learned", "pooled-query-none-binary"])
def test_norms_are_the_lengths_of_the_parts(name):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    for residual in (True, False):
        layers = layers_of(subject, batch, residual)
        assert len(layers) >= 2
        for layer in layers:
            (whole,) = parts(layer)
            assert_close(norms(layer), whole.norm(dim=-1), atol=1e-9, rtol=1e-6)
            for step in (1, 2):
                assert_close(torch.cat(list(parts(layer, step)), 1), whole, atol=1e-12, rtol=1e-12)


@torch.no_grad()
def test_a_slow_loop_over_the_heads_of_bert():
    """Straight from the model's own weights: value, output matrix, residual path, layer norm."""
    subject = reader("bert")
    batch = subject.encode(EXAMPLES[:1])
    layer, module = layers_of(subject, batch)[1], subject.model.bert.encoder.layer[1].attention
    hidden = noted(subject, batch, "bert.encoder.layer.1.attention.self.query", "given")[0].double()
    weights, n_token = layer.call.weights[0].double(), hidden.shape[0]
    value, out = module.self.value, module.output.dense
    made = torch.zeros(n_token, n_token, 32, dtype=torch.float64)
    for head in range(4):
        rows = slice(8 * head, 8 * head + 8)
        mapped = (hidden @ value.weight[rows].double().T + value.bias[rows].double()) @ out.weight[:, rows].double().T
        for i in range(n_token):
            for j in range(n_token):
                made[i, j] += weights[head, i, j] * mapped[j]
    for i in range(n_token):
        made[i, i] += hidden[i]
    norm = module.output.LayerNorm
    whole = made.sum(1) + out.bias.double()
    normed = (made - made.mean(-1, keepdim=True)) * norm.weight.double()
    normed = normed / (whole.var(-1, unbiased=False) + norm.eps).sqrt()[:, None, None]
    assert_close(next(parts(layer))[0], normed.detach(), atol=1e-5, rtol=1e-4)
    normed, y = normed.detach(), norm(whole.float()).double().detach()
    by_hand = [
        [max(0.0, float(y[i].abs().sum() - (y[i] - normed[i, j]).abs().sum())) for j in range(n_token)]
        for i in range(n_token)
    ]
    assert_allclose(contributions(layer)[0], by_hand, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["bert", "gpt2", "llama", "transformer-pre-sinusoidal", "pooled-pre-none-cross_entropy"]
)
def test_layers_are_multiplied_from_where_the_answer_is_read(name):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    for method, measure in (("attention_norm", norms), ("decomposition", contributions)):
        found = explained(method, subject, batch)
        matrices = {layer.call.site.name: measure(layer).detach() for layer in layers_of(subject, batch)}
        local = matrices.pop("local", None)
        for text, real in enumerate(batch.mask.numpy()):
            first = {"gpt2": real.nonzero()[0][-1], "llama": real.nonzero()[0][-2]}.get(name, 0)
            row = np.eye(len(real))[first] if local is None else (local[text, 0] / local[text, 0].sum()).numpy()
            for matrix in reversed(list(matrices.values())):
                one = matrix[text].numpy()
                row = row @ (one / np.maximum(one.sum(1, keepdims=True), 1e-300))
            assert_allclose(found.scores[text], row, atol=1e-6)
        assert_allclose(found.scores.sum(1), 1.0, rtol=1e-5)
        assert not found.scores[~batch.mask.numpy()].any()


def test_a_local_attention_gives_its_weight_times_the_length_of_each_state():
    subject = reader("additive-lstm-additive")
    batch = subject.encode(EXAMPLES)
    (layer,) = layers_of(subject, batch)
    products = layer.call.weights[:, 0, 0] * layer.call.values[:, 0].norm(dim=-1)
    found = explained("attention_norm", subject, batch)
    assert_allclose(found.scores, products / products.sum(1, keepdim=True), atol=1e-6)
    assert found.how.startswith("from: local attention (attention), no self-attention below it")


@pytest.mark.parametrize("method", METHODS)
def test_a_translators_source_in_the_mean_of_its_layers_or_in_one(method):
    subject = reader("bart")
    batch = subject.encode(EXAMPLES)
    layers = layers_of(subject, batch)
    measure = norms if method == "attention_norm" else contributions
    rows = [(measure(layer) / measure(layer).sum(-1, keepdim=True)).detach() for layer in layers]
    at = predicted(subject, batch).positions
    for choice, chosen in (("auto", rows), ("last", rows[1:]), (0, rows[:1])):
        expected = torch.stack([row[torch.arange(3), at] for row in chosen]).mean(0)
        assert_allclose(explained(method, subject, batch, layer=choice).scores, expected, atol=1e-6)


def test_what_is_left_out_is_said_and_matters():
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    whole = explained("attention_norm", subject, batch)
    plain = explained("attention_norm", subject, batch, residual=False)
    unnormed = explained("attention_norm", subject, batch, layer_norm=False)
    assert whole.how.endswith("residual: yes, layer norm: yes")
    assert plain.how.endswith("residual: no, layer norm: no")
    assert unnormed.how.endswith("residual: yes, layer norm: no")
    assert np.abs(whole.scores - plain.scores).max() > 0.002 < np.abs(whole.scores - unnormed.scores).max()
    one = explained("attention_norm", subject, batch, layer=0, row=1)
    assert one.how.startswith("layer: 0, from: token 1")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt2", "residual: yes, layer norm: no"),  # which norms first
        ("bart", "residual: no, layer norm: yes"),  # from the source nothing goes past the attention
        ("recurrent-additive", "residual: no, layer norm: no"),  # it has neither
    ],
)
def test_only_what_was_counted_in_is_said_to_be(name, said):
    subject = reader(name)
    assert explained("attention_norm", subject, subject.encode(EXAMPLES)).how.endswith(said)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("deberta-v2", r"attention\.self does not expose the values that its weights mix"),
        ("gpt-neox", r"cannot be decomposed: its residual path was not found .*residual=False leaves the path out"),
        ("hierarchical", "needs keys that are tokens; at word_attention, sentence_attention they are parts"),
    ],
)
def test_models_that_cannot_be_taken_apart(name, complaint):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    for method in METHODS:
        with pytest.raises(BadConfig, match=complaint):
            explained(method, subject, batch)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"layer": "first"}, "no layer 'first'; choose from: auto, rollout, last, mean, or a number"),
        ({"layer": 2}, "no layer 2; there are 2, counted from 0"),
        ({"row": "middle"}, "no row 'middle'"),
    ],
)
def test_choices_that_do_not_exist(options, complaint):
    subject = reader("bert")
    with pytest.raises(BadConfig, match=complaint):
        explained("attention_norm", subject, subject.encode(EXAMPLES), **options)
    with pytest.raises(BadConfig, match=r"^decomposition follows one stack"):
        explained("decomposition", reader("bart"), reader("bart").encode(EXAMPLES), layer="rollout")
    pooled = reader("pooled-pre-none-cross_entropy")
    with pytest.raises(BadConfig, match="starts from the local attention local; leave row"):
        explained("attention_norm", pooled, pooled.encode(EXAMPLES), row="mean")
