"""How many threads a model is worth: small ones are quicker with one, above all when other work runs beside them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

SMALL = 5_000_000  # parameters, word vectors not counted


@contextmanager
def suited(model: nn.Module) -> Iterator[None]:
    """One thread for a small model, as many as there were for others; afterwards as many as there were."""
    before = torch.get_num_threads()
    vectors = sum(module.weight.numel() for module in model.modules() if isinstance(module, nn.Embedding))
    if sum(parameter.numel() for parameter in model.parameters()) - vectors < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
