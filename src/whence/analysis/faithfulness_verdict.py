"""The verdict on question 3 from the table of `faithfulness`."""

from collections.abc import Sequence

import pandas as pd

from whence.analysis.faithfulness import (
    FEWEST_COMPARED,
    INPUTS,
    KINDS,
    RANDOM,
    changing,
    effects,
    first_method,
    other_explainers,
    over_kinds,
    ranked,
    surer_without_top,
)
from whence.analysis.gates import too_few, why_gated
from whence.analysis.needed_texts import texts_that_would_decide
from whence.measures.intervals.decisions import equivalent, exceeds
from whence.results.verdict import Answer, Effect, Verdict

FEWEST_CHANGES = 5  # texts whose decision some removal changes: fewer show nothing about deciding words


def verdict(table: pd.DataFrame) -> Verdict:
    """*Yes* if the judged explainer is above random orders by every kind of removal; *no* if it is not by those that
    change the text; where kinds disagree, undecided.
    """
    found, better = effects(table), other_explainers(table)
    why = why_undecidable(table, found)
    answer, sentence = decide(found, first_method(table), why)
    return Verdict(
        question=3,
        answer=answer,
        sentence=f"{sentence} {violations(table)}".strip() if not why else sentence,
        effects=(*found, *better),
        procedure=procedure(table),
        means="Where removing the words with the highest scores first changes the decision nearly as fast as any order"
        " can, the scores show which words this prediction rests on.",
        does_not_mean="Other attention might do as well (question 5). A text with words removed is unlike any that the"
        " model was trained on, which is why words are removed in several ways.",
        advice=" ".join(filter(None, (missing(answer, found, why), instead(table, better)))),
    )


def why_undecidable(table: pd.DataFrame, found: Sequence[Effect]) -> str:
    """Why nothing can be decided, else empty."""
    if why := why_gated(table):
        return why
    if first_method(table) == RANDOM:
        return "No explainer was judged, only random orders: add a method."
    changed, n = changing(table)
    if changed < FEWEST_CHANGES:
        return f"The decision changes in {changed} of {n} texts whatever is removed, so no words decide it."
    return too_few(max(effect.n for effect in found), FEWEST_COMPARED, "text in which orders differ")


def decide(found: Sequence[Effect], method: str, why_undecidable: str = "") -> tuple[Answer, str]:
    """The rule: all kinds must agree for a *yes*; for a *no*, those that change the text."""
    if why_undecidable:
        return "undecided", why_undecidable
    inputs = [effect for effect in found if effect.variant in INPUTS]
    attended = [effect for effect in found if effect.variant not in INPUTS]
    numbers = f"{'; '.join(map(describe, found))}"
    if all(stands(effect) for effect in found):
        return "yes", f"{name(method)} points at the words that decide: compared with random orders {numbers}."
    of_inputs = [stands(effect) for effect in inputs or found]
    if False in of_inputs and True not in of_inputs:
        carried = (
            " Without attention to these words the prediction does change: earlier layers have moved what decides into"
            " them from other words."
            if inputs and any(stands(effect) for effect in attended)
            else ""
        )
        return (
            "no",
            f"{name(method)} does not point at the words that decide: compared with random orders {numbers}.{carried}",
        )
    idle = any(effect.n == 0 for effect in attended)  # no text in which taking attention away changed anything
    if all(of_inputs) and (idle or False in [stands(effect) for effect in attended]):
        return "undecided", (
            f"{name(method)} points at words that decide, but taking attention away from them changes little, so they"
            f" reach the prediction by other ways: compared with random orders {numbers}."
        )
    if True in of_inputs and False in of_inputs:
        return "undecided", f"The kinds of removal disagree: compared with random orders {numbers}."
    return "undecided", f"It is not clear whether {name(method, False)} points at the words that decide: {numbers}."


def stands(effect: Effect) -> bool | None:
    """Whether the whole interval is above the smallest effect (True), below it (False), or neither."""
    return True if exceeds(effect, effect.smallest) else False if equivalent(effect, effect.smallest) else None


def describe(effect: Effect) -> str:
    """An effect in words."""
    if effect.value != effect.value:
        return f"not measured where words are {KINDS[effect.variant]}"
    return f"{effect.value:+.2f} ({effect.low:.2f} to {effect.high:.2f}) with words {KINDS[effect.variant]}"


def name(method: str, begins: bool = True) -> str:
    """The judged explainer as the subject of a sentence."""
    return ("Attention" if begins else "attention") if method == "raw_attention" else method


def violations(table: pd.DataFrame) -> str:
    """How often the word with the highest score speaks against the decision."""
    found = surer_without_top(table, first_method(table))
    if not found.sum() > 0:
        return ""
    share = f"{100 * found.mean():.0f} % of {len(found)} texts"
    return f"In {share} the decision gets surer without the word that scores highest."


def missing(answer: str, found: Sequence[Effect], why: str) -> str:
    """What would decide an undecided question."""
    if answer != "undecided" or why:
        return ""
    return texts_that_would_decide([effect for effect in found if stands(effect) is None])


def instead(table: pd.DataFrame, better: Sequence[Effect]) -> str:
    """Which explainer to use instead, if one is clearly more faithful."""
    above = [effect for effect in better if exceeds(effect, 0.0)]
    if not above:
        return ""
    best, order = max(above, key=lambda effect: effect.value), ranked(table).set_index("method").to_dict("index")
    by_chance = f", random orders {order[RANDOM]['faithfulness']:.2f}" if RANDOM in order else ""
    one, own = order[best.variant], order[first_method(table)]
    own_removals = " (made of the same kind of removals)" if best.variant == "leave_one_out" else ""
    return (
        f"More faithful here: {best.variant}{own_removals}, {one['faithfulness']:.2f} ({one['low']:.2f} to"
        f" {one['high']:.2f}) of the way from the worst order to the best; {first_method(table)} has"
        f" {own['faithfulness']:.2f}{by_chance} ({int(one['texts'])} texts)."
    )


def procedure(table: pd.DataFrame) -> str:
    """What was done, in words."""
    *others, last = [KINDS[kind] for kind in KINDS if kind in set(table["erase"])]
    ways = f"{', '.join(others)}{' or ' * bool(others)}{last}"
    judged = table[table["method"] == first_method(table)].iloc[0]
    spans = " Long texts were divided into spans of several words." if (table["span"] > 1).any() else ""
    left = table["example"].nunique() - len(over_kinds(table)[first_method(table)].dropna())
    out = f" {left} texts in which no order differs from another are left out." if left else ""
    return (
        f"Words were {ways}, in the order of each explainer's scores and in random orders, and the margin of the"
        " decision was followed. The area over each curve was placed between the worst and the best order found for the"
        f" text. Scores of {judged['method']}: {judged['how']}.{spans}{out} The intervals hold for all kinds of removal"
        " together."
    )
