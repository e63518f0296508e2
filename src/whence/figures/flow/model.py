"""The flow of attention: from where the prediction is read, down through layers and heads, to the tokens.

Plain numbers, made by an explainer (`lat`) and drawn by `svg`, `pdf` and `html` (Wu et al. 2020, Fig. 3).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from whence.core.errors import BadConfig, BadData

MOST = 3_000_000  # weights in one diagram: 12 layers of 12 heads on 128 tokens have 2.4 million
UNIT = 10_000  # weights are kept in JSON as whole numbers of this part
ENDINGS = (".html", ".svg", ".pdf")
AXES = {"scores": "token", "readout": "token", "nodes": "level head token", "weights": "depth head query key"}


@dataclass(frozen=True, eq=False)
class Flow:
    """Weights, and how much attention arrives where when it is followed from the prediction down to the tokens.

    `readout` [token] is what the prediction is read from (the pooling attention, or a row of the last layer), and
    `nodes` [level head token] what has arrived at a token of a head: level `depth` is the top, level 0 the input, and
    nodes[l, h, i] = Σ_j weights[l, h, j, i] · nodes[l+1, h, j] (Wu et al. 2020, Eq. 10). `scores` [token] are the
    tokens' scores, after the normalisation that `method` states.
    """

    tokens: tuple[str, ...]
    scores: Float[ndarray, " token"]
    nodes: Float[ndarray, "level head token"]
    weights: Float[ndarray, "depth head query key"]
    readout: Float[ndarray, " token"]
    method: str = ""
    prediction: str = ""  # with its probability
    note: str = ""  # what was merged or left out, as sentences

    def __post_init__(self) -> None:
        for name, axes in AXES.items():
            object.__setattr__(self, name, _array(name, getattr(self, name), axes))
        _refuse_sizes(self)

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return self.weights.shape[0]

    @property
    def heads(self) -> int:
        """How many heads a layer has."""
        return self.weights.shape[1]

    @property
    def amounts(self) -> Float[ndarray, "depth head query key"]:
        """How much attention goes along each line: its weight times what has arrived at its upper end."""
        return self.weights * self.nodes[1:, :, :, None]  # [depth head query key]

    @property
    def extremes(self) -> tuple[float, float]:
        """The lowest and the highest score, without tokens that nothing has reached (often special ones)."""
        reached = self.scores[self.scores > 0]
        return (float(reached.min()), float(reached.max())) if len(reached) else (0.0, 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded: weights as whole ten-thousandths, row after row of each layer and head."""
        parts = np.rint(self.weights * UNIT).astype(int).reshape(self.depth, self.heads, -1)
        return {
            "tokens": list(self.tokens),
            "scores": [float(f"{score:.6g}") for score in self.scores],
            "nodes": self.nodes.round(6).tolist(),
            "unit": UNIT,
            "weights": parts.tolist(),
            "readout": self.readout.round(6).tolist(),
            "method": self.method,
            "prediction": self.prediction,
            "note": self.note,
        }

    def save(self, path: str | Path, scale: Any = "strongest") -> None:
        """Write the diagram: an interactive page (.html), or a picture (.svg, .pdf)."""
        from whence.figures.flow import html as flow_html
        from whence.figures.flow import pdf as flow_pdf
        from whence.figures.flow import svg as flow_svg

        refuse_ending(path)
        if Path(path).suffix == ".pdf":
            return flow_pdf.save_pdf(self, Path(path), scale)
        made = flow_html.as_html(self, scale) if Path(path).suffix == ".html" else flow_svg.as_svg(self, scale)
        Path(path).write_text(made, encoding="utf-8", newline="\n")
        return None

    def _repr_html_(self) -> str:
        from whence.figures.flow.html import as_frame

        return as_frame(self)

    def __repr__(self) -> str:
        strongest = sorted(zip(self.scores, self.tokens, strict=True), reverse=True)[:3]
        most = ", ".join(f"{token} {score:.3g}" for score, token in strongest)
        return f"Flow({len(self.tokens)} tokens, {self.depth} layers of {self.heads} heads; most on: {most})"


def refuse_ending(path: str | Path) -> None:
    """A file of a diagram ends in .html, .svg or .pdf."""
    if Path(path).suffix not in ENDINGS:
        raise BadConfig(
            f"a flow diagram is written to a file ending in {', '.join(ENDINGS)}; {Path(path).name!r} does not"
        )


def flow_from(values: Mapping[str, Any]) -> Flow:
    """The flow from the values of `as_dict`."""
    lacking = sorted({"tokens", "unit", *AXES} - set(values))
    if lacking:
        raise BadData(f"this is no flow of attention: it lacks {', '.join(lacking)}")
    weights, size = _array("weights", values["weights"], "depth head pairs"), len(values["tokens"])
    if weights.shape[-1] != size**2:
        raise BadData(f"{size} tokens need {size**2} weights in each layer and head; there are {weights.shape[-1]}")
    square = weights.reshape(*weights.shape[:2], size, size) / values["unit"]  # [depth head query key]
    scores, nodes, readout = (_array(name, values[name], AXES[name]) for name in ("scores", "nodes", "readout"))
    words = (str(values.get(name, "")) for name in ("method", "prediction", "note"))
    return Flow(tuple(str(token) for token in values["tokens"]), scores, nodes, square, readout, *words)


def _array(name: str, values: Any, axes: str) -> Float[ndarray, "..."]:
    """Numbers with these axes, none of them negative."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise BadData(f"the {name} of a flow must be numbers [{axes}], as many in each row") from None
    if array.ndim != len(axes.split()):
        raise BadData(f"the {name} of a flow have the axes [{axes}]; there are {array.ndim}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise BadData(f"the {name} of a flow must be numbers of zero or more; some are negative or no numbers")
    return array


def _refuse_sizes(flow: Flow) -> None:
    """Refuse shapes that do not match, and diagrams that are too large."""
    depth, heads, size = *flow.weights.shape[:2], len(flow.tokens)
    if not depth * heads * size:
        raise BadData("a flow diagram needs a token, a layer and a head at least")
    wanted = {
        "scores": (size,),
        "readout": (size,),
        "nodes": (depth + 1, heads, size),
        "weights": (depth, heads, size, size),
    }
    for name, shape in wanted.items():
        if getattr(flow, name).shape != shape:
            raise BadData(
                f"with {size} tokens and weights of {depth} layers and {heads} heads, the {name} [{AXES[name]}] must be"
                f" {_by(shape)}; they are {_by(getattr(flow, name).shape)}"
            )
    if flow.weights.max() > 1.001:
        raise BadData(f"the weights of a flow are shares, at most 1; the largest is {flow.weights.max():.3g}")
    if flow.weights.size > MOST:
        longest = math.isqrt(MOST // (depth * heads))
        raise BadData(
            f"too large for a flow diagram: {size} tokens through {depth} layers of {heads} heads; up to {longest}"
            f" tokens can be drawn of this model. Take a shorter text, or merge tokens, as `whence explain --flow` does"
        )


def _by(shape: Sequence[int]) -> str:
    return " × ".join(str(size) for size in shape)
