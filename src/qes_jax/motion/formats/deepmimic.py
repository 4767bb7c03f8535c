"""DeepMimic motions (JSON, Y up): rows of duration, root position and quaternion, then a rotation for each joint.

Its humanoid's joint tree and offsets are stated here (Peng et al. 2018): the files do not carry them.
"""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, sampled, z_up
from qes_jax.motion.formats.text import read_start, read_text

LICENCE = "MIT"
# Name, parent, place in the parent's frame [m] (X forward, Y up, Z to the right), numbers in a row: 4 are a quaternion
# wxyz, 1 is an angle about Z. Those of none are points of the body that the files have no joint for.
JOINTS = (
    ("root", None, (0.0, 0.0, 0.0), 4),
    ("chest", "root", (0.0, 0.236151, 0.0), 4),
    ("neck", "chest", (0.0, 0.223894, 0.0), 4),
    ("head", "neck", (0.0, 0.085, 0.0), 0),
    ("right_hip", "root", (0.0, 0.0, 0.084887), 4),
    ("right_knee", "right_hip", (0.0, -0.421546, 0.0), 1),
    ("right_ankle", "right_knee", (0.0, -0.40987, 0.0), 4),
    ("right_toe", "right_ankle", (0.12, -0.05, 0.0), 0),
    ("right_shoulder", "chest", (-0.02405, 0.2435, 0.18311), 4),
    ("right_elbow", "right_shoulder", (0.0, -0.274788, 0.0), 1),
    ("right_wrist", "right_elbow", (0.0, -0.258947, 0.0), 0),
    ("left_hip", "root", (0.0, 0.0, -0.084887), 4),
    ("left_knee", "left_hip", (0.0, -0.421546, 0.0), 1),
    ("left_ankle", "left_knee", (0.0, -0.40987, 0.0), 4),
    ("left_toe", "left_ankle", (0.12, -0.05, 0.0), 0),
    ("left_shoulder", "chest", (-0.02405, 0.2435, -0.18311), 4),
    ("left_elbow", "left_shoulder", (0.0, -0.274788, 0.0), 1),
    ("left_wrist", "left_elbow", (0.0, -0.258947, 0.0), 0),
)
WIDTH = 4 + sum(n for *_, n in JOINTS)


def is_deepmimic(path: str | Path) -> bool:
    """Whether the file looks like JSON with the key "Frames" near its start."""
    head = read_start(Path(path))
    return head.startswith("{") and '"Frames"' in head


def read_deepmimic(path: str | Path) -> SkeletonMotion:
    """The joints over time; `cyclic` where the file says so. Raises RecordingError."""
    path = Path(path)
    rows, cyclic = _rows(path)
    names = [name for name, *_ in JOINTS]
    offset = np.array([place for _, _, place, _ in JOINTS])
    pos = np.tile(offset, (len(rows), 1, 1))
    pos[:, 0] = rows[:, 1:4]
    frames, fps = _even(path, rows[:, 0])
    motion = SkeletonMotion(
        path.name, LICENCE, fps, tuple(names), tuple(-1 if p is None else names.index(p) for _, p, *_ in JOINTS),
        offset, np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)), pos, _turns(path, rows), cyclic=cyclic,
    )  # fmt: skip
    return z_up(sampled(motion, frames, fps), "y")


def _rows(path: Path) -> tuple[np.ndarray, bool]:
    try:
        content = json.loads(read_text(path))
        frames = content["Frames"]
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}: not readable JSON: {error}") from None
    except (KeyError, TypeError):
        raise RecordingError(f"{path}: field Frames is missing") from None
    if not isinstance(frames, list) or len(frames) < 4:
        raise RecordingError(f"{path}: field Frames must be a list of at least 4 rows")
    for number, row in enumerate(frames):
        if not isinstance(row, list) or len(row) != WIDTH:
            found = len(row) if isinstance(row, list) else type(row).__name__
            raise RecordingError(f"{path}: field Frames, frame {number}: {found} numbers, expected {WIDTH}")
        if not all(isinstance(x, (int, float)) and abs(x) < 1e9 for x in row):
            raise RecordingError(f"{path}: field Frames, frame {number}: not all of it are finite numbers")
    return np.array(frames, np.float64), content.get("Loop") == "wrap"


def _turns(path: Path, rows: np.ndarray) -> np.ndarray:
    """(T, J, 4) rotations of the joints in their parents."""
    turns, column = [], 4
    for name, *_, width in JOINTS:
        numbers = rows[:, column : column + width]
        column += width
        if width == 4:
            bad = np.flatnonzero(np.linalg.norm(numbers, axis=1) < 1e-6)
            if len(bad):
                raise RecordingError(f"{path}: field Frames, frame {bad[0]}: the quaternion of {name} is zero")
            turn = Rotation.from_quat(numbers, scalar_first=True)
        else:
            turn = Rotation.from_euler("z", numbers) if width else Rotation.identity(len(rows))
        turns.append(turn.as_quat(scalar_first=True))
    return np.stack(turns, axis=1)


def _even(path: Path, durations: np.ndarray) -> tuple[np.ndarray, float]:
    """Frames [1] to take for even steps, and their rate [Hz], by the median duration. The last one means nothing."""
    bad = np.flatnonzero(durations[:-1] <= 0)
    if len(bad):
        raise RecordingError(f"{path}: field Frames, frame {bad[0]}: its duration is {durations[bad[0]]} s")
    times = np.concatenate([[0.0], np.cumsum(durations[:-1])])
    count = max(round(times[-1] / np.median(durations[:-1])), 3)
    fps = round(count / times[-1], 1)  # durations are written as 0.033332 or 0.016666
    return np.interp(np.linspace(0.0, times[-1], count + 1), times, np.arange(len(times))), fps
