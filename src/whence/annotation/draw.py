"""Drawing texts for a study: for each condition other examples, what the model predicts, and its highest-scoring words.

Vashishth et al. 2019 §4.4: a sample of texts with the model's own attention weights, another with permuted ones. Under
`permuted` the model runs with its weights shuffled, and both the highlighted words and the prediction are those of that
run; under `random` the words are drawn at random and the prediction is the model's own.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from tqdm.auto import tqdm

from whence.annotation.study import Place
from whence.attribution.attribution import Attribution
from whence.attribution.options import written_options
from whence.attribution.registry import explainer
from whence.core.attending import attending
from whence.core.errors import BadData
from whence.core.overrides import imposed, permuted
from whence.core.seeds import stream
from whence.core.tape import Tape
from whence.data.examples import Example
from whence.evaluation.rationale_match import RANDOM
from whence.subject.batch import Batch
from whence.subject.subject import Subject
from whence.subject.targets import Target, predicted

PERMUTED = "permuted"
CONTROLS = (PERMUTED, RANDOM)
ATTENTION = "raw_attention"


@dataclass(frozen=True)
class Drawn:
    """One text with what the model predicts for it and, by condition, the scores of its words."""

    example: int
    texts: tuple[tuple[str, ...], ...]
    prediction: str
    label: str | None
    scores: dict[str, list[list[float]]] = field(default_factory=dict)  # condition -> text -> word

    @property
    def correct(self) -> float | None:
        """1 if the prediction is the label, 0 if it is another, None without a label."""
        return None if self.label is None else float(self.prediction == self.label)


@dataclass(frozen=True, eq=False)
class Source:
    """What texts are drawn from: a model, the examples of a split with their numbers, and how words are scored."""

    subject: Subject
    examples: Sequence[Example]
    numbers: Sequence[int]
    seed: int = 0
    options: Sequence[str] = ()
    longest: int | None = None  # words
    batch_size: int = 16
    quiet: bool = False


def draw(source: Source, groups: Sequence[Sequence[str]], items: int, top: int, stratify: bool) -> list[list[Drawn]]:
    """For each group of conditions, `items` texts that no other group has, scored by all conditions of the group.

    With `stratify`, half of each group's predictions are right and half wrong.
    """
    order = torch.randperm(len(source.examples), generator=stream(source.seed, "annotated texts")).tolist()
    waiting = deque(number for number in order if fits(source.examples[number], source.longest))
    found = []
    for conditions in groups:
        taken = list(_taken(source, waiting, conditions, items, top, stratify))
        if len(taken) < items:
            raise BadData(too_few(source, conditions, items, len(taken), stratify))
        found.append(taken)
    return found


def fits(example: Example, longest: int | None) -> bool:
    """Whether a text is short enough to be shown."""
    return longest is None or len(example.text.split()) + len((example.pair or "").split()) <= longest


def too_few(source: Source, conditions: Sequence[str], items: int, found: int, stratify: bool) -> str:
    """What to do where the split has too few texts."""
    kinds = ", half of them predicted wrongly" if stratify else ""
    instead = "fewer --items, no --stratify" if stratify else "fewer --items"
    return (
        f"{items} texts were wanted for {' and '.join(conditions)}{kinds}, and {found} were left of the"
        f" {len(source.examples)} in this split (each condition has texts of its own, with more words than are"
        f" highlighted); give {instead}, a larger --longest, or another --split"
    )


def _taken(
    source: Source, waiting: deque[int], conditions: Sequence[str], items: int, top: int, stratify: bool
) -> Iterator[Drawn]:
    """Texts of one group, taken from those that wait until there are enough of each kind.

    Texts of a kind that is complete wait on for other groups; too short ones are dropped. With permuted weights texts
    run one at a time, so that a text's permutation depends on the seed and on the text alone.
    """
    room: dict[float | None, int] = {1.0: items - items // 2, 0.0: items // 2} if stratify else {None: items}
    together, passed = 1 if PERMUTED in conditions else source.batch_size, list[int]()
    bar = tqdm(total=items, desc=", ".join(conditions), unit="text", disable=source.quiet, leave=False, delay=1)
    with bar:
        while sum(room.values()) and waiting:
            some = [waiting.popleft() for _ in range(min(together, sum(room.values()), len(waiting)))]
            for number, one in zip(some, _scored(source, some, conditions), strict=True):
                kind = one.correct if stratify else None
                if sum(map(len, one.texts)) <= top:
                    continue
                if not room.get(kind, 0):
                    passed.append(number)
                    continue
                room[kind] -= 1
                bar.update()
                yield one
    waiting.extendleft(reversed(passed))


def _scored(source: Source, numbers: Sequence[int], conditions: Sequence[str]) -> list[Drawn]:
    """Some texts with their predictions and the scores of their words by each condition."""
    subject, some = source.subject, [source.examples[number] for number in numbers]
    batch = subject.encode(some, [int(source.numbers[number]) for number in numbers])
    tape = _permuted_run(source, batch) if PERMUTED in conditions else None
    with _imposed(subject, tape):
        target = predicted(subject, batch)
    found: dict[str, Attribution] = {}
    for condition in conditions:
        with _imposed(subject, tape):
            found[condition] = _by(source, condition, batch, target)
    spelled, drawn = subject.encoder.spelled(batch, some), []
    for row, number in enumerate(numbers):
        words = _words(next(iter(found.values())), row, spelled[row])
        drawn.append(
            Drawn(
                int(source.numbers[number]),
                tuple(tuple(text.values()) for text in words),
                subject.labels[int(target.classes[row])],
                _label(subject, some[row]),
                {condition: _scores(one, row, words) for condition, one in found.items()},
            )
        )
    return drawn


def _permuted_run(source: Source, batch: Batch) -> Tape:
    """The model's weights, shuffled once among the words, to be imposed on each run that follows."""
    seed = stream(source.seed, f"permuted {batch.examples.tolist()}")
    with torch.no_grad(), attending(source.subject.model, override=permuted(seed).sparing(batch.special)) as tape:
        source.subject.model(**batch.inputs)
    return tape


