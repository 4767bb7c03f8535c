"""Pages from elsewhere get nothing from the servers on this machine."""

import http.client
from collections.abc import Iterator

import pytest

from qes_jax.evaluate.view.guard import HOST, refusal, start


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = start(0)
    yield server.get_port()
    server.stop()


def status(port: int, **headers: str) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=20)
    connection.request("GET", "/", headers={name.capitalize(): value for name, value in headers.items()})
    return connection.getresponse().status


def test_its_own_page_is_answered(port: int) -> None:
    assert status(port) == 200
    assert status(port, host=f"localhost:{port}", origin=f"http://localhost:{port}") == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},  # a name that was made to point here
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},  # another server on this machine
        {"origin": "https://127.0.0.1:{port}"},
    ],
)
def test_others_are_refused(port: int, headers: dict[str, str]) -> None:
    assert status(port, **{name: value.format(port=port) for name, value in headers.items()}) == 403


def test_a_websocket_from_elsewhere_is_refused_too(port: int) -> None:
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "origin": "http://evil.example"}
    assert status(port, **upgrade) == 403


def test_doubled_headers_are_refused() -> None:
    assert refusal(["127.0.0.1:80", "127.0.0.1:80"], [], 80)
    assert refusal(["127.0.0.1:80"], ["http://127.0.0.1:80"] * 2, 80)
    assert refusal([], [], 80)


def test_a_taken_port_is_an_error_and_not_the_next_port(port: int) -> None:
    with pytest.raises(ValueError, match="in use"):
        start(port)


@pytest.mark.parametrize("number", [-1, 65536])
def test_a_number_that_is_no_port_is_an_error(number: int) -> None:
    with pytest.raises(ValueError, match=f"port is {number}: expected 0 to 65535"):
        start(number)
