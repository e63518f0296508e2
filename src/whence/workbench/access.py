"""Who may talk to a local web application: a token, known host names, small bodies, and pages that load nothing else.

Every application of Whence that is opened in a browser goes through `secured`. It is plain ASGI, so that an application
still learns when its client has gone away.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import compare_digest, token_urlsafe
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from whence.core.errors import BadConfig

LOOPBACK = ("localhost", "127.0.0.1", "::1")
BODY = 1_000_000  # bytes of a request, at most
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self';"
    " connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
WRITING = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Access:
    """The token that every request must have, the host names by which the application may be addressed, and the most
    bytes that a request may have.
    """

    token: str
    hosts: frozenset[str] = frozenset(LOOPBACK)
    body: int = BODY
    cookie: str = "whence-token"


def access_for(host: str, token: str | None, also: Iterable[str] = (), body: int = BODY) -> Access:
    """Access for a server on this host: a random token, unless the host can be reached from outside; there the user
    must choose one.
    """
    if token is None and not is_loopback(host):
        raise BadConfig(
            f"--host {host} can be reached from other machines; expected a token that you choose, of 16 characters or"
            " more (--token TOKEN), or no --host, which serves this machine alone"
        )
    if token is not None and (len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token):
        raise BadConfig("a token has 16 characters or more, letters, digits and punctuation without spaces")
    return Access(token or token_urlsafe(24), frozenset({*LOOPBACK, host.lower(), *map(str.lower, also)}), body)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def secured(app: ASGIApp, access: Access) -> ASGIApp:
    """The application behind the checks: Host, token, origin, size of the body; and with strict headers."""
    return Secured(app, access)


class Secured:
    """Checks every request before the application sees it."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            raise RuntimeError(f"only HTTP is served, not {scope['type']}")
        sender = with_headers(send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if host_name(headers.get("host", "")) not in self.access.hosts:
            return await refuse(sender, 400, "this host name is not served; open the address that was printed")
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if scope["method"] == "GET" and self._is_token(query.get("token")):
            return await self._welcome(sender, scope, query)
        if not self._known(headers):
            return await refuse(sender, 401, "the token is missing or wrong; open the address that was printed")
        if scope["method"] in WRITING and not same_origin(headers):
            return await refuse(sender, 403, "a request of another page was refused")
        return await self._passed_on(scope, receive, sender, headers)

    async def _passed_on(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "0")
        stated = int(length) if length.isdecimal() else self.access.body + 1
        body = b"" if stated > self.access.body else await read_body(receive, self.access.body)
        if stated > self.access.body or body is None:
            most = f"the request is too long; expected at most {self.access.body:,} bytes"
            return await refuse(send, 413, most)
        return await self.app(scope, replayed(body, receive), send)

    def _known(self, headers: Mapping[str, str]) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(bearer.strip())
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(self.access.cookie)
        except CookieError:
            return False
        return kept is not None and self._is_token(kept.value)

    def _is_token(self, given: str | None) -> bool:
        return given is not None and compare_digest(given.encode(), self.access.token.encode())

    async def _welcome(self, send: Send, scope: Scope, query: Mapping[str, str]) -> None:
        """Keep the token in a cookie and take it out of the address."""
        rest = urlencode({name: value for name, value in query.items() if name != "token"})
        path = "/" + quote(str(scope["path"]).lstrip("/\\"))  # never //elsewhere
        cookie = f"{self.access.cookie}={self.access.token}; HttpOnly; SameSite=Strict; Path=/"
        location = path + (f"?{rest}" if rest else "")
        await answer(send, 303, b"", {"location": location, "set-cookie": cookie})


async def read_body(receive: Receive, most: int) -> bytes | None:
    """The body of a request, whatever length was stated; None if it is longer than allowed."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
        if sum(map(len, parts)) > most:
            return None
    return b"".join(parts)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read already, and then what comes after it: that the client has gone."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiver() -> Message:
        return messages.pop() if messages else await receive()

    return receiver


def host_name(header: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a request that changes something comes from a page of this application, or from no page."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def with_headers(send: Send) -> Send:
    """Send with the strict headers; those that the application has set itself are kept."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", []))
            there = {name.lower() for name, _ in own}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in there]
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return sender


async def refuse(send: Send, status: int, sentence: str) -> None:
    """Answer with an error."""
    await answer(send, status, json.dumps({"error": sentence}).encode(), {"content-type": "application/json"})


async def answer(send: Send, status: int, body: bytes, headers: Mapping[str, Any]) -> None:
    """Send a whole answer."""
    listed = [(name.encode(), str(value).encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