def _imposed(subject: Subject, tape: Tape | None) -> AbstractContextManager[Any]:
    """While open, one run of the model has the recorded weights; without a tape its own."""
    return nullcontext() if tape is None else attending(subject.model, override=imposed(tape), watch=None)


def _by(source: Source, condition: str, batch: Batch, target: Target) -> Attribution:
    """The scores of one condition; those of permuted attention are the weights themselves."""
    method = ATTENTION if condition == PERMUTED else condition
    given = written_options([method], [one for one in source.options if one.startswith(f"{method}.")])
    options = {**({"seed": source.seed} if method == RANDOM else {}), **given.get(method, {})}
    found = explainer(method)(source.subject, batch, target, **options)
    return found.of_first_subwords() if method == RANDOM else found


def _words(found: Attribution, row: int, spelled: Sequence[str]) -> list[dict[int, str]]:
    """The words that the model read, of each text, by their numbers."""
    texts: list[dict[int, str]] = [{}, {}]
    columns = zip(found.segment[row].tolist(), found.word[row].tolist(), found.special[row].tolist(), strict=True)
    for (segment, word, special), text in zip(columns, spelled, strict=False):
        if not special and word >= 0:
            texts[segment].setdefault(word, text)
    return [dict(sorted(text.items())) for text in texts if text]


def _scores(found: Attribution, row: int, words: Sequence[Mapping[int, str]]) -> list[list[float]]:
    """The scores of these words, of each text; signed ones count by size."""
    scores = [np.abs(found.words(row, segment)) for segment in range(len(words))]
    return [[float(f"{of[word]:.6g}") for word in text] for of, text in zip(scores, words, strict=True)]


def _label(subject: Subject, example: Example) -> str | None:
    """The name that the model has for the example's label."""
    return None if example.label is None else subject.labels[subject.encoder.label_id(example.label)]


def highest(scores: Sequence[Sequence[float]], top: int, seed: int) -> tuple[Place, ...]:
    """The places of the highest scores, in reading order; of equal ones some at random."""
    places = [(text, word) for text, words in enumerate(scores) for word in range(len(words))]
    values = np.array([scores[text][word] for text, word in places])
    ties = np.random.default_rng(seed).random(len(values))
    return tuple(sorted(places[at] for at in np.lexsort((ties, -values))[:top].tolist()))
