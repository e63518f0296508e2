"""How often intervals contain the truth, by simulation; writes docs/statistics.md.

Run `python -m benchmarks.coverage`. Seeds and examples are drawn anew each time, the truth is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from benchmarks.statistics_page import page
from whence.measures.bleu import bleu
from whence.measures.chunk_f1 import chunk_f1
from whence.measures.intervals import (
    Interval,
    average,
    corpus_interval,
    corpus_loss_interval,
    crossed_share_interval,
    jackknife_interval,
    mean_interval,
    paired_share_interval,
    random_effects,
    ratio_intervals,
    relative_loss_interval,
)

DRAWS, SIZES, SEEDS = 1000, (20, 50, 100, 300), (1, 2, 5)
PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
MANY = 400_000  # examples of which a corpus measure is taken for the truth
SEED_PART = 0.02  # of the variance of a latent score, if there are several seeds
Rng = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """One kind of interval on one kind of data: draws [seed example ...], their interval, and the true value."""

    interval: str
    data: str
    draw: Callable[[Rng, int, int], np.ndarray]
    measured: Callable[[np.ndarray], Interval]
    truth: float
    seeds: tuple[int, ...] = SEEDS


def effects(rng: Rng, seeds: int, examples: int, example: np.ndarray, seed: float = 0.2) -> np.ndarray:
    """Values [seed example]: effects of examples, of seeds, and of both. One seed has no effect of its own."""
    of_seed = rng.normal(0, seed if seeds > 1 else 0.0, (seeds, 1))
    return example + of_seed + rng.normal(0, 0.5 if seeds > 1 else 0.0, (seeds, examples))


def latent(rng: Rng, seeds: int, examples: int) -> np.ndarray:
    """Standard normal scores [seed example], alike for the same example, a little alike for the same seed."""
    of_seed = SEED_PART if seeds > 1 else 0.0
    parts = rng.normal(size=(seeds, 1)), rng.normal(size=(1, examples)), rng.normal(size=(seeds, examples))
    return sum(np.sqrt(share) * part for share, part in zip((of_seed, 0.6, 0.4 - of_seed), parts, strict=True))


def shares(share: float) -> Callable[[Rng, int, int], np.ndarray]:
    """Zeros and ones."""
    return lambda rng, seeds, n: (latent(rng, seeds, n) < ndtri(share)).astype(float)


def changes(rise: float, fall: float) -> Callable[[Rng, int, int], np.ndarray]:
    """1 with probability `rise`, −1 with probability `fall`."""

    def draw(rng: Rng, seeds: int, n: int) -> np.ndarray:
        score = latent(rng, seeds, n)
        return (score < ndtri(rise)).astype(float) - (score > ndtri(1 - fall))

    return draw


def fractions(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """What is lost of a tagged sentence of ten words, 10 % on average, often together."""
    lost = rng.binomial(10, rng.beta(0.6, 4.4, (1, n)), (seeds, n)) / 10
    return lost - rng.binomial(10, 0.02, (seeds, n)) / 10


def chunks(rng: Rng, seeds: int, n: int, found: float = 0.8) -> np.ndarray:
    """Right, predicted and true chunks of sentences, some harder than others."""
    true = rng.integers(1, 8, (1, n)).repeat(seeds, axis=0)
    right = rng.binomial(true, np.clip(rng.normal(found, 0.15, (1, n)), 0.02, 0.98))
    return np.stack([right, right + rng.binomial(true, 0.15), true], -1).astype(float)


def chunk_pairs(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Counts of F1 before and after an ablation that loses a tenth of what is right [seed example side count]."""
    base = chunks(rng, seeds, n)
    lost = rng.binomial(base[..., 0].astype(int), np.clip(rng.normal(0.1, 0.08, (1, n)), 0, 1))
    return np.stack([base, base - np.stack([lost, 0 * lost, 0 * lost], -1)], 2)


