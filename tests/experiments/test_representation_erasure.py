"""Representation erasure: a model worked out by hand, slow loops, and words that are known to decide."""

import math

import numpy as np
import pytest
import torch

from support import saved_models
from support.contexts import context as context_of
from support.overrides import Trusted
from whence.core.attending import attending
from whence.core.errors import BadConfig, BadData
from whence.data.examples import Example
from whence.data.synthetic import recall
from whence.evaluation.context import Context
from whence.evaluation.representation_erasure import layers, words_of
from whence.experiments import representation_erasure as erasure
from whence.figures.style import as_svg
from whence.measures.intervals import ratio_intervals
from whence.models import AdditiveConfig, AdditiveForSequenceClassification
from whence.results.verdict import Effect
from whence.subject.subject import Subject, load
from whence.training.config import Training
from whence.training.init import untrained
from whence.training.vocabulary import word_tokenizer

KINDS = ("words", "dimensions", "units", "heads")


def config(**options) -> erasure.Config:
    return erasure.Config(model="m", data="d", **options)


@pytest.fixture
def by_hand() -> Context:
    """Even attention over tanh of word vectors: *good* is (2, 0), *dull* is (-2, 0), *film* is (0, 1); class b is read
    off the first dimension. Special tokens have zero vectors.
    """
    texts = [Example("good film", label="b"), Example("dull film", label="a"), Example("good good", label="b")] * 4
    tokenizer = word_tokenizer(texts)
    known = AdditiveConfig(
        vocab_size=len(tokenizer),
        embedding_size=2,
        hidden_size=2,
        encoder="average",
        id2label={0: "a", 1: "b"},
        label2id={"a": 0, "b": 1},
    )
    model = AdditiveForSequenceClassification(known)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for word, vector in {"good": (2.0, 0.0), "dull": (-2.0, 0.0), "film": (0.0, 1.0)}.items():
            model.embeddings.weight[tokenizer.convert_tokens_to_ids(word)] = torch.tensor(vector)
        model.encoder.project.weight.copy_(torch.eye(2))
        model.decoder.classify.weight.copy_(torch.tensor([[-1.0, 0.0], [1.0, 0.0]]))
    return Context(Subject(model, tokenizer), texts, range(12), quiet=True, name="test", batch_size=5)


def attended(context: Context) -> int:
    """How many tokens of a text of two words share the attention."""
    batch = context.subject.encode(context.examples[:1])
    weights = []
    with attending(context.subject.model, watch=lambda call: weights.append(call.weights)):
        context.subject.predict(batch)
    return round(1 / float(weights[0].max()))


def sure(value: float) -> float:
    """log σ(2 c), the log-likelihood where the first dimension of the context is c."""
    return -math.log1p(math.exp(-2 * value))


def test_by_hand(by_hand):
    n, half, t = attended(by_hand), math.log(0.5), math.tanh(2)
    one, two = sure(t / n), sure(2 * t / n)
    lost = {"good": (4 * (one - half) + 8 * (two - one)) / 12, "dull": one - half, "film": 0.0}
    words = erasure.run(config(what="words"), by_hand)
    whole = words[words["label"] == ""].set_index("word")
    assert whole["lost"].to_dict() == pytest.approx(lost, abs=1e-6)
    good = (4 * (one - half) / -one + 8 * (two - one) / -two) / 12
    assert whole["importance"]["good"] == pytest.approx(good, abs=1e-6)
    assert whole[["texts", "occurrences"]].loc["good"].tolist() == [8, 12]
    assert set(words.loc[words["label"] == "b", "word"]) == {"good", "film"}
    everything = (8 * (one - half) + 4 * (two - half)) / 12
    for what in ("dimensions", "units"):
        table = erasure.run(config(what=what), by_hand)
        rows = table[table["label"] == ""].set_index("part")
        assert rows["lost"].to_dict() == pytest.approx({0: everything, 1: 0.0}, abs=1e-6)
    heads = erasure.run(config(what="heads"), by_hand)
    assert heads.loc[heads["label"] == "", "lost"].tolist() == pytest.approx([everything], abs=1e-6)
    by_label = heads.set_index("label")["lost"]
    assert by_label["a"] == pytest.approx(one - half, abs=1e-6)
    assert by_label["b"] == pytest.approx((one + two) / 2 - half, abs=1e-6)


