"""Each explainer against a closed form, finite differences, or a slow loop."""

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tokenizers.processors import TemplateProcessing
from torch.testing import assert_close

from support import zoo
from support.additive import WORDED, additive
from support.tokenizing import is_reader, reader, wordpiece
from whence.attribution.registry import about, explainer, names
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import uniform
from whence.data.examples import Example
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

EXAMPLES = [
    Example("the movie was not good", target="the good movie"),
    Example("unbelievable movies !", target="a"),
    Example("bad", target="bad film"),
]


# raw attention


def tape_of(subject, batch):
    with torch.no_grad(), attending(subject.model) as tape:
        subject.model(**batch.inputs)
    return tape


def slow_row(weights, mask, row, position):
    """Of one text's weights [head query key], by a loop, those from the queries that are meant: [head key]."""
    real = [place for place in range(weights.shape[1]) if mask[place]]
    queries = {"first": real[:1], "last": real[-1:], "mean": real, "prediction": [position]}[row]
    return torch.stack([torch.stack([head[query] for query in queries]).mean(0) for head in weights])


@pytest.mark.parametrize("layer", ["last", "mean", 0, 1, -2])
def test_every_choice_against_a_slow_reading_of_the_tape(layer):
    subject = reader("xlm-roberta")
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    tape = tape_of(subject, batch)
    recorded = [tape.only(name).weights for name in subject.sites]
    layers = {"last": recorded[1:], "mean": recorded}.get(layer) or [recorded[layer]]
    for heads, row in product(["mean", "max", "min", 0, 3, -1], ["first", "last", "mean", "prediction"]):
        found = explainer("raw_attention")(subject, batch, target, layer=layer, heads=heads, row=row)
        for number in range(len(EXAMPLES)):
            expected = torch.zeros(batch.special.shape[1])
            for weights in layers:
                reduced = weights[number]
                if heads in ("max", "min"):  # first over heads, then over rows
                    reduced = reduced.amax(0, keepdim=True) if heads == "max" else reduced.amin(0, keepdim=True)
                rows = slow_row(reduced, batch.mask[number], row, int(target.positions[number]))
                expected += (rows.mean(0) if isinstance(heads, str) else rows[heads]) / len(layers)
            assert_allclose(found.scores[number], expected, atol=1e-6)
        assert found.how == f"layer: {layer}, heads: {heads}, from: {row}"
        assert not found.signed


def test_a_pooling_attention_has_one_row():
    subject = additive(torch.float32)
    batch = subject.encode(WORDED)
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    assert_allclose(found.scores, tape_of(subject, batch).only("attention").weights[:, 0, 0])
    assert_allclose(found.scores.sum(1), 1.0, rtol=1e-5)
    assert (found.scores[batch.special.numpy()] == 0).all()
    assert found.how == "layer: the only one, heads: mean, from: first"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("bert", "first"),
        ("gpt2", "last"),
        ("xlm-roberta", "prediction"),
        ("llama", "prediction"),
        ("bart", "prediction"),
        ("bart-classifier", "last"),
        ("transformer-pre-none", "mean"),
        ("modernbert", "first"),
        ("transformer-pre-sinusoidal", "first"),
    ],
)
def test_left_to_itself_it_reads_where_the_answer_is_read(name, row):
    subject = reader(name)
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    found = explainer("raw_attention")(subject, batch, target)
    assert found.how.endswith(f"from: {row}")
    assert_allclose(found.scores, explainer("raw_attention")(subject, batch, target, row=row).scores)


def test_xlnet_is_read_at_its_end():
    tokenizer = wordpiece()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A [SEP] [CLS]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    subject = Subject(zoo.BY_NAME["xlnet"].build(), tokenizer)
    batch = subject.encode(EXAMPLES)
    assert all(tokens[-1] == "[CLS]" for tokens in batch.tokens)  # padded on the left
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    last = tape_of(subject, batch).only(list(subject.sites)[-1]).weights[:, :, -1].mean(1)
    assert_allclose(found.scores, last, atol=1e-6)


def test_a_translator_is_read_across_and_from_its_target():
    subject = reader("bart")
    batch = subject.encode(EXAMPLES)
    target = predicted(subject, batch)
    across = [name for name, site in subject.sites.items() if site.kind == "cross"]
    weights = tape_of(subject, batch).only(across[-1]).weights.mean(1)  # [batch target source]
    for row, places in (("last", [4, 2, 3]), ("first", [0, 0, 0]), ("prediction", target.positions.tolist())):
        found = explainer("raw_attention")(subject, batch, target, row=row).scores
        assert_allclose(found, weights[torch.arange(3), places], atol=1e-6)
    found = explainer("raw_attention")(subject, batch, target, row="mean").scores
    assert_allclose(found[1], weights[1, :3].mean(0), atol=1e-6)


