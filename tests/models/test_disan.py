"""DiSAN beside the same written out in loops over tokens and features."""

import math

import numpy as np
import pytest
import torch
from huggingface_hub.errors import StrictDataclassFieldValidationError
from torch import nn, tensor
from torch.testing import assert_close
from transformers import AutoModelForSequenceClassification

from whence import attending, sites, uniform
from whence.core.errors import BadConfig
from whence.core.streaming import Summary
from whence.data.synthetic import clauses, entailment, numerals
from whence.models import DisanConfig, DisanForSequenceClassification, DisanForTokenClassification
from whence.models.parts import disan_kernel as directional
from whence.models.parts import disan_layers
from whence.models.parts.disan_layers import FusionGate
from whence.subject.subject import load
from whence.training.config import Training
from whence.training.fit import _groups
from whence.training.init import untrained
from whence.training.train import train

TINY = {
    "vocab_size": 30,
    "embedding_size": 5,
    "hidden_size": 4,
    "num_labels": 3,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
FIRST, SECOND = [7, 8, 7, 9], [10, 5, 6]


SMALL = {"model": "disan", "embedding_size": 6, "hidden_size": 4, "epochs": 1, "batch_size": 8}


def made(form=DisanForSequenceClassification, **options):
    torch.manual_seed(0)
    model = form(DisanConfig(**{**TINY, **options})).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


def batch(pairs=True):
    """Three examples of different lengths, framed and padded, with their texts."""
    texts = [(FIRST, SECOND), ([4], [5, 6, 7, 8, 9]), ([11, 12, 3], [4])]
    rows = [[1, *one, 2, *two, 2] if pairs else [1, *one, 2] for one, two in texts]
    types = [[0] * (len(one) + 2) + [1] * (len(two) + 1) for one, two in texts]
    longest = max(map(len, rows))
    padded = {"input_ids": [row + [0] * (longest - len(row)) for row in rows]}
    padded["attention_mask"] = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
    if pairs:
        padded["token_type_ids"] = [row + [0] * (longest - len(row)) for row in types]
    return {name: tensor(value) for name, value in padded.items()}, texts


# written out: a text is a list of vectors, one for each word


def linear(module, vector):
    weight = module.weight.detach().double().numpy()
    bias = 0.0 if module.bias is None else module.bias.detach().double().numpy()
    return np.array([sum(w * v for w, v in zip(row, vector, strict=True)) for row in weight]) + bias


def elu(vector):
    return np.array([v if v > 0 else math.exp(v) - 1 for v in vector])


def softmaxed(scores):
    return [math.exp(score) / sum(math.exp(other) for other in scores) for score in scores]


def attended(part, x, future):
    """What each word becomes, and its weights [feature query key], one feature and one query after another."""
    h = [elu(linear(part.project, vector)) for vector in x]
    of_keys, of_queries = [linear(part.score_keys, v) for v in h], [linear(part.score_queries, v) for v in h]
    weights = np.zeros((len(h[0]), len(h), len(h)))
    context = [np.zeros(len(h[0])) for _ in h]
    for i in range(len(h)):
        seen = range(i + 1, len(h)) if future else range(i)
        for feature in range(len(h[0])) if seen else ():
            scores = [5 * math.tanh((of_keys[j][feature] + of_queries[i][feature]) / 5) for j in seen]
            for j, weight in zip(seen, softmaxed(scores), strict=True):
                weights[feature, i, j] = weight
                context[i][feature] += weight * h[j][feature]
    return [fused(part.fuse, *both) for both in zip(h, context, strict=True)], weights


def fused(fuse, hidden, context):
    sums = linear(fuse.of_hidden, hidden) + linear(fuse.of_context, context)
    gates = [1 / (1 + math.exp(-value)) for value in sums]
    return np.array([f * h + (1 - f) * c for f, h, c in zip(gates, hidden, context, strict=True)])


def sentence(encoder, x):
    both = [
        np.concatenate(u)
        for u in zip(attended(encoder.sees_past, x, False)[0], attended(encoder.sees_future, x, True)[0], strict=True)
    ]
    part = encoder.source2token
    scores = [linear(part.score, elu(linear(part.inner, u))) for u in both]
    weights = np.array([softmaxed([score[feature] for score in scores]) for feature in range(len(both[0]))])
    return np.array([sum(weights[f, j] * both[j][f] for j in range(len(both))) for f in range(len(both[0]))]), weights


def vectors(model, ids):
    return [model.embeddings.weight[number].detach().double().numpy() for number in ids]


def by_loops(model, *texts):
    read = [sentence(model.encoder, vectors(model, text))[0] for text in texts]
    if len(read) == 2:
        read += [read[0] - read[1], read[0] * read[1]]
    return linear(model.classify, elu(linear(model.combine, np.concatenate(read))))


@pytest.mark.parametrize("looked_at", [True, False])
@pytest.mark.parametrize("pairs", [True, False])
def test_the_model_is_what_the_loops_say(pairs, looked_at):
    model, (inputs, texts) = made(pairs=pairs).double(), batch(pairs)
    expected = tensor(np.array([by_loops(model, *(both if pairs else both[:1])) for both in texts]))
    with torch.no_grad(), attending(model, watch="*" if looked_at else None):
        assert_close(model(**inputs).logits, expected)


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_tag_is_what_the_loops_say(looked_at):
    model = made(DisanForTokenClassification).double()
    x = vectors(model, FIRST)
    past, future = (
        attended(part, x, after)[0]
        for part, after in [(model.encoder.sees_past, False), (model.encoder.sees_future, True)]
    )
    words = [np.concatenate(both) for both in zip(past, future, strict=True)]
    expected = np.array([linear(model.classify, elu(linear(model.combine, word))) for word in words])
    with torch.no_grad(), attending(model, watch="*" if looked_at else None):
        logits = model(tensor([[1, *FIRST, 2, 0]])).logits
    assert logits.shape == (1, 7, 3)
    assert_close(logits[0, 1:5], tensor(expected))
    with pytest.raises(ValueError, match="single texts"):
        made(DisanForTokenClassification, pairs=True)


def test_every_weight_is_what_the_loops_say_and_all_else_is_zero():
    """Padding, marks around a text, the other text and the token itself get nothing and attend to nothing."""
    model, (inputs, texts) = made(pairs=True).double(), batch()
    with torch.no_grad(), attending(model) as tape:
        model(**inputs)
    for name, future in [("sees_past", False), ("sees_future", True)]:
        expected = torch.zeros(3, 4, 10, 10, dtype=torch.float64)
        for row, (one, two) in enumerate(texts):
            for text, start in [(one, 1), (two, len(one) + 2)]:
                weights = attended(getattr(model.encoder, name), vectors(model, text), future)[1]
                place = slice(start, start + len(text))
                expected[row, :, place, place] = tensor(weights)
        assert_close(tape.only(f"encoder.{name}").weights, expected)
        call = tape.only(f"encoder.{name}")
        assert bool((expected.bool() == call.mask.expand_as(expected)).all())
        assert not call.weights[0, :, 4 if future else 1].any()  # the last word sees no future, the first no past
    expected = torch.zeros(3, 16, 1, 10, dtype=torch.float64)
    for row, (one, two) in enumerate(texts):
        for text, start, features in [(one, 1, slice(0, 8)), (two, len(one) + 2, slice(8, 16))]:
            expected[row, features, 0, start : start + len(text)] = tensor(
                sentence(model.encoder, vectors(model, text))[1]
            )
    assert_close(tape.only("encoder.source2token").weights, expected)


def test_three_words_by_hand():
    """One feature, keys alone are scored, by 5 tanh(h / 5): the third word mixes the first two by what they are."""
    model = made(embedding_size=1, hidden_size=1).double()
    part = model.encoder.sees_past
    for module, weight in [(part.project, 1.0), (part.score_keys, 1.0), (part.score_queries, 0.0)]:
        module.weight.data.fill_(weight)
    for module in (part.project, part.score_queries):
        module.bias.data.zero_()
    model.embeddings.weight.data[3:6] = tensor([[1.0], [2.0], [3.0]])
    with attending(model) as tape:
        model(tensor([[3, 4, 5]]))
    first, second = math.exp(5 * math.tanh(0.2)), math.exp(5 * math.tanh(0.4))
    expected = [[0, 0, 0], [1, 0, 0], [first / (first + second), second / (first + second), 0]]
    assert_close(tape.only("encoder.sees_past").weights[0, 0], tensor(expected, dtype=torch.float64))


def test_the_gate_by_hand():
    """σ(ln 3) = 3/4 of what the word was, 1/4 of its context; σ(0) half of each."""
    gate = FusionGate(2, dropout=0.0)
    gate.of_hidden.weight.data = tensor([[math.log(3), 0.0], [0.0, 1.0]])
    gate.of_context.weight.data = tensor([[0.0, 0.0], [0.0, -0.5]])
    gate.of_hidden.bias.data.zero_()
    assert_close(gate(tensor([[1.0, 2.0]]), tensor([[5.0, 4.0]])), tensor([[2.0, 3.0]]))


@pytest.mark.parametrize("block", [1, 40, 2**15])
def test_a_query_at_a_time_is_the_same_in_value_and_gradient(block, monkeypatch):
    monkeypatch.setattr(directional, "BLOCK", block)
    model, (inputs, _) = made(pairs=True).double(), batch()
    fast = model(**inputs).logits
    with attending(model):
        written_out = model(**inputs).logits
    assert_close(fast, written_out)
    direction = torch.randn(fast.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parameters = list(model.parameters())
    for one, other in zip(
        *(torch.autograd.grad((logits * direction).sum(), parameters) for logits in (fast, written_out)), strict=True
    ):
        assert_close(one, other)
        assert one.abs().max() > 0


@pytest.mark.parametrize("backwards", [False, True])
def test_its_gradient_is_the_finite_difference(backwards):
    text = torch.tensor([[0, 0, 0, 1, 1], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    words = torch.tensor([[True] * 5, [True] * 4 + [False], [False] * 5])
    grid = directional.Layout(words, text, 2).grid(backwards)
    assert grid.lengths == (3, 3, 2, 1)
    torch.manual_seed(0)
    parts = [torch.randn(9, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    torch.autograd.gradcheck(lambda *parts: directional.attended(*parts, grid), parts)


def test_large_scores_are_no_nan():
    """Where tanh is ±1 in any precision, and beyond what an exponential can hold: 200 counts for more."""
    words, text = torch.ones(1, 4, dtype=torch.bool), torch.zeros(1, 4, dtype=torch.long)
    grid = directional.Layout(words, text, 1).grid(False)
    queries = tensor([[0.0], [1e4], [-1e4], [150.0]], requires_grad=True)
    keys = tensor([[-150.0], [100.0], [-1e3], [0.0]], requires_grad=True)
    context = directional.attended(queries, keys, tensor([[1.0], [2.0], [4.0], [8.0]]), grid)
    low, high = math.exp(-5), math.exp(5)
    last = (1 * 1 + high * 2 + low * 4) / (1 + high + low)  # tanh 0, 1, -1
    assert_close(context, tensor([[0.0], [1.0], [1.5], [last]]))
    context.sum().backward()
    assert torch.isfinite(queries.grad).all()
    assert torch.isfinite(keys.grad).all()


def test_where_nobody_looks_no_tensor_of_all_pairs_is_kept():
    model = made(hidden_size=6)
    ids, kept = torch.randint(3, 30, (2, 50), generator=torch.Generator().manual_seed(0)), []

    def pack(saved):
        kept.append(saved.numel())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        model(ids).logits.sum().backward()
    assert max(kept) < 2 * 6 * 50 * 50 / 4


def test_how_many_features_are_shown_at_a_time_changes_nothing(monkeypatch):
    model, (inputs, _) = made(pairs=True), batch()
    seen = []
    for cells, times in [(1, 4), (2 * 3 * 10 * 10, 2), (2**22, 1)]:
        monkeypatch.setattr(disan_layers, "MAX_CELLS", cells)
        summary, calls = Summary(), []
        with torch.no_grad(), attending(model, watch={"encoder.sees_past": counted(summary, calls)}):
            logits = model(**inputs).logits
        assert len(calls) == times
        seen.append((logits, summary.mean["encoder.sees_past"][0], summary.entropy["encoder.sees_past"][0]))
    for other in seen[1:]:
        assert_close(other, seen[0])


def counted(summary, calls):
    def watch(call):
        calls.append(call.heads)
        summary(call)

    watch.streams_heads = True
    return watch


def test_texts_of_a_pair_do_not_see_one_another():
    model = made(pairs=True)
    inputs, _ = batch()
    other = {**inputs, "input_ids": inputs["input_ids"].clone()}
    other["input_ids"][0, 6:9] = tensor([20, 21, 22])  # the second text
    with torch.no_grad(), attending(model) as one:
        model(**inputs)
    with torch.no_grad(), attending(model) as two:
        model(**other)
    for name in sites(model):
        assert_close(one.only(name).weights[0, :8, :6, :5], two.only(name).weights[0, :8, :6, :5], atol=0.0, rtol=0.0)
    with pytest.raises(ValueError, match="reads pairs"):
        model(inputs["input_ids"])


def test_equal_weights_make_the_mean_of_the_words_seen():
    model = made().double()
    with torch.no_grad(), attending(model, override=uniform) as tape:
        model(tensor([[1, 5, 6, 7, 2]]))
    assert_close(tape.only("encoder.sees_past").weights[0, 0, 3], tensor([0, 0.5, 0.5, 0, 0], dtype=torch.float64))
    assert_close(tape.only("encoder.source2token").weights[0, 0, 0], tensor([0, 1, 1, 1, 0], dtype=torch.float64) / 3)


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_text_without_words_is_no_nan_and_neither_is_its_gradient(looked_at):
    model = made()
    with attending(model, watch="*" if looked_at else None):
        output = model(tensor([[5, 6], [1, 2], [0, 0]]), labels=tensor([0, 1, 2]))
        assert torch.isfinite(output.logits).all()
        assert torch.isfinite(model(tensor([[1, 2]])).logits).all()
    output.loss.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_sizes_sites_and_saving(tmp_path):
    model = DisanForSequenceClassification(DisanConfig(vocab_size=10, pairs=True, num_labels=3))
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    assert shapes["encoder.source2token.score.weight"] == (600, 600)
    assert shapes["combine.weight"] == (300, 2400)
    assert [(site.name, site.kind) for site in sites(model).values()] == [
        ("encoder.sees_past", "self"),
        ("encoder.sees_future", "self"),
        ("encoder.source2token", "pool"),
    ]
    small, (inputs, _) = made(pairs=True), batch()
    small.save_pretrained(tmp_path)
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    assert isinstance(again, DisanForSequenceClassification)
    assert_close(again(**inputs).logits, small(**inputs).logits, atol=0.0, rtol=0.0)
    with pytest.raises(StrictDataclassFieldValidationError, match="hidden_size"):
        DisanConfig(hidden_size="wide")


# in training


def test_its_options_are_those_of_its_authors():
    training = Training(model="disan")
    assert {"hidden_size": 300, "dropout": 0.25, "batch_size": 64}.items() <= training.flat().items()
    assert (training.optimizer, training.learning_rate, training.weight_decay) == ("adadelta", 0.5, 5e-5)
    model = untrained(Training(**SMALL), entailment.load(sizes={"train": 12})).model
    decayed, spared = _groups(model, training.recipe)
    assert (decayed["weight_decay"], spared["weight_decay"]) == (5e-5, 0.0)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert {names[id(p)].removesuffix(".weight") for p in decayed["params"]} == {
        *(
            f"encoder.sees_{side}.{part}"
            for side in ("past", "future")
            for part in ("project", "fuse.of_hidden", "fuse.of_context")
        ),
        "encoder.source2token.inner",
        "encoder.source2token.score",
        "combine",
        "classify",
    }
    assert not any(parameter.any() for name, parameter in model.named_parameters() if name.endswith("bias"))


@pytest.mark.parametrize(
    ("corpus", "form"), [(entailment, DisanForSequenceClassification), (clauses, DisanForTokenClassification)]
)
def test_it_is_trained_saved_and_loaded(corpus, form, tmp_path):
    examples = corpus.load(sizes={"train": 24, "dev": 8})
    subject = train(Training(**SMALL, data=examples.name), tmp_path / "m", corpus=examples, quiet=True)
    again = load(tmp_path / "m")
    assert isinstance(again.model, form)
    assert again.fingerprint == subject.fingerprint
    assert again.labels == examples.labels
    batch = subject.encode(examples["dev"])
    assert_close(again.predict(batch), subject.predict(batch))


def test_it_writes_no_texts():
    with pytest.raises(BadConfig, match="disan predicts one label for a text or a tag"):
        untrained(Training(**SMALL), numerals.load(sizes={"train": 12, "dev": 4}))
