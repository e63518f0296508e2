"""Growth: exponents that are known come back, and the counted work of everything stays within its limits."""

import numpy as np
import pytest
import torch
from benchmarks.__main__ import with_section
from benchmarks.growth import REASONS
from benchmarks.growth.cases import PLAIN, Case, cases
from benchmarks.growth.counted import cost, growth
from benchmarks.growth.measured import LIMITS, exponent

from whence.attribution import registry
from whence.results.experiment import EXPERIMENTS

SIZES = (64, 128, 256, 512)
TRIED = {"examples": (8, 16, 32), "length": (48, 96, 192), "layers": (2, 4, 8)}  # of which work is counted here


@pytest.mark.parametrize("k", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("constant", [0.0, 0.5, 5.0])
def test_a_known_exponent(k: float, constant: float) -> None:
    values = [constant + (size / 512) ** k for size in SIZES]
    assert exponent(SIZES, values) == pytest.approx(k, abs=0.051)
    assert growth(values) == pytest.approx(k, abs=0.001)


def test_noise_moves_it_little() -> None:
    noise = 1 + 0.03 * np.random.default_rng(0).standard_normal(4)
    assert exponent(SIZES, (noise * [0.1 + (size / 512) ** 2 for size in SIZES]).tolist()) == pytest.approx(2, abs=0.35)


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
    named = {f"explainer {name}" for name in registry.names()} | {f"experiment {name}" for name in EXPERIMENTS.names()}
    assert set(cases()) == named | {PLAIN}


def work(case: Case, axis: str) -> list[float]:
    """The counted work at three sizes."""
    sizes = TRIED[axis] if case.sizes[axis][0] <= SIZES[0] else case.sizes[axis][:3]
    asked = [{**case.fixed, axis: size} for size in sizes]
    return [cost(case.make(one["examples"], one["length"], one["layers"])).work for one in asked]


@pytest.mark.every_family  # minutes in all: with `make test-all`
@pytest.mark.parametrize(("name", "axis"), [(name, axis) for name, case in cases().items() for axis in case.sizes])
def test_work_grows_no_more_than_it_may(name: str, axis: str) -> None:
    if (name, axis) in REASONS:
        pytest.skip(REASONS[name, axis])
    assert growth(work(cases()[name], axis)) <= LIMITS[axis]
