"""All recordings of a folder as clips of one height, kept in a cache: what was imported once is only read again."""

import hashlib
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from zipfile import is_zipfile

import numpy as np

from qes_jax.model.scene import SCENES
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip, ClipError, load_clip, save_clip
from qes_jax.motion.formats.holosoma import is_holosoma
from qes_jax.motion.formats.points import is_points
from qes_jax.motion.formats.read import FORMATS, read_recording
from qes_jax.motion.library import SAME_HEIGHT, rescale_clip
from qes_jax.motion.retarget import retarget
from qes_jax.motion.sensors import READERS, load_track, make_track, read_device, sensor_clip

# A file with such an ending is meant as a recording: where no reader knows it, that is said.
ENDINGS = (".bvh", ".amc", ".glb", ".gltf", ".npz", ".npy", ".json", ".csv", ".fbx", ".c3d", ".vrm", ".trc")


@dataclass(frozen=True)
class Imported:
    """A recording that is a clip now."""

    name: str  # its path in the folder, without the ending
    clip: Path
    fresh: bool  # False: it was there already


@dataclass(frozen=True)
class Refused:
    """A file that could not be read, and why, in one line."""

    name: str
    reason: str


def find_recordings(folder: Path, limit: int | None = None) -> list[Path]:
    """Files that are recordings by content or ending, at any depth, by their paths; at most `limit`, evenly taken.

    Raises FileNotFoundError where there is none.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    there = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    files = [p for p in there if is_recording(p) and not _is_report(p)]
    if not files:
        raise FileNotFoundError(f"{folder}: no recording in it, expected some of {', '.join(ENDINGS)}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}: expected at least 1")
    return files if limit is None or limit >= len(files) else [files[i * len(files) // limit] for i in range(limit)]


def is_recording(path: Path) -> bool:
    """Whether a file is one by its ending, or whether a reader knows its content."""
    return path.suffix.lower() in ENDINGS or _known(path)


def _is_report(path: Path) -> bool:
    """Whether a file tells of another: JSON beside a clip of the same name."""
    return path.suffix.lower() == ".json" and path.with_suffix(".npz").is_file()


def _known(path: Path) -> bool:
    try:
        return any(form.looks(path) for form in FORMATS)
    except (OSError, ValueError):
        return False


def import_all(
    files: Sequence[Path], folder: Path, height: float, cache: Path, workers: int = 1
) -> Iterator[Imported | Refused]:
    """Each file as a clip for a body of `height` [m], in the order of files, as soon as it is done.

    Clips are kept in `cache` under the recording's name and a checksum of its content. With several workers each is a
    process of its own.
    """
    if workers <= 1:
        yield from map(import_one, files, repeat(folder), repeat(height), repeat(cache))
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(import_one, files, repeat(folder), repeat(height), repeat(cache))


def import_one(path: Path, folder: Path, height: float, cache: Path) -> Imported | Refused:
    """One file as a clip in the cache; a clip of this height stays where it is. Nothing that a file holds stops it."""
    name = path.relative_to(folder).with_suffix("").as_posix()
    try:
        if _is_clip(path) and abs(load_clip(path).height - height) <= SAME_HEIGHT:
            return Imported(name, path, fresh=False)
        kept = cache / f"{path.stem}-{_checksum(path, name, height)}.npz"
        if _readable(kept):
            return Imported(name, kept, fresh=False)
        save_clip(kept, read_any(path, height, name))
        return Imported(name, kept, fresh=True)
    except Exception as error:  # a folder of strangers' files: one that breaks a reader must not stop the others
        return Refused(name + path.suffix, _reason(error, path))


def read_any(path: Path, height: float, name: str) -> Clip:
    """A file of any kind as a clip: ours, a track of sensors, a device's recording, or a motion fitted to the body.

    Climbs (.npy) stand among the boxes (.obj) beside them. Raises RecordingError or ClipError.
    """
    if _is_clip(path):
        return replace(rescale_clip(load_clip(path), height), name=name)
    if "track" in _fields(path):
        track = load_track(path)
        if abs(track.height - height) > SAME_HEIGHT:
            raise ClipError(f"a track for a body of {track.height} m, not of {height} m")
        return sensor_clip(track, SCENES["flat"], name)
    if path.suffix.lower() in READERS and not _known(path):
        return sensor_clip(make_track(read_device(path), height), SCENES["flat"], name)
    boxes = sorted(path.parent.glob("*.obj")) if is_holosoma(path) and not is_points(path) else []
    _, recording = read_recording(path, tuple(boxes))
    fit = retarget(recording, path.stem, height)
    return make_clip(name, fit.qpos, fit.scene, fit.height, recording.source, recording.licence)


def _is_clip(path: Path) -> bool:
    return _fields(path) >= {"qpos", "qvel", "meta"}


def _fields(path: Path) -> set[str]:
    """Names of an npz's arrays; of anything else none."""
    if path.suffix.lower() != ".npz" or not is_zipfile(path):
        return set()
    with np.load(path, allow_pickle=False) as file:
        return set(file.files)


def _readable(path: Path) -> bool:
    try:
        load_clip(path)
    except (FileNotFoundError, ClipError):
        return False
    return True


def _checksum(path: Path, name: str, height: float) -> str:
    return hashlib.sha256(f"{name} {height:.4f} ".encode() + path.read_bytes()).hexdigest()[:12]


def _reason(error: Exception, path: Path) -> str:
    """One line without the file's own path; of what no reader foresaw also its kind."""
    text = str(error).strip().partition("\n")[0].removeprefix(str(path)).lstrip(":, ") or "no reason given"
    return text if isinstance(error, (ValueError, OSError)) else f"{type(error).__name__}: {text}"
