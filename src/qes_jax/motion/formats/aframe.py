"""A-Frame's avatar recordings (JSON): for the camera and each controller a list of poses, each with its own timestamp.

Positions [m] are in three.js's frame: right-handed, X to the right, Y up, Z backwards. Rotations are Euler angles in
degrees, and A-Frame turns its entities in the order YXZ (the recordings bear it out: x stays within 90 degrees, y and
z do not, and any other order tears the motion apart). Timestamps are milliseconds.
"""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.device import SENSORS, SWAPPED, DeviceRecording, Stream, make_stream, swapped
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.text import read_text

MILLISECOND = 1e-3  # [s]
HAND_ROLL = 90.0  # [deg] added to z of a left controller that shows A-Frame's hand model, and taken from a right one's


def read_aframe(path: str | Path) -> DeviceRecording:
    """Read a session. Raises RecordingError that names file, entity, field and pose."""
    try:
        data = json.loads(read_text(Path(path)))
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not a readable JSON file ({type(error).__name__}: {str(error)[:100]})") from None
    if not isinstance(data, dict):
        raise RecordingError(f"{path}: holds a {type(data).__name__}, expected an object of entities with poses")
    head, left, right = (_table(path, key, data[key]) for key in _entities(path, data))
    streams = _streams(path, head, left, right)
    if not swapped(streams):
        return DeviceRecording(str(path), "aframe", streams)
    return DeviceRecording(str(path), "aframe", _streams(path, head, right, left), (SWAPPED,))


def _streams(path: str | Path, *tables: np.ndarray) -> tuple[Stream, Stream, Stream]:
    """Of the headset's, the left and the right controller's table. The hand models' roll goes by the side."""
    roll = HAND_ROLL if _rolled(tables[1][:, 6], tables[2][:, 6]) else 0.0
    names = [f"{path}: {name}" for name in SENSORS]
    head, left, right = (_stream(t, w, r) for t, w, r in zip(tables, names, (0.0, roll, -roll), strict=True))
    return head, left, right


def _entities(path: str | Path, data: dict) -> tuple[str, str, str]:
    """Keys of camera, left and right hand: by name, or by the hand that the gamepad says where the name tells none.

    Names go first because gamepads have been seen to report the other hand than the one that holds them.
    """
    found = {"camera": [k for k in data if k == "camera"]}
    for side in ("left", "right"):
        named = [k for k in data if side in k.lower()]
        found[side] = named or [k for k, v in data.items() if isinstance(v, dict) and _hand(v) == side]
    for name, keys in found.items():
        if len(keys) != 1:
            raise RecordingError(f"{path}: {len(keys)} entities for {name}, expected one; found {list(data)[:10]}")
    if found["left"] == found["right"]:
        raise RecordingError(f"{path}: entity {found['left'][0]!r} is named for both hands")
    return found["camera"][0], found["left"][0], found["right"][0]


def _hand(entity: dict) -> object:
    gamepad = entity.get("gamepad")
    return gamepad.get("hand") if isinstance(gamepad, dict) else None


def _table(path: str | Path, key: str, entity: object) -> np.ndarray:
    """(N, 7) timestamp [ms], position, rotation [deg]."""
    poses = entity.get("poses") if isinstance(entity, dict) else None
    if not isinstance(poses, list) or not poses:
        raise RecordingError(f"{path}: {key}: no list of poses")
    return np.array([_pose(f"{path}: {key}.poses[{i}]", pose) for i, pose in enumerate(poses)])


def _pose(where: str, pose: object) -> list[float]:
    if not isinstance(pose, dict):
        raise RecordingError(f"{where}: holds a {type(pose).__name__}, expected an object")
    row = [_number(where, "timestamp", pose.get("timestamp"))]
    for field in ("position", "rotation"):
        vector = pose.get(field)
        if not isinstance(vector, dict):
            raise RecordingError(f"{where}: {field} is {str(vector)[:40]!r}, expected an object with x, y, z")
        row += [_number(where, f"{field}.{c}", vector.get(c)) for c in "xyz"]
    return row


def _number(where: str, field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RecordingError(f"{where}: {field} is {str(value)[:40]!r}, expected a number")
    return float(value) if abs(value) < 1e300 else float("inf")


def _rolled(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether the controllers' z angles [deg] (N,) hold A-Frame's roll of its hand models.

    They do where one lies beyond 180 degrees, which only that roll makes; else if both are by half of it on average.
    """
    if np.any(left > 181) or np.any(right < -181):
        return True
    return _mean_angle(left) > HAND_ROLL / 2 and _mean_angle(right) < -HAND_ROLL / 2


def _mean_angle(degrees: np.ndarray) -> float:
    turns = np.exp(1j * np.radians(degrees[np.isfinite(degrees)]))
    return float(np.degrees(np.angle(turns.sum())))


def _stream(table: np.ndarray, where: str, roll: float) -> Stream:
    tracked = np.isfinite(table).all(axis=1, keepdims=True)
    quat = from_three(np.where(tracked, table[:, 4:7], 0.0) - [0.0, 0.0, roll])
    quat = np.where(tracked, quat, np.nan)
    return make_stream(table[:, 0], to_ours(table[:, 1:4]), quat, where, lambda i: f"poses[{i}]", MILLISECOND)


def from_three(degrees: np.ndarray) -> np.ndarray:
    """Quaternions wxyz (N, 4) in our axes of three.js's Euler angles x, y, z (N, 3) [deg] in A-Frame's order YXZ."""
    turn = Rotation.from_euler("YXZ", degrees[:, [1, 0, 2]], degrees=True)
    xyzw = turn.as_quat()
    return np.concatenate([xyzw[:, 3:], to_ours(xyzw[:, :3])], axis=1)


def to_ours(vectors: np.ndarray) -> np.ndarray:
    """Vectors (N, 3) of three.js in our axes: a rotation, so that a quaternion's axis goes along."""
    return vectors[:, [2, 0, 1]] * [-1.0, -1.0, 1.0]
