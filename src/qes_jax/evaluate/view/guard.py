"""A viser server that answers only pages of its own.

viser checks neither Host nor Origin, so any web page that is open in a browser on this machine could connect to the
server on 127.0.0.1 and work its controls, some of which write files. viser hands all connections to `websockets`, whose
`process_request` sees the headers first: while viser starts, it is given one that checks them, and a bound on the size
of a message.
"""

import contextlib
import errno
import http
import io
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import viser
import websockets.asyncio.server as sockets

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
LARGEST = 1 << 20  # [bytes] of a message from a page; viser takes 50 MB


def start(port: int) -> viser.ViserServer:
    """A server on exactly this port that answers only its own pages.

    Raises ValueError as `check_port` does (viser would take the next port), RuntimeError where viser no longer starts
    its connections in a way that can be guarded.
    """
    check_port(port)
    with guarding() as guarded, contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=HOST, port=port, verbose=False)
        if guarded and port in (0, server.get_port()):
            return server
        server.stop()
    if not guarded:
        raise RuntimeError(f"viser {viser.__version__} cannot be guarded: use the version in constraints.txt")
    raise ValueError(unusable(port, "is in use"))


def check_port(port: int) -> None:
    """Raises ValueError for a number that is none of a port, or where something else listens: before long work."""
    if not 0 <= port <= 65535:
        raise ValueError(f"port is {port}: expected 0 to 65535")
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        raise ValueError(unusable(port, "is in use" if taken else f"cannot be used ({error.strerror})")) from None


def unusable(port: int, why: str) -> str:
    """What to say of such a port."""
    return f"port {port} {why} on {HOST}: give another one with --port, or 0 for any that is free"


@contextlib.contextmanager
def guarding() -> Iterator[list[int]]:
    """Servers that start meanwhile are guarded; the list grows with each."""
    guarded: list[int] = []
    serve = sockets.serve

    def serve_guarded(*args: Any, process_request: Callable | None = None, **options: Any) -> Any:
        guarded.append(1)
        options["max_size"] = LARGEST
        return serve(*args, process_request=partial(checked, process_request), **options)

    with mock.patch.object(sockets, "serve", serve_guarded):
        yield guarded


async def checked(answer: Callable | None, connection: Any, request: Any) -> Any:
    """viser's own answer, or a refusal where the headers are not those of a page from here."""
    port = connection.local_address[1]
    why = refusal(request.headers.get_all("Host"), request.headers.get_all("Origin"), port)
    if why:
        return connection.respond(http.HTTPStatus.FORBIDDEN, why + "\n")
    if answer is None:
        return None
    result = answer(connection, request)
    return await result if hasattr(result, "__await__") else result


def refusal(
    hosts: list[str], origins: list[str], port: int, names: Sequence[str] = NAMES, scheme: str = "http"
) -> str | None:
    """Why a request is refused, if it is: exactly one Host, at most one Origin, both this server's."""
    places = [f"{name}:{port}" for name in names]
    if len(hosts) != 1 or hosts[0].lower() not in places:
        return f"Host is {', '.join(hosts) or 'missing'}, expected {places[0]}"
    if len(origins) > 1 or any(_place(o, scheme) not in places for o in origins):
        return f"Origin {', '.join(origins)} may not use this server"
    return None


def _place(origin: str, scheme: str) -> str:
    parts = urlsplit(origin)
    return parts.netloc.lower() if parts.scheme == scheme and not parts.path else ""
