"""Whether people find the words that a method highlights plausible: question 6, from annotators' answers."""

from collections.abc import Sequence

import pandas as pd

from whence.analysis.gates import why_gated
from whence.analysis.human_evaluation import COMPARED, effects, judged, left_out, task_of
from whence.analysis.needed_texts import texts_that_would_decide
from whence.results.verdict import NONE, Answer, Effect, Verdict

SYNTHETIC = "Simulated annotators, no people: "
PROCEDURE = {
    "relevance": "Annotators saw texts with the highest-scoring words highlighted, those of the method and of controls"
    " in random order, without knowing which is which, and said whether the words are relevant for the prediction"
    " (Vashishth et al. 2019).",
    "preference": "Annotators saw each text twice, with the words of two methods highlighted, without knowing which is"
    " which, and said which explains the prediction better.",
    "marking": "Annotators marked the words that decide the prediction; average precision measures how early they come"
    " in the order of each method's scores.",
}
MEANS = (
    "People agree that the highlighted words have to do with the prediction. The interval is for other texts, judged by"
    " these annotators."
)
DOES_NOT_MEAN = "Words that convince people need not be those that the model used (question 3)."


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the first method's words are judged better than those of the first control (or than the other method's).

    *Yes* if the whole interval of the difference is above the smallest effect of interest. *No* if it is below, and the
    answers are reliable: annotators agree beyond chance, or give the same answer again, or, where all answers are the
    same, passed checks. Answers at random would be the same for all conditions, too. Simulated annotators answer none
    of the six questions.
    """
    found, task = effects(table), task_of(table)
    answer, sentence = decide(table, found)
    advice = texts_that_would_decide(found[:1]).replace("texts", "items") if answer == "undecided" else ""
    synthetic = bool(table["synthetic"].any())
    without = left_out(table)
    if without:
        sentence += f" {', '.join(without)} failed too many checks and {'is' if len(without) == 1 else 'are'} left out."
    return Verdict(
        question=NONE if synthetic or not (found and decides(table, found[0])) else 6,
        answer=answer,
        sentence=f"{SYNTHETIC * synthetic}{sentence}",
        effects=tuple(found),
        procedure=SYNTHETIC * synthetic + PROCEDURE[task],
        means=MEANS,
        does_not_mean=DOES_NOT_MEAN,
        advice=advice,
    )


def decides(table: pd.DataFrame, first: Effect) -> bool:
    """Whether a method is compared with a control; two methods compared do not show whether either is plausible."""
    if first.key != "preferred":
        return True
    pair = (table["condition"] == first.variant) & (table["against"] == first.place)
    return bool(table["control"][pair].all())


def decide(table: pd.DataFrame, found: list[Effect]) -> tuple[Answer, str]:
    """The answer and its sentence."""
    if judged(table).empty:
        return "undecided", "No answers count: items were skipped, or annotators failed too many checks."
    first = found[0] if found else None
    if first is None or first.key not in [key for key, *_ in COMPARED.values()]:
        return "undecided", "There is nothing to compare the method with: prepare the study with controls (--controls)."
    own = ~table["control"] | (table["task"] == "preference")  # texts on which the model ran as it is
    gate = why_gated(table[(table["check"] == "") & own])
    if first.too_few or gate:
        return "undecided", first.too_few.replace("example", "item") or gate
    answer, sentence = first.judge(*sentences(first))
    agreed = described_agreement(found, judged(table)["annotator"].nunique())
    if answer == "no" and not reliable(found):
        sentence = (
            f"The words of {first.variant} are judged no better than those of {first.place}, but nothing shows that the"
            f" answers are more than chance. {agreed}".strip()
        )
        return "undecided", sentence
    return answer, f"{sentence} {agreed}".strip()


def sentences(effect: Effect) -> tuple[str, str, str]:
    """The sentences for yes, no and undecided."""
    points = effect.key != "precision_above_control"
    value, low, high = (100 * part if points else part for part in (effect.value, effect.low, effect.high))
    digits = 0 if points else 2
    much = (
        f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}) {'points' if points else 'of average precision'}"
    )
    if effect.key == "above_control":
        what = f"judged relevant {{}} those of {effect.place} (difference: {much})"
        words = ("more often than", "hardly more often than", "perhaps more often than")
    elif effect.key == "preferred":
        what = f"preferred {{}} those of {effect.place} (beyond a half: {much})"
        words = ("to", "hardly more often than not to", "perhaps to")
    else:
        what = f"nearer to what annotators marked {{}} those of {effect.place} (difference: {much})"
        words = ("than", "hardly more than", "perhaps than")
    sentences = [f"The words of {effect.variant} are {what.format(word)}." for word in words]
    return sentences[0], sentences[1], sentences[2]


def measured(found: Sequence[Effect], key: str) -> Effect | None:
    """The effect of that key, if it was measured."""
    return next((effect for effect in found if effect.key == key and effect.value == effect.value), None)


def reliable(found: Sequence[Effect]) -> bool:
    """Whether something shows that the answers are more than chance: agreement, or where it cannot be measured, checks
    passed or items answered alike again.
    """
    alpha = measured(found, "alpha")
    if alpha is not None:
        return alpha.low > 0 or alpha.value == 1.0
    others = (measured(found, key) for key in ("checks_passed", "same_again"))
    return any(other is not None and other.low > 0.5 for other in others)


def described_agreement(found: Sequence[Effect], annotators: int) -> str:
    """How far annotators agree, in a sentence."""
    if annotators < 2:
        return "There is one annotator, so nothing is known about agreement."
    kappa, alpha = measured(found, "kappa"), measured(found, "alpha")
    shown = kappa or alpha
    if shown is None:
        return "All annotators gave one and the same answer throughout, so agreement beyond chance cannot be measured."
    name = "Cohen's kappa" if shown is kappa else "Krippendorff's alpha"
    ends = f" ({shown.low:.2f} to {shown.high:.2f})" if shown.low == shown.low else ""
    return f"Annotators agree with {name} {shown.value:.2f}{ends}."
