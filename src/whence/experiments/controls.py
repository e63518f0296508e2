"""Do the tests of explanations work on this model?

Three controls, each with an answer that is known beforehand.

- *Planted shortcut* (Bastings et al. 2022). A word that the texts do not have is put into them, and a copy of the model
  is fine-tuned, within a given time, to predict one class wherever it stands. The proof is that the word changes at
  least 90 % of the copy's predictions. In texts whose prediction it changed, an explainer that works gives it the
  highest score. Where no copy can be fine-tuned, a linear probe of the model's own word vectors takes its place; that
  tests less: the explainers, but not on this model.
- *Random weights* (Adebayo et al. 2018, §3). The weights are re-initialised from the output down, until the whole model
  is random. Scores that stay the same (Spearman's ρ of their sizes within a text) do not depend on what was learned.
- *Deceptive model* (Pruthi et al. 2020). A small model was trained to hide the words that decide from its attention,
  and another one to show them. The test of question 3 must say *no* of the one, and *yes* of the other.

The smallest effects of interest: the planted word comes first more often than halfway from chance to always; a
correlation of 0.5.

Differs from the papers: one word for one class, not one for each; scores of text by ranks; the best of the explainers
that tests rely on (leave one out, gradients) decides, and those that do not find the word are named.

When not to use it: for the question whether attention is faithful: it says whether the tests of that question can be
trusted on this model, nothing about the attention itself.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from whence.analysis.controls import DECEPTIVE, PLANTED, RANDOMISED, SHORTCUT, by_stage, decide, effects
from whence.analysis.gates import CHANCE, CORRECT, why_gated
from whence.attribution.registry import USUAL
from whence.evaluation.config import AttributionConfig
from whence.figures.curves import curves
from whence.figures.ranking import ranking
from whence.results.columns import Column, Columns
from whence.results.experiment import UNLABELLED, Experiment
from whence.results.verdict import Verdict

if TYPE_CHECKING:
    from whence.evaluation.context import Context

CAPTION = "How often each explainer gives a planted word the highest score, where it provably changes the prediction."


class Config(AttributionConfig):
    """Test the tests: plant a shortcut, re-initialise weights, and judge a model whose attention deceives."""

    method: tuple[str, ...] = Field(USUAL, min_length=1, description="explainers, by name (`whence list`)")
    tuning: float = Field(60.0, ge=0, description="seconds for fine-tuning a copy of the model (0: a linear probe)")
    explained: int = Field(50, gt=0, description="texts that are explained, at most")
    stages: int = Field(4, gt=1, description="stages in which weights are re-initialised")
    deceptive: bool = Field(True, description="also judge a model that was trained to deceive")


COLUMNS = Columns(
    what="one row per control, example, explainer and stage",
    part=Column(str, "the control: shortcut, planted, randomised or deceptive"),
    example=Column(int, "number of the example in its split (-1: a control model of ours)"),
    method=Column(str, "the explainer; of a shortcut copy or probe; of a control model deceptive or honest"),
    stage=Column(int, "of randomised weights: the number of the stage, from 0 (-1: no such control)"),
    place=Column(str, "of randomised weights: the part that was re-initialised last"),
    value=Column(
        float,
        "shortcut: 1 if the word changed the prediction; planted: 1 if it has the highest score; randomised:"
        " Spearman's ρ; deceptive: weight on the words that decide",
    ),
    expected=Column(float, "planted: the same by chance; deceptive: accuracy of the control model"),
    answer=Column(str, "deceptive: what the test of question 3 says"),
    note=Column(str, "shortcut: why it is not in a fine-tuned copy"),
    correct=CORRECT,
    chance=CHANCE,
)
NOTHING: dict[str, Any] = {"stage": -1, "place": "", "expected": float("nan"), "answer": "", "note": ""}


def run(config: Config, context: "Context") -> pd.DataFrame:
    """The table of the three controls."""
    from whence.evaluation.agreement import agreement

    known = agreement(context)
    right = dict(zip(context.numbers, zip(known.correct, known.chance, strict=True), strict=True))
    unknown = (float("nan"), float("nan"))
    rows = []
    for row in _rows(config, context):
        correct, chance = right.get(row["example"], unknown)
        rows.append({**NOTHING, **row, "correct": correct, "chance": chance})
    return COLUMNS.table(rows)


def _rows(config: Config, context: "Context") -> Iterator[dict[str, Any]]:
    from whence.evaluation.validity.deceptive_control import controls
    from whence.evaluation.validity.randomised_weights import cascade
    from whence.evaluation.validity.shortcut_found import trials

    for trial in trials(context, config.method, config.tuning, config.explained):
        for text, changed in zip(trial.shortcut.texts, trial.shortcut.changed, strict=True):
            number = int(context.numbers[text.number])
            about: dict[str, Any] = {"part": SHORTCUT, "method": trial.model, "note": trial.why}
            yield {**about, "example": number, "value": float(changed)}
        for one in trial.found:
            about = {"part": PLANTED, "method": one.method, "expected": one.chance}
            yield {**about, "example": one.example, "value": one.first}
    few = replace(context, examples=context.examples[: config.explained], numbers=context.numbers[: config.explained])
    for found in cascade(few, config.method, config.stages):
        about = {"part": RANDOMISED, "method": found.method, "stage": found.stage, "place": found.place}
        yield {**about, "example": found.example, "value": found.correlation}
    for control in controls(context) if config.deceptive else ():
        about = {"part": DECEPTIVE, "method": control.kind, "answer": control.answer, "expected": control.accuracy}
        yield {**about, "example": -1, "value": control.weight}


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Each control with its number and interval."""
    rows = [
        {"control": effect.label, "value": effect.value, "low": effect.low, "high": effect.high, "texts": effect.n}
        for effect in effects(table)
    ]
    return pd.DataFrame(rows)


