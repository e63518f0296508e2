"""Scores of tokens, changed attention, the search for an adversary, and comparing."""

from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from whence.core.errors import BadConfig
from whence.explaining.explanation import flow as attention_flow
from whence.figures.flow.html import as_data
from whence.measures.divergence import js_divergence, total_variation
from whence.workbench.bench import Workbench
from whence.workbench.operations.adversary import AdversaryRequest, search_adversary
from whence.workbench.operations.comparing import compare
from whence.workbench.operations.looking import Look, encoded, explained_target
from whence.workbench.operations.overrides import overrides_for
from whence.workbench.operations.python_code import as_python
from whence.workbench.operations.requests import NAME, Asked, Edit
from whence.workbench.operations.scoring import Scores, scores_of
from whence.workbench.operations.summaries import slow_summaries
from whence.workbench.routes.shared import Bench, held_look, run
from whence.workbench.worker import Ticket

router = APIRouter(tags=["change"])
MOST = 50  # edits


class ScoresRequest(Asked):
    """Methods that score a text's tokens."""

    id: str = Field(max_length=NAME, description="the id of a look")
    methods: tuple[str, ...] = Field(("raw_attention",), min_length=1, max_length=30)
    granularity: Literal["tokens", "words"] = "tokens"


class ChangeRequest(Asked):
    """Edits of a text's attention, applied one after another."""

    id: str = Field(max_length=NAME, description="the id of a look")
    edits: tuple[Edit, ...] = Field((), max_length=MOST)
    methods: tuple[str, ...] = Field((), max_length=10, description="methods whose scores are compared")


class CompareRequest(Asked):
    """Two looks."""

    a: str = Field(max_length=NAME)
    b: str = Field(max_length=NAME)
    stack: str = Field(max_length=NAME)


class FlowRequest(Asked):
    """A look whose flow of attention is drawn."""

    id: str = Field(max_length=NAME)
    stack: str | None = Field(None, max_length=NAME, description="not used: a flow goes through all layers")


@router.get("/summaries/{name}")
async def summaries(request: Request, bench: Bench, name: str) -> dict[str, Any]:
    """The numbers of each head that take longer: its importance, and its share of sinks."""

    def work(ticket: Ticket) -> dict[str, Any]:
        look = bench.again(name, ticket.check)
        subject = bench.model(look.request.model).subject
        batch, example = encoded(subject, look.request)
        target, _ = explained_target(subject, look.request, batch, example, subject.logits(batch).detach())
        stacks = [(stack.id, stack.sites, [len(layer) for layer in stack.weights]) for stack in look.stacks]
        return slow_summaries(subject, batch, target, stacks)

    return await run(request, bench.model_of(name), work)


@router.post("/scores")
async def scores(request: Request, bench: Bench, body: ScoresRequest) -> dict[str, Any]:
    """The tokens of a text scored by several methods, each as in `whence.explain`."""
    refuse_unknown(bench, body.methods)

    def work(ticket: Ticket) -> Scores:
        look = bench.again(body.id, ticket.check)
        return scored(bench, look, body.methods, ticket, words=body.granularity == "words")

    return asdict(await run(request, bench.model_of(body.id), work))


def scored(bench: Workbench, look: Look, methods: tuple[str, ...], ticket: Ticket, words: bool = False) -> Scores:
    """The scores of a look, under its edits if it has some."""
    subject = bench.model(look.request.model).subject
    base = bench.look(look.request, check=ticket.check)
    found = Scores()
    for method in methods:  # overrides anew for each, so that each draws the same random weights
        rules = overrides_for(subject, base, look.edits)
        one = scores_of(subject, look.request, [method], words, rules, ticket.check)
        found.tokens = found.tokens or one.tokens
        for name in ("scores", "how", "errors"):
            getattr(found, name).update(getattr(one, name))
    return found


def refuse_unknown(bench: Workbench, methods: tuple[str, ...]) -> None:
    """Refuse methods that are not installed: a request never imports a module that it names."""
    unknown = [name for name in methods if name not in bench.methods]
    if unknown:
        raise BadConfig(f"no explainer {unknown[0][:80]!r}; choose from: {', '.join(bench.methods)}")


@router.post("/change")
async def change(request: Request, bench: Bench, body: ChangeRequest) -> dict[str, Any]:
    """The prediction before and after edits of the attention, how far apart they are, and the same as Python."""
    refuse_unknown(bench, body.methods)

    def work(ticket: Ticket) -> dict[str, Any]:
        given = bench.again(body.id, ticket.check)
        before = bench.look(given.request, check=ticket.check)
        after = bench.look(given.request, body.edits, ticket.check)
        old, new = (scored(bench, look, body.methods, ticket) for look in (before, after))
        subject = bench.model(given.request.model).subject
        return {
            "before": {"id": before.id, "prediction": before.prediction},
            "after": {"id": after.id, "prediction": after.prediction},
            **apart(before, after),
            "scores_before": old.scores,
            "scores_after": new.scores,
            "errors": {**old.errors, **new.errors},
            "python": as_python(subject, before, body.edits),
        }

    return await run(request, bench.model_of(body.id), work)


def apart(before: Look, after: Look) -> dict[str, float | None]:
    """How far two predictions are apart; None where there are no probabilities."""
    p, q = before.probabilities, after.probabilities
    if p is None or q is None or before.prediction is None or before.prediction["valued"]:
        return {"tvd": None, "jsd": None}
    return {"tvd": float(total_variation(p, q)), "jsd": max(0.0, float(js_divergence(p.numpy(), q.numpy())))}


@router.post("/adversary")
async def adversary(bench: Bench, body: AdversaryRequest) -> dict[str, str]:
    """Search for attention that is as different as can be and keeps the prediction; the answer is a job."""
    served = bench.model_of(body.id)
    job = bench.start(
        "adversary", served, lambda: search_adversary(served.subject, lambda: bench.again(body.id), body), id=body.id
    )
    return {"job": job.id}


@router.post("/compare")
async def side_by_side(request: Request, bench: Bench, body: CompareRequest) -> dict[str, Any]:
    """The aligned tokens of two looks, and how differently each head attends in them."""
    a, b = await held_look(request, bench, body.a), await held_look(request, bench, body.b)
    return compare(a, b, body.stack)


@router.post("/flow")
async def flow(request: Request, bench: Bench, body: FlowRequest) -> dict[str, Any]:
    """How attention flows through all layers (Wu et al. 2020, Fig. 3), as the diagram draws it."""

    def work(ticket: Ticket) -> dict[str, Any]:
        asked = bench.again(body.id, ticket.check).request
        subject = bench.model(asked.model).subject
        return as_data(attention_flow(subject, asked.text, asked.options(subject, ("lat",))))

    return await run(request, bench.model_of(body.id), work)
