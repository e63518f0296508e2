"""Does shuffling attention move the prediction?

Jain & Wallace 2019, §4.2.1, Algorithm 2; Vashishth et al. 2019, §4.1 and Fig. 2. For every example the attention
weights are shuffled among the words, many times; each time the prediction moves by some total variation. The figure
plots the median of these against the largest weight: if sharp attention can be shuffled without effect, it did not
matter where the model attended.

When not to use it: alone, to say that attention does not matter: a sure prediction may stay although the words that
were attended to decide. Compare with `ablation` and `faithfulness`.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

import whence
from whence.core.errors import BadConfig
from whence.evaluation.config import AblationConfig
from whence.evaluation.locations import Granularity, Place, describe_places, places, sites_of_tokens
from whence.figures.intervals import intervals
from whence.figures.violins import violins
from whence.measures.divergence import total_variation
from whence.measures.intervals import level_for, mean_interval
from whence.results.columns import EXAMPLE, LABEL, Column, Columns, rows_from
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.row_order import RowOrder
from whence.results.verdict import Answer, Effect, Verdict

if TYPE_CHECKING:
    from whence.core.site import Call
    from whence.evaluation.context import Context
    from whence.subject.batch import Batch

CAPTION = "How far predictions move when attention is shuffled: by how sharp it was, or by place. Left: little change."
SMALLEST = 0.1  # a tenth of the probability moved to other classes
AT_ONCE = 2**24  # logits held at a time
WEIGHTS = 2**23  # of one layer, of all texts that run together
SHOWN = 12  # places in a figure


class Config(AblationConfig):
    """Shuffle the attention of every example, and measure how far the prediction moves."""

    permutations: int = Field(100, gt=0, description="shuffles of each example (Jain & Wallace: 100)")
    granularity: Granularity = Field(
        "all", description="shuffle attention everywhere at once, layer by layer, or head by head"
    )
    decoding: Literal["free", "forced"] = Field(
        "forced", description="translators: compare while decoding freely (greedily), or with the target so far given"
    )
    steps: Literal["all", "quartile"] = Field(
        "all",
        description="translators: mean over all steps, or at the step where a quarter of the targets has ended"
        " (Vashishth et al. 2019), shorter ones being left out",
    )


COLUMNS = Columns(
    what="one row per example and place",
    example=EXAMPLE,
    label=LABEL,
    place=Column(str, "where attention was shuffled"),
    max_weight=Column(
        float,
        "largest weight of a row that was shuffled (so not of special tokens, if they were spared), mean over the rows",
    ),
    median_tvd=Column(float, "median over the shuffles of the total variation of the prediction (½ Σ |p − q|)"),
)


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table: for every example how sharp its attention is, and how far shuffling it moves the prediction."""
    rows: list[dict[str, Any]] = []
    step = quartile(context) if config.steps == "quartile" else None
    for batch in context.batches():
        compared = compared_positions(batch, step)
        keep = np.any(compared, axis=1).tolist()
        for place in places(context.subject, config.granularity, batch, config.sites):
            columns: dict[str, Any] = {
                "example": context.numbers_of(batch),
                "label": context.labels_of(batch),
                "max_weight": max_weight(context, batch, place, step, config.special_tokens),
                "median_tvd": median_change(config, context, batch, place, compared),
            }
            rows += [row for row, kept in zip(rows_from(columns, place=place.name), keep, strict=True) if kept]
    return COLUMNS.table(rows).sort_values(["place", "example"], kind="stable", ignore_index=True)


def quartile(context: "Context") -> int:
    """The step (counted from 0) at which the shortest quarter of the targets has ended; Vashishth et al. 2019 §4.1, for
    translators.
    """
    if context.subject.task.name != "seq2seq":
        raise BadConfig(f"steps=quartile is for translators; {context.subject.name} is for {context.subject.task.name}")
    lengths = [int(n) for batch in context.all_batches() for n in batch.predicted_positions.sum(1)]
    return max(0, int(np.quantile(lengths, 0.25)) - 1)