def test_the_share_of_a_sink_goes_to_no_token():
    subject = reader("gpt-oss")
    batch = subject.encode(EXAMPLES)
    found = explainer("raw_attention")(subject, batch, predicted(subject, batch))
    assert found.scores.shape == batch.special.shape
    assert (found.scores.sum(1) < 1).all()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"layer": 2}, "no layer 2; there are 2, counted from 0"),
        ({"layer": -3}, "no layer -3; there are 2"),
        ({"layer": "first"}, "no layer 'first'; there are: last, mean, or a number"),
        ({"heads": 4}, "no head 4; there are 4, counted from 0"),
        ({"heads": -5}, "no head -5; there are 4"),
        ({"heads": "sum"}, "no heads 'sum'; there are: mean, max, min, or a number"),
        ({"row": "middle"}, "no row 'middle'; there are: auto, first, last, mean, prediction, or a token's number"),
    ],
)
def test_choices_that_do_not_exist(options, complaint):
    subject = reader("bert")
    batch = subject.encode(EXAMPLES)
    with pytest.raises(BadConfig, match=complaint):
        explainer("raw_attention")(subject, batch, predicted(subject, batch), **options)


# gradient × input


def test_closed_form_where_the_answer_is_linear_in_a_words_state():
    """Average encoder, uniform attention: logit = W (1/n) Σ tanh(P x + b) + c, so each word's score is known."""
    subject = additive(encoder="average")
    batch = subject.encode(WORDED)
    target = Target(torch.tensor([0, 1, 0]), torch.zeros(3, dtype=torch.long), "logit")
    with attending(subject.model, override=uniform, watch=None):
        found = explainer("gradient_x_input")(subject, batch, target)
    model = subject.model
    x = model.embeddings.weight[batch.inputs["input_ids"]].detach()
    project, classify = model.encoder.project, model.decoder.classify
    slope = 1 - torch.tanh(project(x)) ** 2  # [batch token width]
    along = torch.einsum("bth,he,bte->bth", slope, project.weight, x)
    expected = torch.einsum("bth,bh->bt", along, classify.weight[target.classes]).detach()
    counted = torch.where(batch.special, 0.0, expected) / (~batch.special).sum(1, keepdim=True)
    assert_allclose(found.scores, counted, atol=1e-6)
    assert found.signed


@pytest.mark.parametrize("measure", ["logit", "probability", "margin"])
@pytest.mark.parametrize("through", [True, False])
def test_against_differences_of_the_answer(measure, through):
    """y(x + ε x_t) − y(x − ε x_t) over 2ε, the word vector x_t of one token at a time, in double precision."""
    subject = additive(encoder="lstm", attention="additive")
    batch = subject.encode(WORDED)
    target = predicted(subject, batch, measure)
    found = explainer("gradient_x_input")(subject, batch, target, through_attention=through)
    kept = tape_of(subject, batch).only("attention").weights
    x = subject.model.embeddings.weight[batch.inputs["input_ids"]].detach()

    @torch.no_grad()
    def answer(vectors):
        held = None if through else (lambda call: kept)
        with attending(subject.model, override=held, watch=None):
            return target.of(subject.task.positioned(subject.model(**batch.inputs, inputs_embeds=vectors).logits))

    for place in range(x.shape[1]):
        step = torch.zeros_like(x)
        step[:, place] = 1e-5 * x[:, place]
        slope = (answer(x + step) - answer(x - step)) / 2e-5
        assert_allclose(found.scores[:, place], slope, atol=1e-6)
    assert ("held fixed" in found.how) != through


def test_holding_attention_fixed_makes_a_difference_and_leaves_no_gradient_behind():
    subject = additive()
    batch = subject.encode(WORDED)
    target = predicted(subject, batch)
    free, held = (explainer("gradient_x_input")(subject, batch, target, through_attention=t) for t in (True, False))
    assert np.abs(free.scores - held.scores).max() > 1e-4
    assert all(parameter.grad is None for parameter in subject.model.parameters())


def test_without_gradients_around_it():
    subject = additive()
    batch = subject.encode(WORDED)
    with torch.no_grad():
        assert explainer("gradient_x_input")(subject, batch, predicted(subject, batch)).scores.any()


# leave one out


