"""Growth: exponents that are known come back, and the counted work of everything stays within its limits."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from benchmarks.__main__ import with_section
from benchmarks.growth import REASONS
from benchmarks.growth.cases import PLAIN, WITHOUT_MODEL, cases
from benchmarks.growth.counted import cost, growth, slope
from benchmarks.growth.measured import LIMITS, along, read

from whence.attribution import registry
from whence.results.experiment import EXPERIMENTS

SIZES = (128, 256, 512)


@pytest.mark.parametrize("k", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("constant", [0.0, 0.5, 5.0])
def test_a_known_exponent(k: float, constant: float) -> None:
    values = [constant + (size / 512) ** k for size in SIZES]
    assert growth(values) == pytest.approx(k, abs=0.001)
    assert slope(values) <= k + 1e-9


def test_what_grows_hardly_has_its_slope() -> None:
    assert growth([100, 101, 110], hidden=0.2) == pytest.approx(np.log2(1.1 / 1.01))
    assert growth([100, 101, 90], hidden=0.2) == 0
    assert growth([100, 101, 150], hidden=0.2) > 5


def test_work_is_counted_forward_and_backward() -> None:
    left, right = torch.ones(3, 5, requires_grad=True), torch.ones(5, 7)

    def forward() -> torch.Tensor:
        return left @ right

    product = 3 * 5 * 7
    assert cost(forward).work == product
    assert cost(lambda: forward().backward(torch.ones(3, 7))).work >= 2 * product  # and the gradient of the left factor
    tall = torch.ones(9, 4)
    assert cost(lambda: torch.linalg.svd(tall, full_matrices=False)).work == 9 * 4 * 4
    query = torch.ones(1, 2, 6, 4)
    attention = torch.nn.functional.scaled_dot_product_attention
    assert cost(lambda: attention(query, query, query)).work == 2 * 2 * 6 * 6 * 4
    assert cost(lambda: torch.ones(1, 9).expand(50, 9)).work == 9  # a view touches nothing


def test_memory_is_that_of_what_is_alive() -> None:
    size = 2**20

    def run(keep: bool) -> object:
        held = [torch.zeros(size) for _ in range(4)] if keep else [torch.zeros(size).sum() for _ in range(4)]
        return held, np.zeros(size, dtype=np.float32)

    assert cost(lambda: run(True)).memory == pytest.approx(5 * 4 * size, rel=0.05)
    assert cost(lambda: run(False)).memory == pytest.approx(2 * 4 * size, rel=0.05)


def test_a_section_of_the_page_is_replaced_and_the_others_stay() -> None:
    page = "# Benchmarks\n\n## a\n\nold\n\n## b\n\nkept\n"
    assert with_section(page, "a", "## a\n\nnew\n") == "# Benchmarks\n\n## a\n\nnew\n\n## b\n\nkept\n"
    assert with_section(page, "b", "## b\n\nnew\n") == "# Benchmarks\n\n## a\n\nold\n\n## b\n\nnew\n"
    assert with_section(page, "c", "## c\n\nnew\n") == page + "\n## c\n\nnew\n"


def test_everything_in_the_registries_is_measured() -> None:
    experiments = set(EXPERIMENTS.names()) - WITHOUT_MODEL
    named = {f"explainer {name}" for name in registry.names()} | {f"experiment {name}" for name in experiments}
    assert set(cases()) == named | {PLAIN}


def test_what_is_kept_was_measured_at_sizes_that_double() -> None:
    measured = [one for name in cases() for one in read(name).values()]
    assert measured
    assert all(second == 2 * first for one in measured for first, second in pairwise(one.sizes))


@pytest.mark.every_family  # minutes in all: with `make test-all`
@pytest.mark.parametrize(("name", "axis"), [(name, axis) for name, case in cases().items() for axis in case.sizes])
def test_work_and_memory_grow_no_more_than_they_may(name: str, axis: str) -> None:
    found = along(cases()[name], axis)
    if (name, axis) in REASONS:
        assert max(found.exponents) <= 2.1, REASONS[name, axis]
        pytest.skip(REASONS[name, axis])
    assert max(found.exponents) <= LIMITS[axis]