def likelihood(subject, batch):
    """The log-likelihood of the right answers of one text."""
    with torch.no_grad():
        logs = subject.task.positioned(subject.model(**batch.inputs).logits)[0].double().log_softmax(-1)
    return float(sum(logs[p, g] for p, g in enumerate(batch.labels[0].tolist()) if batch.predicted_positions[0, p]))


def hooked(module, change, subject, batch):
    hook = module.register_forward_hook(change)
    found = likelihood(subject, batch)
    hook.remove()
    return found


def slow(context, what):
    """{(place, part or word): {example: [what is lost]}}, one text and one forward pass for each part."""
    found: dict[tuple[str, int | str], dict[int, list[float]]] = {}
    for number, example in enumerate(context.examples):
        subject, batch = context.subject, context.subject.encode([example])
        base, table = likelihood(subject, batch), subject.model.get_input_embeddings()

        def put(key, value, number=number, base=base):
            found.setdefault(key, {}).setdefault(number, []).append(base - value)

        def zero(places, units):
            calls = []

            def change(module, args, output):
                calls.append(1)
                if len(calls) > 1:  # GPT-2 looks segments up in the table of its words, too
                    return output
                states = (output if isinstance(output, torch.Tensor) else output[0]).clone()
                states[:, places, units] = 0.0
                return states if isinstance(output, torch.Tensor) else (states, *output[1:])

            return change

        if what == "words":
            words = [word for word in dict.fromkeys(batch.word[0].tolist()) if word >= 0]
            spelled = subject.encoder.spelled(batch, [example])[0]
            for word in words:
                pieces = (batch.word[0] == word).nonzero().flatten().tolist()
                put(("embedding", spelled[pieces[0]].lower()), hooked(table, zero(pieces, slice(None)), subject, batch))
        elif what == "heads":
            for site in subject.sites:
                for head in range(1 if site == "attention" else 2):

                    def without_one_head(call, head=head):
                        weights = call.weights.clone()
                        weights[:, head] = 0.0
                        return weights

                    with attending(subject.model, override={site: Trusted(without_one_head)}, watch=None):
                        put((site, head), likelihood(subject, batch))
        else:
            places = (
                {"embedding": table}
                if what == "dimensions"
                else {name: module for name, (module, _) in layers(subject, batch, ("*",)).items()}
            )
            for place, module in places.items():
                for unit in range(6):
                    put((place, unit), hooked(module, zero(slice(None), unit), subject, batch))
    return found


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize(
    ("kind", "rounding"), [("bert", 1e-6), ("additive", 1e-6), ("tagger", 5e-5), ("speaker", 5e-5)]
)
def test_against_one_pass_for_each_part(kind, what, rounding):
    """Where a text is answered at many positions, the rounding errors of all of them are in the sum."""
    context = context_of(kind, n=4, batch_size=3)
    table = erasure.run(config(what=what), context)
    whole = table[table["label"] == ""]
    key = "word" if what == "words" else "part"
    found = {(row["place"], row[key]): row for row in whole.to_dict("records")}
    expected = slow(context, what)
    assert set(expected) <= set(found)
    assert what not in ("words", "heads") or set(expected) == set(found)
    for one, texts in expected.items():
        each = [value for values in texts.values() for value in values]
        assert found[one]["lost"] == pytest.approx(np.mean(each), abs=rounding, rel=1e-3)
        assert found[one]["occurrences"] == len(each)
    assert max(abs(row["lost"]) for row in found.values()) > 10 * rounding, "nothing was erased"


def test_words_in_pieces_are_erased_whole():
    context = context_of("bert", n=4)
    batch = context.subject.encode(context.examples)
    pieces, words = words_of(context, batch)
    assert [len(row) for row in words] == [len({w for w in row.tolist() if w >= 0}) for row in batch.word]
    assert pieces.sum(0).max() == 1
    assert pieces.sum((0, 2)).tolist() == (~batch.special).sum(1).tolist()
    assert pieces.sum(-1).max() > 1


def test_intervals_are_those_of_a_t_test():
    rng = np.random.default_rng(0)
    values, count = rng.normal(1.0, 2.0, (200, 3)), np.ones((200, 3))
    mean, low, high, _ = ratio_intervals(values, count)
    np.testing.assert_allclose(mean, values.mean(0))
    error = values.std(0, ddof=1) / np.sqrt(200)
    np.testing.assert_allclose(low, mean - 1.96 * error, atol=0.02 * error.max())
    np.testing.assert_allclose(high, mean + 1.96 * error, atol=0.02 * error.max())
    never = ratio_intervals(values, np.concatenate([count[:, :2], np.zeros((200, 1))], 1))
    assert np.isnan([one[2] for one in never]).all()


