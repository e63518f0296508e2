"""Running a local web application: the socket, the printed address, and an orderly end."""

import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import uvicorn
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import ASGIApp

from whence.core.errors import BadConfig
from whence.options import usually
from whence.workbench.access import Access, access_for, secured

PORT = 8765
TRIED = 50  # ports after it, if none was asked for


class ServerOptions(BaseModel):
    """Where a local web application is served, and to whom."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="address to listen on; one that is not this machine's needs --token")
    port: Annotated[int | None, usually(f"the first free one from {PORT}", "INT")] = Field(
        None, ge=0, le=65535, description="port to listen on (0: any free one)"
    )
    token: Annotated[str | None, usually("a random one", "TOKEN")] = Field(
        None, description="what every request must know; it is part of the printed address"
    )
    allow_host: Annotated[tuple[str, ...], usually("none", "[NAME ...]")] = Field(
        (), description="further host names by which the server may be addressed"
    )

    def access(self) -> Access:
        """Who may talk to the server; a host that others can reach needs a token of the user's."""
        return access_for(self.host, self.token, self.allow_host)


def serve(app: ASGIApp, options: ServerOptions, announce: Callable[[str], Any] = print) -> None:
    """Serve an application until Ctrl-C; `announce` gets its address, with the token."""
    access = options.access()
    with bound_socket(options.host, options.port) as listening:
        port = listening.getsockname()[1]
        access = replace(access, cookie=f"{access.cookie}-{port}")  # browsers share cookies between ports
        announce(f"{address(options.host, listening)}/?token={access.token}")
        run(secured(app, access), listening)


def address(host: str, listening: socket.socket) -> str:
    """The address of a bound socket, as a browser takes it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def run(app: ASGIApp, listening: socket.socket) -> None:
    """Serve an application, which checks who asks, until Ctrl-C."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64_000,
    )
    uvicorn.Server(config).run(sockets=[listening])


def bound_socket(host: str, port: int | None) -> socket.socket:
    """A socket on the port that was asked for, or on the first free one."""
    try:
        family, *_, place = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BadConfig(f"no address {host!r} here ({error.strerror or error}); try 127.0.0.1") from error
    problem: OSError | None = None
    for number in (port,) if port is not None else range(PORT, PORT + TRIED):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((place[0], number))
            made.listen(128)
        except OSError as error:
            made.close()
            problem = error
            continue
        return made
    where = f"port {port}" if port is not None else f"ports {PORT} to {PORT + TRIED - 1}"
    raise BadConfig(f"cannot listen on {host}, {where}: {problem and problem.strerror}; choose another (--port)")
