"""The hierarchical model beside a loop over sentences, and by hand."""

import math

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoConfig, AutoModelForSequenceClassification

from whence import attending, permuted, uniform
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.evaluation.locations import Place, ablation_override, places
from whence.models import HierarchicalConfig, HierarchicalForSequenceClassification
from whence.models.hierarchical import Level, cut_into_sentences
from whence.subject.subject import Subject
from whence.subject.targets import predicted
from whence.training.vocabulary import word_tokenizer

SPECIALS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
TINY = {"vocab_size": 30, "embedding_size": 6, "hidden_size": 4, "attention_size": 5, **SPECIALS}
STOP, BANG = 3, 4
IDS = tensor(
    [
        [1, 10, 11, STOP, 12, BANG, BANG, 13, 14, 15, STOP, 2],
        [1, 16, STOP, 17, 2, 0, 0, 0, 0, 0, 0, 0],
        [1, 18, 19, 20, 2, 0, 0, 0, 0, 0, 0, 0],
    ]
)
ROWS = [[[0, 1, 2, 3], [4, 5, 6], [7, 8, 9, 10, 11]], [[0, 1, 2], [3, 4]], [[0, 1, 2, 3, 4]]]  # places of tokens


def built(**options):
    torch.manual_seed(0)
    model = HierarchicalForSequenceClassification(HierarchicalConfig(**TINY, sentence_end_ids=[STOP, BANG], **options))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.7)
    return model.eval()


def subject():
    examples = [Example("good film . a long story ! bad"), Example("a film ."), Example("good")]
    tokenizer = word_tokenizer(examples)
    ends = [tokenizer.get_vocab()[end] for end in (".", "!")]
    torch.manual_seed(1)
    config = HierarchicalConfig(
        vocab_size=len(tokenizer),
        embedding_size=6,
        hidden_size=4,
        attention_size=5,
        sentence_end_ids=ends,
        pad_token_id=0,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return Subject(HierarchicalForSequenceClassification(config), tokenizer), examples


def test_sentences_by_hand():
    layout = cut_into_sentences((IDS == STOP) | (IDS == BANG), IDS != 0, (IDS == 1) | (IDS == 2))
    assert (layout.sentences, layout.words) == (3, 5)
    laid = layout.lay(IDS)
    for text, rows in enumerate(ROWS):
        for row in range(3):
            places = rows[row] if row < len(rows) else []
            assert laid[text, row].tolist() == [int(IDS[text, p]) for p in places] + [0] * (5 - len(places))
    assert torch.equal(layout.back(laid.float()), IDS.float())
    vectors = torch.randn(3, 12, 2)
    assert_close(layout.lay(vectors)[0, 1, 2], vectors[0, 6])


def test_scores_by_hand():
    """Two words: e = cᵀ tanh(W h + b) (Vashishth et al. 2019 Eq. 1)."""

    class Given(nn.Module):
        width = 2

        def forward(self, x, mask):
            return x, x[:, 0]

    level = Level(2, HierarchicalConfig(hidden_size=1, attention_size=1), 0.0)
    level.register_module("encoder", Given())
    with torch.no_grad():
        level.project.weight.copy_(tensor([[1.0, -1.0]]))
        level.project.bias.fill_(0.5)
        level.context.weight.fill_(2.0)
    x, mask = tensor([[[[0.5, 0.5], [1.0, 0.0]], [[9.0, 9.0], [9.0, 9.0]]]]), tensor([[[True, True], [False, False]]])
    hidden, scores = level(x, mask)
    assert_close(scores[0, 0], tensor([2 * math.tanh(0.5), 2 * math.tanh(1.5)]))
    assert not hidden[0, 1].any()


def slow_level(level, vectors, attended):
    """One sentence or one text by itself: its vector and the weights, in a loop."""
    hidden = level.encoder.gru(torch.stack(vectors)[None])[0][0]
    scores = [level.context(torch.tanh(level.project(h))).item() for h in hidden]
    top = [math.exp(score) if yes else 0.0 for score, yes in zip(scores, attended, strict=True)]
    weights = [score / sum(top) for score in top]
    return sum(weight * h for weight, h in zip(weights, hidden, strict=True)), weights


@pytest.mark.parametrize("attend_specials", [False, True])
@torch.no_grad()
def test_the_whole_model_and_the_product_of_weights_by_a_slow_loop(attend_specials):
    model = built(attend_specials=attend_specials, num_labels=3)
    with attending(model) as tape:
        logits = model(IDS, (IDS != 0).long()).logits
    products = model.token_weights(tape, IDS)
    for text, rows in enumerate(ROWS):
        made, of_words = [], []
        for row in rows:
            numbers = IDS[text, row]
            attended = [attend_specials or number not in (1, 2) for number in numbers.tolist()]
            vector, weights = slow_level(model.words, list(model.embeddings(numbers)), attended)
            made.append(vector)
            of_words.append(weights)
        whole, of_sentences = slow_level(model.sentences, made, [True] * len(rows))
        assert_close(logits[text], model.classifier(whole))
        flat = [weight * share for weights, share in zip(of_words, of_sentences, strict=True) for weight in weights]
        assert_close(products[text], tensor(flat + [0.0] * (12 - len(flat))))
    assert_close(products.sum(1), torch.ones(3))
    assert ((products > 0) == ((IDS > 0) if attend_specials else (IDS > 2))).all()
    assert tape.only("word_attention").weights.shape == (3, 1, 3, 5)
    assert tape.only("sentence_attention").weights.shape == (3, 1, 1, 3)


def test_rows_without_words_are_zero_and_never_nan():
    model = built()
    ids = torch.cat([IDS, tensor([[1, 2] + [0] * 10])])  # the last text has nothing to attend to
    for override in (None, uniform, permuted(0)):
        with attending(model, override=override) as tape:
            logits = model(ids, (ids != 0).long()).logits
        assert torch.isfinite(logits).all()
        words, sentences = tape.only("word_attention").weights, tape.only("sentence_attention").weights
        assert not words[1, 0, 2].any()
        assert not words[2, 0, 1:].any()
        assert not words[3].any()
        assert not sentences[3].any()
        assert sentences[1, 0, 0, 2] == 0
        model.zero_grad()
        logits.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())


