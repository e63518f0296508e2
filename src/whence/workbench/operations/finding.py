"""Where in a corpus a head does something: the texts in which it puts most weight from one kind of token to another."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Tensor

from whence.core.attending import attending
from whence.core.errors import BadConfig
from whence.core.tape import Tape
from whence.data.examples import Example
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.workbench.operations.requests import NAME, Asked

BATCH = 16
MARKS = "##Ġ▁ "  # what tokenizers put before or between the pieces of words


class FindRequest(Asked):
    """A head, and from which token to which it is to look."""

    model: str = Field("", max_length=NAME)
    stack: str = Field(max_length=NAME)
    layer: int = Field(ge=0)
    head: int = Field(ge=0)
    pattern: Literal["token", "previous", "next", "special", "first", "itself"] = "token"
    query: str | None = Field(None, max_length=NAME, description="the token that looks; None: any")
    key: str | None = Field(None, max_length=NAME, description="the token that is looked at; None: any")
    most: int = Field(20, gt=0, le=200, description="rows to give")
    limit: int = Field(500, gt=0, le=100_000, description="texts to search, from the first on")


@dataclass(order=True, frozen=True)
class Hit:
    """The strongest weight of a text that fits, and where it is."""

    weight: float
    row: int
    query: int
    key: int
    query_text: str
    key_text: str


def find(subject: Subject, site: str, examples: Sequence[Example], request: FindRequest) -> Iterator[dict[str, Any]]:
    """Progress, and at the end the texts in which the head has the strongest weights that fit, strongest first."""
    chosen = list(examples[: request.limit])
    best: list[Hit] = []
    done = 0
    for batch in subject.batches(chosen, BATCH, labelled=subject.task.needs == "target"):
        weights = _weights(subject, site, batch, request.head)
        for row, hit in enumerate(_strongest(weights, batch, request)):
            if hit is not None:
                best.append(Hit(hit[0], int(batch.examples[row]), *hit[1:]))
        best = heapq.nlargest(request.most, best)
        done += len(batch)
        yield {"stage": "search", "done": done, "total": len(chosen)}
    rows = [{**vars(hit), "text": chosen[hit.row].text, "pair": chosen[hit.row].pair} for hit in best]
    yield {"result": {"rows": rows, "searched": len(chosen)}}


@torch.no_grad()
def _weights(subject: Subject, site: str, batch: Batch, head: int) -> Float[Tensor, "batch query key"]:
    tape = Tape()
    with attending(subject.model, watch={site: tape}):
        subject.model(**batch.inputs)
    call = tape.joined(site)
    if not 0 <= head < call.weights.shape[1]:
        raise BadConfig(f"no head {head} at {site}; there are {call.weights.shape[1]}, counted from 0")
    weights = call.weights[:, head, :, : call.weights.shape[-1] - call.sinks].float().cpu()
    if weights.shape[-1] != batch.special.shape[1]:
        raise BadConfig(f"the keys at {site} are not the tokens of the text; choose another stack")
    return weights


def _strongest(
    weights: Float[Tensor, "batch query key"], batch: Batch, request: FindRequest
) -> list[tuple[float, int, int, str, str] | None]:
    """The strongest weight of each text that fits the pattern; None where nothing does."""
    fitting = weights.masked_fill(~_fits(weights, batch, request), -1.0)
    best = fitting.flatten(1).max(1)
    hits: list[tuple[float, int, int, str, str] | None] = []
    for row, (value, place) in enumerate(zip(best.values.tolist(), best.indices.tolist(), strict=True)):
        query, key = divmod(place, weights.shape[2])
        tokens = batch.tokens[row]
        asks = tokens[query] if weights.shape[1] == len(tokens) else ""
        hits.append((value, query, key, asks, tokens[key]) if value > 0 else None)
    return hits


def _fits(weights: Tensor, batch: Batch, request: FindRequest) -> Bool[Tensor, "batch query key"]:
    """Which cells fit: real tokens in the relation that is asked for, with these texts."""
    n_query, n_key = weights.shape[1:]
    mask, special = batch.mask.cpu(), batch.special.cpu()
    fits = mask[:, None, :].expand(-1, n_query, -1).clone()
    if n_query == n_key:
        fits &= mask[:, :, None]
        places = torch.arange(n_key)
        apart = places[None, :] - places[:, None]  # [query key]
        relation = {"previous": apart == -1, "next": apart == 1, "itself": apart == 0}.get(request.pattern)
        fits &= torch.ones_like(apart, dtype=torch.bool) if relation is None else relation
    elif request.pattern in ("previous", "next", "itself") or request.query:
        raise BadConfig("this attention has no query for each token; expected the pattern token, special or first")
    if request.pattern == "special":
        fits &= (special & mask)[:, None, :]
    elif request.pattern == "token" and not (request.query or request.key):
        fits &= ~special[:, None, :]
    if request.pattern == "first":
        fits &= torch.arange(n_key) == 0
    if request.query:
        fits &= _named(batch, request.query)[:, :, None]
    return fits & _named(batch, request.key)[:, None, :] if request.key else fits


def _named(batch: Batch, text: str) -> Bool[Tensor, "batch token"]:
    """The tokens that are this text, whatever case and marks of pieces."""
    wanted = text.strip().strip(MARKS).lower()
    return torch.tensor([[token.strip(MARKS).lower() == wanted for token in row] for row in batch.tokens])
