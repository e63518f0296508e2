"""Weights as bytes: one head in eight or sixteen bits, and small pictures of all heads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, UInt8
from numpy import ndarray

from whence.workbench.operations.looking import Stack, UnknownPlace

Dtype = Literal["uint8", "float16"]
LEVELS = 255


@dataclass(frozen=True, eq=False)
class Picture:
    """Numbers as bytes, row by row: `scale` times a number is a weight."""

    bytes: bytes
    shape: tuple[int, ...]
    scale: float


def head_picture(stack: Stack, layer: int, heads: Sequence[int] | None, dtype: Dtype) -> Picture:
    """The weights [query key] of a head, or the mean of several (None: of all). Float16 and uint8 are little-endian.

    In eight bits the largest weight is 255 and zero is zero.
    """
    weights = _mean(_layer(stack, layer), heads)
    if dtype == "float16":
        return Picture(weights.astype("<f2").tobytes(), weights.shape, 1.0)
    largest = float(weights.max(initial=0.0)) or 1.0
    return Picture(_in_levels(weights / largest).tobytes(), weights.shape, largest / LEVELS)


def _layer(stack: Stack, layer: int) -> Float[ndarray, "head query key"]:
    if not 0 <= layer < len(stack.weights):
        raise UnknownPlace(f"no layer {layer}; there are {len(stack.weights)}, counted from 0")
    return stack.weights[layer]


def _mean(weights: Float[ndarray, "head query key"], heads: Sequence[int] | None) -> Float[ndarray, "query key"]:
    if heads is not None and (not heads or not all(0 <= head < len(weights) for head in heads)):
        raise UnknownPlace(f"no head {list(heads)}; there are {len(weights)}, counted from 0")
    chosen = weights if heads is None else weights[list(heads)]
    return chosen[0].astype(np.float32) if len(chosen) == 1 else chosen.mean(0, dtype=np.float32)


def _in_levels(shares: Float[ndarray, "*axes"]) -> UInt8[ndarray, "*axes"]:
    return np.clip(np.rint(shares * LEVELS), 0, LEVELS).astype(np.uint8)


def thumbnails(stack: Stack, size: int) -> Picture:
    """All heads [layer head size size], each cell the largest weight of what it covers, its square root in 255 steps
    of one, so that weak weights are seen. Layers with fewer heads than others have empty pictures at their end.
    """
    most = max(len(layer) for layer in stack.weights)
    made = np.zeros((len(stack.weights), most, size, size), np.uint8)
    for number, layer in enumerate(stack.weights):
        pooled = torch.nn.functional.adaptive_max_pool2d(torch.from_numpy(layer).float(), (size, size))
        made[number, : len(layer)] = _in_levels(pooled.sqrt().numpy())
    return Picture(made.tobytes(), made.shape, 1 / LEVELS)
