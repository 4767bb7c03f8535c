"""A headset's stand-in for a live room: python experiments/live_client.py FILE"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.commands.launch import explained


@dataclass(frozen=True)
class Options:
    """Sends a recording in its own time to experiments/live.py, as a headset would."""

    file: Annotated[Path, tyro.conf.Positional]
    """A device's recording (.json: A-Frame, .csv: Unity), or a clip (.npz)."""
    address: str = "http://127.0.0.1:8100/"
    """As experiments/live.py prints it, token and all."""
    loop: bool = False
    """Begin again at the end, for ever."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Send, and tell what the room says. Exit code 2 where the file or the room is not there."""
    options = tyro.cli(Options, args=argv)
    from qes_jax.live.client import send

    status = asyncio.run(send(options.address, options.file, options.loop))
    print(f"falls: {status.get('falls', 0)}; left out: {status.get('left_out', {})}")
    return 0
