"""How fast the pose editor follows a hand: python experiments/bench/editor_rate.py ADDRESS [--hz 60] [--seconds 5]

Speaks to a running editor as a browser does: drags the chosen joint round a circle, and counts the poses that come
back, so that all but the browser's own drawing is in the number.
"""

import asyncio
import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import msgspec
import tyro
import viser
import websockets
import zstandard

from qes_jax.commands.launch import explained

HEAD = b"/body/head"  # a node that moves with every pose


@dataclass(frozen=True)
class Options:
    """Measure an editor that runs."""

    address: Annotated[str, tyro.conf.Positional]
    """What the editor has printed: http://127.0.0.1:PORT."""
    hz: float = 60.0
    """Drags sent in a second."""
    seconds: float = 5.0
    """How long."""
    at: tuple[float, float, float] = (0.15, 0.45, 1.15)
    """The middle of the circle, in metres."""


async def measure(options: Options) -> tuple[int, float, list[float]]:
    """Poses that came back, the time between the first and the last [s], and the gaps between them [s]."""
    name = "ws" + options.address.removeprefix("http")
    protocol = websockets.Subprotocol(f"viser-v{viser.__version__}")
    async with websockets.connect(name, subprotocols=[protocol], max_size=None, compression=None) as socket:
        came: list[float] = []
        watching = asyncio.create_task(watch(socket, came))
        await asyncio.sleep(2.0)  # the scene arrives
        came.clear()
        await send(socket, "TransformControlsDragStartMessage", name="/gizmo")
        began = time.perf_counter()
        for step in range(int(options.hz * options.seconds)):
            x, y, z = options.at
            angle = 2 * math.pi * step / options.hz / 2
            place = (x + 0.12 * math.cos(angle), y, z + 0.12 * math.sin(angle))
            await send(
                socket, "TransformControlsUpdateMessage", name="/gizmo", wxyz=(1.0, 0.0, 0.0, 0.0), position=place
            )
            await asyncio.sleep(max(0.0, began + (step + 1) / options.hz - time.perf_counter()))
        await asyncio.sleep(0.3)
        await send(socket, "TransformControlsDragEndMessage", name="/gizmo")
        watching.cancel()
    if len(came) < 3:
        raise ValueError(f"{options.address}: only {len(came)} poses came back; is it the editor, a joint chosen?")
    return len(came), came[-1] - came[0], [b - a for a, b in pairwise(came)]


async def watch(socket: websockets.ClientConnection, came: list[float]) -> None:
    """Note when each pose comes."""
    async for data in socket:
        if isinstance(data, bytes) and HEAD in unpacked(data):
            came.append(time.perf_counter())


def unpacked(data: bytes) -> bytes:
    """The names and values in a frame of viser's: two sizes (8 bytes each), then zstd."""
    return zstandard.decompress(data[16 : 16 + int.from_bytes(data[8:16], "little")])


async def send(socket: websockets.ClientConnection, kind: str, **fields: object) -> None:
    """One message of viser's."""
    await socket.send(msgspec.msgpack.encode({"type": kind, "owner": "", **fields}))


@explained
def main(argv: list[str] | None = None) -> int:
    """Print the rate and the gaps."""
    options = tyro.cli(Options, args=argv)
    count, seconds, gaps = asyncio.run(measure(options))
    gaps.sort()
    print(
        f"{count / seconds:.1f} poses/s came back for {options.hz:g} drags/s; gaps: median "
        f"{1000 * gaps[len(gaps) // 2]:.0f} ms, 95 % below {1000 * gaps[int(0.95 * len(gaps))]:.0f} ms"
    )
    return 0
