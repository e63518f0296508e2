"""A small recurrent translator and a batch for it."""

import pytest
import torch
from torch import nn, tensor

from whence.models import RecurrentConfig, RecurrentForConditionalGeneration

TINY = {"vocab_size": 30, "embedding_size": 5, "hidden_size": 4}


SOURCE = tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0]])


MASK = (SOURCE != 0).long()


TARGET = tensor([[1, 8, 9, 10], [1, 12, 13, 14]])


both_forms = pytest.mark.parametrize("attention", ["additive", "dot"])


def built(attention, **options):
    torch.manual_seed(0)
    model = RecurrentForConditionalGeneration(RecurrentConfig(**TINY, attention=attention, **options))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.6)
    return model.eval()
