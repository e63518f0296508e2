"""DiSAN's attention one query at a time, for passes without hooks: the same numbers without [batch feature query key].

    s_ij = c tanh((q_i + k_j) / c) · α = softmax(s) over the j before i · context_i = Σ α_ij h_j, each feature by itself

Attention with so many heads is bound by memory bandwidth, so the kernel uses little memory:

- Only what is permitted is computed. Texts stand in a grid [token text feature], the longest first, as for an RNN: of
  query i the keys are the rows before i, and the texts that are long enough the first few columns. The attention to
  later tokens reads each text reversed.
- No exponential is computed twice: c tanh(a) = c - 2c σ(-2a), and σ(-2a) = 1 / (1 + e^2q e^2k) with a = q + k. Softmax
  cancels the constant c, and -2c σ lies between -2c and 0, so that no maximum need be subtracted.
- Texts are processed in blocks, which bounds the memory; backward recomputes the weights (as Dao et al. 2022
  do for scaled dot products), and what is kept for it is linear in the number of tokens.
"""

import math
import operator
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

CAP = 5.0  # c: scores lie between -c and c
BLOCK = 2**19  # weights of a query in memory at a time
SCALE = -2 * CAP * math.log2(math.e)  # powers of two are faster than those of e
LARGEST = 200.0  # bound of |q_i| and |k_j|; the product of two such exponentials is 0 or infinite, never undefined

Tokens = Float[Tensor, "batch token width"]
Words = Float[Tensor, "word width"]  # of all texts of a batch, one after another


