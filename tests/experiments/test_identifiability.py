"""Identifiability: free weight, conicity and importance by hand and by slow loops; what each kind of attention gets."""

import numpy as np
import pytest
import torch

from support import saved_models
from support.contexts import TASKS
from support.contexts import context as context_of
from support.models.additive import WORDED, additive
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import imposed
from whence.core.site import Call, Site
from whence.evaluation.context import Context
from whence.evaluation.validity import identifiability as measures
from whence.experiments import identifiability
from whence.subject.subject import load
from whence.subject.targets import predicted

N = 40


def run(context):
    return identifiability.run(identifiability.Config(model="m", data="d"), context)


def table(n=N, **columns):
    """Texts of 9 keys for heads 16 wide, with most weight on words; or otherwise, as given."""
    usual = {"keys": 9, "width": 16.0, "rank": 17.0, "free_keys": 7, "free_mass": 0.8, "conicity": 0.5, "moved": 1.0}
    rows = {"example": range(n), "label": [""] * n, "special_mass": [0.2] * n, "sink_mass": [0.0] * n}
    rows |= {"correct": [columns.get("correct", 1.0)] * n, "chance": [0.5] * n}
    values = {name: columns.get(name, value) for name, value in usual.items()}
    each = {name: value if isinstance(value, list) else [value] * n for name, value in values.items()}
    return identifiability.COLUMNS.table({**rows, **each, "weights": ["last, from: first"] * n})


def test_conicity_by_hand():
    values = torch.tensor([[[[1.0, 0], [0, 1], [0, 0], [9, 9]], [[2, 0], [5, 0], [1, 0], [-1, 0]]]])
    free = torch.tensor([[[True, True, True, False], [True, True, True, True]]])
    first, second = measures.conicity(values, free)[0].tolist()
    assert first == pytest.approx(0.5**0.5)  # both 45 degrees from their mean; the zero vector has no direction
    assert second == pytest.approx(0.5)  # three along the mean, one against it
    alone = measures.conicity(values, torch.tensor([[[True, False, False, False]] * 2]))
    assert alone.isnan().all()


def test_rank_by_hand():
    square = [[0.0, 0], [1, 0], [0, 1], [1, 1]]  # the fourth is the second and third less the first: weights not unique
    values = torch.tensor([[square, [[0.0, 0]] * 4], [square, [[0.0, 0]] * 4]])
    seen = torch.ones(2, 2, 4, dtype=torch.bool)
    seen[1, 0, 3] = False
    share = torch.tensor([[0.9, 0.1], [0.9, 0.1]])
    assert measures.rank(values, seen, share).tolist() == [3, 3], "three weights are determined, of four and of three"
    assert measures.rank(values, seen, share.flip(1)).tolist() == [1, 1], "that they sum to one"


def test_importance_by_hand():
    weights = torch.tensor([[[[0.5, 0.5, 0.0]], [[0.2, 0.8, 0.0]], [[0.1, 0.9, 0.0]]]])
    gradient = torch.tensor([[[[2.0, 4.0, 99.0]], [[5.0, 5.0, 99.0]], [[0.0, -3.0, 99.0]]]])
    seen = torch.tensor([True, True, False]).expand_as(weights)
    # first: mean 3, each key 1 away; second: no key differs; third: mean -2.7, keys 2.7 and 0.3 away
    assert measures.importance(weights, gradient, seen)[0].tolist() == pytest.approx([0.4, 0.0, 0.6])
    assert measures.importance(weights, 0 * gradient, seen)[0].tolist() == pytest.approx([1 / 3] * 3)


def test_sinks_are_words_with_much_weight_and_short_vectors():
    weights = torch.tensor([[[[0.6, 0.3, 0.1], [0.4, 0.2, 0.4]]]])  # mean 0.5, 0.25, 0.25
    seen = torch.ones_like(weights, dtype=torch.bool)
    batch = context_of("bert").first_batch()  # of another length: no query is padding
    values = torch.tensor([[[[0.1], [1.0], [1.0]]]])
    assert measures.token_sinks(weights, seen, values, batch, "self")[0, 0].tolist() == [True, False, False]
    assert not measures.token_sinks(weights, seen, values.flip(2), batch, "self").any()
    assert not measures.token_sinks(weights[:, :, :1], seen[:, :, :1], values, batch, "pool").any()


def test_all_free_weight_goes_to_the_word_with_least_of_it():
    weights = torch.tensor([[[[0.1, 0.5, 0.3, 0.1, 0.0]]]])
    mask = torch.tensor([True, True, True, True, False]).expand_as(weights)
    call = Call(Site("s", 0, "self"), weights, mask, None, None, 0, (0,), 1)
    spared = torch.tensor([[True, False, False, False, False]])
    assert measures.ALL_ON_ONE.sparing(spared)(call)[0, 0, 0].tolist() == pytest.approx([0.1, 0, 0, 0.9, 0])