def test_padding_changes_nothing():
    model = built()
    together = model(IDS, (IDS != 0).long()).logits
    for text, length in enumerate([12, 5, 5]):
        alone = IDS[text : text + 1, :length]
        assert_close(model(alone).logits[0], together[text])
    with pytest.raises(ValueError, match="padding must stand at the end of each text"):
        model(tensor([[0, 5, 6]]))


def test_a_word_changes_its_own_sentence_alone_at_the_first_level():
    model = built()
    other = IDS.clone()
    other[0, 4] = 25
    one: list[torch.Tensor] = []
    two: list[torch.Tensor] = []
    for ids, kept in ((IDS, one), (other, two)):
        with attending(model) as tape:
            model(ids)
        kept.append(tape.only("word_attention").weights[0, 0])
    assert_close(one[0][0], two[0][0])
    assert_close(one[0][2], two[0][2])
    assert not torch.allclose(one[0][1], two[0][1])


def test_equal_weights_at_words_at_sentences_and_at_both():
    model = built()
    words = tensor([[3.0], [3.0], [4.0]])  # of each sentence of the first text
    for where, at_words, at_sentences in (("word*", True, False), ("sentence*", False, True), ("*", True, True)):
        with attending(model, override={where: uniform}) as tape:
            model(IDS)
        rows = tape.only("word_attention").weights[0, 0]
        assert torch.allclose(rows.amax(1, keepdim=True), 1 / words) is at_words
        assert torch.allclose(tape.only("sentence_attention").weights[0], torch.full((1, 1, 3), 1 / 3)) is at_sentences
        assert_close(model.token_weights(tape, IDS).sum(1), torch.ones(3))


def test_gradients_reach_the_word_vectors():
    model = built()
    x = model.get_input_embeddings()(IDS).detach().requires_grad_()
    logits = model(IDS, inputs_embeds=x).logits
    assert_close(logits, model(IDS).logits)
    (gradient,) = torch.autograd.grad(logits[:, 0].sum(), x)
    assert (gradient.abs().sum(-1) > 0).eq(IDS != 0).all()


def test_dropout_is_where_the_config_says():
    model = built(word_dropout=0.44, sentence_dropout=0.22, output_dropout=0.25)
    assert (model.words.dropout.p, model.sentences.dropout.p, model.dropout.p) == (0.44, 0.22, 0.25)
    before = model(IDS).logits
    assert not torch.allclose(model.train()(IDS).logits, before)


def test_the_loss_is_torch_cross_entropy_and_the_model_is_saved_and_loaded(tmp_path):
    model = built(num_labels=3)
    output = model(IDS, labels=tensor([2, 0, 1]))
    assert_close(output.loss, nn.functional.cross_entropy(output.logits, tensor([2, 0, 1])))
    model.save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).sentence_end_ids == [STOP, BANG]
    loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert isinstance(loaded, HierarchicalForSequenceClassification)
    assert_close(loaded(IDS).logits, output.logits, atol=0.0, rtol=0.0)


# with the rest of the house


def test_raw_attention_is_the_product_of_both_levels():
    reader, examples = subject()
    batch = reader.encode(examples)
    target = predicted(reader, batch)
    with torch.no_grad(), attending(reader.model) as tape:
        reader.model(**batch.inputs)
    expected = reader.model.token_weights(tape, **batch.inputs)
    for layer in ("last", "mean", 0, -1):
        found = explainer("raw_attention")(reader, batch, target, layer=layer)
        assert_allclose(found.scores, expected, atol=1e-6)
        assert found.how == "layer: word × sentence, heads: mean, from: first"
    assert_allclose(found.scores.sum(1), 1.0, rtol=1e-5)
    assert (found.scores[batch.special.numpy()] == 0).all()
    with pytest.raises(BadConfig, match="no layer 1; there are 1"):
        explainer("raw_attention")(reader, batch, target, layer=1)
    with pytest.raises(BadConfig, match="no head 1; there are 1"):
        explainer("raw_attention")(reader, batch, target, heads=1)


def test_leaving_a_word_out_and_gradients_work_as_with_any_model():
    reader, examples = subject()
    batch = reader.encode(examples)
    target = predicted(reader, batch)
    for method in ("leave_one_out", "gradient_x_input"):
        assert explainer(method)(reader, batch, target).scores.any()


def test_an_alteration_that_spares_special_tokens_does_not_take_sentences_for_tokens():
    reader, examples = subject()
    batch = reader.encode(examples)
    for granularity in ("all", "layer"):
        for place in places(reader, granularity, batch):
            assert isinstance(place, Place)
            for name in ("uniform", "random", "permuted"):
                rules = place.rules(
                    ablation_override(name, torch.Generator().manual_seed(0)), reader, batch, special_tokens=False
                )
                with attending(reader.model, override=rules) as tape:
                    reader.predict(batch)
                products = reader.model.token_weights(tape, **batch.inputs)
                assert_close(products.sum(1), torch.ones(3))
                assert not products[batch.special].any()
