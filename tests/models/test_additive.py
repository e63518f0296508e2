"""The additive model by hand: weights small enough to do on paper."""

import math

import pytest
import torch
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoConfig, AutoModelForSequenceClassification

from whence import attending, uniform
from whence.data.synthetic import stories
from whence.models import AdditiveConfig, AdditiveForSequenceClassification
from whence.models.additive import AdditiveScore, Decoder, DotScore
from whence.models.parts.encoders import AverageEncoder, CNNEncoder, LSTMEncoder, to_the_front
from whence.training.config import Training
from whence.training.init import untrained

TINY = {"vocab_size": 20, "embedding_size": 6, "hidden_size": 4}


def filled(parameter, values):
    with torch.no_grad():
        parameter.copy_(tensor(values))


def test_additive_scores_by_hand():
    """e = vᵀ tanh(W h + b)."""
    score = AdditiveScore(2, pairs=False)
    filled(score.project.weight, [[1.0, -1.0]])
    filled(score.project.bias, [0.5])
    filled(score.v.weight, [[2.0]])
    assert_close(score(tensor([[[0.5, 0.5], [1.0, 0.0]]])), tensor([[2 * math.tanh(0.5), 2 * math.tanh(1.5)]]))


def test_dot_scores_by_hand():
    """e = vᵀ h / √width."""
    score = DotScore(4, pairs=False)
    filled(score.query.weight, [[1.0, 0.0, -1.0, 2.0]])
    assert_close(score(tensor([[[1.0, 5.0, 2.0, 3.0]]])), tensor([[2.5]]))


def test_the_whole_model_by_hand():
    """Averaging encoder, dot attention: every number on paper."""
    model = AdditiveForSequenceClassification(
        AdditiveConfig(vocab_size=3, embedding_size=1, hidden_size=1, encoder="average", attention="dot")
    ).eval()
    filled(model.embeddings.weight, [[0.0], [1.0], [-2.0]])
    filled(model.encoder.project.weight, [[1.0]])
    filled(model.encoder.project.bias, [0.0])
    filled(model.score.query.weight, [[3.0]])
    filled(model.decoder.classify.weight, [[1.0], [-1.0]])
    filled(model.decoder.classify.bias, [0.0, 0.5])
    h = [math.tanh(1.0), math.tanh(-2.0)]
    e = [math.exp(3 * x) for x in h]
    context = (e[0] * h[0] + e[1] * h[1]) / sum(e)
    with attending(model) as tape:
        logits = model(tensor([[1, 2, 0]])).logits
    assert_close(logits, tensor([[context, 0.5 - context]]))
    assert_close(tape.only("attention").weights, tensor([[[[e[0] / sum(e), e[1] / sum(e), 0.0]]]]))


def test_special_tokens_get_no_attention_unless_asked():
    ids = tensor([[1, 5, 6, 2, 0], [1, 7, 2, 0, 0]])
    for attend in (False, True):
        config = AdditiveConfig(**TINY, bos_token_id=1, eos_token_id=2, attend_specials=attend)
        model = AdditiveForSequenceClassification(config).eval()
        with attending(model) as tape:
            model(ids)
        got = tape.only("attention").weights[:, 0, 0] > 0
        assert torch.equal(got, (ids != 0) if attend else (ids > 2))


@pytest.mark.parametrize("encoder", ["lstm", "cnn", "average"])
def test_padding_changes_nothing(encoder):
    torch.manual_seed(0)
    model = AdditiveForSequenceClassification(AdditiveConfig(**TINY, encoder=encoder)).eval()
    alone = model(tensor([[5, 6, 7]])).logits
    padded = model(tensor([[5, 6, 7, 0, 0], [8, 9, 10, 11, 12]])).logits
    assert_close(padded[:1], alone)


def test_the_lstm_reads_each_text_backwards_from_its_own_end():
    torch.manual_seed(0)
    encoder = LSTMEncoder(6, 4)
    x = torch.randn(2, 5, 6)
    mask = tensor([[True] * 5, [True] * 3 + [False] * 2])
    alone, _ = encoder.lstm(x[1:, :3])
    hidden, whole = encoder(x, mask)
    assert_close(hidden[1, :3], alone[0])
    assert_close(whole[1], torch.cat([alone[0, 2, :4], alone[0, 0, 4:]]))  # each direction's last state


