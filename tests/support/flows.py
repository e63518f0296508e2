"""Flows of attention made of numbers."""

import numpy as np

from whence.figures.flow.model import Flow


def by_hand(**changes):
    """Two tokens, two layers, one head: every number can be followed on paper."""
    weights = np.array([[[[0.9, 0.1], [0.4, 0.6]]], [[[0.5, 0.5], [0.2, 0.8]]]])  # [depth head query key]
    nodes = np.array([[[0.56, 0.44]], [[0.32, 0.68]], [[0.4, 0.6]]])  # [level head token]; see test_flow
    nodes[0, 0] = [0.32 * 0.9 + 0.68 * 0.4, 0.32 * 0.1 + 0.68 * 0.6]
    given = {
        "tokens": ("so", "dull"),
        "scores": nodes[0, 0],
        "nodes": nodes,
        "weights": weights,
        "readout": np.array([0.4, 0.6]),
        "method": "lat",
        "prediction": "negative",
    }
    return Flow(**given | changes)


def made(tokens, depth, heads, seed=0, sharpness=2.0):
    """A flow through random weights, some heads sharper than others."""
    generator = np.random.default_rng(seed)
    size = len(tokens)
    sharp = sharpness * generator.uniform(0.3, 1.6, size=(depth, heads, 1, 1))
    weights = _softmax(sharp * generator.normal(size=(depth, heads, size, size)))
    readout = _softmax(sharpness * generator.normal(size=size))
    nodes = [np.tile(readout, (heads, 1))]
    for layer in reversed(weights):
        nodes.insert(0, np.stack([arrived @ head for arrived, head in zip(nodes[0], layer, strict=True)]))
    raw = nodes[0].sum(0)
    return Flow(tuple(tokens), _softmax(raw), np.stack(nodes), weights, readout, "lat", "positive (probability 0.93)")


def large():
    """60 tokens, 12 layers, 12 heads."""
    return made([f"{'long' * (number % 5)}word{number}" for number in range(60)], 12, 12)


def _softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)
