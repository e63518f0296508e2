"""Inputs that some models want besides their text: boxes on a page, regions of a picture, a picture."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig

REGIONS = 5


def companions(config: PreTrainedConfig, takes: Sequence[str], batch: int, length: int) -> Iterator[dict[str, Tensor]]:
    """What a forward with these parameters may want besides its text, for a batch of texts of that length."""
    made: dict[str, Tensor] = {}
    if "bbox" in takes:
        corners = torch.arange(length, device="cpu")[None, :, None] + torch.tensor([0, 0, 1, 1], device="cpu")
        boxes = corners.expand(batch, -1, -1)  # left, top, right, bottom of each token
        yield {"bbox": boxes}
        yield {"bbox": boxes / (length + 1)}  # as shares of the page
        made["bbox"] = boxes
    if "visual_feats" in takes:
        made["visual_feats"] = noise(batch, REGIONS, getattr(config, "visual_feat_dim", 2048))
    if "visual_pos" in takes:
        made["visual_pos"] = noise(batch, REGIONS, getattr(config, "visual_pos_dim", 4)).sigmoid()
    if {"visual_feats", "visual_pos"} & set(made):
        yield made
    for name in ("pixel_values", "image"):
        if name in takes:
            yield made | {name: picture(config, batch)}


def picture(config: PreTrainedConfig, batch: int) -> Tensor:
    """Noise in the size of the pictures that a model takes."""
    vision: Any = getattr(config, "vision_config", config)
    size: Any = getattr(vision, "image_size", None) or getattr(vision, "input_size", 32)
    height, width = (size, size) if isinstance(size, int) else size
    return noise(batch, getattr(vision, "num_channels", 3), height, width)


def noise(*shape: int) -> Tensor:
    """Random numbers, always the same."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), device="cpu")
