"""Words for times and names of figures in an audit."""

import json

import pytest

from whence.auditing.run import describe_time
from whence.auditing.write_report import slug
from whence.experiments import ablation, permutation


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 second"), (20.0, "20 s"), (90.0, "2 m"), (600.0, "10 m")])
def test_times_in_words(seconds, words):
    assert describe_time(seconds).startswith(words)


def test_figures_are_named_after_the_part():
    assert slug("my model on a/b c.csv") == "my-model-on-a-b-c-csv"
    assert all(json.dumps(module.CAPTION) for module in (ablation, permutation))
    assert ablation.CAPTION != permutation.CAPTION
