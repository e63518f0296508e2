"""Long work: what is under way, its events as they happen, and stopping it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from whence.results.to_json import plain
from whence.workbench.jobs import Job
from whence.workbench.routes.shared import Bench

router = APIRouter(tags=["jobs"])
POLL = 0.1  # seconds
ALIVE = 15.0  # seconds between two signs of life, by which a closed connection is noticed


@router.get("/jobs")
async def jobs(bench: Bench) -> dict[str, Any]:
    """The jobs that are under way, and the last that ended."""
    return {"jobs": [job.as_dict() for job in bench.jobs.all()]}


@router.get("/jobs/{number}/events", response_class=StreamingResponse)
async def events(request: Request, bench: Bench, number: str) -> StreamingResponse:
    """What happens in a job, as server-sent events: progress, message, and at the end result, error or cancelled.

    A search that nobody watches any more is stopped after a while; an audit goes on.
    """
    job = bench.jobs.get(number)
    return StreamingResponse(stream(request, job), media_type="text/event-stream")


async def stream(request: Request, job: Job) -> AsyncIterator[str]:
    """The events of a job from its beginning, until it ends or the client goes."""
    job.watchers += 1
    sent, last = 0, time.monotonic()
    try:
        while True:
            ended = job.finished  # asked before the events are read, so that the last one is not missed
            for event in job.events[sent:]:
                sent, last = sent + 1, time.monotonic()
                yield f"event: {event.kind}\ndata: {json.dumps(plain(event.data))}\n\n"
            if ended:
                return
            if time.monotonic() - last > ALIVE:
                last = time.monotonic()
                yield ": alive\n\n"
            await asyncio.sleep(POLL)
    finally:
        job.watchers -= 1
        job.unwatched_since = time.monotonic()


@router.delete("/jobs/{number}")
async def stop(bench: Bench, number: str) -> dict[str, Any]:
    """Stop a job. An audit can be resumed later."""
    job = bench.jobs.get(number)
    job.stop()
    return job.as_dict()


async def finished(request: Request, job: Job) -> dict[str, Any]:
    """Wait for a job as long as the client is there; its last event."""
    job.watchers += 1
    try:
        while not job.finished:
            await asyncio.sleep(POLL)
            if await request.is_disconnected():
                job.stop()
    finally:
        job.watchers -= 1
        job.unwatched_since = time.monotonic()
    return {"kind": job.events[-1].kind, **job.events[-1].data}
