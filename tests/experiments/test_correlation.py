"""Correlation: beside a slow loop with scipy, text by text."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.stats import kendalltau

from support.contexts import context as context_of
from support.tokenizing import reader
from whence.analysis.correlation import agreement
from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.overrides import imposed
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.experiments import correlation
from whence.measures.ranking import kendall_tau

TEXTS = ["the film was not good .", "a bad bad story . the movie was good !", "was the story good ?", "bad"]


def config(**options) -> correlation.Config:
    return correlation.Config(model="m", data="d", **options)


def context(name: str, texts=TEXTS, pair: str | None = None) -> Context:
    examples = [Example(text, ("LABEL_0", "LABEL_1")[n % 2], pair=pair) for n, text in enumerate(texts)]
    return Context(reader(name), examples, range(len(texts)), quiet=True, name="correlation")


def slow(subject, example):
    """Attention, |gradient × input| with attention held fixed, and |Δ| of leaving one out, of one additive text."""
    batch = subject.encode([example])
    with attending(subject.model, watch="attention") as tape:
        probs = subject.predict(batch)[0, 0]
    answer, weights = int(probs.argmax()), tape.only("attention").weights
    words = [place for place in range(batch.special.shape[1]) if not batch.special[0, place]]
    vectors = subject.model.embeddings(batch.inputs["input_ids"]).detach().requires_grad_()
    with attending(subject.model, override=imposed(weights), watch=None):
        found = subject.model(**batch.inputs, inputs_embeds=vectors).logits.softmax(-1)[0, answer]
    (slope,) = torch.autograd.grad(found, vectors)
    gradient = (slope * vectors).sum(-1)[0, words].abs().detach().double().numpy()
    without = []
    for place in words:
        left = [other for other in range(batch.special.shape[1]) if other != place]
        fewer = {name: tensor[:, left] for name, tensor in batch.inputs.items()}
        with torch.no_grad():
            without.append(abs(float(probs[answer]) - float(subject.model(**fewer).logits.softmax(-1)[0, answer])))
    return weights[0, 0, 0, words].double().numpy(), gradient, np.array(without)


def test_the_table_is_that_of_a_slow_loop_with_scipy():
    some = context_of("additive", 5)
    table = correlation.run(config(), some)
    assert len(table) == 5 * 3
    names = ("raw_attention", "gradient_x_input", "leave_one_out")
    for number, example in enumerate(some.examples):
        scores = dict(zip(names, slow(some.subject, example), strict=True))
        for row in table[table["example"] == number].to_dict("records"):
            first, second = (np.array([float(f"{s:.5e}") for s in scores[row[side]]]) for side in ("first", "second"))
            expected = kendalltau(first, second)
            assert row["tau"] == pytest.approx(expected.statistic, abs=1e-6)
            assert row["inputs"] == len(first)
            assert row["p"] == pytest.approx(expected.pvalue, abs=1e-6)
    assert table["first"].tolist()[:5] == ["raw_attention"] * 5
    assert table["second"].tolist()[0] == "gradient_x_input"


def test_the_statistics_are_scipys_with_ties(monkeypatch):
    """Given scores with many ties, in the places of an explainer's."""
    some = context("additive-lstm-additive")
    drawn = np.random.default_rng(0)
    given = {name: drawn.integers(-3, 4, (4, 16)).astype(np.float32) for name in ("raw_attention", "leave_one_out")}
    monkeypatch.setattr(
        "whence.evaluation.word_scores.token_attributions",
        lambda context, batch, methods, options: {m: given[m][:, : batch.special.shape[1]] for m in methods},
    )
    (batch,) = some.batches()
    for signed in (False, True):
        table = correlation.run(config(method=("leave_one_out",), signed=signed), some)
        for place, number in enumerate(batch.examples.tolist()):
            words = ~batch.special[place].numpy()
            first, second = (scores[place, : len(words)][words] for scores in given.values())
            first, second = (first, second) if signed else (abs(first), abs(second))
            row = table[table["example"] == number].iloc[0]
            if len(first) < 2:
                assert np.isnan(row["tau"])
                continue
            expected = kendalltau(first, second)
            assert row["tau"] == pytest.approx(expected.statistic, nan_ok=True)
            assert row["tau"] == pytest.approx(kendall_tau(first, second), nan_ok=True)
            assert row["p"] == pytest.approx(expected.pvalue, nan_ok=True)


