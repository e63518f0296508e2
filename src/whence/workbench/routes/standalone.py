"""A look as a page of its own, which needs no server."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from whence.workbench.operations.embedding import Place, page_answers
from whence.workbench.operations.looking import UnknownPlace
from whence.workbench.routes.audits import Known
from whence.workbench.routes.shared import Bench, run
from whence.workbench.standalone import standalone
from whence.workbench.worker import Ticket

router = APIRouter(tags=["look"])
POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"  # it is saved, not shown from here


@router.get("/standalone/{name}", response_class=Response)
async def saved_page(
    request: Request, bench: Bench, known: Known, name: str, heads: Annotated[str, Query(max_length=4000)] = ""
) -> Response:
    """The page Look with this text and its heads inside; those of `heads` (`self/3/5,self/3/6`) in any case."""
    served = bench.model_of(name)
    first = [_place(one) for one in heads.split(",") if one]

    def work(ticket: Ticket) -> str:
        look = bench.again(name, ticket.check)
        for stack, layer, head in first:
            if not 0 <= layer < len(look.stack(stack).weights) or (head or 0) >= len(look.stack(stack).weights[layer]):
                raise UnknownPlace(f"no head {stack}/{layer}/{head}")
        found = known.verdicts(served, served.stacks)
        return standalone("look", page_answers(served.subject, look, bench.methods, first, found), _state(first))

    page = await run(request, served, work)
    headers = {"Content-Disposition": 'attachment; filename="whence.html"', "Content-Security-Policy": POLICY}
    return Response(page, media_type="text/html; charset=utf-8", headers=headers)


def _place(text: str) -> Place:
    stack, *numbers = text.split("/")
    if len(numbers) != 2 or not all(one.isdecimal() for one in numbers):
        raise UnknownPlace(f"a head is written stack/layer/head, as in self/3/5; got {text[:40]!r}")
    return stack, int(numbers[0]), int(numbers[1])


def _state(first: list[Place]) -> dict[str, object]:
    """What is opened: the heads that were asked for, of the first one's layer."""
    if not first:
        return {}
    stack, layer, _ = first[0]
    return {"stack": stack, "layer": layer, "heads": [head for one, at, head in first if (one, at) == (stack, layer)]}