def test_convolutions_agree_with_a_slow_loop():
    torch.manual_seed(0)
    encoder = CNNEncoder(2, 4)
    x, mask = torch.randn(1, 6, 2), torch.ones(1, 6, dtype=torch.bool)
    hidden, whole = encoder(x, mask)
    assert_close(whole, hidden.amax(1))
    for channel, convolve in enumerate(encoder.convolutions):
        reach = convolve.kernel_size[0] // 2
        for token in range(6):
            total = convolve.bias[0].clone()
            for offset in range(-reach, reach + 1):
                if 0 <= token + offset < 6:
                    total += convolve.weight[0, :, offset + reach] @ x[0, token + offset]
            assert_close(hidden[0, token, channel], total.clamp_min(0))


def test_with_a_question_the_scores_by_hand():
    """e = vᵀ tanh(W₁ h + b + W₂ q) (Vashishth et al. 2019 Eq. 2), and (W q + b)ᵀ h / √width."""
    score = AdditiveScore(2, pairs=True)
    filled(score.project.weight, [[1.0, -1.0]])
    filled(score.project.bias, [0.5])
    filled(score.ask.weight, [[0.0, 3.0]])
    filled(score.v.weight, [[2.0]])
    hidden, question = tensor([[[0.5, 0.5], [1.0, 0.0]]]), tensor([[7.0, 0.2]])
    assert_close(score(hidden, question), tensor([[2 * math.tanh(1.1), 2 * math.tanh(2.1)]]))
    dot = DotScore(4, pairs=True)
    filled(dot.query.weight, torch.eye(4).tolist())
    filled(dot.query.bias, [0.0, 0.0, 0.0, 1.0])
    scores = dot(tensor([[[1.0, 5.0, 2.0, 3.0]]]), tensor([[1.0, 1.0, -1.0, 0.0]]))
    assert_close(scores, tensor([[(1 + 5 - 2 + 3) / 2]]))


def test_the_bypass_decoder_by_hand():
    """W₃ tanh(W₁ c + W₂ q), the question repeated for each of its text's queries."""
    decoder = Decoder(2, 1, bypass=True)
    for part, weight in ((decoder.of_context, [[1.0, 0.0]]), (decoder.of_question, [[0.0, 1.0]])):
        filled(part.weight, weight)
        filled(part.bias, [0.0])
    filled(decoder.classify.weight, [[2.0]])
    filled(decoder.classify.bias, [0.1])
    context, question = tensor([[0.3, 9.0], [0.4, 9.0], [0.5, 9.0], [0.6, 9.0]]), tensor([[9.0, 0.1], [9.0, -0.2]])
    expected = [2 * math.tanh(x) + 0.1 for x in (0.4, 0.5, 0.3, 0.4)]
    assert_close(decoder(context, question).flatten(), tensor(expected))


def test_the_average_encoder_gives_the_mean_of_its_tokens_as_the_whole():
    encoder = AverageEncoder(1, 1)
    filled(encoder.project.weight, [[1.0]])
    filled(encoder.project.bias, [0.0])
    _, whole = encoder(tensor([[[1.0], [2.0], [50.0]]]), tensor([[True, True, False]]))
    assert_close(whole, tensor([[(math.tanh(1) + math.tanh(2)) / 2]]))


def test_picked_tokens_move_to_the_front_in_their_order():
    x = torch.arange(8.0).view(2, 4, 1)
    picked, mask = to_the_front(x, tensor([[False, True, False, True], [False, False, True, False]]))
    assert picked[0].flatten().tolist() == [1.0, 3.0]
    assert picked[1, 0].item() == 6.0
    assert mask.tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_a_pair_attends_to_the_first_text_and_depends_on_the_second(attention):
    torch.manual_seed(0)
    config = AdditiveConfig(**TINY, attention=attention, pairs=True, bos_token_id=1, eos_token_id=2)
    model = AdditiveForSequenceClassification(config).eval()
    types = tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0]])
    ids = tensor([[1, 5, 6, 2, 8, 9, 2], [1, 7, 2, 11, 2, 0, 0]])
    with attending(model) as tape:
        logits = model(ids, token_type_ids=types).logits
    assert ((tape.only("attention").weights[:, 0, 0] > 0) == (ids > 2) & (types == 0)).all()
    asked = ids.clone()
    asked[0, 4] = 12
    other = model(asked, token_type_ids=types).logits
    assert not torch.equal(other[0], logits[0])
    assert_close(other[1], logits[1])
    alone = model(ids[1:, :5], token_type_ids=types[1:, :5]).logits
    assert_close(alone[0], logits[1])  # padding changes nothing
    with pytest.raises(ValueError, match="this model reads pairs"):
        model(ids)


