"""Looking at a text: prediction, weights of single heads, thumbnails of all."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from whence import __version__
from whence.workbench.access import BODY
from whence.workbench.bench import Served
from whence.workbench.operations.described import OVERRIDES
from whence.workbench.operations.looking import UnknownPlace
from whence.workbench.operations.pictures import Dtype, head_picture, thumbnails
from whence.workbench.operations.requests import TEXT, LookRequest
from whence.workbench.routes.shared import Bench, held_look, octets, run
from whence.workbench.worker import Ticket

router = APIRouter(tags=["look"])


@router.get("/info")
async def info(request: Request, bench: Bench) -> dict[str, Any]:
    """What is served: models, the corpus, methods, overrides and limits."""
    models = [await run(request, served, partial(_about, served)) for served in bench.served.values()]
    examples = bench.examples
    columns = ["text", *(name for name in ("pair", "label", "target") if examples and getattr(examples[0], name))]
    data = bench.corpus and {
        "name": bench.corpus.name,
        "split": bench.split,
        "rows": len(examples),
        "columns": columns,
        "labels": list(bench.corpus.labels),
        "notes": list(bench.corpus.notes),
    }
    return {
        "version": __version__,
        "models": models,
        "data": data,
        "folder": str(bench.folder),
        "methods": [{"name": name, "about": about} for name, about in bench.methods.items()],
        "overrides": OVERRIDES,
        "limits": {"text": TEXT, "body": BODY, "tokens": max(one["limit"] for one in models)},
    }


def _about(served: Served, ticket: Ticket) -> dict[str, Any]:
    return served.about()


@router.post("/look")
async def look(request: Request, bench: Bench, body: LookRequest) -> dict[str, Any]:
    """Read a text: its tokens, the prediction, the stacks of layers, and a few numbers of each head."""
    served = bench.model(body.model)
    return (await run(request, served, lambda ticket: bench.look(body, check=ticket.check))).as_dict()


@router.get("/look/{name}")
async def look_again(request: Request, bench: Bench, name: str) -> dict[str, Any]:
    """A look that was made before, by its id."""
    return (await held_look(request, bench, name)).as_dict()


@router.get("/weights/{name}/{stack}/{layer}/{head}", response_class=Response)
async def weights(
    request: Request,
    bench: Bench,
    name: str,
    stack: str,
    layer: int,
    head: str,
    dtype: Dtype = "uint8",
    heads: Annotated[str, Query(pattern=r"^[\d,]*$", max_length=4000)] = "",
) -> Response:
    """The weights of one head [query key]; `head=mean` combines all, or those of `heads=0,3`.

    Headers: `X-Shape`, and `X-Scale`, which times a number is a weight.
    """
    found = (await held_look(request, bench, name)).stack(stack)
    if head == "mean":
        chosen = [int(one) for one in heads.split(",") if one] or None
    elif head.isdecimal():
        chosen = [int(head)]
    else:
        raise UnknownPlace(f"a head is a number or 'mean'; got {head[:20]!r}")
    return octets(head_picture(found, layer, chosen, dtype))


@router.get("/thumbnails/{name}/{stack}", response_class=Response)
async def small_pictures(
    request: Request, bench: Bench, name: str, stack: str, size: Annotated[int, Query(ge=1, le=64)] = 24
) -> Response:
    """All heads as small pictures, uint8 [layer head height width]: the square root of the largest weight covered."""
    return octets(thumbnails((await held_look(request, bench, name)).stack(stack), size))
