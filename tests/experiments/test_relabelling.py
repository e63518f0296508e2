"""Relabelling: against a slow loop over truly moved heads, and what the verdict says."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from support.models.pooled_reader import stacked, with_heads_moved
from support.tokenizing import reader
from whence.attribution.registry import explainer
from whence.core.errors import BadConfig
from whence.data.examples import Example
from whence.evaluation.context import Context
from whence.experiments import relabelling
from whence.subject.targets import predicted

WORDS = ["the", "a", "movie", "film", "story", "was", "good", "bad", "not"]
EXAMPLES = [Example(" ".join(np.random.default_rng(n).permutation(WORDS)[: 4 + n % 5])) for n in range(24)]
CONFIG = relabelling.Config(model="m", data="d", draws=2)


def context_of(subject, examples=EXAMPLES, **options):
    return Context(subject, examples, range(len(examples)), quiet=True, name="relabelling", batch_size=5, **options)


def test_beside_models_whose_heads_were_truly_moved():
    subject = stacked()
    table = relabelling.run(CONFIG, context_of(subject, EXAMPLES[:6]))
    generator = np.random.default_rng(0)
    heads = relabelling.heads_of(subject, subject.encode(EXAMPLES[:1]))
    assert set(heads.values()) == {4}
    assert len(heads) == 3
    drawn = [relabelling.orders(heads, None, generator) for _ in range(2)]
    for number, example in enumerate(EXAMPLES[:6]):
        batch = subject.encode([example])
        target = predicted(subject, batch)
        taus, moved = [], []
        for order in drawn:
            other = with_heads_moved(subject, order)
            before, after = (explainer("lat")(s, batch, target, normalize="l1").words(0) for s in (subject, other))
            before, after = before / before.sum(), after / after.sum()  # without [CLS] and [SEP]
            taus.append(kendalltau(before, after).statistic)
            moved.append(np.abs(before - after).sum() / 2)
        row = table[(table["example"] == number) & (table["method"] == "lat")].iloc[0]
        assert row["tau"] == pytest.approx(np.mean(taus))
        assert row["moved"] == pytest.approx(np.mean(moved), abs=1e-5)
        assert row["tokens"] == len(before)
        assert row["how"].startswith("from: local attention (local), down 3 layers of 4 heads")


def test_lat_changes_and_the_others_do_not():
    table = relabelling.run(CONFIG, context_of(stacked()))
    assert len(table) == 24 * 3
    mean = table.groupby("method")[["tau", "moved"]].mean()
    assert mean.loc["lat", "tau"] < 0.9
    assert mean.loc["lat", "moved"] > 0.01
    for method in ("lat_mixed", "rollout"):
        assert mean.loc[method, "tau"] > 0.9999
        assert mean.loc[method, "moved"] < 1e-5
    verdict = relabelling.verdict(table)
    assert (verdict.question, verdict.answer) == (2, "no")
    assert verdict.sentence.startswith("The scores of lat depend on how the heads happen to be numbered. Kendall's τ")
    assert verdict.effects[0].variant == "lat"
    assert verdict.effects[0].value == pytest.approx(1 - mean.loc["lat", "tau"])
    assert relabelling.figure(table).axes


def test_any_explainer_can_be_asked():
    config = CONFIG.model_copy(update={"methods": ("raw-attention", "gradient_squared")})
    table = relabelling.run(config, context_of(stacked(pooled=False)))
    assert set(table["method"]) == {"raw_attention", "gradient_squared"}
    assert table["tau"].min() > 0.999
    assert relabelling.verdict(table).answer == "yes"
    assert "do not depend" in relabelling.verdict(table).sentence


def test_a_layer_that_is_shared_over_depth_has_one_order_and_lat_stays():
    """ALBERT's heads can only be moved in all layers alike, which leaves LAT what it was."""
    table = relabelling.run(CONFIG, context_of(reader("albert"), EXAMPLES[:4]))
    assert table["tau"].min() > 0.9999


def test_query_heads_that_share_a_key_head_stay_together():
    subject = reader("llama")  # four heads, two to a key head
    heads = relabelling.heads_of(subject, subject.encode(EXAMPLES[:1]))
    seen = set()
    for seed in range(40):
        for order in relabelling.orders(heads, 2, np.random.default_rng(seed)).values():
            assert sorted(order) == [0, 1, 2, 3]
            assert {order[0] // 2, order[1] // 2} in ({0}, {1})
            seen.add(tuple(order))
    assert len(seen) == 8  # two orders of groups, two within each
    relabelling.run(CONFIG, context_of(subject, EXAMPLES[:2]))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("bloom", r"the heads of bloom differ by fixed slopes \(ALiBi\)"),
        ("additive-lstm-additive", r"has one head at each site \(attention\): nothing to renumber"),
        ("bart", "lat follows one stack of self-attention"),
    ],
)
def test_models_that_cannot_be_asked(name, why):
    examples = [Example(example.text, target="a film") for example in EXAMPLES[:2]]
    with pytest.raises(BadConfig, match=why):
        relabelling.run(CONFIG, context_of(reader(name), examples))


def rows(**taus):
    return relabelling.COLUMNS.table(
        [
            {"example": n, "label": "", "method": method, "how": "", "tokens": 9, "tau": tau, "moved": 0.0}
            for method, values in taus.items()
            for n, tau in enumerate(values)
        ]
    )


@pytest.mark.parametrize(
    ("lat", "answer", "says"),
    [
        ([0.6] * 30, "no", "lat depend on how"),
        ([0.99] * 30, "yes", "hardly depend"),
        ([1.0] * 30, "yes", "do not depend"),
        ([1.0, 0.9] * 15, "undecided", "stays open"),
        ([0.5] * 9, "undecided", "There are 9 examples, too few"),
        ([float("nan")] * 30, "undecided", "There are 0 examples, too few"),
    ],
)
def test_the_verdict(lat, answer, says):
    verdict = relabelling.verdict(rows(lat=lat, rollout=[1.0] * len(lat)))
    assert verdict.answer == answer
    assert says in verdict.sentence
