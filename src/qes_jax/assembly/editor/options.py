"""What to begin an editing session with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True)
class Options:
    """Drag joints, pin others; save poses by name, set key poses in time, save the motion as a clip to train on."""

    start: Annotated[str, tyro.conf.Positional] = "a_pose"
    """What to begin with: a_pose, t_pose, a saved pose's name or file (.json), or a clip (built in, or .npz)."""
    at: float = 0.0
    """The moment of the clip, in seconds."""
    scene: str = "flat"
    """The room: a built-in scene, or a file (.toml, MJCF's .xml). A clip brings its own unless one is given."""
    height: float = 1.75
    """Of the character, in metres."""
    prior: Literal["yes", "no"] = "yes"
    """Whether the trained network guides the solver; no: plain inverse kinematics."""
    poses: Path = Path("poses")
    """The folder of named poses."""
    clips: Path = Path("clips")
    """Where motions are saved."""
    port: int = 8090
    """Where it is served, on 127.0.0.1; 0 for any port that is free."""
