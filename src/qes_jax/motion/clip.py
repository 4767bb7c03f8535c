"""A clip: one motion of the character in one scene at the control rate, as it lies on disk and as training reads it."""

import dataclasses
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

import numpy as np

from qes_jax.files import BROKEN, entry, save_npz
from qes_jax.model.scene import Scene, make_piece

VERSION = 1
FPS = 36.0  # [Hz] the control rate


@dataclass(frozen=True)
class Clip:
    """T frames, L links, O objects (the floor, then the scene's pieces). Arrays are NumPy, float32 unless said.

    qpos is root position, root quaternion, the hinges, then the scene's own joints; qvel[t] leads from frame t to t+1.
    """

    name: str
    source: str  # where the motion comes from
    licence: str
    fps: float  # [Hz]
    height: float  # [m] of the character that qpos belongs to
    scene: Scene  # its pieces stand where this motion was made
    qpos: np.ndarray  # (T, nq)
    qvel: np.ndarray  # (T, nv)
    link_pos: np.ndarray  # (T, L, 3) [m]
    link_quat: np.ndarray  # (T, L, 4)
    contact: np.ndarray  # (T, L, O) uint8, 1 where the link touches the object
    sensor_pos: np.ndarray  # (T, 3, 3) headset, left, right controller [m]
    sensor_quat: np.ndarray  # (T, 3, 4)
    body_known: bool = True  # False: only the sensors were recorded, the body is a stand-in
    doubt: str = ""  # why it should not be used unseen, as the import found; "" for no doubt

    @property
    def n_frames(self) -> int:
        """T."""
        return len(self.qpos)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return (self.n_frames - 1) / self.fps


META = {
    "name": str,
    "source": str,
    "licence": str,
    "fps": (int, float),
    "height": (int, float),
    "body_known": bool,
    "doubt": str,
}
ARRAYS = ("qpos", "qvel", "link_pos", "link_quat", "contact", "sensor_pos", "sensor_quat")


class ClipError(ValueError):
    """A clip that cannot be used; the message names file, field and frame."""


class DoubtfulClip(UserWarning):
    """A clip that was imported badly: it can be used, and should be looked at first."""


def validate_clip(clip: Clip, where: str = "") -> None:
    """Raise ClipError unless every array fits the others, is finite, and holds unit quaternions."""
    where = where or clip.name
    _check_kinds(clip, where)
    frames, n_objects = len(clip.qpos), 1 + len(clip.scene.pieces)
    if frames < 2:
        raise ClipError(f"{where}: qpos has {frames} frames, at least 2 are needed")
    if not (np.isfinite(clip.fps) and clip.fps > 0):
        raise ClipError(f"{where}: fps is {clip.fps}")
    links = clip.link_pos.shape[1] if clip.link_pos.ndim == 3 else -1
    tails = {
        "qvel": (clip.qpos.shape[-1] - 1,), "link_pos": (links, 3), "link_quat": (links, 4),
        "contact": (links, n_objects), "sensor_pos": (3, 3), "sensor_quat": (3, 4),
    }  # fmt: skip
    for field in ARRAYS:
        value = getattr(clip, field)
        expected = (frames, *tails.get(field, value.shape[1:]))
        if (field != "qvel" and value.shape != expected) or len(value) != frames:
            raise ClipError(f"{where}: {field} has shape {value.shape}, expected {expected}")
        bad = ~np.isfinite(value).reshape(frames, -1).all(axis=1)
        if bad.any():
            raise ClipError(f"{where}: {field} is not finite at frame {int(np.argmax(bad))}")
    for field in ("link_quat", "sensor_quat"):
        _check_unit(getattr(clip, field), field, where)
    _check_unit(clip.qpos[:, 3:7], "qpos[3:7]", where)


def _check_kinds(clip: Clip, where: str) -> None:
    for field, kind in META.items():
        if not isinstance(getattr(clip, field), kind):
            raise ClipError(f"{where}: {field} is {getattr(clip, field)!r:.80}")
    for field in ARRAYS:
        value = getattr(clip, field)
        if value.ndim < 2 or value.dtype.kind not in "fiub":
            raise ClipError(f"{where}: {field} is {value.dtype} of shape {value.shape}, expected numbers by frame")
    if clip.qpos.shape[1] < 7:
        raise ClipError(f"{where}: qpos has {clip.qpos.shape[1]} columns, a free root alone takes 7")


def _check_unit(quat: np.ndarray, field: str, where: str) -> None:
    bad = (np.abs(np.linalg.norm(quat, axis=-1) - 1) > 1e-3).reshape(len(quat), -1).any(axis=1)
    if bad.any():
        raise ClipError(f"{where}: {field} is not a unit quaternion at frame {int(np.argmax(bad))}")


def save_clip(path: str | Path, clip: Clip) -> None:
    """Write a clip as npz: the arrays and one JSON text. Written aside, then renamed: never half there."""
    validate_clip(clip)
    meta = {k: getattr(clip, k) for k in META}
    meta |= {"version": VERSION, "scene": dataclasses.asdict(clip.scene)}
    save_npz(Path(path), meta=np.array(json.dumps(meta)), **{k: getattr(clip, k) for k in ARRAYS})


def load_clip(path: str | Path) -> Clip:
    """Read a clip back, validated; one in doubt is warned of.

    Raises ClipError that names file, field and frame, or FileNotFoundError.
    """
    path = Path(path)
    if path.is_file() and not is_zipfile(path):
        raise ClipError(f"{path}: not a clip file; experiments/import_motion.py makes clips of recordings")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {k: entry(file, k) for k in ("meta", *ARRAYS)}
    except KeyError as error:
        raise ClipError(f"{path}: no field {error}; is it a clip?") from None
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ClipError(f"{path}: not a readable clip ({error})") from None
    meta = _parse_meta(path, str(arrays.pop("meta")))
    try:
        clip = Clip(**meta, **arrays)
    except TypeError as error:
        raise ClipError(f"{path}: field meta: {str(error).removeprefix('Clip.__init__() ')}") from None
    validate_clip(clip, str(path))
    if clip.doubt:
        warnings.warn(f"{path}: in doubt since its import: {clip.doubt}", DoubtfulClip, stacklevel=2)
    return clip


def _parse_meta(path: Path, text: str) -> dict:
    try:
        meta = json.loads(text)
        version = meta.pop("version")
        if version != VERSION:
            raise ClipError(f"{path}: clip version {version}, this code reads version {VERSION}")
        pieces = tuple(make_piece(p) for p in meta["scene"]["pieces"])
        return {**meta, "scene": Scene(meta["scene"]["name"], pieces)}
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, ClipError):
            raise
        raise ClipError(f"{path}: field meta: {error}") from None
