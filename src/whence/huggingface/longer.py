"""Texts longer than a model's windows: what adoption must also be right on."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from whence.huggingface.probe import Inputs, all_configs

LONGEST = 256  # tokens: a longer probe would take its time; real windows of thousands are proven on small configs
WINDOWS = re.compile(r"window|local_attention|chunk_size|index_topk|topk_blocks|block_size|radius")
TEXT = ("input_ids", "attention_mask", "token_type_ids", "decoder_input_ids")


def unpadded(inputs: Mapping[str, Any]) -> Inputs | None:
    """The same texts with nothing masked, if something is."""
    mask = inputs.get("attention_mask")
    if not isinstance(mask, Tensor) or bool(mask.all()):
        return None
    return {**inputs, "attention_mask": torch.ones_like(mask)}


def beyond_windows(model: PreTrainedModel, inputs: Mapping[str, Any]) -> Inputs | None:
    """Texts longer than every window, chunk and top-k in the model's configs, made by repeating those given.

    None if the model has none that is longer than the texts already, or no room for longer texts.
    """
    reach = max((size for config in all_configs(model) for size in window_sizes(config)), default=0)
    texts = [value for name, value in inputs.items() if name in TEXT and isinstance(value, Tensor) and value.dim() == 2]
    tensors = [value for value in inputs.values() if isinstance(value, Tensor)]
    places = [getattr(config, "max_position_embeddings", None) for config in all_configs(model)]
    room = min((place for place in places if isinstance(place, int)), default=LONGEST)
    length, shortest = reach + 5, min((text.shape[1] for text in texts), default=0)
    if not texts or len(texts) < len(tensors) or not shortest < length <= min(room, LONGEST):
        return None
    longer = {name: _repeated(value, length) for name, value in inputs.items() if name in TEXT}
    return {**inputs, **longer} if "attention_mask" not in longer else {**inputs, **longer, **_whole(longer)}


def window_sizes(config: PreTrainedConfig) -> Iterator[int]:
    """The windows, chunks and numbers of keys by which a config says that attention is limited."""
    for name, value in vars(config).items():
        if WINDOWS.search(name):
            values = value if isinstance(value, list | tuple) else [value]
            yield from (size for size in values if isinstance(size, int) and not isinstance(size, bool))


def _repeated(tensor: Tensor, length: int) -> Tensor:
    return tensor.repeat(1, -(-length // tensor.shape[1]))[:, :length]


def _whole(inputs: Mapping[str, Tensor]) -> Inputs:
    return {"attention_mask": torch.ones_like(inputs["attention_mask"])}
