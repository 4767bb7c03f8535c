"""Named poses on disk: one JSON file each in a folder of the user's."""

import json
import re
from pathlib import Path

import numpy as np

from qes_jax.files import replacing
from qes_jax.model.world import World
from qes_jax.pose.editor.state import NQ

VERSION = 1
NAME = re.compile(r"[\w][\w .+-]{0,59}")  # what is a file's name everywhere, and stays in the folder
SLACK = np.radians(0.5)  # by which a hinge may be beyond its range in a file, for it was rounded


class PoseError(ValueError):
    """A pose that cannot be used; the message names file and field."""


def checked_name(name: str) -> str:
    """A pose's name, trimmed. Raises PoseError where no file can have it."""
    name = name.strip()
    if not NAME.fullmatch(name) or name.endswith("."):
        raise PoseError(f"{name!r} is no name for a pose: letters, digits, space and . + - _, at most 60")
    return name


def pose_path(folder: Path, name: str) -> Path:
    """Where a pose of that name lies."""
    return folder / f"{checked_name(name)}.json"


def list_poses(folder: Path) -> list[str]:
    """Names of the poses in a folder, which need not exist."""
    return sorted((p.stem for p in folder.glob("*.json") if not p.name.startswith(".")), key=str.lower)


def save_pose(folder: Path, name: str, qpos: np.ndarray, world: World) -> Path:
    """Write qpos (39,) of a world's character; a pose of that name is replaced. Returns the file."""
    path = pose_path(folder, name)
    hinges = dict(zip(world.layout.joints, (round(float(q), 6) for q in qpos[7:NQ]), strict=True))
    content = {
        "version": VERSION, "height": world.character.height,
        "root_position": [round(float(x), 6) for x in qpos[:3]],
        "root_rotation": [round(float(x), 8) for x in qpos[3:7]], "hinges": hinges,
    }  # fmt: skip
    with replacing(path) as aside:
        aside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def load_pose(path: Path, world: World) -> np.ndarray:
    """qpos (39,) of a file, for a world's character: one of another height stands as high on its legs.

    Raises PoseError that names file and field, or FileNotFoundError.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["version"]
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such pose") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PoseError(f"{path}: not a pose: {type(error).__name__} {error}") from None
    if version != VERSION:
        raise PoseError(f"{path}: pose version {version}, this code reads version {VERSION}")
    height = _numbers(path, content, "height", ())
    if not 1.0 < height < 2.5:
        raise PoseError(f"{path}: height is {height}, expected metres")
    position = _numbers(path, content, "root_position", (3,)) * [1, 1, world.character.height / height]
    rotation = _numbers(path, content, "root_rotation", (4,))
    if abs(np.linalg.norm(rotation) - 1) > 1e-3:
        raise PoseError(f"{path}: root_rotation is no unit quaternion: {rotation.tolist()}")
    return np.concatenate([position, rotation / np.linalg.norm(rotation), _hinges(path, content, world)])


def _hinges(path: Path, content: dict, world: World) -> np.ndarray:
    names, given = world.layout.joints, content.get("hinges")
    if not isinstance(given, dict) or set(given) != set(names):
        odd = sorted(set(given) ^ set(names))[:4] if isinstance(given, dict) else given
        raise PoseError(f"{path}: hinges are not the character's {len(names)}, see {odd}")
    angles = np.array([_numbers(path, given, name, ()) for name in names])
    low, high = world.layout.joint_range.T
    beyond = (angles < low - SLACK) | (angles > high + SLACK)
    if beyond.any():
        which = int(np.argmax(beyond))
        raise PoseError(
            f"{path}: hinge {names[which]} is {angles[which]:.3f} rad, beyond {low[which]:.3f} to {high[which]:.3f}"
        )
    return np.clip(angles, low, high)


def _numbers(path: Path, content: dict, field: str, shape: tuple[int, ...]) -> np.ndarray:
    """A field as finite numbers of a shape."""
    try:
        value = np.asarray(content[field], np.float64)
    except (KeyError, ValueError, TypeError):
        raise PoseError(f"{path}: field {field} is missing or no numbers") from None
    if value.shape != shape or not np.isfinite(value).all():
        raise PoseError(f"{path}: field {field} is {content[field]}, expected {shape or 'one'} finite number(s)")
    return value