def translations(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Counts of BLEU of sentences of 8 to 30 words, some harder than others [seed example count]."""
    length = rng.integers(8, 30, (1, n)).repeat(seeds, axis=0)
    quality = rng.beta(6, 4, (1, n))
    totals = [length - order for order in range(4)]
    matching = [rng.binomial(total, quality ** (order + 1)) for order, total in enumerate(totals)]
    return np.stack([*matching, *totals, length, length + rng.integers(0, 3, (1, n))], -1).astype(float)


def weighted(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Sums and counts of words that occur one to five times in a text [seed example 2]."""
    count = rng.integers(1, 6, (seeds, n))
    return np.stack([count * rng.exponential(1.0, (seeds, n)), count], -1)


def of_ratio(drawn: np.ndarray) -> Interval:
    """The interval of one ratio."""
    found = ratio_intervals(drawn[0, :, :1], drawn[0, :, 1:])
    return Interval(float(found.mean[0]), float(found.low[0]), float(found.high[0]))


def three_cases(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Values of three cases [case example], whose true means are 0.5, 1 and 1.5."""
    return rng.exponential(1.0, (3, n)) * np.array([[0.5], [1.0], [1.5]])


def of_cases(drawn: np.ndarray) -> Interval:
    """The interval of the mean of several cases."""
    return average([mean_interval(values[None]) for values in drawn])


def pairs(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Two normal values of each item [item 2] with a correlation of one half, so τ = 2 arcsin(½) / π = ⅓."""
    first, second = rng.normal(size=(2, n))
    return np.stack([first, first / 2 + second * np.sqrt(0.75)], -1)


def of_tau(drawn: np.ndarray) -> Interval:
    """The jackknife's interval of Kendall's τ, as `correlation` has it: each item is left out in turn."""
    n = len(drawn)
    agree = np.prod([np.sign(column[:, None] - column) for column in drawn.T], axis=0)  # [item item]
    whole, without = agree.sum() / (n * (n - 1)), (agree.sum() - 2 * agree.sum(1)) / ((n - 1) * (n - 2))
    return jackknife_interval(np.array([whole]), without[None], symmetric=True)


def ten_studies(rng: Rng, seeds: int, n: int) -> np.ndarray:
    """Values of ten studies [study example], whose true means differ by a standard deviation of 0.3 around 0."""
    return rng.normal(0, 0.3, (10, 1)) + rng.normal(size=(10, n))


def of_studies(drawn: np.ndarray) -> Interval:
    """The interval of the mean of all studies that there could be."""
    return random_effects([mean_interval(values[None]) for values in drawn])


def truth_of(measure: Callable[[np.ndarray], np.ndarray], draw: Callable[[Rng, int, int], np.ndarray]) -> float:
    """The measure of a very large corpus."""
    return float(measure(draw(np.random.default_rng(7), 1, MANY)[0].sum(0)))


def kinds() -> Iterator[Kind]:
    """All kinds of intervals, on several kinds of data."""
    for data, example, truth in (
        ("normal", lambda rng, n: rng.normal(size=(1, n)), 0.0),
        ("skewed (exponential)", lambda rng, n: rng.exponential(1.0, (1, n)), 1.0),
        ("four fifths are zero", lambda rng, n: (rng.random((1, n)) < 0.2) * rng.beta(2, 2, (1, n)), 0.1),
        ("five grades", lambda rng, n: rng.choice(5, (1, n), p=[0.5, 0.2, 0.1, 0.1, 0.1]) / 4, 0.275),
    ):
        scale = 1.0 if truth in (0.0, 1.0) else 0.3  # of the effects of seeds and of both, to that of examples

        def draw(rng: Rng, seeds: int, n: int, example=example, scale=scale) -> np.ndarray:
            return effects(rng, seeds, n, example(rng, n) / scale) * scale

        yield Kind("mean", data, draw, mean_interval, truth)
    for share in (0.05, 0.3, 0.8):
        yield Kind("share", f"{100 * share:.0f} %", shares(share), crossed_share_interval, share)
    for rise, fall in ((0.04, 0.02), (0.1, 0.03), (0.3, 0.05)):
        data = f"{100 * rise:.0f} % lost, {100 * fall:.0f} % won"
        yield Kind("change of a share", data, changes(rise, fall), paired_share_interval, rise - fall)
    yield Kind("change of a share", "fractions", fractions, paired_share_interval, 0.1)
    yield Kind("measure of a corpus", "F1", chunks, lambda c: corpus_interval(chunk_f1, c), truth_of(chunk_f1, chunks))
    at = truth_of(bleu, translations)
    yield Kind("measure of a corpus", "BLEU", translations, lambda c: corpus_interval(bleu, c), at)
    before = truth_of(lambda sums: chunk_f1(sums[0]), chunk_pairs)
    after = truth_of(lambda sums: chunk_f1(sums[1]), chunk_pairs)
    lost = Kind("measure lost", "F1", chunk_pairs, lambda c: corpus_loss_interval(chunk_f1, *sides(c)), before - after)
    yield lost
    part = 100 * (before - after) / before
    yield Kind(
        "share of a measure lost", "F1", chunk_pairs, lambda c: relative_loss_interval(chunk_f1, *sides(c)), part
    )
    yield Kind("ratio of sums", "exponential, one to five a text", weighted, of_ratio, 1.0, seeds=(1,))
    yield Kind("mean of several cases", "three, exponential", three_cases, of_cases, 1.0, seeds=(1,))
    yield Kind("jackknife", "Kendall's τ of normal pairs", pairs, of_tau, 1 / 3, seeds=(1,))
    yield Kind("random effects", "ten studies, means differ by 0.3", ten_studies, of_studies, 0.0, seeds=(1,))


def sides(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts before and after."""
    return pairs[:, :, 0], pairs[:, :, 1]


def coverage(kind: Kind, seeds: int, examples: int, draws: int = DRAWS, seed: int = 0) -> float:
    """The share of draws whose interval contains the truth."""
    rng = np.random.default_rng([seed, seeds, examples])
    found = (kind.measured(kind.draw(rng, seeds, examples)) for _ in range(draws))
    return float(np.mean([one.low <= kind.truth <= one.high for one in found]))


def table() -> list[tuple[Kind, int, list[float]]]:
    """The coverage of every kind, number of seeds and number of examples."""
    return [
        (kind, seeds, [coverage(kind, seeds, examples) for examples in SIZES])
        for kind in kinds()
        for seeds in kind.seeds
    ]


if __name__ == "__main__":
    rows = [(kind.interval, kind.data, seeds, found) for kind, seeds, found in table()]
    PAGE.write_text(page(rows, SIZES, DRAWS), encoding="utf-8")
