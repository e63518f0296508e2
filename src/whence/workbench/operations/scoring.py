"""Token scores of a text by several explainers, also while its attention is changed."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whence.attribution.attribution import Attribution
from whence.attribution.registry import explainer
from whence.core.attending import Rule, attending
from whence.core.errors import WhenceError
from whence.explaining.explained import question_of
from whence.subject.named_targets import asked
from whence.subject.subject import Subject
from whence.workbench.operations.looking import Check, encoded
from whence.workbench.operations.requests import LookRequest


@dataclass
class Scores:
    """Scores by method; what a method refused, in a sentence; how each was made; and the tokens they are of."""

    tokens: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[str, list[float | None]] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def scores_of(
    subject: Subject,
    request: LookRequest,
    methods: Sequence[str],
    words: bool = False,
    overrides: Sequence[Mapping[str, Rule]] = (),
    check: Check = lambda: None,
) -> Scores:
    """Score the tokens (or words) of a text by each method. What is explained is chosen without the overrides."""
    batch, example = encoded(subject, request)
    target = asked(subject, batch, [example], question_of(request.options(subject), subject))
    length, found = int(batch.mask[0].sum()), Scores()
    spelled = subject.encoder.spelled(batch, [example])[0] if words else []
    for method in methods:
        check()
        try:
            with ExitStack() as blocks:
                for override in overrides:
                    blocks.enter_context(attending(subject.model, override=override, watch=None))
                made = explainer(method)(subject, batch, target)
        except (WhenceError, ValueError) as error:  # a method may not suit the model
            found.errors[method] = str(error)
            continue
        made = made.by_word(spelled) if words else made
        found.tokens = found.tokens or shown_tokens(made, length)
        found.scores[method] = [float(one) if np.isfinite(one) else None for one in made.scores[0][: len(found.tokens)]]
        found.how[method] = made.how
    return found


def shown_tokens(made: Attribution, length: int) -> list[dict[str, Any]]:
    """The tokens or words that the scores are of, without the place of a predicted next token."""
    rows = zip(made.tokens[0], made.word[0], made.special[0], made.segment[0], strict=True)
    names = ("text", "word", "special", "segment")
    every = [dict(zip(names, (t, int(w), bool(s), int(g)), strict=True)) for t, w, s, g in rows]
    return [one for place, one in enumerate(every) if place < length and not (one["special"] and one["text"] == "")]
