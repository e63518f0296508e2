"""Yang 2019's tagger: its layers beside the formulas written out, its three modes, its learning rate."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import tensor
from torch.testing import assert_close

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.data.synthetic import clauses, numerals, reviews
from whence.models import (
    TransformerConfig,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from whence.models.parts.transformer_layers import Sublayer
from whence.models.presets import yang2019
from whence.models.transformer import sinusoids
from whence.subject.subject import load
from whence.training.config import Training, training_for
from whence.training.init import untrained
from whence.training.recipe import OPTIMIZERS, Recipe, rate
from whence.training.train import train

TINY = {
    "vocab_size": 30,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "dropout": 0.0,
    "num_labels": 5,
    "initializer_range": 0.3,
}
SMALL = {"hidden_size": 8, "heads": 2, "feed_forward_size": 12, "epochs": 2, "batch_size": 20, "warm_up": 4}
SIZES = {"train": 40, "dev": 12, "test": 12}


@pytest.fixture(scope="module")
def corpus():
    return clauses.load(sizes=SIZES)


@pytest.fixture
def vectors(corpus, tmp_path):
    words = sorted({word for split in corpus.splits for example in corpus[split] for word in example.words})
    file = tmp_path / "v.txt"
    file.write_text("".join(f"{word} {number / 50} 0.5 -1\n" for number, word in enumerate(words)))
    return file


def written_out(model, ids, rectified):
    """The authors' encoder by its formulas, head by head: layer norm first, no biases, perhaps ReLU after both maps."""
    parts = dict(model.named_parameters())
    layer = "encoder.layers.0."
    x = parts["encoder.embeddings.words.weight"][ids] @ parts["encoder.embeddings.project.weight"].T
    x = x + sinusoids(*x.shape)
    normal = F.layer_norm(x, (16,), parts[layer + "around_self.norm.weight"], parts[layer + "around_self.norm.bias"])
    q, k, v = (normal @ parts[f"{layer}self_attention.{name}.weight"].T for name in ("queries", "keys", "values"))
    heads = []
    for head in range(4):
        mine = slice(4 * head, 4 * head + 4)
        scores = torch.stack([torch.stack([one @ other for other in k[:, mine]]) for one in q[:, mine]]) / math.sqrt(4)
        heads.append((scores.exp() / scores.exp().sum(1, keepdim=True)) @ v[:, mine])
    x = x + torch.cat(heads, 1) @ parts[layer + "self_attention.output.weight"].T
    y = F.layer_norm(x, (16,), parts[layer + "around_feed_forward.norm.weight"])
    for number in (0, 3 if rectified else 2):
        weight, bias = (parts[f"{layer}feed_forward.{number}.{name}"] for name in ("weight", "bias"))
        y = y @ weight.T + bias
        y = y.clamp_min(0) if rectified or number == 0 else y
    hidden = F.layer_norm(x + y, (16,), parts["encoder.norm.weight"])
    return hidden @ parts["classifier.weight"].T + parts["classifier.bias"]


@pytest.mark.parametrize("rectified", [True, False])
def test_the_layers_of_torchnlp_written_out(rectified):
    torch.manual_seed(0)
    config = TransformerConfig(**TINY, form="torchnlp", rectified=rectified, embedding_size=7)
    model = TransformerForTokenClassification(config).eval()
    ids = tensor([5, 6, 7, 5, 9])
    assert_close(model(ids[None]).logits[0], written_out(model, ids, rectified))


def test_as_many_parameters_as_the_authors_model_has():
    """140,953 that learn, and the vectors of 19,032 words of 300 dimensions (5.71 million) that do not."""
    model = TransformerForTokenClassification(
        TransformerConfig(
            vocab_size=19_032,
            hidden_size=128,
            num_hidden_layers=1,
            num_attention_heads=4,
            intermediate_size=128,
            embedding_size=300,
            frozen_vectors=True,
            form="torchnlp",
            id2label={n: str(n) for n in range(25)},
        )
    )
    counts = dict.fromkeys((True, False), 0)
    for parameter in model.parameters():
        counts[parameter.requires_grad] += parameter.numel()
    assert counts == {True: 140_953, False: 19_032 * 300}


