"""A text's vector after each layer: beside the model's own hidden states, text by text, and by hooks set by hand."""

import inspect

import pytest
import torch
from torch.testing import assert_close

from support import zoo
from support.tokenizing import reader, wordpiece
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.subject.hidden_states import bag, layer_vectors

TEXTS = [
    Example("the movie was good . not bad !"),
    Example("a story"),
    Example("the unbelievable films was not good ."),
]
FAMILIES = ["bert", "albert", "deberta-v2", "xlnet", "gpt2", "llama", "t5", "bart"]
OURS = {
    "additive-lstm-additive": 1,
    "additive-cnn-additive": 1,
    "additive-average-additive": 1,
    "hierarchical": 2,
    "disan": 1,
    "disan-tags": 1,
    "pooled-post-sinusoidal-cross_entropy": 2,
    "recurrent-dot": 1,
    "transformer-pre-sinusoidal": 2,
    "transformer-seq2seq-post": 2,
    "transformer-tagger": 2,
}


def plain_states(name, text):
    """The hidden states of one text by the model as it comes, never adopted."""
    model = zoo.BY_NAME[name].build()
    encoded = wordpiece()(text, return_tensors="pt")
    root = model.get_encoder() if model.config.is_encoder_decoder else model
    inputs = {key: tensor for key, tensor in encoded.items() if key in inspect.signature(root.forward).parameters}
    with torch.no_grad():
        states = root(**inputs, output_hidden_states=True).hidden_states
        return model.get_input_embeddings()(inputs["input_ids"])[0], [one[0] for one in states]


@pytest.mark.parametrize("name", FAMILIES)
def test_vectors_are_means_and_firsts_of_the_hidden_states(name):
    """Text by text without padding, beside a padded batch; of an encoder–decoder the encoder's."""
    subject = reader(name)
    batch = subject.read(TEXTS)
    means, firsts, bags = layer_vectors(subject, batch), layer_vectors(subject, batch, "first"), bag(subject, batch)
    for number, example in enumerate(TEXTS):
        words, states = plain_states(name, example.text)
        assert len(states) == len(means) == 3
        assert_close(bags[number], words.mean(0), atol=1e-5, rtol=1e-4)
        for layer, one in enumerate(states):
            assert_close(means[layer][number], one.mean(0), atol=1e-4, rtol=1e-3)
            assert_close(firsts[layer][number], one[0], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", OURS)
def test_our_models_have_layers_too_and_padding_does_not_matter(name):
    subject = reader(name)
    for read in ("mean", "first"):
        together = layer_vectors(subject, subject.read(TEXTS), read)
        assert len(together) == OURS[name] + 1
        for number, example in enumerate(TEXTS):
            alone = layer_vectors(subject, subject.read([example]), read)
            for one, other in zip(together, alone, strict=True):
                assert_close(one[number], other[0], atol=1e-5, rtol=1e-4)


def test_layers_of_ours_by_hand():
    """The transformer's by running its layers one after another; the additive model's layer 0 is its word vectors."""
    subject = reader("transformer-post-learned")
    batch, model = subject.read(TEXTS[1:2]), subject.model
    with torch.no_grad():
        x = model.encoder.embeddings(batch.inputs["input_ids"])
        expected = [x.mean(1)]
        for layer in model.encoder.layers:
            x = layer(x, torch.ones(1, 1, 1, x.shape[1], dtype=torch.bool))
            expected.append(x.mean(1))
    for found, wanted in zip(layer_vectors(subject, batch), expected, strict=True):
        assert_close(found, wanted)
    additive = reader("additive-lstm-dot")
    both = additive.read(TEXTS)
    assert_close(layer_vectors(additive, both)[0], bag(additive, both))
    hidden = additive.model.encoder(additive.model.embeddings(both.inputs["input_ids"]), both.mask)[0]
    assert_close(layer_vectors(additive, both)[1][1], hidden[1][both.mask[1]].mean(0).detach())


def test_no_hooks_are_left():
    subject = reader("pooled-pre-none-cross_entropy")
    layer_vectors(subject, subject.read(TEXTS))
    assert not any(module._forward_hooks for module in subject.model.modules())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("weighted-tagger", "does not return its hidden states"),
        ("funnel", "layers with other states than one for each token"),
    ],
)
def test_what_cannot_be_read_is_said(name, says):
    subject = reader(name)
    with pytest.raises(BadConfig, match=says):
        layer_vectors(subject, subject.read(TEXTS))
