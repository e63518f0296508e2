"""The annotation page: one link for each annotator, one item at a time, every answer on disk before the next item.

Each annotator has an application of their own under `/a/NAME/`, with its own token and cookie, which knows the study's
items and that annotator's answers: not the key, and nobody else's answers.
"""

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from whence.annotation.answers import Answer, AnswerFile, now, places, refuse_name
from whence.annotation.study import KEY, Study, read_study
from whence.core.errors import BadConfig, BadData
from whence.options import usually
from whence.results.atomic_write import saving, write_json
from whence.workbench.access import LOOPBACK, Access, refuse, secured
from whence.workbench.routes.shared import add_errors
from whence.workbench.server import address, bound_socket, run

STATIC = Path(str(files("whence.workbench") / "static" / "annotate"))
LINKS = "links.json"  # tokens by annotator: links stay the same when the server is started again
BODY = 100_000  # bytes of an answer, at most


class AnnotationOptions(BaseModel):
    """Who annotates, and where the page is served."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    annotators: str = Field(description="their names, separated by commas: letters, digits, dots, dashes, underscores")
    host: str = Field("127.0.0.1", description="address to listen on (0.0.0.0: phones and others in this network too)")
    port: Annotated[int | None, usually("the first free one from 8765", "INT")] = Field(
        None, ge=0, le=65535, description="port to listen on (0: any free one)"
    )
    allow_host: Annotated[tuple[str, ...], usually("none", "[NAME ...]")] = Field(
        (), description="further host names or addresses in the links that annotators open"
    )

    def names(self) -> list[str]:
        """The annotators, each once."""
        found = list(dict.fromkeys(name.strip() for name in self.annotators.split(",")))
        for name in found:
            refuse_name(name)
        return found


def serve_study(folder: Path, options: AnnotationOptions, announce: Callable[[str], Any] = print) -> None:
    """Serve a study until Ctrl-C; `announce` gets one line for each annotator, with the link."""
    study = without_key(read_study(folder))
    tokens = annotator_tokens(folder, options.names())
    reachable = options.host if options.host not in ("0.0.0.0", "::") else (*options.allow_host, "127.0.0.1")[0]
    with bound_socket(options.host, options.port) as listening:
        port = listening.getsockname()[1]
        hosts = frozenset({*LOOPBACK, options.host.lower(), *map(str.lower, options.allow_host)})
        apps = {
            name: secured(annotator_app(folder, study, name), Access(token, hosts, BODY, f"whence-{name}-{port}"))
            for name, token in tokens.items()
        }
        for name, token in tokens.items():
            announce(f"{name}: {address(reachable, listening)}/a/{name}/?token={token}")
        announce("Send each annotator their own link. Answers are saved as they are given; Ctrl-C stops the server.")
        run(ByAnnotator(apps), listening)


def without_key(study: Study) -> Study:
    """The study as annotators may see it."""
    return Study(study.task, study.items, {"classes": study.about["classes"]})


def annotator_tokens(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """A random token for each annotator, kept so that links stay valid."""
    path = folder / LINKS
    try:
        kept: dict[str, str] = dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
    except ValueError as error:
        raise BadData(f"{path} is damaged ({error}); delete it, and annotators get new links") from error
    kept |= {name: token_urlsafe(24) for name in names if name not in kept}
    with saving(folder, "a copy of the study"):
        write_json(path, kept)
        path.chmod(0o600)
    return {name: kept[name] for name in names}


class ByAnnotator:
    """Passes each request on to the application of the annotator whom its path names."""

    def __init__(self, apps: dict[str, ASGIApp]) -> None:
        self.apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await lifespan(receive, send)
        _, _, rest = str(scope["path"]).partition("/a/")
        app = self.apps.get(rest.partition("/")[0])
        if app is None:
            return await refuse(send, 404, "there is nothing here; open the link that you were sent")
        return await app(scope, receive, send)


async def lifespan(receive: Receive, send: Send) -> None:
    """Nothing is to be started or stopped."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await send({"type": "lifespan.shutdown.complete"})


class Given(BaseModel):
    """An answer as the page sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str = Field(max_length=100)
    answer: str = Field(max_length=100)
    marked: list[tuple[int, int]] = Field([], max_length=10_000)
    seconds: float = Field(ge=0, allow_inf_nan=False)


def annotator_app(folder: Path, study: Study, name: str) -> FastAPI:
    """The application of one annotator, without the checks of `secured`, through which it must be served."""
    if study.secrets is not None:
        raise BadConfig(f"annotators are served a study without its {KEY}")
    app, mine = FastAPI(docs_url=None, redoc_url=None, openapi_url=None), AnswerFile(folder, study, name)
    add_errors(app)
    app.include_router(routes(study, mine), prefix=f"/a/{name}")
    app.mount(f"/a/{name}/static", StaticFiles(directory=STATIC))
    return app


def routes(study: Study, mine: AnswerFile) -> APIRouter:
    """The page, the study's question, an item, and an answer."""
    router, places_of = APIRouter(), {item.id: number for number, item in enumerate(study.items)}

    @router.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "annotate.html", media_type="text/html; charset=utf-8")

    @router.get("", include_in_schema=False)
    def to_page() -> RedirectResponse:
        return RedirectResponse(f"/a/{mine.annotator}/")

    @router.get("/api/study")
    def about() -> dict[str, Any]:
        task = study.asks
        return {
            "annotator": mine.annotator,
            "task": task.name,
            "question": task.question,
            "choices": task.choices,
            "instructions": task.instructions,
            "examples": [vars(example) for example in task.examples],
            **progress(study, mine.latest()),
        }

    @router.get("/api/items/{number}")
    def item(number: int) -> dict[str, Any]:
        if not 0 <= number < len(study.items):
            raise BadData(f"items have numbers from 0 to {len(study.items) - 1}, got {number}")
        shown, given = study.items[number], mine.latest()
        own = given.get(shown.id)
        answered = None if own is None else {"answer": own.answer, "marked": own.marked}
        return {**vars(shown), "number": number, "given": answered, **progress(study, given)}

    @router.post("/api/answers")
    def answer(given: Given) -> dict[str, Any]:
        number = places_of.get(given.item)
        if number is None:
            raise BadData(f"the study has no item {given.item!r}; load the page again")
        mine.append([Answer(given.item, given.answer, places(given.marked), round(given.seconds, 3), now())])
        return progress(study, mine.latest())

    return router


def progress(study: Study, given: dict[str, Answer]) -> dict[str, Any]:
    """How many items there are and have an answer, and the first that has none."""
    open_ = [number for number, item in enumerate(study.items) if item.id not in given]
    return {"total": len(study.items), "answered": len(study.items) - len(open_), "next": open_[0] if open_ else None}
