"""What a saved page carries: the answers that it would ask a server for, as many heads as there is room for."""

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from whence import __version__
from whence.core.errors import WhenceError
from whence.explaining.explanation import flow
from whence.figures.flow.html import as_data
from whence.results.to_json import plain
from whence.subject.subject import Subject
from whence.workbench.operations.described import OVERRIDES, describe_model
from whence.workbench.operations.looking import Look, Stack, encoded, explained_target
from whence.workbench.operations.pictures import Picture, head_picture, thumbnails
from whence.workbench.operations.scoring import scores_of
from whence.workbench.operations.summaries import slow_summaries

ROOM = 12_000_000  # bytes of weights, before they are compressed
METHODS = ("raw_attention", "gradient_x_input", "leave_one_out")
LONG = 128  # tokens, above which methods that run the model once for each token are left out
SLOW = ("leave_one_out",)
THUMBNAIL = 24
NOTHING_FOUND: dict[str, Any] = {"overall": None, "questions": [], "heads": {}}
Place = tuple[str, int, int | None]  # stack, layer, head; None: the mean of the layer


def embedded(picture: Picture) -> dict[str, Any]:
    """A picture as a page carries it."""
    packed = base64.b64encode(zlib.compress(picture.bytes, 6)).decode()
    return {"octets": packed, "shape": picture.shape, "scale": picture.scale}


def page_answers(
    subject: Subject,
    look: Look,
    methods: Mapping[str, str],
    first: Sequence[Place] = (),
    verdicts: Mapping[str, Any] = NOTHING_FOUND,
    room: int = ROOM,
) -> dict[str, Any]:
    """The answers by method and address. `methods` are the explainers with what each scores by; the heads of `first`
    are there in any case.
    """
    model, (kept, whole) = look.request.model, _kept(look, first, room)
    note = f"This saved page holds {len(kept)} of {whole} pictures of weights; open it in the workbench for the others."
    seen = look.as_dict()
    seen["notes"] = [*seen["notes"], *[note] * (len(kept) < whole)]
    about = describe_model(subject, model, [stack.as_dict() for stack in look.stacks])
    left_out = SLOW if len(look.axes["tokens"]) > LONG else ()
    scored = [name for name in METHODS if name in methods and name not in left_out]
    listed = [{"name": name, "about": methods[name]} for name in scored]
    info = {"version": __version__, "models": [about], "data": None, "overrides": OVERRIDES, "methods": listed}
    answers: dict[str, Any] = {
        "GET /info": {**info, "limits": {}},
        "POST /look": seen,
        f"GET /verdicts?model={model}": verdicts,
        "POST /scores": asdict(scores_of(subject, look.request, scored)),
        f"GET /summaries/{look.id}": _summaries(subject, look),
    }
    answers |= _flow(subject, look)
    for stack in look.stacks:
        answers[f"GET /thumbnails/{look.id}/{stack.id}?size={THUMBNAIL}"] = embedded(thumbnails(stack, THUMBNAIL))
    for name, layer, head in kept:
        picture = head_picture(look.stack(name), layer, None if head is None else [head], "uint8")
        which = "mean" if head is None else head
        answers[f"GET /weights/{look.id}/{name}/{layer}/{which}?dtype=uint8"] = embedded(picture)
    return {f"{name.replace(' /', ' /api/v1/', 1)}": plain(answer) for name, answer in answers.items()}


def _kept(look: Look, first: Sequence[Place], room: int) -> tuple[list[Place], int]:
    """The pictures there is room for, those asked for first, then those of the last layers; and how many there are."""
    every = [place for stack in look.stacks for place in _places(stack)]
    kept: list[Place] = []
    for place in dict.fromkeys([*first, *reversed(every)]):
        size = int(look.stack(place[0]).weights[place[1]][0].size)
        if place in first or size <= room:
            kept.append(place)
            room -= size
    return kept, len(every)


def _places(stack: Stack) -> Iterator[Place]:
    for layer, weights in enumerate(stack.weights):
        yield from ((stack.id, layer, head) for head in (*range(len(weights)), *[None] * (len(weights) > 1)))


def _summaries(subject: Subject, look: Look) -> dict[str, Any]:
    if not subject.task.predicts:
        return {"importance": {}, "sink_share": {}, "sinks": {}, "errors": {}}
    batch, example = encoded(subject, look.request)
    target, _ = explained_target(subject, look.request, batch, example, subject.logits(batch).detach())
    stacks = [(stack.id, stack.sites, [len(layer) for layer in stack.weights]) for stack in look.stacks]
    return slow_summaries(subject, batch, target, stacks)


def _flow(subject: Subject, look: Look) -> dict[str, Any]:
    """The flow diagram, where the model has layers of self-attention."""
    try:
        return {"POST /flow": as_data(flow(subject, look.request.text, look.request.options(subject, ("lat",))))}
    except (WhenceError, ValueError):
        return {}