@pytest.mark.parametrize("options", [{}, {"encoder": "cnn"}, {"encoder": "average"}])
def test_really_taking_the_word_from_the_text(options):
    subject = additive(**options)
    batch = subject.encode(WORDED)
    target = predicted(subject, batch)
    found = explainer("leave_one_out")(subject, batch, target)
    for row, example in enumerate(WORDED):
        words = example.text.split()
        whole = subject.predict(subject.encode([example]))[0, 0, target.classes[row]]
        for place in range(len(words)):
            left = " ".join(words[:place] + words[place + 1 :])
            without = subject.predict(subject.encode([Example(left)]))[0, 0, target.classes[row]]
            assert found.words(row)[place] == pytest.approx(float(whole - without), abs=1e-6)
    assert (found.scores[batch.special.numpy()] == 0).all()


@pytest.mark.parametrize(
    "name", ["bert", "gpt2", "xlnet", "bart", "t5", "bart-classifier", "additive-dot-pairs-bypass"]
)
def test_really_taking_the_token_from_the_numbers(name):
    """The text alone, without padding, and its numbers without one."""
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [Example(e.text, pair=pair, target=e.target) for e in EXAMPLES]
    together = subject.encode(examples)
    target = predicted(subject, together, "logit")
    found = explainer("leave_one_out")(subject, together, target)
    for row, example in enumerate(examples):
        batch = subject.encode([example])
        own = Target(target.classes[row : row + 1], target.positions[row : row + 1], "logit")
        real = together.mask[row].nonzero().flatten().tolist()
        for place in (~batch.special[0]).nonzero().flatten().tolist():
            left = [other for other in range(batch.special.shape[1]) if other != place]
            inputs = {name: t if name == "labels" else t[:, left] for name, t in batch.inputs.items()}
            fall = own.of(subject.logits(batch)) - own.of(subject.logits(batch.with_inputs(**inputs)))
            assert found.scores[row, real[place]] == pytest.approx(float(fall.detach()), abs=2e-5)
        assert not found.scores[row, together.special[row].numpy()].any()


def test_a_taggers_answer_moves_with_its_word():
    subject = reader("xlm-roberta")
    batch = subject.encode(EXAMPLES)
    target = Target(torch.tensor([1, 0, 1]), torch.tensor([3, 1, 1]), "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    ids = batch.inputs["input_ids"][0]
    for place in (1, 2, 4, 5):
        left = torch.cat([ids[:place], ids[place + 1 :]])[None]
        left = left[left != 0][None]
        answer = 3 - (place < 3)
        expected = subject.logits(batch)[0, 3, 1] - subject.model(input_ids=left).logits[0, answer, 1]
        assert found.scores[0, place] == pytest.approx(float(expected.detach()), abs=1e-5)
    assert found.scores[0, 3] == 0  # its own word
    assert found.scores[2].tolist() == [0.0] * batch.special.shape[1]  # the only word


def test_a_language_models_answer_is_about_the_tokens_before_it():
    subject = reader("llama")
    batch = subject.encode(EXAMPLES)
    target = Target(torch.tensor([5, 6, 7]), torch.tensor([3, 2, 1]), "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    whole = subject.model(**batch.inputs).logits
    for row in range(3):
        position, ids = int(target.positions[row]), batch.inputs["input_ids"][row]
        for place in range(1, position + 1):
            left = torch.cat([ids[:place], ids[place + 1 : position + 1]])[None]  # the answer is read at the last
            expected = whole[row, position, 5 + row] - subject.model(input_ids=left).logits[0, -1, 5 + row]
            assert found.scores[row, place] == pytest.approx(float(expected.detach()), abs=1e-5)
        assert not found.scores[row, position + 1 :].any()


def test_a_short_text_without_special_tokens():
    """Two tokens, one answer: the place of a token is not the place of the answer."""
    subject = Subject(zoo.BY_NAME["gpt2"].build(), wordpiece(model_input_names=["input_ids", "attention_mask"]))
    subject.tokenizer.backend_tokenizer.post_processor = None
    batch = subject.encode([Example("good film"), Example("bad")])
    assert batch.special.shape[1] == 2
    target = predicted(subject, batch, "logit")
    found = explainer("leave_one_out")(subject, batch, target)
    one, two = batch.inputs["input_ids"][0]
    logits = [
        subject.model(input_ids=torch.tensor([ids])).logits[0, target.classes[0]].item()
        for ids in ([one, two], [two], [one])
    ]
    assert_allclose(found.scores[0], [logits[0] - logits[1], logits[0] - logits[2]], atol=1e-5)
    assert found.scores[1].tolist() == [0.0, 0.0]  # nothing is left of it without its only token


# random


def test_random_scores_follow_from_seed_and_example_alone():
    subject = reader("bert")
    batch, alone = subject.encode(EXAMPLES, [4, 9, 2]), subject.encode(EXAMPLES[1:2], [9])
    one, again, other = (
        explainer("random")(subject, batch, predicted(subject, batch), seed=s).scores for s in (0, 0, 1)
    )
    assert_allclose(one, again)
    assert np.abs(one - other).min(1).max() > 0
    by_itself = explainer("random")(subject, alone, predicted(subject, alone)).scores[0]
    assert_allclose(one[1, : len(by_itself)], by_itself)
    assert not np.allclose(one[0], one[2])


def test_random_scores_are_uniform():
    subject = reader("bert")
    batch = subject.encode([Example("good " * 20)] * 60)
    scores = explainer("random")(subject, batch, predicted(subject, batch)).scores
    assert scores.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / scores.size))
    assert scores.var() == pytest.approx(1 / 12, rel=0.1)
    assert ((scores >= 0) & (scores < 1)).all()


