"""How many items and annotators a study needs: its verdict simulated many times with synthetic annotators."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from whence.analysis.human_evaluation import COLUMNS
from whence.analysis.human_evaluation_verdict import verdict
from whence.annotation.answers import SYNTHETIC
from whence.annotation.rows import made_rows
from whence.annotation.synthetic import Annotator, answers_of, made_study, true_relevance
from whence.measures.intervals import Interval, share_interval

METHOD, CONTROL = "method", "control"


@dataclass(frozen=True)
class Assumed:
    """What is assumed of people: the shares of items whose words truly are relevant, and how well each one sees it."""

    method: float = 0.84  # Vashishth et al. 2019, IMDB: 79.5 + 4.5 % with the model's own weights
    control: float = 0.12  # and 9.5 + 2.5 % with permuted ones
    annotator: Annotator = field(default_factory=Annotator)


def simulated_table(assumed: Assumed, items: int, annotators: int, seed: int) -> pd.DataFrame:
    """The table of one simulated study."""
    rng = np.random.default_rng(seed)
    shares = {METHOD: assumed.method, CONTROL: assumed.control}
    study = made_study(shares, items, [CONTROL])
    truth = true_relevance(study, shares, rng)
    given = {
        f"{SYNTHETIC}{number}": {one.item: one for one in answers_of(study, assumed.annotator, truth, rng)}
        for number in range(1, annotators + 1)
    }
    return COLUMNS.table(made_rows(study, given))


@dataclass(frozen=True)
class Power:
    """How often each answer was reached in simulated studies of a size, and the mean of Krippendorff's alpha."""

    items: int
    annotators: int
    answers: dict[str, Interval]
    agreement: float


def power(
    assumed: Assumed, sizes: Sequence[int], annotators: int, times: int, seed: int = 0, *, quiet: bool = True
) -> list[Power]:
    """The shares of *yes*, *no* and *undecided* at each number of items for each condition."""
    found = []
    for items in sizes:
        counts, agreed = Counter[str](), []
        for number in tqdm(range(times), desc=f"{items} items", unit="study", disable=quiet, leave=False, delay=1):
            reached = verdict(simulated_table(assumed, items, annotators, seed * 1_000_003 + number))
            counts[reached.answer] += 1
            agreed += [effect.value for effect in reached.effects if effect.key == "alpha"]
        shares = {answer: share_interval(counts[answer], times) for answer in ("yes", "no", "undecided")}
        found.append(Power(items, annotators, shares, _mean(agreed)))
    return found


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def describe_power(assumed: Assumed, found: Sequence[Power]) -> str:
    """A table for the terminal."""
    who = assumed.annotator
    lines = [
        f"Simulated annotators, no people: words truly relevant in {100 * assumed.method:.0f} % of the method's items"
        f" and {100 * assumed.control:.0f} % of the control's; sensitivity {who.sensitivity:g}, specificity"
        f" {who.specificity:g}; {found[0].annotators} annotators.",
        "",
        f"{'items for each condition':>26} {'yes':>8} {'no':>8} {'undecided':>10} {'alpha':>7}",
    ]
    for one in found:
        shares = {answer: f"{100 * share.mean:.0f} %" for answer, share in one.answers.items()}
        agreed = f"{one.agreement:.2f}" if one.agreement == one.agreement else "–"
        lines.append(f"{one.items:>26} {shares['yes']:>8} {shares['no']:>8} {shares['undecided']:>10} {agreed:>7}")
    return "\n".join(lines)
