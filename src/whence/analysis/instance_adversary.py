"""Numbers from the table of `instance_adversary`: how far attention could be moved, and what that decides."""

import pandas as pd

from whence.analysis.gates import why_gated
from whence.measures.intervals import NOT_MEASURED, Interval, level_for, mean_interval, needed, share_interval
from whence.results.verdict import Answer, Effect

VERY_DIFFERENT = 0.2  # nats of JSD: very different attention above it
MOST, FEW = 0.5, 0.2  # of the texts
LITTLE = 0.1  # of the weight: where less can be moved on average, nothing is decided
MANY = 100_000  # texts: a larger number is not worth naming


def by_limit(table: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """The rows of each limit, the strictest first, of texts that could have another attention."""
    there = table[table["inputs"] > 1]
    return {limit: there[there["limit"] == limit] for limit in sorted(table["limit"].unique())}


def effects(table: pd.DataFrame) -> list[Effect]:
    """For every limit the share of texts with very different attention, the strictest limit first.

    Wilson's intervals over the examples, which hold for all limits together (Bonferroni).
    """
    found, limits = [], by_limit(table)
    for limit, rows in limits.items():
        different = int((rows["jsd"] > VERY_DIFFERENT).sum())
        measured = share_interval(different, len(rows), level_for(len(limits))) if len(rows) else NOT_MEASURED
        label = (
            f"texts with very different attention (JSD above {VERY_DIFFERENT:g}) while the prediction moves by at most"
            f" {limit:g}"
        )
        found.append(
            Effect.of("attended_differently", label, measured, "of the texts", MOST, len(rows), variant=f"{limit:g}")
        )
    return found


def free_mass(table: pd.DataFrame) -> Effect:
    """How much of the weight can be moved, mean over the texts."""
    first = next(iter(by_limit(table).values()))
    measured = mean_interval(first["free_mass"].to_numpy(float)[None]) if len(first) else NOT_MEASURED
    label = "weight that can be moved, in the heads that matter: that of all tokens but special ones"
    return Effect.of("free_mass", label, measured, "of the weight", LITTLE, len(first))


def decide(table: pd.DataFrame) -> tuple[Answer, str]:
    """No if most texts have another attention within the strictest limit; yes if few have within the widest.

    Undecided where the model is at chance, there are few texts, or little can be moved.
    """
    found, mass = effects(table), free_mass(table)
    strict, wide = found[0], found[-1]
    why = why_gated(table[table["inputs"] > 1]) or strict.too_few or why_immovable(mass)
    if why:
        return "undecided", why
    within = [f"{_per_cent(one)} of them while the prediction moves by at most {one.variant}" for one in (strict, wide)]
    searched = f"of {strict.n} texts, very different attention was found for {' and '.join(dict.fromkeys(within))}"
    if strict.low > MOST:
        return "no", f"Other attention gives the same predictions: {searched}."
    if wide.high < FEW:
        return "yes", f"Hardly any other attention gives the same predictions: {searched}."
    return (
        "undecided",
        f"Some predictions need their attention and others do not: {searched}. {what_would_decide(found)}",
    )


def why_immovable(mass: Effect) -> str:
    """A sentence, if too little weight can be moved."""
    if mass.value >= LITTLE:
        return ""
    return (
        f"Little can be moved: in the heads that matter, special tokens hold {100 * (1 - mass.value):.0f} % of the"
        f" weight (mean of {mass.n} texts) and keep it; a verdict needs {100 * LITTLE:.0f} % on other tokens. With"
        " `--special-tokens` the weight of special tokens is moved too."
    )


def what_would_decide(found: list[Effect]) -> str:
    """About how many texts would decide, if the shares stay as they are."""
    strict, wide = found[0], found[-1]
    effect, limit, answer = (strict, MOST, "no") if strict.value > MOST else (wide, FEW, "yes")
    texts = needed(Interval(effect.value, effect.low, effect.high), effect.n, limit)
    if (answer == "yes" and wide.value > FEW) or texts is None:
        return f"More texts would not decide it, as the share lies between {100 * FEW:.0f} and {100 * MOST:.0f} %."
    about = f"about {texts:,}" if texts <= MANY else f"more than {MANY:,}"
    return f"If the share stays as it is, {about} texts would decide for *{answer}*."


def _per_cent(effect: Effect) -> str:
    return f"{100 * effect.value:.0f} % ({100 * effect.low:.0f} to {100 * effect.high:.0f})"


def numbers(table: pd.DataFrame) -> dict[str, Interval]:
    """`JSD within 0.01`, the mean, and `very different within 0.01`, the share of texts; for every limit."""
    found = {}
    for limit, rows in by_limit(table).items():
        different = int((rows["jsd"] > VERY_DIFFERENT).sum())
        found[f"JSD within {limit:g}"] = mean_interval(rows["jsd"].to_numpy(float)[None])
        found[f"very different within {limit:g}"] = share_interval(different, len(rows))
    return found


def quartiles(table: pd.DataFrame) -> pd.DataFrame:
    """How far attention could be moved, within each limit: quartiles of JSD, and the share of texts."""
    rows = []
    for limit, there in by_limit(table).items():
        low, middle, high = there["jsd"].quantile([0.25, 0.5, 0.75])
        rows.append(
            {
                "limit": limit,
                "texts": len(there),
                "found": there["met"].mean(),
                "JSD": there["jsd"].mean(),
                "lower quartile": low,
                "median": middle,
                "upper quartile": high,
                "very different": (there["jsd"] > VERY_DIFFERENT).mean(),
            }
        )
    return pd.DataFrame(rows)
