"""What to look at, and how."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Options:
    """Play one motion, or two side by side: with contacts, headset, controllers, height map, and errors over time.

    WHAT is a run folder, its name, "latest" or the name of shipped weights: then that policy follows a clip. Or it is a
    built-in clip's name, a clip file or a recorded episode. Where a policy and a clip share a name, it is the policy;
    clip:NAME is the clip.
    """

    what: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="WHAT [WHAT]")]]
    """What to look at, one or two."""
    clip: str | None = None
    """What policies follow: a built-in clip, a clip file, a recording of devices (.json, .csv). The other WHAT if that
    is a clip, else the policy's own first clip."""
    scene: str = "flat"
    """The room that a recording of devices is followed in: a built-in scene, or a file (.toml, MJCF's .xml)."""
    seconds: float = 60.0
    """How long policies follow at most."""
    start: float = 0.0
    """Where in the clip policies begin, in seconds."""
    html: Path | None = None
    """Write one HTML file, which needs nothing else, instead of serving."""
    every: int = 2
    """The HTML file has every so many frames."""
    picture: Path | None = None
    """Write a picture (png) of the first WHAT instead, drawn offscreen: the moments --at side by side."""
    at: Annotated[tuple[float, ...], tyro.conf.arg(metavar="SECONDS ...")] = (0.5, 2.0, 3.5, 5.0)
    """The picture's moments."""
    port: int = 8080
    """Where it is served, on 127.0.0.1; 0 for any port that is free."""
    beside: float = 0.0
    """How far the reference stands to the left of the body, in metres."""
    apart: float = 2.0
    """How far apart two motions stand, in metres."""
    follow: bool = False
    """The first body stays in the middle, the room moves."""
    map: Literal["yes", "no"] = "yes"
    """Whether to show the height map."""
    root: Path = Path("runs")
    """Where run folders lie."""
