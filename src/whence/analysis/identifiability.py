"""Whether there is something to ask of a model's attention: shares of texts, and the rule that decides."""

from typing import Any

import pandas as pd

from whence.measures.intervals import mean_interval, share_interval
from whence.results.verdict import Effect

LITTLE = 0.1  # of the weight: less than that on words, and there is nothing to ask
ALIKE = 0.95  # conicity: on average within 18 degrees of the mean
STILL = 0.1  # of the margin: less than that is no change
MOST = 0.5  # of the texts
NOTHING, CANNOT_MATTER, NOT_UNIQUE = "little_free_weight", "weights_cannot_matter", "weights_not_unique"


def nothing_to_ask(table: pd.DataFrame) -> "pd.Series[bool]":
    """Texts with fewer than two words to choose from, or hardly any weight on them."""
    return (table["free_mass"] < LITTLE) | (table["free_keys"] < 2)


def cannot_matter(table: pd.DataFrame) -> "pd.Series[bool]":
    """Texts whose words bring nearly the same vector, and whose prediction stays when all weight moves."""
    return (table["conicity"] >= ALIKE) & (table["moved"] < STILL)


def not_unique(table: pd.DataFrame) -> "pd.Series[bool]":
    """Texts with more keys than the vectors of a head determine.

    Weights α that sum to one and give the context c solve as many equations as the vectors, each with a one added, have
    rank; with more keys than that others do too (Brunner et al. 2020, §3.1, and its appendix on weights that sum to
    one).
    """
    return table["keys"] > table["rank"]


def effects(table: pd.DataFrame) -> list[Effect]:
    """The three shares of texts that decide, then the means that describe the attention."""
    known = table[table["rank"].notna()]
    shares = (
        (NOTHING, "texts with less than a tenth of the weight on words", nothing_to_ask(table)),
        (CANNOT_MATTER, "texts whose words bring nearly the same vector", cannot_matter(known)),
        (NOT_UNIQUE, "texts with more keys than the vectors of a head determine the weights of", not_unique(known)),
    )
    found = [_share(key, label, marked) for key, label, marked in shares if len(marked)]
    for column, label in (
        ("free_mass", "weight on words"),
        ("special_mass", "weight on special tokens"),
        ("sink_mass", "weight on sinks"),
        ("conicity", "conicity of what is attended to"),
    ):
        found += _mean(column, label, table[column].dropna())
    return found


def _share(key: str, label: str, marked: "pd.Series[bool]") -> Effect:
    found = share_interval(int(marked.sum()), len(marked))
    return Effect.of(key, label, found, "of the texts", MOST, len(marked))


def _mean(column: str, label: str, values: "pd.Series[float]") -> list[Effect]:
    if values.empty:
        return []
    found = mean_interval(values.to_numpy(float)[None], within=(0.0, 1.0))
    return [Effect.of(column, f"{label} (mean over texts)", found, "of 1", 0.0, len(values))]


def decide(found: list[Effect], gated: str) -> tuple[Any, str]:
    """No where there is hardly any weight on words, or where it cannot matter; in part where it is not unique."""
    by_key = {effect.key: effect for effect in found}
    nothing = by_key[NOTHING]
    if gated:
        return "undecided", gated
    if nothing.low > MOST:
        return "no", (
            f"There is hardly anything to ask: in {_percent(nothing)} of the texts less than a tenth of the attention"
            " is on words, the rest on special tokens and sinks. What it shows of the words explains little, and moving"
            " it (question 5) says little: ask another layer, or leave out sinks (raw_attention.without_sinks)."
        )
    alike, many = by_key.get(CANNOT_MATTER), by_key.get(NOT_UNIQUE)
    if alike is not None and alike.low > MOST:
        return "no", (
            f"The attention cannot matter here: in {_percent(alike)} of the texts all words bring nearly the same"
            " vector, and the prediction stays when all weight is moved to another word. Other attention does as well"
            " (question 5) for a reason that has nothing to do with which words decide."
        )
    for effect, what in ((nothing, "hardly any weight on words"), (alike, "words that bring nearly the same vector")):
        if effect is not None and effect.high > MOST:
            return "undecided", f"It is not clear whether most texts have {what}: {_percent(effect)} have."
    if many is None:
        return "undecided", (
            "There is enough attention on words to ask what it explains, but the model does not show the vectors that"
            " its attention mixes, so that it is not known whether the weights are unique; rely on questions 3 and 5."
        )
    if many.high > MOST:
        return "yes, in part", (
            f"The question can be asked: there is attention on words ({100 * by_key['free_mass'].value:.0f} % of the"
            f" weight), and what they bring differs. But the weights are not unique for {_percent(many)} of the texts:"
            " other weights give exactly the same, so that attention may point at the words that decide (question 3)"
            " and need not be the only one that does (question 5)."
        )
    return "yes", (
        "The question can be asked: there is attention on words to explain something with"
        f" ({100 * by_key['free_mass'].value:.0f} % of the weight), what the words bring differs, and the weights are"
        f" unique but for {_percent(many)} of the texts."
    )


def _percent(effect: Effect) -> str:
    return f"{100 * effect.value:.0f} % ({100 * effect.low:.0f} to {100 * effect.high:.0f})"