def test_what_differs_by_rounding_is_tied():
    assert correlation.rounded(np.array([0.1, 0.1 + 1e-9, 0.1001, 1e-12])).tolist() == [0.1, 0.1, 0.1001, 1e-12]


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("bert", None),
        ("hierarchical", None),
        ("gpt2", None),
        ("pooled-pre-none-cross_entropy", None),
        ("additive-additive-pairs", "the movie was bad"),
        ("xlm-roberta", None),
    ],
)
def test_any_reader_is_asked(name, pair):
    some = context(name, pair=pair)
    table = correlation.run(config(method=("gradient-x-input", "leave_one_out", "random")), some)
    assert len(table) == 4 * 6
    assert table["tau"].dropna().between(-1, 1).all()
    assert table["tau"].notna().sum() >= 12
    words = len(some.subject.tokenizer.tokenize(TEXTS[0]))
    assert table.loc[table["example"] == 0, "inputs"].unique().tolist() == [words]  # of a pair: those that are attended


def made(n: int = 40):
    draw = np.random.default_rng(0)
    rows = [
        {
            "example": number,
            "label": "a",
            "prediction": "ab"[number % 2],
            "first": first,
            "second": second,
            "inputs": 9,
            "tau": np.nan if number == 3 else float(np.clip(middle + draw.normal(0, 0.2), -1, 1)),
            "p": np.nan if number == 3 else float(draw.uniform() < share),
        }
        for first, second, middle, share in (
            ("raw_attention", "gradient_x_input", 0.3, 0.5),
            ("raw_attention", "leave_one_out", 0.1, 0.9),
            ("gradient_x_input", "leave_one_out", 0.6, 0.2),
        )
        for number in range(n)
    ]
    return correlation.COLUMNS.table(rows)


def test_the_verdict_never_decides_on_faithfulness():
    for table in (made(), made(5), correlation.run(config(), context("additive-lstm-additive"))):
        verdict = correlation.verdict(table)
        assert verdict.answer == "undecided"
        assert "Agreement is not faithfulness" in verdict.does_not_mean
    assert "attention and gradient_x_input 0." in correlation.verdict(made()).sentence
    assert "does not say which of them is right" in correlation.verdict(made()).sentence
    assert "1 of 40 texts have words that cannot be ranked" in correlation.verdict(made()).sentence


def test_the_summary_is_by_class_with_the_spread_of_the_texts():
    table = made()
    rows = correlation.summary(table)
    assert rows["predicted"].tolist() == ["all", "a", "b"] * 3
    tau = table[(table["second"] == "leave_one_out") & (table["first"] == "raw_attention") & table["tau"].notna()]
    of_b = tau[tau["prediction"] == "b"]
    row = rows[(rows["pair"] == "attention and leave_one_out") & (rows["predicted"] == "b")].iloc[0]
    assert (row["texts"], row["mean"], row["SD"]) == (
        19,
        pytest.approx(of_b["tau"].mean()),
        pytest.approx(np.std(of_b["tau"])),
    )
    assert row["significant"] == pytest.approx((of_b["p"] <= 0.05).mean())
    found = correlation.quantities(table)
    assert found["τ of attention and leave_one_out, b"].mean == pytest.approx(row["mean"])
    assert found["significant, attention and leave_one_out, b"].mean == pytest.approx(row["significant"])
    assert len(correlation.figure(table).axes[0].get_yticklabels()) == 6


def test_the_agreement_of_all_explainers_is_a_square_table():
    table = made()
    cells = agreement(table)
    names = ["raw_attention", "gradient_x_input", "leave_one_out"]
    assert cells.index.tolist() == cells.columns.tolist() == names
    for first in names:
        for second in names:
            rows = table[table["first"].isin([first, second]) & table["second"].isin([first, second])]
            wanted = float("nan") if first == second else rows["tau"].mean()
            assert cells.loc[first, second] == pytest.approx(wanted, nan_ok=True)
    drawn = correlation.figures(table)["agreement"].axes[0]
    assert drawn.get_yticklabels()[0].get_text() == "1  raw_attention"


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValidationError, match="name an explainer other than attention itself"):
        config(method=("raw-attention",))
    with pytest.raises(BadConfig, match="no explainer 'gradientxinput'"):
        correlation.run(config(method=("gradientxinput",)), context("additive-lstm-additive"))
    with pytest.raises(BadConfig, match="random has no option 'colour'"):
        correlation.run(config(method=("random",), options=("random.colour=red",)), context("additive-lstm-additive"))
