"""Does shuffling attention move the prediction?

Jain & Wallace 2019, §4.2.1, Algorithm 2; paper 003, §4.1 and Fig. 2. For every example the attention weights are
shuffled among the words, many times; each time the prediction moves by some total variation. The figure sets the median
of these against the largest weight: if an attention that is sharp can be shuffled and nothing happens, it did not
matter where it pointed.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

import whence
from whence.experiments._config import Run
from whence.experiments._places import Grain, Place, places
from whence.figures.violins import violins
from whence.measures.bootstrap import paired_bootstrap
from whence.measures.divergence import total_variation
from whence.results.columns import Column, Columns
from whence.results.verdict import Effect, Verdict

if TYPE_CHECKING:
    from whence.experiments._bench import Bench
    from whence.models.batch import Batch

CAPTION = "How far predictions move when attention is shuffled, by how sharp the attention was. Left: hardly."
NEEDS_ANSWERS = False
SMALLEST = 0.1  # a tenth of the probability moved to other answers
AT_ONCE = 2**24  # logits held at a time


class Config(Run):
    """Shuffle the attention of every example, and see how far the prediction moves."""

    permutations: int = Field(100, gt=0, description="shuffles of each example (Jain & Wallace: 100)")
    grain: Grain = Field("all", description="shuffle everywhere at once, or one layer, or one head at a time")
    specials: bool = Field(False, description="shuffle the weight of special tokens too ([CLS], [SEP])")


COLUMNS = Columns(
    what="one row per example and place",
    example=Column(int, "number of the example in its split"),
    label=Column(str, "the right answer, where it is one class"),
    place=Column(str, "where attention was shuffled"),
    max_weight=Column(float, "largest weight of a row, mean over the rows of the place"),
    median_tvd=Column(float, "median over the shuffles of the total variation of the prediction (½ Σ |p − q|)"),
)


def run(config: Config, bench: "Bench") -> pd.DataFrame:
    """The table: for every example how sharp its attention is, and how far shuffling it moves the prediction."""
    rows: list[dict[str, Any]] = []
    for batch in bench.batches():
        for place in places(bench.subject, config.grain, batch):
            sharpness, moved = max_weight(bench, batch, place), median_change(config, bench, batch, place)
            for number, label, weight, change in zip(
                bench.numbers(batch), bench.labels(batch), sharpness, moved, strict=True
            ):
                rows.append({"example": number, "label": label, "place": place.name, "max_weight": weight,
                             "median_tvd": change})  # fmt: skip
    return COLUMNS.table(rows).sort_values(["place", "example"], kind="stable", ignore_index=True)


def max_weight(bench: "Bench", batch: "Batch", place: Place) -> np.ndarray:
    """The largest weight of a row, mean over the heads and real queries of a place: [batch]."""
    watcher = whence.Summary()
    with whence.attending(bench.subject.model, watch=dict.fromkeys(place.sites, watcher)):
        bench.subject.predict(batch)
    sums, count = 0.0, 0.0
    for site in place.sites:
        largest = watcher.maximum[site][0].cpu()  # [batch head query]
        largest = largest if place.head is None else largest[:, [place.head]]
        real = np.broadcast_to(real_queries(bench, batch, site, largest.shape[-1])[:, None], largest.shape)
        sums, count = sums + (largest.numpy() * real).sum((1, 2)), count + real.sum((1, 2))
    return sums / np.maximum(count, 1)


def real_queries(bench: "Bench", batch: "Batch", site: str, n_query: int) -> np.ndarray:
    """Which queries of a site stand for something and are not padding: [batch query]."""
    of_target = bench.subject.task.name == "seq2seq" and bench.subject.sites[site].kind in ("causal", "cross")
    real = np.asarray(batch.answers if of_target else batch.mask)
    return real if real.shape[1] == n_query else np.ones((len(batch), n_query), bool)


def median_change(config: Config, bench: "Bench", batch: "Batch", place: Place) -> np.ndarray:
    """The median over the shuffles of the total variation, mean over the positions that are answered: [batch]."""
    base = bench.subject.predict(batch)  # [batch position class]
    chunk = max(1, AT_ONCE // base.numel())
    shuffled = whence.permuted(bench.stream(f"permutation {place.name} {int(batch.examples[0])}"))
    rules = place.rules(shuffled, bench.subject, batch, config.specials)
    changes = []
    for done in range(0, config.permutations, chunk):
        probs = bench.altered(
            batch, rules, times=min(chunk, config.permutations - done)
        )  # [times batch position class]
        answered = batch.answers.to(probs.device)
        change = (total_variation(probs, base) * answered).sum(-1) / answered.sum(-1).clamp_min(1)
        changes.append(change.cpu().numpy())  # [times batch]
    return np.median(np.concatenate(changes), axis=0)


def figure(table: pd.DataFrame) -> Figure:
    """Violins of the change by bins of the largest weight and by label (003 Fig. 2)."""
    return violins(
        table, x="max_weight", y="median_tvd", colour="label",
        x_label="largest attention weight", y_label="how far the prediction moves (median total variation)",
    )  # fmt: skip


def verdict(table: pd.DataFrame, seed: int = 0) -> Verdict:
    """Whether shuffling moves the prediction by a tenth of the probability, on average."""
    by_example = table.groupby("example")["median_tvd"].mean()
    interval = paired_bootstrap(by_example.to_numpy(float)[None], seed=seed)
    effect = Effect("how far the prediction moves when attention is shuffled", interval.mean, interval.low,
                    interval.high, "of the probability (0 to 1)", SMALLEST, len(by_example))  # fmt: skip
    answer, sentence = decided(effect)
    return Verdict(
        1, answer, sentence, (effect,),
        done="The attention weights of every example were shuffled among its words, many times, and the prediction with"
        " shuffled attention was set beside the real one.",
        means="A prediction that moves depends on where the model attends.",
        does_not_mean="A prediction that moves need not be explained by the weights; and one that does not move may"
        " still depend on attention in a way that shuffling does not show (when all weights are alike).",
    )  # fmt: skip


def decided(effect: Effect) -> tuple[Any, str]:
    """Yes if the whole interval is above the smallest effect of interest, no if it is below."""
    moved = f"on average {effect.value:.2f} of the probability goes to other answers"
    if effect.low > effect.smallest:
        return "yes", f"Shuffling the attention moves the prediction: {moved}."
    if effect.high < effect.smallest:
        return "no", f"Shuffling the attention hardly moves the prediction: {moved}."
    return (
        "undecided",
        f"Shuffling the attention moves the prediction by about as much as was set as the limit: {moved}.",
    )