def test_projected_words_of_vaswanis_form():
    torch.manual_seed(0)
    embeddings = TransformerForTokenClassification(TransformerConfig(**TINY, embedding_size=7)).encoder.embeddings
    ids = tensor([[3, 4]])
    expected = (embeddings.words(ids) @ embeddings.project.weight.T) * 4 + sinusoids(2, 16)
    assert_close(embeddings(ids), expected)
    assert_close(embeddings(None, embeddings.words(ids)), expected)


def test_dropout_on_the_sum_or_on_the_result():
    x, result = torch.full((1, 50, 8), 2.0), torch.full((1, 50, 8), 3.0)
    torch.manual_seed(0)
    whole = Sublayer(8, True, 0.5, drops_sum=True).after(x, result)
    assert set(whole.unique().tolist()) == {0.0, 10.0}
    part = Sublayer(8, True, 0.5).after(x, result)
    assert set(part.unique().tolist()) == {2.0, 8.0}


def test_padding_is_attended_to_if_it_is_not_masked():
    ids = tensor([[5, 6, 7, 0, 0]])
    alike = {}
    for masked in (True, False):
        torch.manual_seed(0)
        model = TransformerForTokenClassification(TransformerConfig(**TINY, masks_padding=masked)).eval()
        with attending(model) as tape:
            padded = model(ids, attention_mask=(ids != 0).long()).logits[:, :3]
        alike[masked] = torch.allclose(padded, model(ids[:, :3]).logits, atol=1e-5)
        weights = tape.only("encoder.layers.0.self_attention").weights
        assert bool((weights[..., 3:] > 0).any()) is not masked
        assert_close(weights.sum(-1), torch.ones(1, 4, 5))
    assert alike == {True: True, False: False}


def test_options_of_the_config_are_saved(tmp_path):
    config = TransformerConfig(**TINY)
    other = TransformerConfig(**TINY, form="torchnlp", masks_padding=False, embedding_size=7)
    assert {"embedding_size": 7, "masks_padding": False, "form": "torchnlp"}.items() <= other.to_dict().items()
    TransformerForTokenClassification(other).save_pretrained(tmp_path)
    again = TransformerForTokenClassification.from_pretrained(tmp_path).config
    assert (again.embedding_size, again.masks_padding, again.form) == (7, False, "torchnlp")
    assert TransformerForSequenceClassification(config).encoder.embeddings.project is None


@pytest.mark.parametrize("mode", yang2019.MODES)
def test_a_modes_options_hold_where_nothing_is_said(mode):
    training = Training(model="transformer", mode=mode)
    sizes = {"layers": 1, "heads": 4, "hidden_size": 128, "dropout": 0.2}
    assert {**yang2019.MODES[mode], **sizes}.items() <= training.flat().items()
    assert Training(model="transformer", mode=mode, epochs=7).epochs == 7


def test_what_each_mode_reads():
    paper, code, corrected = (Training(model="transformer", mode=m) for m in ("paper", "author-code", "corrected"))
    options = [t.flat() for t in (paper, code, corrected)]
    assert [(o["norm"], o["form"], o["rectified"], o["masks_padding"]) for o in options] == [
        ("post", "vaswani", False, False),
        ("pre", "torchnlp", True, False),
        ("pre", "torchnlp", False, True),
    ]


def test_without_a_mode_the_transformer_is_that_of_vaswani(corpus):
    training = Training(model="transformer", hidden_size=8, heads=2)
    config = untrained(training, corpus).model.config
    assert (config.intermediate_size, config.norm, config.positions) == (16, "pre", "sinusoidal")
    assert (config.embedding_size, config.form, config.masks_padding) == (None, "vaswani", True)


