"""Audits: starting and resuming them, past ones, their reports, tables and figures. To stop one, stop its job."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, PlainTextResponse, Response

from whence.results.to_json import plain
from whence.workbench.audits import AuditRequest
from whence.workbench.findings import Findings
from whence.workbench.routes.shared import Bench, run

router = APIRouter(tags=["audits"])
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
FIGURE_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def findings_of(request: Request) -> Findings:
    """What is known of past audits; one for the whole application."""
    found: Findings = request.app.state.findings
    return found


Known = Annotated[Findings, Depends(findings_of)]


@router.post("/audits")
def start(known: Known, body: AuditRequest) -> dict[str, str]:
    """Start an audit of the open corpus, or resume it if it was stopped; the answer is a job."""
    job = known.audits.start(body)
    return {"job": job.id, "name": job.about["name"]}


@router.get("/audits")
def past(known: Known) -> dict[str, Any]:
    """The audits in the folder, the newest first, with their answers and verdicts."""
    return {"audits": plain(known.audits.all())}


@router.get("/audits/{name}/report", response_class=FileResponse)
def report(known: Known, name: str) -> FileResponse:
    """The report of an audit: a page that runs and loads nothing."""
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(known.audits.report(name), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/results")
def results(known: Known) -> dict[str, Any]:
    """The results in the folder, each with its verdict and effects."""
    return {"results": plain(known.all())}


@router.get("/results/{key}/table.csv", response_class=PlainTextResponse)
def table(known: Known, key: str) -> Response:
    """The table of a result as CSV."""
    headers = {"Content-Disposition": f'attachment; filename="{known.result(key).experiment}.csv"'}
    return Response(known.csv(key), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/results/{key}/figure.svg", response_class=Response)
def figure(known: Known, key: str) -> Response:
    """The figure of a result."""
    headers = {"Content-Security-Policy": FIGURE_POLICY}
    return Response(known.svg(key), media_type="image/svg+xml", headers=headers)


@router.get("/verdicts")
async def verdicts(request: Request, bench: Bench, known: Known, model: str = "") -> dict[str, Any]:
    """What the newest audit of a model found: overall, on each question, and of each head that was measured."""
    served = bench.model(model)
    stacks = await run(request, served, lambda _: served.stacks)
    found: dict[str, Any] = plain(await run_in_threadpool(known.verdicts, served, stacks))
    return found
