"""The workbench as a web application: its pages, its documentation, and the interface under /api/v1."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

from whence import __version__
from whence.workbench.audits import Audits
from whence.workbench.bench import Workbench
from whence.workbench.findings import Findings
from whence.workbench.routes import audits, change, docs, examples, jobs, look, standalone
from whence.workbench.routes.shared import add_errors
from whence.workbench.standalone import view_page

STATIC = Path(str(files("whence.workbench") / "static"))
FLOW = Path(str(files("whence.figures.flow") / "static"))
PAGES = {"/": "look", "/change": "change", "/compare": "compare", "/audit": "audit", "/explore": "explore"}
ROUTERS = (look.router, change.router, jobs.router, audits.router, examples.router, standalone.router)


def application(bench: Workbench) -> FastAPI:
    """The application, without the checks of `secured`, through which it must be served."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        bench.close()

    app = FastAPI(
        title="Whence workbench",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    app.state.bench, app.state.findings = bench, Findings(Audits(bench))
    add_errors(app)
    for router in ROUTERS:
        app.include_router(router, prefix="/api/v1")
    app.include_router(docs.router)
    for path, name in PAGES.items():
        add_page(app, path, name)
    app.mount("/static/flow", Revalidated(directory=FLOW), name="flow")
    app.mount("/static", Revalidated(directory=STATIC), name="static")
    return app


class Revalidated(StaticFiles):
    """Files that a browser may keep, if it asks each time whether they are still the same."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, or that it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def add_page(app: FastAPI, path: str, view: str) -> None:
    """Serve the page of a view."""
    written = view_page(view)

    async def page() -> HTMLResponse:
        return HTMLResponse(written)

    app.add_api_route(path, page, methods=["GET"], include_in_schema=False, name=view)