def test_without_the_bypass_the_question_reaches_the_answer_through_attention_alone():
    """DETAILS fact 11: with attention held, nothing of the question is left; with the bypass, something is."""
    types = tensor([[0, 0, 0, 1, 1]])
    for bypass in (False, True):
        torch.manual_seed(0)
        model = AdditiveForSequenceClassification(AdditiveConfig(**TINY, pairs=True, bypass=bypass)).eval()
        with attending(model, override=uniform):
            one, other = (
                model(tensor([[5, 6, 7, *question]]), token_type_ids=types).logits for question in ((8, 9), (10, 11))
            )
        assert torch.allclose(one, other) is not bypass
    with pytest.raises(ValueError, match="needs pairs=True"):
        AdditiveForSequenceClassification(AdditiveConfig(**TINY, bypass=True))


def test_the_loss_is_torch_cross_entropy():
    model = AdditiveForSequenceClassification(AdditiveConfig(**TINY, id2label=dict(enumerate("abc")))).eval()
    ids, labels = tensor([[5, 6], [7, 8]]), tensor([2, 0])
    output = model(ids, labels=labels)
    assert_close(output.loss, nn.functional.cross_entropy(output.logits, labels))


def test_embeddings_can_be_leaves():
    model = AdditiveForSequenceClassification(AdditiveConfig(**TINY)).eval()
    ids = tensor([[5, 6, 7]])
    x = model.get_input_embeddings()(ids).detach().requires_grad_()
    assert_close(model(ids, inputs_embeds=x).logits, model(ids).logits)
    (gradient,) = torch.autograd.grad(model(ids, inputs_embeds=x).logits[0, 0], x)
    assert gradient.abs().sum() > 0


def test_saved_and_loaded_through_the_auto_classes(tmp_path):
    model = AdditiveForSequenceClassification(
        AdditiveConfig(**TINY, encoder="cnn", attention="dot", id2label=dict(enumerate("abc")))
    ).eval()
    model.save_pretrained(tmp_path)
    assert (tmp_path / "model.safetensors").exists()
    assert isinstance(AutoConfig.from_pretrained(tmp_path), AdditiveConfig)
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    ids = tensor([[5, 6, 7]])
    assert_close(loaded(ids).logits, model(ids).logits, atol=0.0, rtol=0.0)


def test_bad_options_and_bad_padding_are_refused():
    with pytest.raises(Exception, match="encoder"):
        AdditiveConfig(encoder="gru")
    model = AdditiveForSequenceClassification(AdditiveConfig(**TINY)).eval()
    with pytest.raises(ValueError, match="padding must stand at the end of each text"):
        model(tensor([[0, 5, 6]]), attention_mask=tensor([[0, 1, 1]]))
    with pytest.raises(ValueError, match="padding must stand at the end of each text"):
        model(tensor([[0, 5, 6]]))


@pytest.mark.parametrize(("attention", "parts"), [("additive", 3), ("dot", 1)])
def test_initial_scores_can_be_enlarged_and_vectors_frozen(attention, parts, tmp_path):
    corpus = stories.load(sizes={"train": 20, "dev": 4, "test": 4})
    file = tmp_path / "vectors.txt"
    file.write_text("anna 1 2\nharbour 0 1\n")
    sizes = {"attention": attention, "hidden_size": 4, "vectors": file}
    plain, large = (
        untrained(Training(data="stories", **sizes, **more), corpus).model
        for more in ({}, {"projection_scale": 3.0, "v_scale": 2.0, "freeze": True})
    )
    ratios = {"project": 3.0, "ask": 3.0, "v": 2.0, "query": 6.0}
    weights = [name for name, _ in plain.score.named_parameters() if name.endswith("weight")]
    assert len(weights) == parts
    for name in weights:
        assert_close(large.score.get_parameter(name), ratios[name.split(".")[0]] * plain.score.get_parameter(name))
    assert plain.embeddings.weight.requires_grad
    assert not large.embeddings.weight.requires_grad
