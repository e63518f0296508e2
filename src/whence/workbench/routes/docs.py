"""The documentation of the interface: a plain page made from its OpenAPI description, which loads nothing else."""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Interface of the workbench</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/views/views.css">
<link rel="stylesheet" href="/static/workbench.css">
</head>
<body>
<main>
<h1>Interface of the workbench {version}</h1>
<p>Every request needs the token: the cookie that the printed address sets, or the header
<code>Authorization: Bearer TOKEN</code>. Errors are <code>{{"error": "a sentence"}}</code> with status 400 (it makes no
sense), 401 (no token), 404 (not there), 409 (an audit is under way), 413 (too long), 422 (not valid) or 429 (the queue
is full). The same as OpenAPI: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
{operations}
</main>
</body>
</html>
"""


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The operations, each with its parameters and body."""
    described = request.app.openapi()
    parts = [
        operation(method, path, one, described)
        for path, methods in described["paths"].items()
        for method, one in methods.items()
    ]
    return HTMLResponse(PAGE.format(version=escape(described["info"]["version"]), operations="\n".join(parts)))


def operation(method: str, path: str, one: dict[str, Any], described: dict[str, Any]) -> str:
    """One operation in HTML."""
    rows = [field(p["name"], p["schema"], p["in"], p.get("required", False)) for p in one.get("parameters", [])]
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    schema = referred(body, described)
    needed = schema.get("required", [])
    rows += [field(name, value, "body", name in needed) for name, value in schema.get("properties", {}).items()]
    head = "<tr><th>name</th><th>in</th><th>type</th><th>meaning</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    about = escape(one.get("description", one.get("summary", ""))).replace("\n\n", "</p><p>")
    return f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2><p>{about}</p>{table}"


def referred(schema: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """A schema, or the one that it refers to."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = described.get("components", {}).get("schemas", {}).get(name, {}) if name else schema
    return found


def field(name: str, schema: dict[str, Any], where: str, required: bool) -> str:
    """One parameter or field of a body."""
    usual = "required" if required else f"default {schema['default']!r}" if "default" in schema else "optional"
    about = "; ".join(filter(None, [schema.get("description", ""), usual]))
    cells = (name, where, type_of(schema), about)
    return "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"


def type_of(schema: dict[str, Any]) -> str:
    """The type of a field in a few words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(type_of(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    return str(schema.get("type", schema.get("$ref", "any").rpartition("/")[2] or schema.get("const", "any")))
