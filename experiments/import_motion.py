"""Make a clip of a foreign recording: read it, fit the character to it, label its contacts, report how good it is.

python experiments/import_motion.py climb.npy --objects box1.obj box2.obj --out climb.npz --json climb.json
python experiments/import_motion.py walk.txt --repeat 16 --out walk.npz
python experiments/import_motion.py 02_01.amc --skeleton 02.asf --out walk.npz
python experiments/import_motion.py dance.bvh --map dance.map.toml --out dance.npz

The format is told from the file. Where a skeleton's joints are not recognised, a map file is written to be filled in.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from launch import explained, prepare_jax


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
    """[m] the file's unit of length, likewise."""
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


@explained
def main(argv: list[str] | None = None) -> int:
    """Import one recording. Exit code 2 at bad input."""
    options = tyro.cli(Options, args=argv)
    # The solver's many small factorisations are far slower on several threads, which must wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    prepare_jax()
    from import_clip import import_clip  # only now: it imports NumPy and JAX

    import_clip(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
