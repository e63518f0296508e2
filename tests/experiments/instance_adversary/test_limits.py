"""Adversarial attention, text by text: it keeps to its limits."""

import pytest
import torch

from support.experiments.instance_adversary import TEXTS, alone, config, context
from support.tokenizing import reader
from whence.analysis.instance_adversary import effects
from whence.data.examples import Example
from whence.evaluation.exclusivity.attention_search import furthest_attention
from whence.evaluation.exclusivity.editable_attention import EditableAttention, single_site
from whence.experiments import instance_adversary
from whence.subject.subject import Subject

SINGLE = [
    "additive-lstm-additive",
    "additive-average-additive",
    "additive-lstm-dot",
    "hierarchical",
    "pooled-post-sinusoidal-cross_entropy",
    "pooled-query-none-binary",
]


OTHERS = [
    "bert",
    "albert",
    "xlnet",
    "gpt2",
    "modernbert",
    "deberta-v2",
    "transformer-pre-none",
    "bart-classifier",
    "xlm-roberta",
    "gpt-oss",
]


@pytest.mark.parametrize(
    ("name", "rows"), [(name, "read") for name in SINGLE + OTHERS] + [(name, "all") for name in OTHERS]
)
def test_every_adversary_keeps_to_its_limit_when_the_text_is_run_by_itself(name, rows):
    some = context(name)
    (batch,) = some.batches()
    asked = config(restarts=2, rows=rows, max_output_change=(0.01, 0.1))
    there, found = furthest_attention(some, batch, asked, single_site(some.subject, "auto"), 8)
    assert [one.limit for one in found] == [0.01, 0.1]
    for one in found:
        for place, number in enumerate(batch.examples.tolist()):
            apart, moved = alone(some.subject, some.examples[number], there, one.rows, place)
            assert moved <= one.limit + 1e-5
            assert moved == pytest.approx(one.tvd[place], abs=1e-5)
            assert apart == pytest.approx(one.jsd[place], abs=1e-5)
            assert (one.restart[place] >= 0) == (one.jsd[place] > 0)
    assert (found[1].jsd >= found[0].jsd).all()
    assert found[1].jsd.max() > 0.05, "nothing moved: the limits show nothing"


@pytest.mark.parametrize("name", ["bert", "gpt-oss", "xlnet"])
def test_special_tokens_and_sinks_keep_their_weight(name):
    some = context(name, TEXTS[:3])
    (batch,) = some.batches()
    there, (found,) = furthest_attention(
        some, batch, config(max_output_change=(0.5,), restarts=2), single_site(some.subject, "auto"), 5
    )
    width = batch.special.shape[1]
    kept = torch.zeros(found.rows.shape[0], found.rows.shape[-1], dtype=torch.bool)
    kept[:, :width] = batch.special
    kept[:, width:] = True
    held = kept[:, None, None].expand_as(found.rows)
    torch.testing.assert_close(found.rows[held], there.own[held])
    assert found.jsd.max() > 0.01
    assert (found.rows.sum(-1) - 1).abs().max() < 1e-5


def test_a_text_of_one_word_keeps_its_own_attention():
    table = instance_adversary.run(config(steps=5), context("additive-lstm-additive", ["bad", "good movie"]))
    one = table[table["example"] == 0]
    assert one["inputs"].tolist() == [1, 1]
    assert one["jsd"].max() < 1e-6
    assert effects(table)[0].n == 1  # the other text


def test_without_candidates_the_own_attention_is_kept():
    """Limits so narrow that a few steps from far away do not meet them."""
    table = instance_adversary.run(
        config(steps=1, restarts=1, max_output_change=(1e-7,)), context("additive-lstm-additive")
    )
    missed = table[table["inputs"] > 1]
    assert not missed["met"].any()
    assert (missed["restart"] == -1).all()
    assert (missed[["jsd", "tvd", "change"]] == 0).all(axis=None)


def test_the_short_cut_is_taken_where_a_linear_map_reads_the_text():
    for name, there in (
        ("additive-lstm-additive", True),
        ("additive-dot-pairs-bypass", False),
        ("pooled-query-none-binary", False),
        ("hierarchical", True),
        ("bert", False),
    ):
        subject = reader(name)
        pair = "the movie was bad" if "pairs" in name else None
        batch = subject.encode(
            [Example("a good film .", pair=pair), Example("the story was not good . bad !", pair=pair)]
        )
        site = instance_adversary_site(subject)
        assert (EditableAttention(subject, batch, site).at_each_key is not None) == there, name


def instance_adversary_site(subject: Subject) -> str:
    return single_site(subject, "auto")