def test_random_scores_of_words_are_those_of_their_first_pieces():
    subject = reader("bert")
    batch = subject.encode([Example("unbelievable movies !", pair="good movies"), Example("a", pair="a")])
    found = explainer("random")(subject, batch, predicted(subject, batch))
    first, s = found.of_first_subwords(), found.scores
    assert_allclose(first.words(0), [s[0, 1], s[0, 4], s[0, 6]])
    assert_allclose(first.words(0, segment=1), [s[0, 8], s[0, 9]])
    assert_allclose(first.words(1, segment=1), [s[1, 3]])
    assert_allclose(first.scores[found.special], s[found.special])


# all of them


@pytest.mark.parametrize("name", [family.name for family in filter(is_reader, zoo.EVERY)])
def test_every_family_is_explained_in_company_as_it_is_alone(name):
    subject = reader(name)
    pair = "a film ?" if getattr(subject.model.config, "pairs", False) else None
    examples = [Example("the movie was good", pair=pair, target="a film"), Example("not bad", pair=pair, target="a")]
    together, alone = subject.encode(examples), subject.encode(examples[1:])
    target = predicted(subject, together)
    for method in ("raw_attention", "gradient_x_input"):  # leaving out has a slow loop of its own above
        found = explainer(method)(subject, together, target)
        assert np.isfinite(found.scores).all()
        one = explainer(method)(subject, alone, predicted(subject, alone))
        assert_allclose(found.words(1), one.words(0), atol=5e-5)
        assert_allclose(found.words(1, segment=1), one.words(0, segment=1), atol=5e-5)
        assert found.words(1).any() or (name, method) == ("disan-tags", "raw_attention")  # the last word sees no future


def test_words_are_the_sums_of_their_pieces():
    subject = reader("bert")
    batch = subject.encode([Example("unbelievable movies !", pair="good movies"), Example("a", pair="bad")])
    found = explainer("random")(subject, batch, predicted(subject, batch))
    s = found.scores[0]
    assert_allclose(found.words(0), [s[1] + s[2] + s[3], s[4] + s[5], s[6]], rtol=1e-6)
    assert_allclose(found.words(0, segment=1), [s[8], s[9] + s[10]], rtol=1e-6)
    assert_allclose(found.words(1), [found.scores[1, 1]])
    shown = ["un", "##believ", "##able", "movie", "##s", "!", "good", "movie", "##s"]
    assert [token for token, _ in found.text(0)] == shown
    assert [score for _, score in found.text(1)] == pytest.approx([found.scores[1, 1], found.scores[1, 3]])


def test_methods_by_name():
    assert names() == (
        "attention_gradient",
        "attention_norm",
        "decomposition",
        "effective_attention",
        "flow",
        "flow_bound",
        "gradient_squared",
        "gradient_x_input",
        "integrated_gradients",
        "lat",
        "lat_mixed",
        "leave_one_out",
        "random",
        "raw_attention",
        "rollout",
        "sinks",
        "value_zeroing",
    )
    assert explainer("raw-attention") is explainer("raw_attention")
    with pytest.raises(
        BadConfig, match=r"no explainer 'raw_atention' \(did you mean raw_attention\?\); there are: att"
    ):
        explainer("raw_atention")
    with pytest.raises(BadConfig, match="no explainer 'zzz'; there are"):
        explainer("zzz")
    assert all(about(name).endswith((".", "?")) for name in names())


def test_scores_of_low_precision_come_as_numbers(bfloat16):
    subject = Subject(zoo.BY_NAME["bert"].build(bfloat16), wordpiece())
    batch = subject.encode(EXAMPLES)
    for method in names():
        assert explainer(method)(subject, batch, predicted(subject, batch)).scores.dtype == np.float32
    assert_close(subject.predict(batch).sum(-1), torch.ones(3, 1))