@dataclass(frozen=True)
class Grid:
    """The place of each word in a grid [token text], flattened, with the longest text first. `texts` are the indices of
    the texts; those without words are left out.
    """

    place: Int[Tensor, " word"]
    texts: Int[Tensor, " text"]
    lengths: tuple[int, ...]

    def filled(self, words: Words, otherwise: float | None = None) -> Float[Tensor, "token text width"]:
        """The words in their places; `otherwise` elsewhere, or uninitialised memory."""
        shape = (max(self.lengths, default=0), len(self.lengths), words.shape[-1])
        grid = words.new_empty(shape) if otherwise is None else words.new_full(shape, otherwise)
        return grid.flatten(0, 1).index_copy_(0, self.place, words).view(shape)

    def read(self, grid: Float[Tensor, "token text width"]) -> Words:
        """The words of a grid, in their own order."""
        return grid.flatten(0, 1).index_select(0, self.place)

    def blocks(self, width: int) -> Iterator[tuple[int, slice]]:
        """Queries that have keys before them, each with the texts of a block that are long enough to have it."""
        first = 0
        while first < len(self.lengths) and self.lengths[first] > 1:
            longest = self.lengths[first]
            block = self.lengths[first : first + max(1, BLOCK // (longest * width))]
            for query in range(1, longest):
                yield query, slice(first, first + bisect_left(block, -query, key=operator.neg))
            first += len(block)


class Layout:
    """Which tokens of a batch are words of which text (0 or 1), and how words are laid out: among the tokens, alone and
    without padding, or in a grid.
    """

    def __init__(self, words: Bool[Tensor, "batch token"], text: Int[Tensor, "batch token"], n_texts: int) -> None:
        self.words, self.text, self.n_texts = words, text, n_texts
        self.places = words.flatten().nonzero()[:, 0]  # [word]

    def seen(self, future: bool) -> Bool[Tensor, "batch 1 query key"]:
        """True where a word may attend: to words of its own text, on one side of it."""
        n = self.words.shape[1]
        side = torch.ones(n, n, dtype=torch.bool, device=self.words.device)
        side = side.triu(1) if future else side.tril(-1)  # [query key]
        same = self.text[:, :, None] == self.text[:, None, :]  # [batch query key]
        return (side & same & self.words[:, :, None] & self.words[:, None, :])[:, None]

    def of_texts(self) -> Bool[Tensor, "batch text key"]:
        """True for the words of each text."""
        return torch.stack([self.words & (self.text == number) for number in range(self.n_texts)], 1)

    def alone(self, tokens: Tokens) -> Words:
        """The words among the tokens."""
        return tokens.flatten(0, 1).index_select(0, self.places)

    def in_places(self, words: Words) -> Tokens:
        """The words as tokens of the batch, zero where there is no word."""
        flat = words.new_zeros(self.words.numel(), words.shape[-1])
        return flat.index_copy(0, self.places, words).unflatten(0, self.words.shape)

    def grid(self, backwards: bool) -> Grid:
        """The words of every text side by side."""
        first, second = self.words & (self.text == 0), self.words & (self.text == 1)
        position = torch.where(second, second.cumsum(1), first.cumsum(1)) - 1  # [batch token]: of a word in its text
        lengths = torch.cat([first.sum(1), second.sum(1)])  # [text]
        rows = torch.arange(len(self.words), device=self.words.device)[:, None]
        number = rows + len(self.words) * self.text  # [batch token]: of the text
        if backwards:
            position = lengths[number] - 1 - position
        ordered, order = lengths.sort(descending=True, stable=True)
        there = tuple(length for length in ordered.tolist() if length)
        place = position * len(there) + order.argsort()[number]  # [batch token]
        return Grid(place[self.words], order[: len(there)], there)


def attended(queries: Words, keys: Words, values: Words, grid: Grid) -> Words:
    """The context of every word, from the words before it in the grid; zero for the first of a text."""
    if not grid.lengths or grid.lengths[0] < 2:
        return torch.zeros_like(values)
    exact = torch.promote_types(values.dtype, torch.float32)
    return Attended.apply(queries.to(exact), keys.to(exact), values.to(exact), grid).to(values.dtype)


def pooled(scores: Words, values: Words, layout: Layout) -> Float[Tensor, "batch textfeature"]:
    """Σ β u of each text, β the softmax of its words' scores for each feature; the texts of a row side by side."""
    grid = layout.grid(backwards=False)
    weights = grid.filled(scores, -torch.inf).softmax(0)  # [token text width]
    context = (weights * grid.filled(values, 0.0)).sum(0)  # [text width]
    sentences = values.new_zeros(layout.n_texts * len(layout.words), values.shape[-1])
    return sentences.index_copy(0, grid.texts, context).unflatten(0, (layout.n_texts, -1)).transpose(0, 1).flatten(1)


class Attended(torch.autograd.Function):
    """Forward: p_ij = exp(-2c σ_ij), context_i = Σ p_ij h_j / Σ p_ij. Backward, with g the gradient of the context:
    of h_j: Σ α_ij g_i; of the score: α_ij g_i (h_j - context_i); of q_i and k_j: that times tanh' = 4 σ (1 - σ).
    """

    @staticmethod
    def forward(ctx: Any, queries: Words, keys: Words, values: Words, grid: Grid) -> Words:
        """Σ α h of each word."""
        odds_q, odds_k = (grid.filled(_odds(part)) for part in (queries, keys))
        h = grid.filled(values)
        context, total = torch.zeros_like(h), torch.ones_like(h)
        room = _room(h, grid)
        for query, texts in grid.blocks(h.shape[-1]):
            p = _exponents(odds_q, odds_k, query, texts, room[0]).exp2_()  # [key text width]
            torch.sum(p, 0, out=total[query, texts])
            torch.sum(p.mul_(h[:query, texts]), 0, out=context[query, texts])
        context /= total
        ctx.save_for_backward(odds_q, odds_k, h, context, total)
        ctx.grid = grid
        return grid.read(context)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Words) -> tuple[Words, Words, Words, None]:
        """The gradients of queries, keys and values."""
        odds_q, odds_k, h, context, total = ctx.saved_tensors
        grid: Grid = ctx.grid
        g = grid.filled(gradient).div_(total)
        of_q, of_k, of_h = torch.zeros_like(h), torch.zeros_like(h), torch.zeros_like(h)
        room = _room(h, grid)
        for query, texts in grid.blocks(h.shape[-1]):
            before = (slice(query), texts)
            sigma = _exponents(odds_q, odds_k, query, texts, room[0])  # [key text width]; σ times SCALE
            pg, other = (part[: sigma.numel()].view_as(sigma) for part in room[1:])
            torch.exp2(sigma, out=pg).mul_(g[query, texts])
            of_h[before].add_(pg)
            of_score = torch.sub(h[before], context[query, texts], out=other).mul_(pg)
            of_score.mul_(sigma.addcmul_(sigma, sigma, value=-1 / SCALE))  # σ - σ², times SCALE
            of_k[before].add_(of_score)
            torch.sum(of_score, 0, out=of_q[query, texts])
        return grid.read(of_q).mul_(4 / SCALE), grid.read(of_k).mul_(4 / SCALE), grid.read(of_h), None


def _odds(scores: Words) -> Words:
    """e^(2 s / c)."""
    return scores.clamp(-LARGEST, LARGEST).mul_(2 / CAP).exp_()


def _exponents(
    odds_q: Tensor, odds_k: Tensor, query: int, texts: slice, room: Tensor
) -> Float[Tensor, "key text width"]:
    """-2c σ(-2a) of a query and the keys before it, as a power of two; σ(-2a) is 1 / (1 + e^2q e^2k)."""
    keys = odds_k[:query, texts]
    sums = torch.addcmul(keys.new_ones(()), keys, odds_q[query, texts], out=room[: keys.numel()].view(keys.shape))
    return torch.div(keys.new_tensor(SCALE), sums, out=sums)


def _room(h: Tensor, grid: Grid) -> list[Tensor]:
    """Memory for the work on one query of a block, reused for all."""
    return [h.new_empty(max(BLOCK, grid.lengths[0] * h.shape[-1])) for _ in range(3)]
