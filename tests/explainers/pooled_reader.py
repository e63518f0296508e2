"""A small model with a stack of self-attention and a local attention above it, whose heads can be moved."""

import torch
from torch import Tensor, nn

from tokenizing import wordpiece
from whence.core.site import AttentionSite
from whence.models import TransformerConfig, TransformerForSequenceClassification
from whence.models.subject import Subject


class Pooled(TransformerForSequenceClassification):
    """The Transformer, read by one attention over its tokens; its sites are the layers' and `local`."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.score = nn.Linear(config.hidden_size, 1)
        self.local = AttentionSite("pool", terminal=True)

    def _pooled(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        scores = self.score(hidden).squeeze(-1)[:, None, None]  # [batch 1 1 token]
        return (self.local(scores, tokens[:, None, None], hidden[:, None]) @ hidden[:, None])[:, 0, 0]


def transformer(depth: int = 3, heads: int = 4, seed: int = 0, pooled: bool = True, std: float = 0.7) -> Subject:
    """Weights so large that attention is far from uniform, in double precision."""
    config = TransformerConfig(
        vocab_size=99, hidden_size=4 * heads, num_hidden_layers=depth, num_attention_heads=heads, intermediate_size=8,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = (Pooled if pooled else TransformerForSequenceClassification)(config).double()
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=std)
    return Subject(model, wordpiece(), task="sequence-classification", name="small")


@torch.no_grad()
def with_heads_moved(subject: Subject, orders: dict[str, list[int]], **sizes: int) -> Subject:
    """The same function: the rows of Q, K, V and the columns of the output projection moved, head by head."""
    moved = transformer(**sizes)
    moved.model.load_state_dict(subject.model.state_dict())
    for name, order in orders.items():
        layer = moved.model.get_submodule(name)
        width = layer.queries.weight.shape[0] // layer.heads
        rows = torch.cat([torch.arange(width) + width * head for head in order])
        for linear in (layer.queries, layer.keys, layer.values):
            linear.weight.copy_(linear.weight[rows])
            linear.bias.copy_(linear.bias[rows])
        layer.output.weight.copy_(layer.output.weight[:, rows])
    return moved
