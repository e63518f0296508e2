"""The Transformer beside torch's own, whose attention is hidden but whose numbers are right."""

import math

import pytest
import torch
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

from whence import attending
from whence.models import (
    TransformerConfig,
    TransformerForConditionalGeneration,
    TransformerForSequenceClassification,
)
from whence.models.transformer import Embeddings, Layer, sinusoids

TINY = {"vocab_size": 30, "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 24, "dropout": 0.0}


def copy_attention(ours, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.queries.weight, ours.keys.weight, ours.values.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.queries.bias, ours.keys.bias, ours.values.bias]))
        theirs.out_proj.load_state_dict(ours.output.state_dict())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_layer_is_torchs(norm):
    torch.manual_seed(0)
    ours = Layer(TransformerConfig(**TINY, norm=norm)).eval()
    theirs = nn.TransformerEncoderLayer(16, 4, 24, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward[2].state_dict())
    theirs.norm1.load_state_dict(ours.around_self.norm.state_dict())
    theirs.norm2.load_state_dict(ours.around_feed_forward.norm.state_dict())
    x, tokens = torch.randn(2, 5, 16), tensor([[True] * 5, [True] * 3 + [False] * 2])
    expected = theirs.train()(x, src_key_padding_mask=~tokens)  # in training mode torch takes no fused road
    assert_close(ours(x, tokens[:, None, None])[tokens], expected[tokens])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_is_torchs(norm):
    torch.manual_seed(0)
    ours = Layer(TransformerConfig(**TINY, norm=norm), decoder=True).eval()
    theirs = nn.TransformerDecoderLayer(16, 4, 24, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward[2].state_dict())
    for mine, its in [(ours.around_self, "norm1"), (ours.around_cross, "norm2"), (ours.around_feed_forward, "norm3")]:
        getattr(theirs, its).load_state_dict(mine.norm.state_dict())
    x, source = torch.randn(2, 4, 16), torch.randn(2, 6, 16)
    past = torch.ones(4, 4, dtype=torch.bool).tril()
    sources = tensor([[True] * 6, [True] * 2 + [False] * 4])
    expected = theirs(x, source, tgt_mask=~past, memory_key_padding_mask=~sources)
    got = ours(x, past.expand(2, 1, 4, 4), source, sources[:, None, None])
    assert_close(got, expected)


def test_sinusoids_by_hand():
    """Vaswani et al. 2017, §3.5: position 3, dimensions 4 and 5 of 8."""
    table = sinusoids(5, 8)
    assert_close(table[0], tensor([0.0, 1.0] * 4))
    angle = 3 / 10_000 ** (4 / 8)
    assert_close(table[3, 4:6], tensor([math.sin(angle), math.cos(angle)]))


def test_embeddings_are_words_times_root_width_plus_positions():
    torch.manual_seed(0)
    ids = tensor([[3, 4, 3]])
    for positions in ("none", "sinusoidal", "learned"):
        embeddings = Embeddings(TransformerConfig(**TINY, positions=positions)).eval()
        expected = embeddings.words(ids) * 4
        if positions == "sinusoidal":
            expected = expected + sinusoids(3, 16)
        if positions == "learned":
            expected = expected + embeddings.learned.weight[:3]
        assert_close(embeddings(ids), expected)
    short = Embeddings(TransformerConfig(**TINY, positions="learned", max_position_embeddings=2))
    with pytest.raises(ValueError, match="a text of 3 tokens is longer than the 2 positions"):
        short(ids)


def test_without_positions_the_order_of_words_is_not_seen():
    torch.manual_seed(0)
    ids = tensor([[5, 6, 7, 8]])
    for positions, same in [("none", True), ("sinusoidal", False)]:
        config = TransformerConfig(**TINY, positions=positions, pool="mean")
        model = TransformerForSequenceClassification(config).eval()
        with torch.no_grad():
            assert torch.allclose(model(ids).logits, model(ids.flip(1)).logits, atol=1e-6) is same