@pytest.mark.parametrize("mode", yang2019.MODES)
def test_a_training_in_each_mode(mode, corpus, vectors, tmp_path):
    training = Training(model="transformer", mode=mode, vectors=vectors, **SMALL)
    begun, subject = untrained(training, corpus), train(training, tmp_path / "m", corpus=corpus, quiet=True)
    config = subject.model.config
    for name in ("norm", "form", "rectified", "masks_padding"):
        assert getattr(config, name) == yang2019.MODES[mode][name]
    assert (config.embedding_size, config.intermediate_size, config.frozen_vectors) == (3, 12, True)
    words = subject.model.encoder.embeddings.words.weight
    assert_close(words, begun.model.encoder.embeddings.words.weight, atol=0.0, rtol=0.0)
    numbers = subject.tokenizer.get_vocab()
    assert {word for e in corpus["test"] for word in e.words} <= set(numbers)
    assert begun.fingerprint != subject.fingerprint
    again, batch = load(tmp_path / "m"), subject.encode(corpus["test"])
    assert again.fingerprint == subject.fingerprint
    assert_close(again.predict(batch), subject.predict(batch))


def test_vectors_that_learn_and_vectors_of_a_classifier(corpus, vectors, tmp_path):
    training = Training(model="transformer", vectors=vectors, layers=1, **SMALL)
    begun, subject = untrained(training, corpus), train(training, tmp_path / "m", corpus=corpus, quiet=True)
    one, other = (s.model.encoder.embeddings.words.weight for s in (begun, subject))
    assert not torch.equal(one, other)
    (tmp_path / "w.txt").write_text("the 1 2\n")
    few = reviews.load(sizes=SIZES)
    classifier = untrained(Training(model="transformer", vectors=tmp_path / "w.txt", freeze=True, **SMALL), few)
    table = classifier.model.encoder.embeddings
    assert table.words.weight[classifier.tokenizer.get_vocab()["the"]].tolist() == [1.0, 2.0]
    assert table.project.weight.shape == (8, 2)
    assert not table.words.weight.requires_grad


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadConfig, match="readings of Yang 2019's tagger; this corpus has no tags"):
        untrained(Training(model="transformer", mode="paper"), reviews.load(sizes=SIZES))
    with pytest.raises(BadConfig, match="norm: input should be 'post' or 'pre', got 'query'"):
        training_for("transformer", norm="query")


def test_vectors_of_a_translator_are_refused(tmp_path):
    made = numerals.load(sizes=SIZES)
    word = made["train"][0].text.split()[0]
    (tmp_path / "v.txt").write_text(f"{word} 1 2 3\n")
    with pytest.raises(BadConfig, match=r"as a translator, .*leave vectors out"):
        untrained(Training(model="transformer", vectors=tmp_path / "v.txt"), made)


def test_noam_is_the_authors_learning_rate():
    """0.2 · 10 · d^-.5 · min((t+1) · 500^-1.5, (t+1)^-.5), d = 128, step t counted from 0."""
    training = Training(model="transformer", mode="author-code")
    recipe, per_epoch = training.recipe, 81
    for t in (0, 1, 80, 81, 498, 499, 500, 5000):
        epoch, done = divmod(t, per_epoch)
        expected = 0.2 * 10 * 128**-0.5 * min((t + 1) * 500**-1.5, (t + 1) ** -0.5)
        found = recipe.learning_rate * rate(recipe, epoch + (done + 1) / per_epoch, per_epoch)
        assert found == pytest.approx(expected, rel=1e-3)


def test_other_schedules_by_hand():
    linear = Recipe(epochs=10, schedule="linear")
    assert [rate(linear, epochs, 5) for epochs in (0.5, 1.0, 5.5, 10.0)] == pytest.approx([0.5, 1.0, 0.5, 0.0])
    assert rate(Recipe(), 3.0, 5) == 1.0
    optimizer = OPTIMIZERS["adam98"]([torch.nn.Parameter(torch.zeros(1))])
    assert optimizer.defaults["betas"] == (0.9, 0.98)
