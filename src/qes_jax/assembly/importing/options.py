"""What to import, and what to make of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from qes_jax.model.character import HEIGHT

ENDINGS = (".bvh", ".glb")  # of what can be exported


@dataclass(frozen=True)
class Options:
    """What to import, and where to put it."""

    file: Annotated[Path, tyro.conf.Positional]
    """The recording: BVH, ASF/AMC, glTF, AMASS (.npz), DeepMimic (JSON), joint points (.npy, .npz)."""
    out: Path = Path("clip.npz")
    """Where the clip goes."""
    json: Path | None = None
    """Where the report goes."""
    objects: tuple[Path, ...] = ()
    """Boxes, OBJ meshes in the recording's world."""
    scene: str | None = None
    """A scene instead: a built-in one, a file (.toml, MJCF's .xml), or a clip (.npz) whose pieces stand as there."""
    skeleton: Path | None = None
    """The ASF of an AMC, else the one beside it."""
    map: Path | None = None
    """Which joints are which parts of the body (TOML), where the command cannot tell."""
    joints: Path | None = None
    """What joint points are called: a text file with a name a line, or a JSON list."""
    clip: str | None = None
    """Which motion of a file that holds several."""
    up: Literal["x", "y", "z"] | None = None
    """The file's upward axis, where it does not say and is guessed wrongly."""
    unit: float | None = None
    """[m] the file's unit of length, likewise; of AMASS, that of `trans`."""
    floor: float | None = None
    """[m] the floor's height in the file, where it is not where the feet are seen to stand."""
    root_offset: Literal["add", "ignore"] | None = None
    """Whether a BVH root's positions come on top of its OFFSET, where that is guessed wrongly."""
    start: float = 0.0
    """[s] where the part to take begins."""
    end: float | None = None
    """[s] where it ends."""
    height: float | None = None
    """[m] of the character, else the subject's as its bones tell."""
    fps: float | None = None
    """[Hz] of the recording, where it is not what its format has."""
    repeat: int = 1
    """Times to go through a cyclic motion."""
    name: str | None = None
    """Of the clip, else the file's."""
    licence: str | None = None
    """Of the recording, else the format's usual one."""
    corrections: Path | None = None
    """Of contact labels: a text file of lines `frames FIRST-LAST: LINK OBJECT on|off`."""


@dataclass(frozen=True)
class SensorOptions:
    """Which headset recording to read, and what to make of it."""

    file: Annotated[Path, tyro.conf.Positional]
    """Recording: A-Frame's .json, or Unity's .csv."""
    out: Path
    """Where the track goes (.npz)."""
    height: float = HEIGHT
    """Height of the character to scale to [m]."""
    start: float = 0.0
    """First second of the recording to take."""
    end: float | None = None
    """Last second; by default its end."""
    eye_height: float | None = None
    """The person's eye height standing [m], if nobody stands in the recording."""
    part: int | None = None
    """Which part of a session that had to be cut, from 1; by default the longest."""


@dataclass(frozen=True)
class ExportOptions:
    """Which clip to export, and where to."""

    clip: Annotated[Path, tyro.conf.Positional]
    """The clip (.npz)."""
    out: Annotated[Path, tyro.conf.Positional]
    """The file to write, whose ending says the format: .bvh or .glb."""
    json: Path | None = None
    """Where the report goes."""


@dataclass(frozen=True)
class TableOptions:
    """Which recordings to measure, and where to write."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Recordings, in folders of any depth."""
    only: tuple[str, ...] = ()
    """Words that a recording's name must hold one of."""
    clips: tuple[str, ...] = ("Walking_A", "Sit_Chair_Down", "Lie_StandUp", "Jump_Full_Short", "Sit_Floor_Down")
    """Which motions of files that hold several."""
    out: Path | None = None
    """Where the page with the table goes (Markdown)."""
    json: Path | None = None
    """Where the figures go."""
