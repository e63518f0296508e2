"""Small models with a stack of self-attention, whose heads can be moved without changing what they do."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from support.tokenizing import wordpiece
from whence.models import (
    PooledConfig,
    PooledForSequenceClassification,
    TransformerConfig,
    TransformerForSequenceClassification,
)
from whence.subject.subject import Subject

TINY_POOLED: dict[str, Any] = {
    "vocab_size": 30,
    "embedding_size": 5,
    "hidden_size": 6,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "head_size": 4,
    "intermediate_size": 7,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
TEXT = {"vocab_size": 99, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "intermediate_size": 8}


def with_large_weights(make: Callable[[], Any]) -> Any:
    """A model whose weights are so large that nothing is nearly linear."""
    torch.manual_seed(0)
    model = make().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model


def stacked(depth: int = 3, heads: int = 4, seed: int = 0, pooled: bool = True) -> Subject:
    """The model of Wu et al. 2020, or a Transformer, with weights so large that attention is not uniform."""
    sizes = {"num_hidden_layers": depth, "num_attention_heads": heads, **TEXT}
    model: PooledForSequenceClassification | TransformerForSequenceClassification
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if pooled:
            config = PooledConfig(embedding_size=6, hidden_size=8, head_size=4, positions="sinusoidal", **sizes)
            model = PooledForSequenceClassification(config).double()
        else:
            model = TransformerForSequenceClassification(TransformerConfig(hidden_size=4 * heads, **sizes)).double()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.7)
    return Subject(model, wordpiece(), task="sequence-classification", name="small")


@torch.no_grad()
def with_heads_moved(subject: Subject, orders: dict[str, list[int]]) -> Subject:
    """The same function: the rows of Q, K, V and the columns of the output projection moved, head by head."""
    model = type(subject.model)(subject.model.config).to(subject.model.dtype)
    model.load_state_dict(subject.model.state_dict())
    for name, order in orders.items():
        layer = model.get_submodule(name)
        width = layer.queries.weight.shape[0] // len(order)
        rows = torch.cat([torch.arange(width) + width * head for head in order])
        for linear in (layer.queries, layer.keys, layer.values):
            for parameter in linear.parameters():
                parameter.copy_(parameter[rows])
        layer.output.weight.copy_(layer.output.weight[:, rows])
    return Subject(model, subject.tokenizer, task="sequence-classification", name="moved")
