"""The server: one port for page and socket, one body that ticks, a mailbox for each client."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from qes_jax.evaluate.glb import write_glb
from qes_jax.live.clients import CLIENTS, LARGEST, Mailbox
from qes_jax.live.door import Door
from qes_jax.live.person import check_name, people
from qes_jax.live.record import save_session, session_clip
from qes_jax.live.room import Furnish, write_scene
from qes_jax.live.session import Live, Tick
from qes_jax.live.wire import WireError, read_sample, write_bodies, write_poses
from qes_jax.model.scene import Piece, Scene, furniture
from qes_jax.model.scene_file import find_scene
from qes_jax.motion.clip import save_clip

STATUS_EVERY = 9  # ticks
SILENT = 3.0  # [s] after which another client may drive
PIECES = 24  # in a room
QUIET_LOG = logging.getLogger("qes_jax.live.sockets")
QUIET_LOG.setLevel(logging.CRITICAL)  # what others send is no news of ours


@dataclass(frozen=True)
class Choices:
    """What the page may ask for by name."""

    policies: tuple[str, ...]
    scenes: Mapping[str, Scene]


class House:
    """A session and all who look at it. `clock` gives seconds that never run back."""

    def __init__(
        self, live: Live, furnish: Furnish, choices: Choices, folder: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.live, self.furnish, self.choices, self.folder, self.clock = live, furnish, choices, folder, clock
        self.clients: dict[ServerConnection, Mailbox] = {}
        self.driver: ServerConnection | None = None
        self.spent: list[float] = []  # [s] of the last ticks
        self.loading = ""
        self._body = ThreadPoolExecutor(1, "body")  # ticks and commands
        self._slow = ThreadPoolExecutor(1, "slow")  # rooms and files
        self._tasks: set[asyncio.Task] = set()
        self._bodies = write_bodies(live.room.world)

    async def run(self) -> None:
        """Tick for ever, at the control rate; without a client rest."""
        due = self.clock()
        while True:
            if not self.clients:
                await asyncio.sleep(0.1)
                due = self.clock()
                continue
            began = self.clock()
            tick = await self._in_body(self.live.tick, began)
            self.spent = [*self.spent[-1799:], self.clock() - began]
            self._show(tick)
            due += self.live.dt
            if self.clock() - due > 0.25:
                self.live.count.missed += round((self.clock() - due) / self.live.dt)
                due = self.clock()
            await asyncio.sleep(max(0.0, due - self.clock()))

    def _show(self, tick: Tick) -> None:
        message = write_poses(tick.number, tick.t, tick.flags, tick.error, tick.touching, tick.pos, tick.quat)
        for mailbox in self.clients.values():
            mailbox.put_poses(message)
        if tick.number % STATUS_EVERY == 0:
            status = self.live.status()
            for connection, mailbox in self.clients.items():
                mailbox.say(type="status", **status, loading=self.loading, driving=connection is self.driver)

    async def talk(self, connection: ServerConnection) -> None:
        """One client, until it goes."""
        if len(self.clients) >= CLIENTS:
            await connection.close(1013, "too many clients")
            return
        mailbox = self.clients[connection] = Mailbox()
        self._greet(mailbox)
        writer = asyncio.create_task(_write(connection, mailbox))
        try:
            async for message in connection:
                if not await self._hear(connection, mailbox, message):
                    await connection.close(1008, "too many messages")
        except ConnectionClosed:
            pass
        finally:
            writer.cancel()
            del self.clients[connection]
            if self.driver is connection:
                self.driver = None

    def _greet(self, mailbox: Mailbox) -> None:
        room = self.live.room
        pieces = [
            {"name": p.name, "kind": p.kind, "body": int(room.world.layout.piece_ids[row])}
            for p, row in zip(room.scene.pieces, room.rows, strict=True)
        ]
        mailbox.say(
            type="hello", version=1, rate=1 / self.live.dt, policy=room.policy, scene=room.scene.name, pieces=pieces,
            policies=self.choices.policies, scenes=list(self.choices.scenes), kinds=["box", *furniture()],
            people=people(self.live.people), links=room.world.layout.links,
            home={"pos": room.figure.rest_pos.tolist(), "quat": room.figure.rest_quat.tolist()},
        )  # fmt: skip
        mailbox.put(self._bodies)

    async def _hear(self, connection: ServerConnection, mailbox: Mailbox, message: str | bytes) -> bool:
        """One message. False where the client sends far too many."""
        now = self.clock()
        bucket = mailbox.buckets["words" if isinstance(message, str) else "tracking"]
        if not bucket.take(now):
            return bucket.refused < 2000
        try:
            if isinstance(message, bytes):
                await self._drive(connection, message, now)
            else:
                await self._obey(mailbox, message, now)
        except (ValueError, KeyError, TypeError, OSError, RecursionError) as error:
            mailbox.say(type="refused", why=str(error)[:300])
        return True

    async def _drive(self, connection: ServerConnection, message: bytes, now: float) -> None:
        """A tracking message. The first to send one drives, until it goes or falls silent."""
        sample = read_sample(message)
        arrival = self.live.incoming.arrival
        if self.driver is not connection:
            if self.driver is not None and arrival is not None and now - arrival < SILENT:
                raise WireError("another client moves the body")
            self.driver = connection
            await self._in_body(self.live.incoming.restart)
        self.live.take(sample, now)

    async def _obey(self, mailbox: Mailbox, message: str, now: float) -> None:
        words = json.loads(message)
        if not isinstance(words, dict):
            raise ValueError("expected a JSON object")
        do = words.get("do")
        if do == "ping":
            mailbox.say(type="pong", t=words.get("t") if isinstance(words.get("t"), int | float) else 0, now=now)
        elif do == "record":
            await self._record()
        elif do in ("scene", "policy", "add", "remove"):
            self._begin(self._refurnish(words))
        elif do == "save":
            name = check_name(words.get("name", "room"))
            await self._in_slow(write_scene, self.folder / "rooms" / f"{name}.toml", self.live.room.scene)
            self._tell(f"saved as {self.folder / 'rooms' / name}.toml")
        else:
            await self._in_body(self.live.command, words, now)

    async def _record(self) -> None:
        if self.live.recorder.since is None:
            await self._in_body(self.live.start_recording)
            return
        session, room = await self._in_body(self.live.stop_recording), self.live.room
        path = self.folder / "sessions" / f"{datetime.now():%Y%m%d-%H%M%S}.npz"

        def save() -> None:
            save_session(path, session)
            clip = session_clip(session, room, path.stem)
            save_clip(path.with_name(f"{path.stem}.clip.npz"), clip)
            write_glb(path.with_suffix(".glb"), clip)

        async def saving() -> None:
            await self._in_slow(save)
            self._tell(f"saved {path}, beside it the clip and a .glb")

        self._begin(saving())

    async def _refurnish(self, words: dict[str, Any]) -> None:
        """Another scene or policy, one piece more or less: compiled aside, then moved into."""
        if self.loading:
            raise ValueError(f"still loading {self.loading}")
        policy, scene = changed(self.live.room.policy, self.live.room.scene, words, self.choices)
        self.loading = f"{policy} in {scene.name}"
        try:
            room = await self._in_slow(self.furnish, policy, scene)
            self._bodies = await self._in_slow(write_bodies, room.world)
            await self._in_body(self.live.move_in, room)
            for mailbox in self.clients.values():
                self._greet(mailbox)
        finally:
            self.loading = ""

    def _begin(self, work: Any) -> None:
        """Do it aside; tell everybody what goes wrong."""

        async def told() -> None:
            try:
                await work
            except (ValueError, KeyError, TypeError, OSError) as error:
                self._tell(str(error.args[0] if isinstance(error, KeyError) else error)[:300])

        task = asyncio.create_task(told())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tell(self, note: str) -> None:
        self.live.note = note

    def _in_body(self, work: Callable, *args: Any) -> Any:
        return asyncio.get_running_loop().run_in_executor(self._body, work, *args)

    def _in_slow(self, work: Callable, *args: Any) -> Any:
        return asyncio.get_running_loop().run_in_executor(self._slow, work, *args)

    def close(self) -> None:
        """Let the threads end."""
        self._body.shutdown(wait=False, cancel_futures=True)
        self._slow.shutdown(wait=False, cancel_futures=True)


def changed(policy: str, scene: Scene, words: dict[str, Any], choices: Choices) -> tuple[str, Scene]:
    """Policy and scene after one of the commands policy, scene, add, remove. Raises ValueError or KeyError."""
    do, name = words["do"], words.get("name")
    if do == "policy":
        if name not in choices.policies:
            raise ValueError(f"no policy {name!r}: expected one of {', '.join(choices.policies)}")
        return str(name), scene
    if do == "scene":
        return policy, choices.scenes[name] if name in choices.scenes else find_scene_by_name(name)
    if do == "remove":
        rest = tuple(p for p in scene.pieces if p.name != name)
        if len(rest) == len(scene.pieces):
            raise ValueError(f"no piece {name!r} in this room")
        return policy, replace(scene, pieces=rest)
    kind = words.get("kind")
    if len(scene.pieces) >= PIECES:
        raise ValueError(f"a room has at most {PIECES} pieces")
    taken = {p.name for p in scene.pieces}
    free = next(f"{kind}{i}" for i in range(1, PIECES + 2) if f"{kind}{i}" not in taken)
    size = tuple(float(s) for s in words.get("size", (0.6, 0.6, 0.45))) if kind == "box" else None
    piece = Piece(free, str(kind), size, (float(words.get("x", 1.5)), float(words.get("y", 0.0)), 0.0))
    return policy, replace(scene, pieces=(*scene.pieces, piece))


def find_scene_by_name(name: object) -> Scene:
    """A built-in scene; a page names no files. Raises ValueError."""
    if not isinstance(name, str) or "." in name or "/" in name or "\\" in name:
        raise ValueError(f"no scene {name!r}")
    return find_scene(name)


async def _write(connection: ServerConnection, mailbox: Mailbox) -> None:
    try:
        while True:
            await connection.send(await mailbox.take())
    except ConnectionClosed:
        pass


async def open_door(house: House, door: Door, port: int, tls: ssl.SSLContext | None = None) -> Server:
    """Listen. Raises OSError where the port is taken."""

    async def process(connection: ServerConnection, request: Any) -> Any:
        return door.answer(request, connection.local_address[1])

    return await serve(
        house.talk, door.host if door.host != "localhost" else "127.0.0.1", port, process_request=process, ssl=tls,
        max_size=LARGEST, max_queue=16, compression=None, write_limit=64 * 1024, open_timeout=5, close_timeout=2,
        ping_interval=10, ping_timeout=20, logger=QUIET_LOG, server_header=None,
    )  # fmt: skip