@pytest.mark.parametrize("pool", ["first", "mean"])
def test_padding_changes_nothing(pool):
    torch.manual_seed(0)
    model = TransformerForSequenceClassification(TransformerConfig(**TINY, pool=pool)).eval()
    ids = tensor([[5, 6, 7, 0, 0]])
    padded = model(ids, attention_mask=(ids != 0).long()).logits
    assert_close(padded, model(ids[:, :3]).logits)


def test_a_decoder_token_does_not_see_what_comes_after():
    torch.manual_seed(0)
    model = TransformerForConditionalGeneration(TransformerConfig(**TINY)).eval()
    source, target = tensor([[5, 6, 7]]), tensor([[1, 8, 9, 10]])
    changed = tensor([[1, 8, 9, 11]])
    one, other = model(source, decoder_input_ids=target).logits, model(source, decoder_input_ids=changed).logits
    assert_close(one[:, :3], other[:, :3], atol=0.0, rtol=0.0)
    assert not torch.allclose(one[:, 3], other[:, 3])


def test_the_loss_is_that_of_the_shifted_labels():
    model = TransformerForConditionalGeneration(TransformerConfig(**TINY)).eval()
    labels = tensor([[8, 9, 2], [10, 2, -100]])
    output = model(tensor([[5, 6], [7, 8]]), labels=labels)
    given = tensor([[1, 8, 9], [1, 10, 2]])
    expected = model(tensor([[5, 6], [7, 8]]), decoder_input_ids=given).logits
    assert_close(output.logits, expected)
    assert_close(output.loss, nn.functional.cross_entropy(expected.flatten(0, 1), labels.flatten()))
    with pytest.raises(ValueError, match="expected decoder_input_ids or labels"):
        model(tensor([[5, 6]]))


def test_greedy_generation_is_argmax_step_by_step():
    torch.manual_seed(3)
    model = TransformerForConditionalGeneration(TransformerConfig(**TINY, initializer_range=0.3)).eval()
    source, prefix = tensor([[5, 6, 7, 8]]), tensor([[1]])
    for _ in range(6):
        logits = model(source, decoder_input_ids=prefix).logits[:, -1].clone()
        logits[:, 2] = -math.inf  # six new tokens are asked for, so the end may not come before
        prefix = torch.cat([prefix, logits.argmax(-1, keepdim=True)], 1)
    with attending(model, watch="decoder.*cross*") as tape:
        generated = model.generate(source, max_new_tokens=6, min_new_tokens=6, do_sample=False)
    assert torch.equal(generated, prefix)
    assert [call.weights.shape[2] for call in tape["decoder.layers.0.cross_attention"]] == [1, 2, 3, 4, 5, 6]
    beams = model.generate(source, max_new_tokens=6, num_beams=3, do_sample=False)
    assert beams.shape[0] == 1


def test_saved_and_loaded_through_the_auto_classes(tmp_path):
    ids = tensor([[5, 6, 7]])
    classifier = TransformerForSequenceClassification(
        TransformerConfig(**TINY, norm="post", id2label=dict(enumerate("abc")))
    ).eval()
    classifier.save_pretrained(tmp_path / "classifier")
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / "classifier").eval()
    assert_close(loaded(ids).logits, classifier(ids).logits, atol=0.0, rtol=0.0)
    translator = TransformerForConditionalGeneration(TransformerConfig(**TINY)).eval()
    translator.save_pretrained(tmp_path / "translator")
    loaded = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "translator").eval()
    assert_close(
        loaded(ids, decoder_input_ids=ids).logits, translator(ids, decoder_input_ids=ids).logits, atol=0.0, rtol=0.0
    )
    assert loaded.lm_head.weight is loaded.decoder.embeddings.words.weight


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="hidden_size 16 must be a multiple of num_attention_heads 3"):
        TransformerForSequenceClassification(TransformerConfig(**(TINY | {"num_attention_heads": 3})))