def test_a_text_of_which_the_model_is_wholly_sure_has_no_relative_change(by_hand):
    with torch.no_grad():
        by_hand.subject.model.decoder.classify.weight.mul_(1e4)
    table = erasure.run(config(what="heads"), by_hand)
    row = table[table["label"] == ""].iloc[0]
    assert math.isnan(row["importance"])
    assert row["lost"] == pytest.approx(math.log(2), abs=1e-6)
    assert erasure.figure(erasure.run(config(what="heads", measure="nats"), by_hand)).axes


@pytest.fixture(scope="module")
def reviews() -> Context:
    examples = saved_models.corpus()["test"][:60]
    return Context(load(saved_models.bert()), examples, range(60), quiet=True, name="test")


def test_words_that_decide_come_first(reviews):
    """In these reviews one opinion word decides."""
    table = erasure.run(config(what="words", measure="nats"), reviews)
    deciding = {w.lower() for e in reviews.examples for w, m in zip(e.words, e.rationale, strict=True) if m}
    top = erasure.summary(table)["part"].head(5)
    assert len(set(top) & deciding) >= 4
    verdict = erasure.verdict(table)
    assert (verdict.question, verdict.answer) == (3, "undecided")
    assert "that is in several texts" in verdict.sentence
    texts = erasure.without_texts(table)
    assert list(texts.dtypes) == list(table.dtypes)
    assert not set(texts["word"]) & deciding
    assert erasure.figures(table)["heatmap"].axes


@pytest.mark.parametrize("what", KINDS)
def test_every_kind_is_drawn_and_judged(reviews, what):
    few = Context(reviews.subject, reviews.examples[:40], range(40), quiet=True)
    table = erasure.run(config(what=what), few)
    assert as_svg(erasure.figure(table))
    assert as_svg(erasure.figures(table)["heatmap"])
    verdict = erasure.verdict(table)
    assert verdict.question == (1 if what == "heads" else 3)
    assert all(math.isfinite(effect.value) for effect in verdict.effects)
    assert len(erasure.summary(table)) == min(20, (table["label"] == "").sum())
    first = erasure.summary(table)["part"].iloc[0]
    assert f"nats lost without {first}" in erasure.quantities(table)


def test_the_part_that_is_reported_was_chosen_on_other_texts(reviews):
    table = erasure.run(config(what="heads"), reviews)
    whole = table[table["label"] == ""]
    one = erasure.chosen(table)
    assert one["chosen_by"] == whole["chosen_by"].max()
    assert erasure.effects(table)[0].value == one["reported"]
    assert erasure.effects(table)[0].n == 30
    both = (whole["chosen_by"] + whole["reported"]) / 2
    np.testing.assert_allclose(both, whole["lost"], atol=1e-9)


@pytest.mark.parametrize(
    ("lost", "said"), [(0.01, "clearly needed: 'other', without which"), (2.0, "depends most on 'other': without")]
)
def test_a_word_stands_in_quotes_in_the_sentence_about_it(lost, said):
    effect = Effect("log_likelihood_lost", "", lost, lost - 0.01, lost + 0.01, "nats", erasure.SMALLEST, 50)
    assert said in erasure.decide(effect, "words", 3, "other")[1]


def test_where_nothing_was_left_to_report_on_there_are_too_few():
    effect = Effect("log_likelihood_lost", "", math.nan, math.nan, math.nan, "nats", erasure.SMALLEST, 0)
    assert erasure.decide(effect, "words", 3, "other") == ("undecided", effect.too_few)


def test_a_model_without_attention_has_words_and_dimensions_and_no_heads():
    corpus = recall.load(sizes={"train": 40, "test": 30})
    subject = untrained(Training(model="reader", encoder="lstm", embedding_size=4, hidden_size=4), corpus)
    context = Context(subject, corpus["test"], range(30), quiet=True, name="test")
    assert len(erasure.run(config(what="dimensions"), context)) == 4
    with pytest.raises(BadConfig, match="reader has no attention, and so no heads; erase words or dimensions"):
        erasure.run(config(what="heads"), context)
    with pytest.raises(BadConfig, match=r"has no layers.*erase words or dimensions"):
        erasure.run(config(what="units"), context)


def test_one_text_is_too_few(reviews):
    one = Context(reviews.subject, reviews.examples[:1], range(1), quiet=True)
    with pytest.raises(BadData, match="expected two texts or more"):
        erasure.run(config(), one)
