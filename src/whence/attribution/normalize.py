"""How raw scores become a text's scores: by a softmax, by their sum, or not at all."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from whence.core.errors import BadConfig
from whence.core.site import masked_softmax

NORMALIZE = ("softmax_sum", "softmax_mean", "l1", "none")


def refuse_normalize(normalize: str) -> None:
    """One of the four names."""
    if normalize not in NORMALIZE:
        raise BadConfig(f"no normalize {normalize!r}; choose from: {', '.join(NORMALIZE)}")


def normalized(
    raw: Float[Tensor, "batch token"], tokens: Bool[Tensor, "batch token"], normalize: str, parts: int
) -> Float[Tensor, "batch token"]:
    """Raw scores that are sums over so many parts (heads, dimensions), normalized over the tokens of each text.

    `softmax_sum` is the softmax of the sums, as in Wu et al. 2020 §6.1 and its authors' code; `softmax_mean` that of
    the means. A softmax is not scale-free: the more parts, the more peaked are the scores. `l1` divides by the text's
    sum; `none` leaves them raw.
    """
    if normalize == "none":
        return raw
    if normalize == "l1":
        return raw / raw.sum(1, keepdim=True).clamp_min(torch.finfo(raw.dtype).tiny)
    scores = raw if normalize == "softmax_sum" else raw / parts
    return masked_softmax(scores[:, None, None], tokens[:, None, None])[:, 0, 0]
