"""Whether tests of explanations work on a model: what the three controls say, and the rule that decides."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from whence.analysis.gates import too_few
from whence.measures.intervals import mean_interval, share_interval
from whence.results.verdict import Effect

RANDOMISED, SHORTCUT, PLANTED, DECEPTIVE = "randomised", "shortcut", "planted", "deceptive"  # parts of the table
TESTING = ("leave_one_out", "gradient_x_input", "integrated_gradients", "gradient_squared")  # what tests rely on
UNCHANGED = 0.5  # rank correlation: above it, an explainer did not notice that the model is random
FOUND, KEPT, USED, HIDDEN = "found_first", "unchanged_by_random_weights", "token_used", "weight_on_deciding_words"
MODELS = {"copy": "a copy of the model that was fine-tuned to use it", "probe": "a linear probe of the model's inputs"}


def effects(table: pd.DataFrame) -> list[Effect]:
    """How often each explainer puts the token first, whether it is used, who notices random weights, the controls."""
    return [*_found(table), *_used(table), *_kept(table), *_hidden(table)]


def _found(table: pd.DataFrame) -> Iterator[Effect]:
    rows = table[table["part"] == PLANTED]
    for method, some in rows.groupby("method", sort=False):
        expected = float(some["expected"].mean())
        label = f"{method}: texts in which the planted word comes first ({100 * expected:.0f} % by chance)"
        yield Effect.of(
            FOUND,
            label,
            share_interval(float(some["value"].sum()), len(some)),
            "of the texts",
            (1 + expected) / 2,
            len(some),
            variant=str(method),
        )


def _used(table: pd.DataFrame) -> Iterator[Effect]:
    rows = table[table["part"] == SHORTCUT]
    for model, some in rows.groupby("method", sort=False):
        found = share_interval(float(some["value"].sum()), len(some))
        label = f"predictions that the planted word changes, {MODELS[str(model)]}"
        yield Effect.of(USED, label, found, "of the predictions", 0.9, len(some), variant=str(model))


def _kept(table: pd.DataFrame) -> Iterator[Effect]:
    rows = table[(table["part"] == RANDOMISED) & table["value"].notna()]
    last = rows[rows["stage"] == rows["stage"].max()]
    for method, some in last.groupby("method", sort=False):
        label = f"{method}: rank correlation of its scores before and after all weights are re-initialised"
        found = mean_interval(some["value"].to_numpy(float)[None], within=(-1.0, 1.0))
        yield Effect.of(KEPT, label, found, "Spearman's ρ", UNCHANGED, len(some), variant=str(method))


def _hidden(table: pd.DataFrame) -> Iterator[Effect]:
    for _, row in table[table["part"] == DECEPTIVE].iterrows():
        value, label = float(row["value"]), f"weight on the words that decide, {row['method']} control"
        yield Effect(HIDDEN, label, value, value, value, "of the weight", 0.5, 0, variant=str(row["method"]))


def answers(table: pd.DataFrame) -> dict[str, str]:
    """What the test of question 3 says of each model whose answer is known."""
    rows = table[table["part"] == DECEPTIVE]
    return dict(zip(rows["method"].map(str), rows["answer"].map(str), strict=True))


def decide(table: pd.DataFrame, found: list[Effect], gated: str) -> tuple[Any, str]:
    """No if a control fails; yes if all three pass; else undecided, with the reason."""
    if gated:
        return "undecided", gated
    sentences: dict[bool | None, list[str]] = {False: [], None: [], True: []}
    for state, sentence in (_of_token(table, found), _of_weights(found), _of_deception(answers(table))):
        sentences[state].append(sentence)
    failed, unclear, passed = sentences.values()
    if failed:
        return "no", f"The tests do not work here: {' '.join(failed)} Questions 3 and 5 cannot be decided by them."
    if unclear:
        return "undecided", f"It is not clear whether the tests work here: {' '.join(unclear)}"
    return "yes", f"The tests work here. {' '.join(passed)}"


def _of_token(table: pd.DataFrame, found: list[Effect]) -> tuple[bool | None, str]:
    """Whether the explainers that tests rely on find the planted word."""
    by_method = {effect.variant: effect for effect in found if effect.key == FOUND}
    used = {effect.variant: effect for effect in found if effect.key == USED}
    model = "copy" if "probe" not in used else "probe"
    why = next((str(note) for note in table.loc[table["part"] == SHORTCUT, "note"] if note), "")
    if not by_method:
        return None, f"no word could be planted that provably changes predictions ({why})."
    n = max(effect.n for effect in by_method.values())
    where = (
        f"in texts whose prediction it provably changes ({n} texts, {MODELS[model]}{f', since {why}' if why else ''})"
    )
    testing = {name: effect for name, effect in by_method.items() if name in TESTING}
    if not testing or too_few(n):
        return None, too_few(n, what="text with a planted word") or f"no test explainer was run: {', '.join(TESTING)}."
    others = {name: effect for name, effect in by_method.items() if name not in TESTING}
    rest = f"; {_listed(others)}" if others else ""
    if any(effect.low > effect.smallest for effect in testing.values()):
        return True, f"A planted word comes first {where}: {_listed(testing)}{rest}."
    if model == "copy" and all(effect.high < effect.smallest for effect in testing.values()):
        return False, f"a planted word is not found {where}: {_listed(testing)}{rest}."
    return None, f"it is not clear whether a planted word is found {where}: {_listed(testing)}{rest}."


def _of_weights(found: list[Effect]) -> tuple[bool | None, str]:
    """Whether the explainers that tests rely on notice that all weights are random."""
    kept = {effect.variant: effect for effect in found if effect.key == KEPT}
    testing = {name: effect for name, effect in kept.items() if name in TESTING}
    if not testing:
        return None, "no text is long enough to compare scores before and after weights are re-initialised."
    blind = [name for name, effect in kept.items() if effect.low > UNCHANGED]
    named = f" {', '.join(blind)} did not notice: its scores stayed nearly the same." if blind else ""
    if all(effect.high < UNCHANGED for effect in testing.values()):
        return True, f"Scores change when all weights are re-initialised ({_correlations(kept)}).{named}"
    return None, f"scores hardly change when all weights are re-initialised ({_correlations(testing)}).{named}"


def _of_deception(answers: Mapping[str, str]) -> tuple[bool | None, str]:
    """Whether the test of question 3 tells the model that hides its attention from the one that shows it."""
    if set(answers) != {"deceptive", "honest"}:
        return None, "the control of a model that hides its attention was not run."
    if answers == {"deceptive": "no", "honest": "yes"}:
        return True, (
            "The test of question 3 says *no* for a model that was trained to hide the words that decide from its"
            " attention, and *yes* for the same model trained to show them."
        )
    came = (
        f"the test of question 3 says *{answers['deceptive']}* for a model that was trained to hide the words that"
        f" decide from its attention (expected *no*), and *{answers['honest']}* for one that shows them (expected"
        " *yes*)."
    )
    wrong = answers["deceptive"] == "yes" or answers["honest"] == "no"
    return (False if wrong else None), came


def _listed(found: Mapping[str, Effect]) -> str:
    each = (f"{name} in {100 * e.value:.0f} % ({100 * e.low:.0f} to {100 * e.high:.0f})" for name, e in found.items())
    return ", ".join(each)


def _correlations(kept: Mapping[str, Effect]) -> str:
    return ", ".join(f"{name} {effect.value:.2f}" for name, effect in kept.items())


def by_stage(table: pd.DataFrame) -> pd.DataFrame:
    """The mean rank correlation of each explainer after each stage; at stage 0 nothing is re-initialised."""
    rows = table[(table["part"] == RANDOMISED) & table["value"].notna()]
    means = rows.groupby(["method", "stage", "place"], sort=False)["value"].mean().reset_index()
    start = pd.DataFrame({"method": rows["method"].unique(), "stage": 0, "place": "", "value": 1.0})
    return pd.concat([start, means.assign(stage=means["stage"] + 1)], ignore_index=True).astype({"value": np.float64})
