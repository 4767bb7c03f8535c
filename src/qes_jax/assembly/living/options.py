"""Who lives where, and who may look."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.paths import config_dir


@dataclass(frozen=True)
class Options:
    """A body follows your own headset and controllers, or your mouse, in the browser. docs/live.md says how."""

    policy: Annotated[str, tyro.conf.Positional] = "rooms"
    """A run folder, its name, "latest", or the name of shipped weights."""
    scene: str = "living_room"
    """The room: a built-in scene, or a file (.toml, MJCF's .xml)."""
    person: str | None = None
    """Whose measures to begin with, as kept under this name."""
    port: int = 8100
    """Where it is served; 0 for any port that is free."""
    host: str = "127.0.0.1"
    """This machine's address in your network, to let a headset in without a cable; then the address holds a token."""
    certificate: Path | None = None
    """A certificate (PEM) for https, which headsets want of any host but localhost. Needs --key."""
    key: Path | None = None
    """The certificate's private key (PEM)."""
    folder: Path = Path("live")
    """Where sessions and rooms are saved."""
    people: Path = config_dir() / "people"
    """Where measures are kept."""
    root: Path = Path("runs")
    """Where run folders lie."""
