"""The corpus that the tests of `syntax` share."""

import pytest

from whence.data.synthetic import clauses


@pytest.fixture(scope="module")
def corpus():
    return clauses.load(sizes={"train": 300, "dev": 30, "test": 120}, task="parents")
