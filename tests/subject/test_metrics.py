"""The score of a model of series: concordance by narrative."""

import numpy as np
import pytest
import torch

from support.narratives import BRIEF, LONG, reader
from whence.core.errors import BadData
from whence.core.overrides import uniform
from whence.data.examples import narrative
from whence.subject.metrics import agreement, score, values


def by_hand(true, predicted):
    covariance = np.mean(true * predicted) - np.mean(true) * np.mean(predicted)
    return 2 * covariance / (np.var(true) + np.var(predicted) + (np.mean(true) - np.mean(predicted)) ** 2)


def test_values_are_those_of_the_windows_in_the_order_of_the_examples():
    subject, examples = reader(), [LONG, BRIEF, narrative([["news"]] * 5, [0.1] * 5)]
    for batch_size in (1, 2, 3):
        found = values(subject, examples, batch_size)
        assert [len(series) for series in found] == [3, 2, 5]
        for example, series in zip(examples, found, strict=True):
            alone = subject.predict(subject.encode([example]))[0, :, 0]
            assert series == pytest.approx(alone.numpy(), abs=1e-6)


def test_each_narrative_has_its_own_concordance():
    subject, examples = reader(), [LONG, BRIEF]
    found = agreement(subject, examples)
    series = values(subject, examples)
    assert found == pytest.approx([by_hand(np.array(e.values), s) for e, s in zip(examples, series, strict=True)])
    assert score(subject, examples) == pytest.approx(found.mean())


def test_under_altered_attention():
    subject = reader()
    with torch.no_grad():
        subject.model.local.score[0].weight.mul_(50)
    plain, altered = values(subject, [LONG]), values(subject, [LONG], override={"*": uniform})
    assert not np.allclose(plain[0], altered[0])


def test_values_that_are_not_known_are_said():
    with pytest.raises(BadData, match="needs the true value of every window"):
        agreement(reader(), [narrative([["a"], ["day"]])])
