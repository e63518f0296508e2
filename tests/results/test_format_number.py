import math

import pytest

from whence.results.format_number import describe_effect, number
from whence.results.verdict import Effect


@pytest.mark.parametrize(
    ("value", "scale", "shown"),
    [
        (-1.2, (2.0, 1.6), "−1.2"),
        (0.03149, (0.05,), "0.031"),
        (12.34, (20.0,), "12"),
        (-0.01, (2.0,), "0.0"),
        (0.0, (), "0.0"),
        (5.0, (math.nan, 0.0), "5.0"),
        (1e-9, (1e-12,), "0.000000"),
        (math.nan, (1.0,), "not measurable"),
    ],
)
def test_digits_that_mean_something(value, scale, shown):
    assert number(value, scale) == shown


def test_an_effect_in_words():
    words = describe_effect(Effect("lost", "lost", -1.2, -2.0, -0.4, "points of accuracy", 2.0, 400, 5))
    assert words == (
        "−1.2 points of accuracy, 95 % interval −2.0 to −0.4; the smallest effect of interest was 2.0; "
        "400 examples, 5 seeds"
    )


def test_an_effect_that_could_not_be_measured():
    nothing = Effect("lost", "lost", math.nan, math.nan, math.nan, "points", 2.0, 1)
    assert describe_effect(nothing) == "could not be measured; 1 example, 1 seed"
