"""Any recording, its format told from its content."""

from dataclasses import replace
from pathlib import Path

from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.deepmimic import is_deepmimic, read_deepmimic
from qes_jax.motion.formats.holosoma import is_holosoma, read_holosoma
from qes_jax.motion.formats.recording import Recording, RecordingError

FORMATS = "holosoma_climb (.npy of joint points), DeepMimic (JSON)"


def read_recording(
    path: str | Path, objects: tuple[Path, ...] = (), fps: float | None = None, repeat: int = 1
) -> tuple[str, Recording]:
    """Name of the format, and the recording with boxes from OBJ files.

    `fps` [Hz] replaces the format's own rate; `repeat` goes through a cyclic motion so many times. Raises
    RecordingError.
    """
    path = Path(path)
    if not path.is_file():
        raise RecordingError(f"{path}: no such file")
    if is_holosoma(path):
        name, recording = "holosoma_climb", read_holosoma(path)
        if repeat > 1:
            raise RecordingError(f"{path}: only cyclic DeepMimic motions can be repeated")
    elif is_deepmimic(path):
        name, recording = "deepmimic", read_deepmimic(path, repeat)
    else:
        raise RecordingError(f"{path}: unknown format, expected one of: {FORMATS}")
    return name, replace(recording, fps=fps or recording.fps, pieces=tuple(read_box(o) for o in objects))
