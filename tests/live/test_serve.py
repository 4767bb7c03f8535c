"""The server from outside: what a page and a device get, and what those get that are neither."""

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from qes_jax.live.clients import CLIENTS, LARGEST, Bucket, Mailbox
from qes_jax.live.door import Door
from qes_jax.live.serve import Choices, House, changed, find_scene_by_name, open_door
from qes_jax.live.session import Live
from qes_jax.live.wire import BODIES, POSES, POSES_FORMAT, TRACKING_FORMAT, WireError, read_sample, write_sample
from qes_jax.model.scene import SCENES
from tests.live.people import puppet_room, sample, user

TOKEN = "a-token-that-nobody-guesses"
CHOICES = Choices(("puppet",), SCENES)
Visit = Callable[["Place"], Awaitable[None]]


class Place:
    """A server in this test's loop."""

    def __init__(self, house: House, door: Door, port: int) -> None:
        self.house, self.door, self.port = house, door, port

    def connect(self, path: str = "/socket", **more: Any):
        return connect(f"ws://127.0.0.1:{self.port}{path}", **{"max_size": 1 << 22, "proxy": None, **more})

    async def get(self, head: str) -> bytes:
        """What the server says to these lines."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.replace("\n", "\r\n").replace("PORT", str(self.port)).encode("latin-1") + b"\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
        return answer


@pytest.fixture
def visit(tmp_path: Path) -> Callable[..., None]:
    page = tmp_path / "page"
    page.mkdir()
    for name in ("index.html", "page.js", "page.css"):
        (page / name).write_text(f"this is {name}")
    (tmp_path / "secret").write_text("secret")

    def run(act: Visit, **door: Any) -> None:
        async def main() -> None:
            house = House(Live(puppet_room(), tmp_path / "people"), lambda *_: puppet_room(), CHOICES, tmp_path)
            place = Door(page, **door)
            server = await open_door(house, place, 0)
            ticking = asyncio.create_task(house.run())
            try:
                await asyncio.wait_for(act(Place(house, place, server.sockets[0].getsockname()[1])), 30)
            finally:
                ticking.cancel()
                server.close()
                house.close()

        asyncio.run(main())

    return run


async def until(socket: ClientConnection, wanted: Callable[[Any], bool]) -> Any:
    """The first message that is wanted, texts parsed."""
    while True:
        message = await asyncio.wait_for(socket.recv(), 10)
        found = json.loads(message) if isinstance(message, str) else message
        if wanted(found):
            return found


def said(kind: str, **fields: Any) -> Callable[[Any], bool]:
    return lambda m: isinstance(m, dict) and m["type"] == kind and all(m.get(k) == v for k, v in fields.items())


def of_kind(kind: int) -> Callable[[Any], bool]:
    return lambda m: isinstance(m, bytes) and m[0] == kind


async def walk(socket: ClientConnection, seconds: float = 1.5) -> None:
    loop, (pos, quat) = asyncio.get_running_loop(), user()
    for n in range(int(seconds * 72)):
        await socket.send(write_sample(sample(n, loop.time(), pos, quat)))
        await asyncio.sleep(1 / 72)


def test_a_device_moves_the_body_and_a_page_sees_it(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as page, place.connect() as device:
            hello = await until(page, said("hello"))
            assert hello["links"][0] == "pelvis" and hello["scenes"] and hello["rate"] == pytest.approx(36)
            bodies = await until(page, of_kind(BODIES))
            length = struct.unpack_from("<I", bodies, 4)[0]
            rows = json.loads(bodies[8 : 8 + length])["bodies"]
            assert len(bodies) == 8 + length + sum(16 * r["vertices"] + 12 * r["faces"] for r in rows)
            moving = asyncio.create_task(walk(device))
            await until(page, said("status", phase="live"))
            poses = await until(page, of_kind(POSES))
            assert len(poses) == POSES_FORMAT.size + 28 * (len(rows) + 3) < 1024
            user_points = np.frombuffer(poses[-84:], "<f4").reshape(3, 7)
            assert user_points[0, 2] == pytest.approx(1.64, abs=0.05)
            await moving

    visit(act)


def test_only_one_drives_until_it_is_gone(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as second:
            async with place.connect() as first:
                await walk(first, 0.2)
                await walk(second, 0.1)
                assert "another client" in (await until(second, said("refused")))["why"]
            await asyncio.sleep(0.2)
            await walk(second, 0.2)
            await until(second, said("status", driving=True))

    visit(act)


def test_who_comes_back_finds_the_body_where_it_was(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as device:
            await walk(device)
            await until(device, said("status", phase="live"))
        await asyncio.sleep(0.3)
        async with place.connect() as device:
            await walk(device, 1.0)
            status = await until(device, said("status", phase="live"))
            assert status["falls"] == 0

    visit(act)


REQUEST = "GET {} HTTP/1.1\nHost: {}\nConnection: close"
UPGRADE = (
    "\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
)


FILES = [("/", b"this is index.html"), ("/page.js", b"this is page.js"), ("/page.css", b"this is page.css")]


def test_the_pages_files_are_served_and_may_load_nothing_else(visit: Callable) -> None:
    wanted = (b"default-src 'none'", b"script-src 'self'", b"frame-ancestors 'none'", b"nosniff", b"no-store")

    async def act(place: Place) -> None:
        for path, name in FILES:
            answer = await place.get(REQUEST.format(path, "127.0.0.1:PORT"))
            assert b" 200 " in answer.split(b"\r\n")[0] and answer.endswith(name)
            assert all(header in answer for header in wanted)
            assert b"unsafe" not in answer and b"Server:" not in answer

    visit(act)


NO_FILES = [
    "/secret",
    "/../secret",
    "/page/../../secret",
    "/%2e%2e/secret",
    "//etc/passwd",
    "/index.html",
    "/dist",
    "/page.js/",
    "/.npmrc",
    "/socket/x",
    "/page.js%00",
    "/\\..\\secret",
    "http://elsewhere/secret",
]


def test_nothing_else_is_served(visit: Callable) -> None:
    async def act(place: Place) -> None:
        for path in NO_FILES:
            answer = await place.get(REQUEST.format(path, "127.0.0.1:PORT"))
            assert b" 200 " not in answer.split(b"\r\n")[0], path
            assert b"secret" not in answer and b"root:" not in answer, path

    visit(act)


FOREIGN = [
    REQUEST.format("/", "evil.example"),
    REQUEST.format("/", "evil.example:PORT"),
    "GET / HTTP/1.1\nConnection: close",
    REQUEST.format("/socket", "127.0.0.1:PORT") + "\nOrigin: http://evil.example" + UPGRADE,
    REQUEST.format("/socket", "127.0.0.1:PORT") + "\nOrigin: null" + UPGRADE,
    REQUEST.format("/socket", "127.0.0.1:PORT")
    + "\nOrigin: http://127.0.0.1:PORT\nOrigin: http://evil.example"
    + UPGRADE,
    REQUEST.format("/socket", "evil.example:PORT") + UPGRADE,
    REQUEST.format("/", "127.0.0.1:PORT") + "\nHost: evil.example",
]


def test_other_pages_and_names_are_turned_away(visit: Callable) -> None:
    async def act(place: Place) -> None:
        for head in FOREIGN:
            answer = await place.get(head)
            assert b" 403 " in answer.split(b"\r\n")[0], head

    visit(act)


NO_REQUESTS = [
    "",
    "POST / HTTP/1.1\nHost: 127.0.0.1:PORT",
    "GET / HTTP/1.1\n" + "X: y\n" * 500,
    "\x00" * 64,
    "GET /" + "a" * 20000 + " HTTP/1.1",
]


def test_what_is_no_request_gets_no_page(visit: Callable) -> None:
    async def act(place: Place) -> None:
        for head in NO_REQUESTS:
            assert b" 200 " not in await place.get(head)
        async with place.connect() as page:  # and others are served as before
            await until(page, said("hello"))

    visit(act)


@pytest.mark.parametrize(
    ("path", "opens"), [("/socket", False), ("/socket?token=x", False), (f"/socket?token={TOKEN}", True)]
)
def test_beyond_this_machine_the_address_needs_its_token(
    visit: Callable, monkeypatch: pytest.MonkeyPatch, path: str, opens: bool
) -> None:
    monkeypatch.setattr("qes_jax.live.door.NAMES", ("never",))  # so that loopback counts as the wide world
    visit(lambda place: knock(place, path, opens), host="127.0.0.1", token=TOKEN)


async def knock(place: Place, path: str, opens: bool) -> None:
    assert place.door.address(1).endswith(f"?token={TOKEN}")
    if opens:
        async with place.connect(path) as page:
            await until(page, said("hello"))
        return
    with pytest.raises(InvalidStatus) as refused:
        async with place.connect(path):
            pass
    assert refused.value.response.status_code == 403
    assert b" 403 " in await place.get(REQUEST.format("/", "127.0.0.1:PORT"))


ODD = [
    b"",
    b"\x01",
    b"\x02" * TRACKING_FORMAT.size,
    b"\x01\x07" + bytes(TRACKING_FORMAT.size - 2),
    bytes(5000),
    "",
    "{",
    "[]",
    "null",
    '{"do": "fly"}',
    '{"do": "scene", "name": "/etc/passwd"}',
    '{"do": "scene", "name": "../x.toml"}',
    '{"do": "policy", "name": "../../x"}',
    '{"do": "save", "name": "../../x"}',
    '{"do": "add", "kind": "mjcf"}',
    '{"do": "add", "kind": "box", "size": [1e999, 1, 1]}',
    '{"do": "add", "kind": {}}',
    '{"do": "remove", "name": []}',
    '{"do": "move", "piece": "x", "x": "NaN", "y": 0, "yaw": 0}',
    "[" * 5000,
    '{"do": "ping", "t": {"a": 1}}',
    '{"do": ["a"]}',
]


def test_odd_messages_are_refused_and_break_nothing(visit: Callable, tmp_path: Path) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as page:
            for message in ODD:
                await page.send(message)
                await asyncio.sleep(0.06)
            await walk(page)
            await until(page, said("status", phase="live"))
        assert place.house.live.room.scene.name == "flat"
        assert not list(tmp_path.parent.glob("*.toml")) and not (tmp_path / "rooms").exists()

    visit(act)


def test_a_message_too_large_ends_the_connection(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as page:
            await page.send(bytes(LARGEST + 1))
            with pytest.raises(ConnectionClosed):
                while True:
                    await page.recv()
            assert page.close_code == 1009

    visit(act)


def test_a_flood_is_cut_off_and_the_others_still_see(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect() as page, place.connect(max_queue=None) as flood:
            with pytest.raises(ConnectionClosed):
                for _ in range(20000):
                    await flood.send('{"do": "ping"}')
                    await asyncio.sleep(0)
            await until(page, said("status"))
            assert place.house.live.phase == "waiting"

    visit(act)


def test_there_is_room_for_so_many(visit: Callable) -> None:
    async def act(place: Place) -> None:
        sockets = [await place.connect() for _ in range(CLIENTS)]
        async with place.connect() as late:
            with pytest.raises(ConnectionClosed):
                await late.recv()
            assert late.close_code == 1013
        for socket in sockets:
            await socket.close()
        await asyncio.sleep(0.2)
        async with place.connect() as again:
            await until(again, said("hello"))

    visit(act)


def test_a_page_that_does_not_read_keeps_nobody_waiting(visit: Callable) -> None:
    async def act(place: Place) -> None:
        async with place.connect(max_queue=1) as idle, place.connect() as page:
            await until(page, lambda m: of_kind(POSES)(m) and struct.unpack_from("<I", m, 4)[0] > 50)
            assert all(len(box._words) <= 32 for box in place.house.clients.values())
            await idle.close()

    visit(act)


def test_a_mailbox_holds_the_newest_poses_alone() -> None:
    async def act() -> list:
        box = Mailbox()
        box.put_poses(b"1")
        box.say(type="a")
        box.put_poses(b"2")
        for n in range(100):
            box.put(str(n))
        return [await box.take() for _ in range(33)] + [box.skipped]

    found = asyncio.run(act())
    assert found[0] == "68" and found[-2] == b"2" and found[-1] == 1


def test_a_bucket_lets_a_rate_through() -> None:
    bucket = Bucket(10, 5)
    assert [bucket.take(100.0) for _ in range(7)] == [True] * 5 + [False] * 2
    assert [bucket.take(100.2) for _ in range(3)] == [True] * 2 + [False]


@pytest.mark.parametrize("name", [None, 3, "a.toml", "../a", "a/b", "nowhere"])
def test_a_page_names_no_files(name: object) -> None:
    with pytest.raises((ValueError, KeyError)):
        find_scene_by_name(name)


def test_rooms_change_by_a_piece() -> None:
    _, scene = changed("puppet", SCENES["chair"], {"do": "add", "kind": "box", "size": [1, 1, 0.4]}, CHOICES)
    assert [p.kind for p in scene.pieces] == ["chair", "box"]
    _, scene = changed("puppet", scene, {"do": "remove", "name": "chair"}, CHOICES)
    assert [p.kind for p in scene.pieces] == ["box"]
    for _ in range(23):
        _, scene = changed("puppet", scene, {"do": "add", "kind": "stool"}, CHOICES)
    with pytest.raises(ValueError, match="at most"):
        changed("puppet", scene, {"do": "add", "kind": "stool"}, CHOICES)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30, 25.0])
def test_a_point_that_is_nowhere_is_not_tracked(bad: float) -> None:
    pos, quat = user()
    message = bytearray(write_sample(sample(1, 2.0, pos, quat)))
    struct.pack_into("<f", message, 20 + 28, bad)
    got = read_sample(bytes(message))
    assert got.tracked.tolist() == [True, False, True]
    assert np.isfinite(got.pos).all()
    np.testing.assert_allclose(got.pos[[0, 2]], pos[[0, 2]], atol=1e-6)


@pytest.mark.parametrize("t", [np.nan, np.inf])
def test_a_time_that_is_none_is_refused(t: float) -> None:
    with pytest.raises(WireError, match="time"):
        read_sample(write_sample(sample(1, t, *user())))