def compared_positions(batch: "Batch", step: int | None) -> np.ndarray:
    """The positions that are compared: all with a prediction, or the one step: [batch position]."""
    positions = np.asarray(batch.predicted_positions)
    return positions if step is None else np.logical_and(positions, np.arange(positions.shape[1]) == step)


def max_weight(
    context: "Context", batch: "Batch", place: Place, step: int | None = None, special_tokens: bool = True
) -> np.ndarray:
    """The largest weight of a row, mean over heads and real queries of a place (a decoder's at `step`): [batch].

    Without `special_tokens`, the largest of those on words, since the others are not shuffled.
    """
    watcher = whence.Summary()

    def on_words(call: "Call") -> None:
        special = batch.special.to(call.weights.device)[:, None, None, :]
        watcher(replace(call, weights=call.weights[..., : special.shape[-1]].masked_fill(special, 0.0)))

    on_words.streams_heads = True  # type: ignore[attr-defined]
    spared = set() if special_tokens else sites_of_tokens(context.subject)
    watch = {site: on_words if site in spared else watcher for site in place.sites}
    with whence.attending(context.subject.model, watch=watch):
        context.subject.predict(batch)
    sums, count = 0.0, 0.0
    for site in place.sites:
        largest = np.concatenate(
            [call.float().cpu().numpy() for call in watcher.maximum[site]], -1
        )  # [batch head query]
        largest = largest if place.head is None else largest[:, [place.head]]
        real = np.broadcast_to(real_queries(context, batch, site, largest.shape[-1], step)[:, None], largest.shape)
        sums, count = sums + (largest * real).sum((1, 2)), count + real.sum((1, 2))
    return sums / np.maximum(count, 1)


def real_queries(context: "Context", batch: "Batch", site: str, n_query: int, step: int | None = None) -> np.ndarray:
    """Which queries of a site are real (no padding) and belong to the step: [batch query]."""
    of_target = context.subject.task.name == "seq2seq" and context.subject.sites[site].kind in ("causal", "cross")
    real = compared_positions(batch, step) if of_target else np.asarray(batch.mask)
    return real if real.shape[1] == n_query else np.ones((len(batch), n_query), bool)


def median_change(
    config: Config, context: "Context", batch: "Batch", place: Place, positions: np.ndarray
) -> np.ndarray:
    """The median over the shuffles of the total variation, mean over the positions that are compared: [batch].

    A batch whose weights would take too much memory is run in parts, each shuffled as it would be in the whole batch.
    """
    from torch import arange

    at_once = texts_at_once(context, batch, place)
    firsts = range(0, len(batch), at_once)
    parts = [batch.only(arange(first, min(first + at_once, len(batch)))) for first in firsts]
    return np.concatenate(
        [
            _median_change(config, context, part, place, positions[first : first + at_once], (batch, first))
            for first, part in zip(firsts, parts, strict=True)
        ]
    )