def figure(table: pd.DataFrame) -> Figure:
    """How often each explainer finds the planted word; if none was planted, the correlations by stage."""
    found = [effect for effect in effects(table) if effect.key == "found_first"]
    if not found:
        return figures(table)["randomised"]
    rows = [{"method": e.variant, "share": e.value, "low": e.low, "high": e.high} for e in found]
    sorted_rows = pd.DataFrame(rows).sort_values("share", ascending=False, kind="stable", ignore_index=True)
    return ranking(sorted_rows, "method", "share", "low", "high", "share of the texts with the planted word first")


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """The rank correlation of each explainer's scores with those before, by stage."""
    rows = by_stage(table)
    label = "parts re-initialised (stages, from the output down)"
    return {"randomised": curves(rows, "stage", "value", "method", x_label=label, y_label="Spearman's ρ with before")}


def verdict(table: pd.DataFrame) -> Verdict:
    """Whether the tests work here: all three controls must pass, or one fail."""
    found = effects(table)
    answer, sentence = decide(table, found, why_gated(table[table["part"] != DECEPTIVE]))
    return Verdict(
        question=4,
        answer=answer,
        sentence=sentence,
        effects=tuple(found),
        procedure="A word was planted in the texts, and a copy of the model fine-tuned to use it (or a linear probe of"
        " its inputs); explainers were asked for the word with the highest score. The model's weights were"
        " re-initialised from the output down, and the scores compared with those before. The test of question 3 was"
        " run on two small models of which the answer is known.",
        means="Where the controls pass, a *no* to questions 3 and 5 is about the attention, and not about a test that"
        " cannot see.",
        does_not_mean="That tests find a planted word does not show that they find every word a model uses; those that"
        " decide only together are harder to find.",
    )


EXPERIMENT = Experiment(__doc__, Config, COLUMNS, CAPTION, run, figure, verdict, UNLABELLED, figures, summary)
