"""How long a live room's ticks take, and how old what a page shows is: a device walks, a page looks on.

    python experiments/bench/live.py [--policy rooms] [--scene living_room] [--seconds 30] [--json FILE]

The device's clock is this machine's. It walks slowly along a line, so that the user's place in the poses that arrive
tells from when they are: their age is the margin of the interpolation, the tick and both ways of the socket together.
"""

import asyncio
import json as texts
import struct
import tempfile
import time
from pathlib import Path

import numpy as np
import tyro
from websockets.asyncio.client import connect

from qes_jax.commands.launch import prepare_jax
from qes_jax.files import replacing

SPEED, SWING = 0.1, 8.0  # [m/s], [s] there and back
NOT_FOLLOWING = 1  # a flag of the poses
PATIENCE = 60.0  # [s] until the body follows


def measure(
    policy: str = "rooms", scene: str = "living_room", seconds: float = 30.0, rate: float = 72.0, json: str = ""
) -> int:
    """Print, or write, one JSON object of percentiles in milliseconds.

    Args:
        policy: whose body.
        scene: where.
        seconds: of walking.
        rate: of the device's messages [Hz].
        json: file to write.
    """
    prepare_jax()
    result = asyncio.run(_measure(policy, scene, seconds, rate))
    text = texts.dumps(result, indent=2)
    print(text)
    if json:
        with replacing(Path(json)) as aside:
            aside.write_text(text + "\n", encoding="utf-8")
    return 0


async def _measure(policy: str, scene: str, seconds: float, rate: float) -> dict:
    from qes_jax.assembly.living.serving import furnisher
    from qes_jax.live.built import PAGE
    from qes_jax.live.door import Door
    from qes_jax.live.serve import Choices, House, open_door
    from qes_jax.live.session import Live
    from qes_jax.model.scene_file import find_scene

    furnish = furnisher(Path("runs"))
    with tempfile.TemporaryDirectory() as folder:
        live = Live(furnish(policy, find_scene(scene)), Path(folder))
        house = House(live, furnish, Choices((policy,), {}), Path(folder))
        server = await open_door(house, Door(PAGE / "dist"), 0)
        port = server.sockets[0].getsockname()[1]
        ticking = asyncio.create_task(house.run())
        ages = await _walk(f"ws://127.0.0.1:{port}/socket", live.room.figure, seconds, rate)
        ticking.cancel()
        server.close()
        house.close()
        walked = house.spent[-round(seconds / live.dt) :]
        return {
            "policy": policy, "scene": scene, "seconds": seconds, "device_hz": rate, "ticks": len(walked),
            "tick_ms": _percentiles(walked), "age_ms": _percentiles(ages), "missed": live.count.missed,
            "falls": live.count.falls, "margin_ms": round(1000 * live.incoming.clock.margin, 1),
        }  # fmt: skip


async def _walk(url: str, figure, seconds: float, rate: float) -> list[float]:
    """The ages [s] of the poses that a page gets while a device walks to and fro."""
    from qes_jax.live.wire import POSES, Sample, write_sample

    ages: list[float] = []
    began = [np.inf]  # when it begins to walk: a second after the body follows

    def place(t: float) -> float:
        return SPEED * (SWING / 2 - abs(max(t - began[0], 0.0) % SWING - SWING / 2))

    async def look() -> None:
        origin = 0.0
        async with connect(url, proxy=None, max_size=1 << 24, max_queue=None) as page:
            async for message in page:
                now = time.monotonic()
                if not isinstance(message, bytes) or message[0] != POSES or message[2] & NOT_FOLLOWING:
                    continue
                began[0] = min(began[0], now + 1.0)
                x = struct.unpack_from("<f", message, len(message) - 84)[0]
                phase = (now - began[0]) % SWING
                if now < began[0]:
                    origin = x
                elif 1.0 < phase < SWING / 2 - 0.5:  # on its way out, where place tells time
                    ages.append(phase - (x - origin) / SPEED)

    looking = asyncio.create_task(look())
    async with connect(url, proxy=None, max_size=1 << 24, max_queue=None) as device:
        start = due = time.monotonic()
        n = 0
        while (t := time.monotonic()) < min(began[0], start + PATIENCE) + seconds:
            pos = figure.rest_pos + np.array([place(t), 0.0, 0.0])
            await device.send(write_sample(Sample(n, t, True, 0, np.ones(3, bool), pos, figure.rest_quat)))
            n, due = n + 1, max(due + 1 / rate, t)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
    looking.cancel()
    return ages


def _percentiles(seconds: list[float]) -> dict[str, float]:
    """None where nothing was measured."""
    return {f"p{p}": round(1000 * float(np.percentile(seconds, p)), 2) for p in (50, 90, 99)} if seconds else {}


def main() -> int:
    """Parse the command line, then measure."""
    return tyro.cli(measure)
