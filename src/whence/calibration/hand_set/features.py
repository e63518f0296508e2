"""Named features in the hidden states of a Transformer, and heads that read and write them.

A hidden state of width 2h holds h features twice, once with the sign turned: [f, −f]. Its mean is zero, so layer norm
divides by a length alone. One feature, the anchor, is constant and so large (S) that this length is S for every token,
up to |f|²/2S². With S/√h as its gain, layer norm is then the identity, before or after a sub-layer, and the model is
what its heads say: x + Σ heads.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

CLASSES = 3
FEATURES = (
    "score",  # of the word itself, a tenth of what is added to its score in the last layer
    *(f"value{number}" for number in range(CLASSES)),  # what the word speaks for
    "mark",  # 1 for words that decide
    "cos",
    "sin",  # of the position
    "segment",  # 1 in the second text
    "carried_mark",
    *(f"carried{number}" for number in range(CLASSES)),  # what the first layer moved here
    *(f"read{number}" for number in range(CLASSES)),  # what the prediction is read from
    "anchor",
)
WIDTH = 2 * len(FEATURES)
ANCHOR = 100.0
LONGEST = 32  # positions
UNIT = 10.0  # nats for each unit of `score`
Reads = Mapping[str, float]  # a linear form of the features; "one" is a constant
ONE = "one"


@dataclass(frozen=True)
class Head:
    """A head: its score is Σ query · key over `terms`, in nats, and it moves what `moves` says from key to query."""

    terms: Sequence[tuple[Reads, Reads]] = ()
    moves: Mapping[str, Reads] = field(default_factory=dict)  # feature written at the query: what is read at the key


def by_score(unit: float = UNIT, **more: float) -> tuple[Reads, Reads]:
    """A term that gives each word its own score."""
    return {ONE: 1.0}, {"score": unit, **more}


def by_distance(back: int, sharpness: float = 1500.0) -> list[tuple[Reads, Reads]]:
    """Terms that make each token attend to the one so many places before it: β cos(θ(i − back) − θj)."""
    turn = 2 * math.pi * back / LONGEST
    return [
        ({"cos": sharpness * math.cos(turn), "sin": sharpness * math.sin(turn)}, {"cos": 1.0}),
        ({"sin": sharpness * math.cos(turn), "cos": -sharpness * math.sin(turn)}, {"sin": 1.0}),
    ]


def moving(source: str, target: str) -> dict[str, Reads]:
    """Moves of what words speak for: from `value` to `carried`, from `carried` to `read`, and so on."""
    return {f"{target}{number}": {f"{source}{number}": 1.0} for number in range(CLASSES)}


def vector(features: Mapping[str, float], anchor: float = ANCHOR) -> Float[Tensor, " width"]:
    """A hidden state with these features."""
    half = torch.zeros(len(FEATURES))
    for name, value in {**features, "anchor": anchor}.items():
        half[FEATURES.index(name)] = value
    return torch.cat([half, -half])


def position(place: int) -> Float[Tensor, " width"]:
    """The encoding of a position: a point on a circle."""
    angle = 2 * math.pi * place / LONGEST
    return vector({"cos": math.cos(angle), "sin": math.sin(angle)}, anchor=0.0)


@torch.no_grad()
def make_identity(norm: nn.LayerNorm) -> None:
    """Layer norm that leaves states with this anchor as they are."""
    norm.weight.fill_(ANCHOR / math.sqrt(len(FEATURES)))
    norm.bias.zero_()


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """The linear maps of a layer's heads, as rows: q = Q x + q₀, k = K x, v = V x, and the output O."""

    query: Float[Tensor, "inner width"]
    query_bias: Float[Tensor, " inner"]
    key: Float[Tensor, "inner width"]
    value: Float[Tensor, "inner width"]
    output: Float[Tensor, "width inner"]


def head_maps(heads: Sequence[Head]) -> HeadMaps:
    """The maps of all heads of a layer, each in its share of the width."""
    size, h = WIDTH // len(heads), len(FEATURES)
    maps = HeadMaps(*(torch.zeros(WIDTH, WIDTH) if n != 1 else torch.zeros(WIDTH) for n in range(5)))
    for number, head in enumerate(heads):
        start = number * size
        if max(len(head.terms), len(head.moves)) > size:
            raise ValueError(f"{len(heads)} heads have room for {size} terms and moves each; a head has more")
        for row, (query, key) in enumerate(head.terms, start):
            _read(maps.query[row], maps.query_bias[row : row + 1], query, math.sqrt(size))
            _read(maps.key[row], None, key)
        for row, (target, source) in enumerate(head.moves.items(), start):
            _read(maps.value[row], None, source)
            maps.output[FEATURES.index(target), row] = 1.0
            maps.output[h + FEATURES.index(target), row] = -1.0
    return maps


def _read(row: Tensor, bias: Tensor | None, reads: Reads, times: float = 1.0) -> None:
    """Set a row of a linear map to a linear form of the features."""
    for name, value in reads.items():
        if name == ONE:
            assert bias is not None, "only queries have a constant"
            bias[0] = value * times
        else:
            row[FEATURES.index(name)] = value * times


def reading(reads: Reads) -> Float[Tensor, " width"]:
    """The row of a linear map that reads a linear form of the features."""
    row = torch.zeros(WIDTH)
    _read(row, None, reads)
    return row


def word_vectors(tokens: Iterable[Mapping[str, float]]) -> Float[Tensor, "word width"]:
    """The vectors of words with these features."""
    return torch.stack([vector(features) for features in tokens])


def position_vectors() -> Float[Tensor, "position width"]:
    """The vectors of all positions."""
    return torch.stack([position(place) for place in range(LONGEST)])


def switch_norms_off(model: nn.Module) -> None:
    """Let every layer norm of the model be the identity."""
    for norm in (module for module in model.modules() if isinstance(module, nn.LayerNorm)):
        make_identity(norm)


def class_names(labels: Sequence[str]) -> dict[str, Any]:
    """The names of classes as the configs of `transformers` have them."""
    return {"id2label": dict(enumerate(labels)), "label2id": {label: n for n, label in enumerate(labels)}}
