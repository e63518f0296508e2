"""Heads: Eq. 14 by hand, chance on the same texts, and a slow loop over a real model's tokens."""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy.stats import norm

from support.contexts import context as context_of
from support.narratives import reader
from whence.analysis.heads import TAGS, above_chance, shares, summary
from whence.core.errors import BadConfig
from whence.data.examples import narrative
from whence.data.lexical.lexicons import Lexicon, load_lexicon
from whence.evaluation.context import Context
from whence.evaluation.word_scores import occurrences
from whence.experiments import heads
from whence.explainers.lat import traced
from whence.training.vocabulary import word_tokenizer

# two heads, two texts: of four tokens (the last one padding) and of three
FIRST = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.8, 0.0]])
SECOND = np.array([[0.6, 0.2, 0.2], [0.25, 0.25, 0.5]])
WORDS = word_tokenizer([narrative([["a", "lovely", "day", "then", "grim"]])])
REAL = np.array([True, True, True, False])


@dataclass
class Text:
    """A batch of one text, of one window if it is a narrative's."""

    number: int
    window: torch.Tensor | None = None

    def __len__(self):
        return 1


class Made:
    """A context whose heads are known."""

    def __init__(self, texts):
        self.texts = texts

    def traced_heads(self, row="auto"):
        for number, (words, attention, real) in enumerate(self.texts):
            yield Text(number), [words], attention[None], real[None]

    def numbers_of(self, batch):
        return [batch.number]


def run_on(config, texts):
    """The experiment on texts whose heads are known."""
    with patch("whence.evaluation.word_scores.traced_heads", Made.traced_heads):
        return heads.run(config, Made(texts))


def made(tmp_path, n=1):
    (tmp_path / "mine.csv").write_text("word,value\ngood,9\nbad,1\nfilm,5\n")
    config = heads.Config(model="m", data="d", lexicon=str(tmp_path / "mine.csv"), positive=7, negative=3)
    texts = [(["good", "film", "bad", "bad"], FIRST, REAL), (["", "Film", "good"], SECOND, np.ones(3, bool))] * n
    return run_on(config, texts)


def test_shares_by_hand(tmp_path):
    """v.pos lies in both texts, v.neg in the first alone: its second text is left out, of attention and of chance."""
    table = made(tmp_path)
    rows = summary(table).set_index(["tag", "head"])
    assert rows["share"].to_dict() == pytest.approx(
        {
            ("both", 0): (0.7 + 0.2) / 2,
            ("both", 1): (0.9 + 0.5) / 2,
            ("v.pos", 0): (0.5 + 0.2) / 2,
            ("v.pos", 1): (0.1 + 0.5) / 2,
            ("v.neg", 0): 0.2,
            ("v.neg", 1): 0.8,
        }
    )
    assert rows["chance"].to_dict() == pytest.approx(
        {(tag, head): chance for tag, chance in (("both", 0.5), ("v.pos", 1 / 3), ("v.neg", 1 / 3)) for head in (0, 1)}
    )
    assert rows["texts"].to_dict() == {(tag, h): 1 if tag == "v.neg" else 2 for tag in TAGS for h in (0, 1)}
    assert rows["of tokens"]["both", 1] == 3 / 6
    assert set(table["cuts"]) == {"very positive: mine at least 7, very negative: below 3"}


def test_attention_on_specials_counts_for_neither_side():
    tags, real = ["", "positive", ""], np.array([False, True, True])
    (row, _) = (one for one in shares(np.array([[0.8, 0.1, 0.1]]), real, tags))
    assert (row["on"], row["all"], row["even"]) == pytest.approx((0.1, 0.2, 0.1))
    assert (row["tagged"], row["tokens"]) == (1, 2)


def test_even_heads_are_at_chance_and_p_is_corrected(tmp_path):
    """By hand: Holm multiplies the smallest p by the number of cells, the next by one less, and never lets one fall."""
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(60):
        n = int(rng.integers(4, 12))
        words = ["good", "bad", *["film"] * (n - 2)]
        noisy = rng.dirichlet(np.ones(n))
        texts.append(
            (words, np.stack([np.full(n, 1 / n), noisy, np.array([0.6, *[0.4 / (n - 1)] * (n - 1)])]), np.ones(n, bool))
        )
    (tmp_path / "mine.csv").write_text("word,value\ngood,9\nbad,1\n")
    config = heads.Config(model="m", data="d", lexicon=str(tmp_path / "mine.csv"), positive=7, negative=3)
    table = run_on(config, texts)
    rows = summary(table)
    even = rows[rows["head"] == 0]
    assert even["share"].tolist() == pytest.approx(even["chance"].tolist())
    assert (even["p_holm"] == 1).all()
    sharp = rows[(rows["head"] == 2) & (rows["tag"] == "v.pos")].iloc[0]
    assert sharp["share"] == pytest.approx(0.6)
    assert sharp["p_holm"] < 1e-6
    order, highest = rows.sort_values("p"), 0.0
    for place, (p, corrected) in enumerate(zip(order["p"], order["p_holm"], strict=True)):
        highest = max(highest, min(1.0, p * (len(rows) - place)))
        assert corrected == pytest.approx(highest)
    second = rows[(rows["head"] == 1) & (rows["tag"] == "both")].iloc[0]
    assert second["low"] < second["share"] < second["high"]
    each = table[(table["head"] == 1) & (table["tag"] == "both")]
    spread = (each["on"] - each["even"]).std() / np.sqrt(60)  # every text has attention one: a mean of differences
    assert second["p"] == pytest.approx(2 * norm.sf(abs(second["share"] - second["chance"]) / spread), abs=0.05)


