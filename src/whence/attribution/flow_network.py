"""The layers of a model as a network of tokens, for `flow` and its bound."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from whence.attribution.encoder_decoder import LayersAcross, follow_fused
from whence.attribution.fuse_heads import Layers, fusion
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target

Text = tuple[list[Float[ndarray, "token token"]], Float[ndarray, " token"], Bool[ndarray, " token"]]


@dataclass(frozen=True, eq=False)
class Network:
    """One matrix of capacities per layer, the lowest first, those of the start, and the tokens to reach.

    Of an encoder and a decoder, tokens are the source's and after them the target's; only the source's are reached.
    """

    layers: list[Float[ndarray, "batch token token"]]
    start: Float[ndarray, "batch token"]
    tokens: Bool[ndarray, "batch token"]
    how: str
    length: int  # of the text: all tokens, or the source's

    def texts(self) -> Iterator[Text]:
        """The layers, the start and the tokens of each text."""
        for text in range(len(self.start)):
            yield [layer[text] for layer in self.layers], self.start[text], self.tokens[text]

    def of_text(self, scores: Float[ndarray, "batch token"]) -> Float[ndarray, "batch _"]:
        """The scores of the text's own tokens."""
        return scores[:, : self.length]


def network(
    subject: Subject,
    batch: Batch,
    target: Target,
    method: str,
    residual: bool,
    heads: str,
    row: int | str,
    without_sinks: bool | float,
) -> Network:
    """Run the model once and build its network."""
    across = bool(subject.model.config.is_encoder_decoder)
    layers = (LayersAcross if across else Layers)(residual=residual, heads=fusion(heads))
    followed, how = follow_fused(subject, batch, target, method, layers, row, without_sinks)
    matrices = [matrix.double().cpu().numpy() for matrix in layers.matrices]
    start, tokens = followed.start.double().cpu().numpy(), followed.attended.cpu().numpy()
    length = tokens.shape[1]
    if across:  # paths start at target tokens and end at source tokens
        start, tokens = np.pad(start, ((0, 0), (length, 0))), np.pad(tokens, ((0, 0), (0, start.shape[1])))
    return Network(matrices, start, tokens, how, length)
