"""The number of threads for a model: small ones are faster with one, above all when other processes run."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

SMALL = 5_000_000  # parameters, without word vectors


@contextmanager
def suited(model: nn.Module) -> Iterator[None]:
    """While open, a small model has one thread; for others, nothing changes."""
    before = torch.get_num_threads()
    vectors = sum(module.weight.numel() for module in model.modules() if isinstance(module, nn.Embedding))
    if sum(parameter.numel() for parameter in model.parameters()) - vectors < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
