"""A look at one text: its tokens, the prediction, and the weights of every head, held in half precision."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from whence.core.attending import attending
from whence.core.errors import BadData
from whence.core.site import Call, Kind
from whence.data.examples import Example
from whence.explaining.explained import class_name, describe_position, question_of, read_explained, read_prediction
from whence.explaining.explanation import encode_text
from whence.subject.batch import Batch
from whence.subject.generation import translate
from whence.subject.named_targets import asked
from whence.subject.subject import Subject
from whence.subject.targets import Target
from whence.workbench.operations.axes import Axes, Matrix, as_plain, axes_of, placed, special_places
from whence.workbench.operations.requests import Edit, LookRequest
from whence.workbench.operations.summaries import HeadSummary, summarise

SHOWN = 20  # of the classes of a vocabulary
MOST = 1_500_000_000  # bytes of one text's weights
Check = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers of one kind of attention: the sites, and the weights [head query key] of each."""

    id: str
    name: str
    kind: Kind
    sites: tuple[str, ...]
    query_axis: str
    key_axis: str
    weights: tuple[Matrix, ...]
    summaries: tuple[HeadSummary, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: all but the weights."""
        heads = [len(layer) for layer in self.weights]
        queries, keys = self.weights[0].shape[1:]
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "sites": self.sites,
            "layers": len(self.sites),
            "heads": heads,
            "queries": queries,
            "keys": keys,
            "query_axis": self.query_axis,
            "key_axis": self.key_axis,
        }


@dataclass(frozen=True, eq=False)
class Look:
    """What was seen of one text."""

    id: str
    request: LookRequest
    edits: tuple[Edit, ...]
    axes: Axes
    prediction: dict[str, Any] | None
    probabilities: Tensor | None  # [class], where the prediction is explained
    stacks: tuple[Stack, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def bytes(self) -> int:
        """How much memory its weights take."""
        return sum(layer.nbytes for stack in self.stacks for layer in stack.weights)

    def stack(self, name: str) -> Stack:
        """A stack by its id."""
        for stack in self.stacks:
            if stack.id == name:
                return stack
        raise UnknownPlace(f"no stack {name!r}; choose from: {', '.join(stack.id for stack in self.stacks)}")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: all but the weights."""
        kept = {name: value for name, value in self.request.model_dump().items() if value is not None}
        summaries = {
            stack.id: {name: [asdict(layer)[name] for layer in stack.summaries] for name in HeadSummary.NAMES}
            for stack in self.stacks
        }
        return {
            "id": self.id,
            **kept,
            "edits": [edit.model_dump(mode="json") for edit in self.edits],
            "axes": as_plain(self.axes),
            "tokens": as_plain(self.axes)["tokens"],
            "prediction": self.prediction,
            "stacks": [stack.as_dict() for stack in self.stacks],
            "summaries": summaries,
            "notes": self.notes,
        }


class UnknownPlace(KeyError):
    """A stack, layer or head was asked for that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class Recorder:
    """A watcher that holds each site's weights in half precision, and a few numbers of each head."""

    def __init__(self, check: Check) -> None:
        self.check, self.left, self.calls = check, MOST, dict[str, list[Call]]()

    def __call__(self, call: Call) -> None:
        self.check()
        kept = call.weights.detach()[:1].to(torch.float16).cpu()
        self.left -= kept.nbytes
        if self.left < 0:
            raise BadData(
                f"the text has {call.weights.shape[-1]} tokens, and the weights of all heads would take more than"
                f" {MOST / 1e9:g} GB; expected a shorter text"
            )
        summary = replace(call, weights=kept, mask=call.mask[:1].cpu(), scores=None, values=None, mix=None)
        self.calls.setdefault(call.site.name, []).append(summary)


def complete(subject: Subject, request: LookRequest) -> LookRequest:
    """The request with what a translator writes, where no target text was given."""
    if subject.task.needs != "target" or (request.target_text or "").strip():
        return request
    batch = subject.read([Example(request.text, pair=request.pair)])
    return request.model_copy(update={"target_text": translate(subject, batch)[0] or "."})


def encoded(subject: Subject, request: LookRequest) -> tuple[Batch, Example]:
    """The text as a batch of one."""
    return encode_text(subject, request.text, request.options(subject))


def look(
    subject: Subject,
    request: LookRequest,
    name: str,
    edits: Sequence[Edit] = (),
    overrides: Sequence[Any] = (),
    check: Check = lambda: None,
) -> Look:
    """Run the model on a text once, under these overrides, and keep what it attended to."""
    batch, example = encoded(subject, request)
    recorder = Recorder(check)
    with torch.no_grad(), ExitStack() as open_blocks:
        for override in overrides:
            open_blocks.enter_context(attending(subject.model, override=override, watch=None))
        if subject.sites:
            open_blocks.enter_context(attending(subject.model, watch=recorder))
        logits = subject.logits(batch) if subject.task.predicts else subject.model(**batch.inputs) and None
    axes = axes_of(subject, batch, example)
    stacks = _stacks(subject, batch, recorder, axes)
    notes = (f"the text was longer than {subject.encoder.limit} and was cut there",) * bool(batch.truncated[0])
    if logits is None:
        return Look(name, request, tuple(edits), axes, None, None, stacks, notes)
    target, known = explained_target(subject, request, batch, example, logits)
    at = known.predict(batch)[0, int(target.positions[0])]
    prediction = describe_prediction(known, batch, target, at)
    return Look(name, request, tuple(edits), axes, prediction, at.double(), stacks, notes)


def explained_target(
    subject: Subject, request: LookRequest, batch: Batch, example: Example, logits: Tensor
) -> tuple[Target, Subject]:
    """What is explained of a text, and the subject as one that knows these logits and need not run again."""
    known = copy(subject)
    known.logits = lambda batch: logits  # type: ignore[method-assign]
    question = question_of(request.options(subject), subject)
    return asked(known, batch, [example], question), known


def describe_prediction(subject: Subject, batch: Batch, target: Target, at: Tensor) -> dict[str, Any]:
    """The probabilities where the prediction is explained; of a vocabulary those of the likeliest tokens."""
    name, probability = read_prediction(subject, batch, target)
    explained = read_explained(subject, batch, target)
    valued = subject.task.predicts_values
    most = torch.arange(len(at)) if len(at) <= SHOWN else at.topk(SHOWN).indices
    also = [target.classes[0], *([] if target.against is None else [target.against[0]])]
    numbers = list(dict.fromkeys([*most.tolist(), *(int(one) for one in also)]))
    return {
        "classes": ["value"] if valued else [class_name(subject, number) for number in numbers],
        "probabilities": [float(at[number]) for number in numbers],
        "predicted": name,
        "probability": None if valued else probability,
        "position": int(target.positions[0]),
        "where": describe_position(subject, batch, target),
        "explained": None if explained is None else {**asdict(explained), "sentence": explained.sentence},
        "valued": valued,
    }


def _stacks(subject: Subject, batch: Batch, recorder: Recorder, axes: Axes) -> tuple[Stack, ...]:
    """The recorded sites, those of one stack together, in execution order."""
    sites = subject.sites
    grouped: dict[str, list[str]] = {}
    for name in (name for name in sites if name in recorder.calls):
        grouped.setdefault(sites[name].stack, []).append(name)
    made: list[Stack] = []
    for pattern, names in grouped.items():
        layers = [_joined(recorder.calls[name]) for name in names]
        kind = sites[names[0]].kind
        shown = [placed(subject, batch, sites[name], *layer, axes) for name, layer in zip(names, layers, strict=True)]
        queries, keys = shown[0][1:]
        special = special_places(axes, keys)
        square = queries == keys
        weights = tuple(one[0] for one in shown)
        numbers = tuple(summarise(layer, special, square) for layer in weights)
        stack = Stack(
            stack_id(kind, [one.id for one in made]), pattern, kind, tuple(names), queries, keys, weights, numbers
        )
        made.append(stack)
    return tuple(made)


def stack_id(kind: Kind, taken: Sequence[str]) -> str:
    """A short name for a stack in addresses: its kind, with a number from the second of that kind on."""
    same = sum(one == kind or one.startswith(f"{kind}-") for one in taken)
    return f"{kind}-{same + 1}" if same else kind


def _joined(calls: Sequence[Call]) -> tuple[Matrix, int]:
    """The weights of all calls of a site, one after another (the steps of a decoder), and how many sinks there are."""
    return np.concatenate([call.weights[0].numpy() for call in calls], axis=1), calls[0].sinks
