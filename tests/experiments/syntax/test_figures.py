"""Figures and effects of `syntax` from its table alone."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from support.experiments.syntax import CONFIG, context_of, row, tagger
from whence.analysis.syntax.heads import ranking
from whence.data.syntax.forest import TRUE
from whence.data.syntax.tree_attention import REFERENCES
from whence.experiments import syntax


def test_figures_and_quantities_from_the_table_alone(corpus):
    table = syntax.run(CONFIG, context_of(tagger(corpus), corpus["test"][:30]))
    table = syntax.COLUMNS.table(table.to_dict("records"))  # as it comes back from disk
    assert syntax.figure(table).axes
    assert set(syntax.figures(table)) == {"heads", "tree", "sentence"}
    mean, *single = (json.loads(shown) for shown in table["shown"].dropna())
    for shown in (mean, *single):
        assert np.shape(shown["weights"]) == (len(shown["words"]),) * 2
        assert_allclose(np.sum(shown["weights"], -1), 1.0, atol=1e-2)
    (drawn,) = (example for example in corpus["test"][:30] if list(example.words) == mean["words"])
    assert_allclose(mean["tree"], REFERENCES["parent"](drawn.heads))
    assert set(syntax.figures(table.assign(shown=None))) == {"heads"}
    found = syntax.quantities(table)
    assert found["parents before, true"].mean == pytest.approx(100 * found_before(corpus["test"][:30]))
    assert found["KL to chain, sees all, epoch -1"].low < found["KL to chain, sees all, epoch -1"].mean
    assert len(syntax.summary(table)) == 4
    ranked = ranking(table)
    nearest = found["KL to true less to the nearest random, surest head"]
    assert (nearest.mean, nearest.low) == (ranked["difference"][0], ranked["low"][0])
    assert found["models with such a head, %"].mean == found["heads that follow syntax, %"].mean == 0
    assert found["parents found by the best head, %"].mean == 100 * ranked["attachment"].max()
    assert found["parents found by the best offset, %"].mean == 100 * ranked["by offset"][0]
    assert (
        found["KL to true less to chain, sees all, at the end"] == found["KL to true less to chain, sees all, epoch -1"]
    )


def test_several_models_are_drawn_as_one():
    low, high = (
        [
            row(-1, tree, -0.5, 0.1, divergence=at, divergence_low=at - 1, divergence_high=at + 2, epoch=epoch)
            for epoch in (0, 1)
            for tree, at in ((TRUE, 1.0), ("chain", 2.0))
        ],
        [],
    )
    high = [{**one, "divergence": 3.0, "divergence_low": 2.5, "divergence_high": 6.0} for one in low]
    others = [row(1, TRUE, np.nan, np.nan)]
    made = syntax.pooled([pd.DataFrame(low + others), pd.DataFrame(high)])
    assert made["head"].tolist() == [-1] * 4
    first = made[(made["epoch"] == 0) & (made["tree"] == TRUE)].iloc[0]
    assert (first["divergence"], first["divergence_low"], first["divergence_high"]) == (2.0, 0.0, 6.0)
    assert (first["difference_low"], first["difference_high"]) == (-0.7, -0.3)
    assert syntax.figure(made).axes


def found_before(examples):
    marks = [head < word for e in examples for word, head in enumerate(e.heads) if head >= 0]
    return sum(marks) / len(marks)


def test_a_table_can_be_shown_without_the_words_of_a_sentence():
    shown = json.dumps({"words": ["very", "secret"], "weights": [[1.0, 0.0], [0.5, 0.5]], "tree": [[0, 1], [1, 0]]})
    table = pd.DataFrame({"head": [-1, 0], "shown": [shown, None]})
    masked = syntax.without_texts(table)
    assert json.loads(masked["shown"][0])["words"] == ["word 1", "word 2"]
    assert json.loads(masked["shown"][0])["weights"] == [[1.0, 0.0], [0.5, 0.5]]
    assert masked["shown"].isna().tolist() == [False, True]
    assert "secret" in table["shown"][0]
