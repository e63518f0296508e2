"""A model so small that its attention can be followed by hand."""

import torch
from torch import Tensor, nn

from whence.core.site import AttentionSite


class Attentive(nn.Module):
    """Scores go in and come out as the weighted sum of the values; two sites, the second on the reversed scores."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = AttentionSite(), AttentionSite("cross")

    def forward(self, scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        one = self.first(scores, mask) @ values
        other = self.second(scores.flip(-1), mask) @ values
        return one + 10 * other


def example() -> dict[str, Tensor]:
    """Two examples, two heads, three queries, four keys; the last key of the second example is padding."""
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(2, 1, 1, 4, dtype=torch.bool)
    mask[1, ..., 3] = False
    return {
        "scores": torch.randn(2, 2, 3, 4, generator=generator),
        "values": torch.randn(2, 2, 4, 5, generator=generator),
        "mask": mask,
    }
