"""What the routes share: the workbench of a request, work done by a model's worker, errors as sentences."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from whence.core.errors import WhenceError
from whence.workbench.audits import Conflict, UnknownAudit
from whence.workbench.bench import Served, Workbench
from whence.workbench.jobs import UnknownJob
from whence.workbench.looks import UnknownLook
from whence.workbench.operations.looking import Look, UnknownPlace
from whence.workbench.operations.pictures import Picture
from whence.workbench.worker import Busy, Cancelled, Ticket

POLL = 0.2  # seconds between two looks whether a client is still there
GONE = 499  # nobody reads it
Answer = TypeVar("Answer")


def bench_of(request: Request) -> Workbench:
    """The workbench that the application serves."""
    bench: Workbench = request.app.state.bench
    return bench


Bench = Annotated[Workbench, Depends(bench_of)]


async def run(request: Request, served: Served, work: Callable[[Ticket], Answer]) -> Answer:
    """Let a model's worker do something, and wait for it as long as the client is there."""
    ticket = served.worker.ask(work)
    outcome = asyncio.wrap_future(ticket.future)
    try:
        while not outcome.done():
            await asyncio.wait([outcome], timeout=POLL)
            if not outcome.done() and await request.is_disconnected():
                ticket.cancel()
                raise Cancelled("the client has gone")
    except asyncio.CancelledError:
        ticket.cancel()
        raise
    finally:
        outcome.add_done_callback(lambda done: done.cancelled() or done.exception())  # read, so that none is unread
    return outcome.result()


async def held_look(request: Request, bench: Workbench, name: str) -> Look:
    """A look by its id, at once if it is held."""
    held = bench.looks.get(name)
    if held is not None:
        return held
    served = bench.model_of(name)
    return await run(request, served, lambda ticket: bench.again(name, ticket.check))


def octets(picture: Picture) -> Response:
    """A picture as bytes, with its shape and scale in headers."""
    headers = {"X-Shape": ",".join(map(str, picture.shape)), "X-Scale": repr(picture.scale)}
    return Response(picture.bytes, media_type="application/octet-stream", headers=headers)


STATUS: dict[type[Exception], int] = {
    Busy: 429,
    Cancelled: GONE,
    Conflict: 409,
    UnknownAudit: 404,
    UnknownJob: 404,
    UnknownLook: 404,
    UnknownPlace: 404,
    WhenceError: 400,
}


def add_errors(app: FastAPI) -> None:
    """Errors that are the client's get a sentence and a status."""

    async def failed(request: Request, error: Exception) -> JSONResponse:
        status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
        headers = {"Retry-After": "1"} if status == 429 else None
        return JSONResponse({"error": str(error)}, status, headers)

    async def invalid(request: Request, error: Any) -> JSONResponse:
        wrong = error.errors()[0]
        where = ".".join(str(place) for place in wrong["loc"] if place != "body")
        return JSONResponse({"error": f"{where}: {wrong['msg'][0].lower()}{wrong['msg'][1:]}"}, 422)

    async def refused(request: Request, error: Any) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    for kind in STATUS:
        app.add_exception_handler(kind, failed)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