def test_an_additive_model_by_a_slow_loop():
    subject = additive(attend_specials=True)
    made = run(Context(subject, WORDED, range(3), quiet=True, name="identifiability"))
    for number, example in enumerate(WORDED):
        batch = subject.encode([example])
        seen: list = []
        with attending(subject.model, watch=seen.append):
            before = subject.logits(batch)[0, 0].detach().numpy()
        weights, values = seen[0].weights[0, 0, 0].detach().numpy(), seen[0].values[0, 0].detach().numpy()
        words = ~batch.special[0].numpy()
        mean = values[words].mean(0)
        cosines = [v @ mean / np.linalg.norm(v) / np.linalg.norm(mean) for v in values[words]]
        least = min(np.flatnonzero(words), key=lambda place: weights[place])
        moved = np.where(words, 0, weights)
        moved[least] += weights[words].sum()
        with attending(subject.model, override=imposed(torch.tensor(moved)[None, None, None]), watch=None):
            after = subject.logits(batch)[0, 0].detach().numpy()
        best, other = before.argmax(), before.argmin()
        row = made.iloc[number]
        assert (row["keys"], row["free_keys"], row["width"]) == (len(weights), words.sum(), values.shape[1])
        assert row["rank"] == np.linalg.matrix_rank(np.column_stack([values, np.ones(len(values))]), tol=1e-6)
        assert row["free_mass"] == pytest.approx(weights[words].sum())
        assert row["special_mass"] == pytest.approx(weights[~words].sum())
        assert row["conicity"] == pytest.approx(np.mean(cosines))
        margin = before[best] - before[other]
        assert row["moved"] == pytest.approx(abs(after[best] - after[other] - margin) / margin)


def test_a_head_that_nothing_reads_changes_nothing():
    subject = load(saved_models.bert())
    examples = saved_models.corpus()["test"][:3]
    layer = subject.model.bert.encoder.layer[-1].attention
    with torch.no_grad():
        layer.output.dense.weight[:, 16:] = 0.0  # of the second of two heads, 16 wide
    made = run(Context(subject, examples, range(3), quiet=True))
    for number, example in enumerate(examples):
        batch = subject.encode([example])
        seen: list = []
        with attending(subject.model, watch={list(subject.sites)[-1]: seen.append}), torch.no_grad():
            subject.logits(batch)
        words = ~batch.special[0]
        assert made["free_mass"][number] == pytest.approx(float(seen[0].weights[0, 0, 0][words].sum()), abs=1e-6)
        first = seen[0].values[0, 0][words].numpy()
        mean = first.mean(0)
        cosines = first @ mean / np.linalg.norm(first, axis=1) / np.linalg.norm(mean)
        assert made["conicity"][number] == pytest.approx(cosines.mean(), abs=1e-5)


@pytest.mark.parametrize("kind", TASKS)
def test_every_task_and_batches_give_what_single_texts_give(kind):
    some = context_of(kind, n=5, batch_size=5)
    together = run(some)
    alone = run(Context(some.subject, some.examples, some.numbers, batch_size=1, quiet=True))
    numbers = together.select_dtypes("number").columns
    np.testing.assert_allclose(together[numbers], alone[numbers], atol=1e-4)
    np.testing.assert_allclose(together[["free_mass", "special_mass", "sink_mass"]].sum(axis=1), 1.0, atol=1e-5)


def test_logits_times_ten_change_nothing():
    some = context_of("bert", n=5)
    before = run(some)
    with torch.no_grad():
        some.subject.model.classifier.weight *= 10
        some.subject.model.classifier.bias *= 10
    after = run(some)
    numbers = before.select_dtypes("number").columns
    np.testing.assert_allclose(before[numbers], after[numbers], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("columns", "answer", "said"),
    [
        ({}, "yes", "The question can be asked"),
        ({"free_mass": 0.05}, "no", "less than a tenth of the attention is on words"),
        ({"free_keys": 1}, "no", "hardly anything to ask"),
        ({"free_mass": [0.05, 0.8] * 20}, "undecided", "not clear whether most texts"),
        ({"conicity": 0.97, "moved": 0.01}, "no", "nearly the same vector"),
        ({"conicity": 0.97, "moved": 0.5}, "yes", "The question can be asked"),
        ({"keys": 18}, "yes, in part", "not unique for 100 % (91 to 100)"),
        ({"keys": 17}, "yes", "unique but for 0 % (0 to 9)"),  # 16 + 1: weights sum to one
        ({"keys": 18, "free_mass": 0.05}, "no", "hardly anything to ask"),
        (
            {"width": np.nan, "rank": np.nan, "conicity": np.nan, "moved": np.nan},
            "undecided",
            "does not show the vectors",
        ),
        ({"n": 19}, "undecided", "There are 19 examples"),
        ({"correct": 0.5}, "undecided", "not clearly better than chance"),
    ],
)
def test_what_is_said(columns, answer, said):
    found = identifiability.verdict(table(**columns))
    assert (found.answer, found.question) == (answer, 2)
    assert said in found.sentence


def test_shares_have_wilson_s_interval():
    found = {effect.key: effect for effect in identifiability.verdict(table(keys=[9] * 30 + [30] * 10)).effects}
    share, z, n = 0.25, 1.959964, 40
    centre, half = share + z**2 / (2 * n), z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)
    effect = found["weights_not_unique"]
    assert (effect.value, effect.low, effect.high) == pytest.approx((share, low, high), abs=1e-5)


def test_a_summary_and_a_figure():
    row = identifiability.summary(table(keys=[9] * 30 + [30] * 10)).iloc[0]
    assert (row["texts"], row["weight on words"], row["weights not unique"]) == pytest.approx((40, 0.8, 0.25))
    assert len(identifiability.figure(table()).axes) == 2


def test_keys_that_are_no_tokens_are_refused():
    subject = load(saved_models.translator())
    batch = subject.encode(context_of("translator").examples)
    site = next(name for name, site in subject.sites.items() if site.kind == "causal")
    with pytest.raises(BadConfig, match="are not the tokens of the text"):
        measures.read_row(subject, batch, predicted(subject, batch, "margin"), site, "prediction")