def texts_at_once(context: "Context", batch: "Batch", place: Place) -> int:
    """How many texts' weights fit into memory together, one at least; all, where only what follows a site is rerun."""
    subject = context.subject
    if len(place.sites) == 1 or batch.window is not None or subject.task.name == "seq2seq":
        return len(batch)
    from torch import arange

    seen = whence.Summary()
    with whence.attending(subject.model, watch=dict.fromkeys(place.sites, seen)):
        subject.predict(batch.only(arange(1)))
    rows = max(call.shape[1] * call.shape[2] for calls in seen.maximum.values() for call in calls)  # heads × queries
    return max(1, WEIGHTS // (rows * batch.special.shape[1]))


def _median_change(
    config: Config,
    context: "Context",
    batch: "Batch",
    place: Place,
    positions: np.ndarray,
    within: tuple["Batch", int],
) -> np.ndarray:
    """The same for a part of a batch, `within` it after so many texts."""
    from whence.evaluation.overridden_predictions import overridden_decoding, overridden_predictions
    from whence.subject.generation import step_probabilities

    free = context.subject.task.name == "seq2seq" and config.decoding == "free"
    last = int(np.flatnonzero(positions.any(0)).max(initial=0))  # no step after it is compared
    read = partial(step_probabilities, context.subject, steps=last + 1) if free else context.subject.predict
    base = read(batch)  # [batch position class]
    chunk = max(1, AT_ONCE // base.numel())
    whole, first = within
    generator = context.generator(f"permutation {place.name} {int(whole.examples[0])}")
    shuffled = whence.permuted(generator, before=first) if first else whence.permuted(generator)
    rules = place.rules(shuffled, context.subject, batch, config.special_tokens)
    changes = []
    for done in range(0, config.permutations, chunk):
        times = min(chunk, config.permutations - done)
        probs = (
            overridden_decoding(context.subject, batch, rules, times, read)
            if free
            else overridden_predictions(context.subject, batch, rules, times)
        )
        moved = total_variation(probs, base).cpu().numpy()  # [times batch position]
        compared = positions[:, : moved.shape[-1]]
        changes.append((moved * compared).sum(-1) / np.maximum(compared.sum(-1), 1))  # [times batch]
    return np.median(np.concatenate(changes), axis=0)


def effects(table: pd.DataFrame) -> list[Effect]:
    """How far the prediction moves, for every place, the largest first, with an interval over the examples.

    Where attention is shuffled at several places, the intervals hold together for all of them (Bonferroni), so that
    the largest may be picked out.
    """
    n_places = table["place"].nunique()
    found = []
    for place, rows in table.groupby("place", sort=False):
        moved = rows["median_tvd"].to_numpy(float)[None]
        interval = mean_interval(moved, level_for(n_places), within=(0.0, 1.0))
        where = "" if n_places == 1 else str(place)
        label = f"how far the prediction moves when attention is shuffled{where and f' at {where}'}"
        unit = "of the probability (0 to 1)"
        found.append(Effect.of("prediction_moved", label, interval, unit, SMALLEST, len(rows), place=where))
    return sorted(found, key=lambda effect: -effect.value)


def figure(table: pd.DataFrame) -> Figure:
    """Violins of the change by bins of the largest weight and by label (Vashishth et al. 2019 Fig. 2).

    Where attention is shuffled at several places: the places that move the prediction furthest, with intervals.
    """
    moved = "how far the prediction moves (median total variation)"
    if table["place"].nunique() > 1:
        shown = [replace(effect, label=effect.place) for effect in effects(table)[:SHOWN]]
        return intervals(shown, x_label=moved)
    return violins(
        table, x="max_weight", y="median_tvd", colour="label", x_label="largest attention weight", y_label=moved
    )


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether shuffling moves the prediction by a tenth of the probability, on average: at the place of most effect."""
    found = effects(table)
    answer, sentence = decide(found[0])
    together = " The intervals hold for all places together." if len(found) > 1 else ""
    return Verdict(
        question=1,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="The attention weights of every example were shuffled among its words"
        f"{describe_places(table['place'])}, many times, and the prediction with shuffled attention was compared with"
        f" the original one.{together}",
        means="A prediction that moves depends on where the model attends.",
        does_not_mean="A prediction that moves need not be explained by the weights; and one that does not move may"
        " still depend on attention in a way that shuffling does not show (where all weights are equal).",
    )


def decide(effect: Effect) -> tuple[Answer, str]:
    """Yes if the whole interval is above the smallest effect of interest, no if it is below."""
    if effect.too_few:
        return "undecided", effect.too_few
    where = effect.place and f" at {effect.place}"
    share = f"{effect.value:.2f} of the probability ({effect.low:.2f} to {effect.high:.2f})"
    moved = f"on average {share} moves to other classes"
    limit = f"the limit of {effect.smallest:g} lies within the interval"
    return effect.judge(
        yes=f"Shuffling the attention{where} moves the prediction: {moved}.",
        no=f"Shuffling the attention{where} hardly moves the prediction: {moved}.",
        undecided=f"When the attention{where} is shuffled, {moved}; {limit}.",
    )


EXPERIMENT = Experiment(
    __doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, shards=RowOrder(("place", "example"))
)