@pytest.mark.parametrize(("lift", "answer"), [(0.2, "yes"), (0.0, "no"), (0.02, "undecided")])
def test_the_verdict(lift, answer):
    rng, rows = np.random.default_rng(1), []
    for example in range(80):
        for head in (1, 2):
            for tag in TAGS:
                on = 0.1 + lift + rng.normal(0, 0.03)
                rows.append(
                    {
                        "example": example,
                        "window": 0,
                        "head": head,
                        "tag": tag,
                        "on": on,
                        "all": 1.0,
                        "even": 0.1,
                        "tagged": 1,
                        "tokens": 10,
                        "cuts": "mine",
                    }
                )
    table = heads.COLUMNS.table(rows)
    found = heads.verdict(table)
    assert (found.question, found.answer) == (6, answer)
    assert "0.100 would by chance" in found.sentence
    assert heads.figure(table).axes
    few = heads.verdict(table[table["example"] < 10])
    assert (few.answer, "10 examples, too few" in few.sentence) == ("undecided", True)


def test_a_real_model_beside_a_slow_loop():
    """Eq. 14 as it is written: text by text, token by token."""
    some = context_of("bert", n=30, batch_size=7)
    table = heads.run(heads.Config(model="m", data="d", lexicon="vader"), some)
    rows = summary(table).set_index(["tag", "head"])
    on, whole = np.zeros(2), np.zeros(2)
    vader = load_lexicon("vader")
    for example in some.examples:
        batch = some.subject.encode([example])
        attention = traced(some.subject, batch).heads[0].numpy()  # [head token]
        words = some.subject.encoder.spelled(batch, [example])[0]
        values = [vader.find(word)[0] if word else 0.0 for word in words]
        there = [value >= 1.5 or value < -1.5 for value in values]
        if any(there):
            for place, word in enumerate(words):
                whole += attention[:, place] * bool(word)
                on += attention[:, place] * there[place]
    for head in (0, 1):
        assert rows.loc[("both", head), "share"] == pytest.approx(on[head] / whole[head], abs=1e-5)


def test_limits_that_are_missing_or_crossed(tmp_path):
    mine = Lexicon("mine", {"good": 9.0}, "value")
    for options in ({}, {"positive": 3.0}, {"positive": 1.0, "negative": 5.0}):
        with pytest.raises(BadConfig, match="from which value on are words of mine very positive"):
            heads.cut_offs(heads.Config(model="m", data="d", **options), mine)
    assert heads.cut_offs(heads.Config(model="m", data="d", positive=5), load_lexicon("vader")) == (-1.5, 5)


def test_texts_without_such_words_say_so(tmp_path):
    (tmp_path / "mine.csv").write_text("word,value\ngood,9\n")
    config = heads.Config(model="m", data="d", lexicon=str(tmp_path / "mine.csv"), positive=7, negative=3)
    with pytest.raises(BadConfig, match="none of the texts holds a word that is very positive: mine at least 7"):
        run_on(config, [(["a", "film"], SECOND[:, :2], np.ones(2, bool))])


def test_a_ledger_is_told_every_cell(tmp_path):
    found = heads.quantities(made(tmp_path))
    assert found["head 1, very negative"].mean == pytest.approx(0.8)
    assert found["chance, very positive"].mean == pytest.approx(1 / 3)
    ranked = [found[f"head of rank {rank}, very negative"].mean for rank in (1, 2)]
    assert ranked == sorted((found[f"head {head}, very negative"].mean for head in (0, 1)), reverse=True)
    assert len(found) == 9 + 3 * 2  # each head by number and by rank, and chance


def test_windows_are_texts_and_narratives_are_drawn_whole():
    """Heads of a series: a row for each window that holds such a word, by hand from the trace of each window."""
    texts = [narrative([["a", "lovely", "day"], ["then"], ["grim", "lovely"]]), narrative([["grim"], ["a", "day"]])]
    some = Context(reader(WORDS), texts, range(2), quiet=True)
    table = heads.run(heads.Config(model="m", data="d", lexicon="vader"), some)
    both = table[table["tag"] == "both"]
    assert both[both["head"] == 0][["example", "window"]].to_numpy().tolist() == [[0, 0], [0, 2], [1, 0]]
    batch = some.subject.encode(texts)
    attention = traced(some.subject, batch).heads  # [window head token], three windows of each narrative
    last = both[(both["head"] == 1) & (both["window"] == 2)].iloc[0]
    assert last["on"] == pytest.approx(float(attention[2, 1, 1:3].sum()), abs=1e-6)
    assert (last["tagged"], last["tokens"]) == (2, 2)
    occurring = {(o.example, o.word): o.n for o in occurrences(some, ("lat",))}
    assert occurring == {
        (0, "a"): 1,
        (0, "lovely"): 2,
        (0, "day"): 1,
        (0, "then"): 1,
        (0, "grim"): 1,
        (1, "grim"): 1,
        (1, "a"): 1,
        (1, "day"): 1,
    }
    assert above_chance(table, "both").shape == (2, 2)  # texts, heads
