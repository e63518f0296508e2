"""The faithfulness of several explainers on a batch: their orders of removal between the worst and the best one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from whence.attribution.registry import explainer
from whence.core.seeds import stream
from whence.evaluation.context import Context
from whence.evaluation.faithfulness.erasers import Erase, Eraser, attended_words
from whence.evaluation.faithfulness.orders import area, bounds, depths, descending, flip, prefixes
from whence.evaluation.faithfulness.outcomes import Outcomes
from whence.evaluation.faithfulness.soft import soft_metrics
from whence.evaluation.faithfulness.units import units_of
from whence.subject.batch import Batch
from whence.subject.targets import predicted

if TYPE_CHECKING:
    from whence.experiments.faithfulness import Config

RANDOM, LEAVE_ONE_OUT = "random", "leave_one_out"
FLAT = 0.05  # of the margin: where areas differ by less, no word decides, and orders are not compared
Row = dict[str, Any]
Scores = Float[ndarray, "batch token"]


@dataclass(frozen=True, eq=False)
class Explained:
    """The token scores of each method for a batch, and how each attribution was made."""

    scores: dict[str, Scores]
    how: Mapping[str, str]


def explained(context: Context, batch: Batch, methods: Mapping[str, Mapping[str, Any]]) -> Explained:
    """The scores of a batch's tokens by each method, for the margin of the model's decision."""
    target = predicted(context.subject, batch, "margin")
    found = {
        name: explainer(name)(context.subject, batch, target, **options)
        for name, options in methods.items()
        if name not in (RANDOM, LEAVE_ONE_OUT)
    }
    how = {name: one.how for name, one in found.items()} | {RANDOM: "orders drawn at random"}
    how[LEAVE_ONE_OUT] = "of the margin; one unit removed at a time"
    return Explained({name: one.scores for name, one in found.items()}, how)


class Faithfulness:
    """What removals say of several methods, for the examples of a context."""

    def __init__(self, context: Context, config: "Config", methods: Mapping[str, Mapping[str, Any]]) -> None:
        self.context, self.config, self.methods = context, config, methods
        self.pool = corpus_tokens(context) if "replace" in config.erase else torch.zeros(0, dtype=torch.long)

    def rows(self, batch: Batch, kinds: Sequence[Erase]) -> Iterator[Row]:
        """A row for each example, kind of removal and method."""
        numbers, given = self.context.numbers_of(batch), explained(self.context, batch, self.methods)
        inputs, removals = attended_words(self.context.subject, batch).numpy(), dict[Erase, Outcomes]()
        if LEAVE_ONE_OUT in self.methods:
            removals["delete"] = self._outcomes(batch, "delete", inputs, numbers)
            given.scores[LEAVE_ONE_OUT] = spread_single_drops(removals["delete"])
        soft = self._soft(batch, given, inputs, numbers)
        for kind in kinds:
            outcomes = removals.get(kind) or self._outcomes(batch, kind, inputs, numbers)
            scored = {name: outcomes.units.sums(given.scores[name]) for name in self.methods if name != RANDOM}
            for row, of_one in self._measured(outcomes, scored, numbers):
                extra = {name: value[row] for name, value in soft[of_one["method"]].items()}
                position = int(outcomes.eraser.target.positions[row])
                about = {"row": row, "position": position, "erase": kind, "how": given.how[of_one["method"]]}
                yield {**about, **of_one, **extra}

    def _outcomes(
        self, batch: Batch, kind: Erase, inputs: Bool[ndarray, "batch token"], numbers: Sequence[int]
    ) -> Outcomes:
        """The removals of one kind, of which single units are tried."""
        eraser = self._eraser(batch, kind, numbers)
        units = units_of(batch, eraser.inputs.numpy() & inputs, self.config.units, self.config.most_units)
        outcomes, counts = Outcomes(eraser, units), units.count.tolist()
        outcomes.ask((row, 1 << unit) for row, count in enumerate(counts) for unit in range(count) if count > 1)
        return outcomes

    def _eraser(self, batch: Batch, kind: Erase, numbers: Sequence[int]) -> Eraser:
        put = None
        if kind == "mask":
            put = torch.full(batch.special.shape, mask_token(self.context.subject.tokenizer) or 0)
        elif kind == "replace":
            put = drawn_tokens(self.pool, batch, numbers, self.context.seed)
        return Eraser(self.context.subject, batch, kind, self.config.sites, put)

    def _soft(
        self, batch: Batch, given: Explained, inputs: Bool[ndarray, "batch token"], numbers: Sequence[int]
    ) -> dict[str, dict[str, Float[ndarray, " batch"]]]:
        """The soft metrics of the methods that score tokens, random scores among them; NaN for the others."""
        nothing = {"soft_comprehensiveness": np.full(len(batch), np.nan)}
        nothing["soft_sufficiency"] = nothing["soft_comprehensiveness"]
        found = dict.fromkeys(self.methods, nothing)
        if not self.config.soft_draws:
            return found
        scores = dict(given.scores)
        if RANDOM in self.methods:
            scores[RANDOM] = np.stack(
                [random_numbers(self.context.seed, number, "soft", inputs.shape[1]) for number in numbers]
            )
        measured = soft_metrics(
            self.context.subject,
            batch,
            predicted(self.context.subject, batch),
            scores,
            inputs,
            numbers,
            self.config.soft_draws,
            self.context.seed,
        )
        return found | {method: dict(zip(nothing, both, strict=True)) for method, both in measured.items()}

    def _measured(
        self, outcomes: Outcomes, scored: Mapping[str, Sequence[Float[ndarray, " _"]]], numbers: Sequence[int]
    ) -> Iterator[tuple[int, Row]]:
        """Every text and method: the areas of its order, normalised by the best and the worst order found."""
        orders = {
            row: self._orders(scored, row, int(count), numbers[row])
            for row, count in enumerate(outcomes.units.count)
            if count > 1
        }
        at = {row: depths(int(outcomes.units.count[row]), self.config.steps) for row in orders}
        outcomes.ask(
            (row, mask)
            for row, of_text in orders.items()
            for order in (one for several in of_text.values() for one in several)
            for mask in (*prefixes(order, at[row]), *prefixes(order[::-1], at[row]))
        )
        found = bounds(outcomes, self.config.steps)
        for row, of_text in orders.items():
            curves = {m: [curve(outcomes, row, order, at[row]) for order in several] for m, several in of_text.items()}
            areas = [
                value for several in curves.values() for one in several for value in (one["area"], one["reversed"])
            ]
            best, worst = max(found[0, row], *areas), min(found[1, row], *areas)
            for method, several in curves.items():
                mean = {name: float(np.mean([one[name] for one in several])) for name in several[0]}
                first = first_removal(
                    outcomes, row, of_text[method][0], of_text.get(RANDOM, [[]])[0], scored.get(method)
                )
                yield row, {"method": method, **mean, **normalised(outcomes, row, mean, best, worst), **first}

    def _orders(
        self, scored: Mapping[str, Sequence[Float[ndarray, " _"]]], row: int, count: int, number: int
    ) -> dict[str, list[list[int]]]:
        """The orders of each method for one text: one, or of equal and of random scores several."""
        drawn = [
            random_numbers(self.context.seed, number, f"ties {draw}", count)
            for draw in range(self.config.random_orders)
        ]
        found = {
            method: [list(order) for order in dict.fromkeys(tuple(descending(scores[row], ties)) for ties in drawn)]
            for method, scores in scored.items()
        }
        if RANDOM in self.methods:
            found[RANDOM] = [
                descending(random_numbers(self.context.seed, number, f"order {draw}", count))
                for draw in range(self.config.random_orders)
            ]
        return found


def curve(outcomes: Outcomes, row: int, order: Sequence[int], at: Sequence[int]) -> dict[str, float]:
    """What an order does to one text: areas of margin and probability, and when the decision changes."""
    count = int(outcomes.units.count[row])
    forth, back = prefixes(order, at), prefixes(order[::-1], at)
    whole = outcomes(row, 0).probability
    fallen = [float(np.mean([whole - outcomes(row, mask).probability for mask in sets])) for sets in (forth, back)]
    return {
        "area": area(outcomes, row, forth),
        "reversed": area(outcomes, row, back),
        "comprehensiveness": fallen[0],
        "sufficiency": fallen[1],
        "flip": flip(outcomes, row, forth, at, count),
    }


def normalised(outcomes: Outcomes, row: int, mean: Mapping[str, float], best: float, worst: float) -> Row:
    """The areas between the worst order (0) and the best (1); NaN where no order differs from another."""
    wide = best - worst
    flat = wide <= FLAT * max(abs(outcomes(row, 0).margin), 1e-12)
    ahead = float("nan") if flat else (mean["area"] - worst) / wide
    kept = float("nan") if flat else (best - mean["reversed"]) / wide
    return {
        "best": best,
        "worst": worst,
        "normalised_comprehensiveness": ahead,
        "normalised_sufficiency": kept,
        "normalised": (ahead + kept) / 2,
        "units": int(outcomes.units.count[row]),
        "span": int(outcomes.units.span[row]),
        "changes": outcomes.any_change(row),
    }


def first_removal(
    outcomes: Outcomes, row: int, order: Sequence[int], drawn: Sequence[int], scores: Sequence[Any] | None
) -> Row:
    """The first unit of an order removed, i*, compared with another one at random, r."""
    units, top = outcomes.units, order[0]
    other = next((unit for unit in drawn if unit != top), order[-1])
    alone, with_other = outcomes(row, 1 << top), outcomes(row, 1 << other)
    return {
        "top": units.first_token(row, top),
        "other": units.first_token(row, other),
        "delta_score": float("nan") if scores is None else float(scores[row][top] - scores[row][other]),
        "js_top": alone.js,
        "js_other": with_other.js,
        "delta_js": alone.js - with_other.js,
        "against": float(outcomes.drop(row, 1 << top) < 0),
    }


def spread_single_drops(outcomes: Outcomes) -> Scores:
    """Leave one out: how far the margin falls without each unit, spread evenly over its tokens; elsewhere zero."""
    index, scores = outcomes.units.index, np.zeros(outcomes.units.index.shape)
    for row, count in enumerate(outcomes.units.count.tolist()):
        for unit in range(count) if count > 1 else ():
            mine = index[row] == unit
            scores[row, mine] = outcomes.drop(row, 1 << unit) / mine.sum()
    return scores


def random_numbers(seed: int, number: int, purpose: str, n: int) -> Float[ndarray, " n"]:
    """Random numbers of one example, whatever batch it is in."""
    return torch.rand(n, generator=stream(seed, f"faithfulness {purpose} {number}"), dtype=torch.float64).numpy()


def corpus_tokens(context: Context) -> Int[Tensor, " drawn"]:
    """The tokens of the corpus that may stand in the place of removed ones, as often as they occur, in one order
    whatever the order of the texts.
    """
    batches = context.encoded
    found = [batch.inputs["input_ids"].cpu()[~batch.special & batch.mask.cpu()] for batch in batches]
    return torch.cat(found).sort().values


def drawn_tokens(
    pool: Int[Tensor, " drawn"], batch: Batch, numbers: Sequence[int], seed: int
) -> Int[Tensor, "batch token"]:
    """For every token another one drawn from the corpus, by each example's random numbers."""
    width = batch.special.shape[1]
    return torch.stack(
        [
            pool[torch.randint(len(pool), (width,), generator=stream(seed, f"replacement {number}"))]
            for number in numbers
        ]
    )


def mask_token(tokenizer: Any) -> int | None:
    """The token that stands for a hidden word: the mask, else the unknown word, else none."""
    return tokenizer.mask_token_id if tokenizer.mask_token_id is not None else tokenizer.unk_token_id
