"""The corpus: its examples in a table, and the texts in which a head does something."""

from typing import Annotated, Any, Literal

import pandas as pd
from fastapi import APIRouter, Query, Request
from pydantic import Field

from whence.core.errors import BadConfig
from whence.results.to_json import plain
from whence.workbench.bench import Served, Workbench
from whence.workbench.operations.exploring import compute_table, page_of, plain_table
from whence.workbench.operations.finding import FindRequest, find
from whence.workbench.operations.requests import NAME, Asked
from whence.workbench.routes.jobs import finished
from whence.workbench.routes.shared import Bench

router = APIRouter(tags=["examples"])
MOST = 20_000  # examples of which a table is computed


class ComputeRequest(Asked):
    """For which model, and how many examples."""

    model: str = Field("", max_length=NAME)
    limit: int = Field(MOST, gt=0, le=MOST)


def table_of(bench: Workbench, served: Served) -> pd.DataFrame:
    """The table of a model: what was computed, or the examples alone."""
    if bench.corpus is None:
        raise BadConfig("no corpus is open; start the workbench with one: whence serve MODEL DATA")
    if served.id not in bench.tables:
        bench.tables[served.id] = plain_table(bench.examples)
    table: pd.DataFrame = bench.tables[served.id]
    return table


@router.get("/examples")
def examples(
    bench: Bench,
    model: str = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 25,
    sort: Annotated[str, Query(max_length=NAME)] = "",
    order: Literal["asc", "desc", ""] = "asc",
    filter: Annotated[str, Query(max_length=NAME)] = "",  # noqa: A002
) -> dict[str, Any]:
    """Some examples of the corpus, sorted and filtered; columns that were not computed are null."""
    rows, total = page_of(table_of(bench, bench.model(model)), offset, limit, sort, order == "desc", filter)
    return {"rows": plain(rows), "total": total}


@router.post("/examples/compute")
async def compute(bench: Bench, body: ComputeRequest) -> dict[str, str]:
    """Compute prediction, confidence and attention of each example; the answer is a job."""
    served = bench.model(body.model)
    table_of(bench, served)

    def work() -> Any:
        for event in compute_table(served.subject, bench.examples, body.limit):
            if "result" in event:
                columns, rows = event["result"]["columns"], event["result"]["rows"]
                whole = plain_table(bench.examples)
                for name, values in columns.items():
                    whole[name] = pd.Series(values + [None] * (len(whole) - rows))
                bench.tables[served.id] = whole
                event = {"result": {"rows": rows}}
            yield event

    return {"job": bench.start("examples", served, work).id}


@router.post("/find")
async def find_texts(request: Request, bench: Bench, body: FindRequest) -> dict[str, Any]:
    """The texts of the corpus in which a head has the strongest weights of a kind, strongest first."""
    served = bench.model(body.model)
    if bench.corpus is None:
        raise BadConfig("no corpus is open; start the workbench with one: whence serve MODEL DATA")

    def work() -> Any:
        yield {"stage": "reading the model"}
        yield from find(served.subject, site_of(served, body), bench.examples, body)

    ended = await finished(request, bench.start("find", served, work))
    if ended["kind"] != "result":
        raise BadConfig(ended.get("error", "the search was stopped"))
    return {"rows": plain(ended["rows"]), "searched": ended["searched"]}


def site_of(served: Served, body: FindRequest) -> str:
    """The site of a stack and layer; in the model's worker, since the stacks may have to be seen first."""
    for stack in served.stacks:
        if stack["id"] == body.stack and body.layer < len(stack["sites"]):
            return str(stack["sites"][body.layer])
    there = ", ".join(f"{stack['id']} ({stack['layers']} layers)" for stack in served.stacks)
    raise BadConfig(f"no layer {body.layer} of {body.stack[:40]!r}; there are: {there}")
