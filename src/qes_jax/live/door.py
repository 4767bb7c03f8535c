"""Who may come in, and what little is served: the page's files, nothing else."""

import hmac
import http
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from qes_jax.evaluate.view.guard import NAMES, refusal

FILES = {"/": ("index.html", "text/html"), "/page.js": ("page.js", "text/javascript"),
         "/page.css": ("page.css", "text/css")}  # fmt: skip
SOCKET = "/socket"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Door:
    """Where the server listens. Beyond loopback a token in the address is needed, and only `host` is a name of ours."""

    page: Path  # folder of the built page
    host: str = NAMES[0]
    secure: bool = False  # https
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in NAMES

    def address(self, port: int) -> str:
        """What to open."""
        place = f"http{'s' if self.secure else ''}://{self.host}:{port}/"
        return place if self.local else f"{place}?token={self.token}"

    def answer(self, request: Request, port: int) -> Response | None:
        """A page, a refusal, or None where the socket may be opened."""
        names = NAMES if self.local else (self.host,)
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        why = refusal(hosts, origins, port, names, "https" if self.secure else "http")
        if why:
            return _respond(http.HTTPStatus.FORBIDDEN, f"{why}\n".encode())
        try:
            parts = urlsplit(request.path)
            given = parse_qs(parts.query).get("token", [""])
        except ValueError:
            return _respond(http.HTTPStatus.BAD_REQUEST, b"no address\n")
        known = self.local or hmac.compare_digest(given[0].encode(), self.token.encode())
        if parts.path in ("/", SOCKET) and not known:
            return _respond(http.HTTPStatus.FORBIDDEN, b"the address lacks its token\n")
        if parts.path == SOCKET:
            return None
        if parts.path not in FILES:
            return _respond(http.HTTPStatus.NOT_FOUND, b"nothing here\n")
        name, kind = FILES[parts.path]
        return _respond(http.HTTPStatus.OK, (self.page / name).read_bytes(), f"{kind}; charset=utf-8")


def _respond(status: http.HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> Response:
    headers = Headers()
    for name, value in (
        ("Content-Type", kind), ("Content-Length", str(len(body))), ("Connection", "close"),
        ("Content-Security-Policy", POLICY), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
        ("Permissions-Policy", "xr-spatial-tracking=(self), camera=(), microphone=(), geolocation=()"),
    ):  # fmt: skip
        headers[name] = value
    return Response(status.value, status.phrase, headers, body)
