"""Make a clip of a foreign recording: read it, fit the character to it, label its contacts, report how good it is.

python experiments/import_motion.py climb.npy --objects box1.obj box2.obj --out climb.npz --json climb.json
python experiments/import_motion.py walk.txt --repeat 16 --out walk.npz
"""

import os

# The solver's many small factorisations are far slower on several threads that must wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import dataclasses
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from qes_jax.model.scene import get_scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip, save_clip
from qes_jax.motion.contacts import CorrectionError, correct_contacts
from qes_jax.motion.fit_report import report
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.formats.recording import Recording, RecordingError, crop
from qes_jax.motion.retarget import Fit, estimate_height, retarget


@dataclass(frozen=True)
class Options:
    """What to import, and where to put it."""

    file: Annotated[Path, tyro.conf.Positional]  # the recording
    out: Path = Path("clip.npz")  # the clip
    json: Path | None = None  # the report
    objects: tuple[Path, ...] = ()  # boxes, OBJ meshes in the recording's world
    scene: str | None = None  # a built-in scene instead
    start: float = 0.0  # [s] of the part to take
    end: float | None = None  # [s]
    height: float | None = None  # [m] of the character, else the subject's as its bones tell
    fps: float | None = None  # [Hz] of the recording, where it is not what the format has
    repeat: int = 1  # times to go through a cyclic motion
    name: str | None = None  # of the clip, else the file's
    licence: str | None = None  # else the format's usual one
    corrections: Path | None = None  # of contact labels: lines `frames FIRST-LAST: LINK OBJECT on|off`


def main(options: Options) -> dict[str, float]:
    """Import one recording. Returns the report."""
    kind, recording = _read(options)
    what = f"{kind}, {recording.fps:g} Hz, {recording.duration:.2f} s, {len(recording.pieces)} objects"
    _say(f"{options.file.name}: {what}")
    _say(f"subject's height by its bones: {estimate_height(recording):.3f} m")
    began = time.perf_counter()
    fit = retarget(recording, options.scene or options.name or options.file.stem, options.height)
    took = time.perf_counter() - began
    _say(f"character: {fit.height:.3f} m; recording scaled by {fit.scale:.3f}; fitted in {took:.1f} s")
    clip = _clip(options, fit, recording)
    save_clip(options.out, clip)
    result = report(fit, clip.contact) | {"seconds": recording.duration, "fps": recording.fps}
    for key, value in result.items():
        _say(f"{key:>24} {value:8.2f}")
    if options.json:
        aside = options.json.with_name(f".{options.json.name}.tmp")
        aside.write_text(json.dumps(result, indent=1) + "\n")
        aside.replace(options.json)
    return result


def _read(options: Options) -> tuple[str, Recording]:
    if options.scene and options.objects:
        raise RecordingError("give --objects or --scene, not both")
    kind, recording = read_recording(options.file, options.objects, options.fps, options.repeat)
    if options.scene:
        recording = dataclasses.replace(recording, pieces=get_scene(options.scene).pieces)
    if options.start or options.end is not None:
        recording = crop(recording, options.start, options.end)
    return kind, recording


def _clip(options: Options, fit: Fit, recording: Recording) -> Clip:
    licence = options.licence or recording.licence
    clip = make_clip(options.name or options.file.stem, fit.qpos, fit.scene, fit.height, recording.source, licence)
    if options.corrections:
        clip = dataclasses.replace(clip, contact=correct_contacts(clip.contact, options.corrections, fit.world))
    return clip


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main(tyro.cli(Options))
    except (RecordingError, CorrectionError, KeyError, ValueError, FileNotFoundError) as error:
        sys.exit(f"import_motion: {error.args[0] if isinstance(error, KeyError) else error}")
