"""A small DiSAN and a batch for it."""

import torch
from torch import nn, tensor

from whence.models import DisanConfig, DisanForSequenceClassification

TINY = {
    "vocab_size": 30,
    "embedding_size": 5,
    "hidden_size": 4,
    "num_labels": 3,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


FIRST, SECOND = [7, 8, 7, 9], [10, 5, 6]


def made(form=DisanForSequenceClassification, **options):
    torch.manual_seed(0)
    model = form(DisanConfig(**{**TINY, **options})).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


def batch(pairs=True):
    """Three examples of different lengths, framed and padded, with their texts."""
    texts = [(FIRST, SECOND), ([4], [5, 6, 7, 8, 9]), ([11, 12, 3], [4])]
    rows = [[1, *one, 2, *two, 2] if pairs else [1, *one, 2] for one, two in texts]
    types = [[0] * (len(one) + 2) + [1] * (len(two) + 1) for one, two in texts]
    longest = max(map(len, rows))
    padded = {"input_ids": [row + [0] * (longest - len(row)) for row in rows]}
    padded["attention_mask"] = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
    if pairs:
        padded["token_type_ids"] = [row + [0] * (longest - len(row)) for row in types]
    return {name: tensor(value) for name, value in padded.items()}, texts
