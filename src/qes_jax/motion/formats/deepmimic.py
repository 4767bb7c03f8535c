"""DeepMimic motions (JSON, Y up): rows of duration, root position and quaternion, then a rotation for each joint.

Its humanoid's joint tree and offsets are stated here (Peng et al. 2018): the files do not carry them.
"""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.recording import Anchor, Recording, RecordingError, repeat

LICENCE = "MIT"
# Name, parent, place in the parent's frame [m] (X forward, Y up, Z to the right), numbers in a row: 4 are a quaternion
# wxyz, 1 is an angle about Z.
JOINTS = (
    ("root", None, (0.0, 0.0, 0.0), 4),
    ("chest", "root", (0.0, 0.236151, 0.0), 4),
    ("neck", "chest", (0.0, 0.223894, 0.0), 4),
    ("right_hip", "root", (0.0, 0.0, 0.084887), 4),
    ("right_knee", "right_hip", (0.0, -0.421546, 0.0), 1),
    ("right_ankle", "right_knee", (0.0, -0.40987, 0.0), 4),
    ("right_shoulder", "chest", (-0.02405, 0.2435, 0.18311), 4),
    ("right_elbow", "right_shoulder", (0.0, -0.274788, 0.0), 1),
    ("left_hip", "root", (0.0, 0.0, -0.084887), 4),
    ("left_knee", "left_hip", (0.0, -0.421546, 0.0), 1),
    ("left_ankle", "left_knee", (0.0, -0.40987, 0.0), 4),
    ("left_shoulder", "chest", (-0.02405, 0.2435, -0.18311), 4),
    ("left_elbow", "left_shoulder", (0.0, -0.274788, 0.0), 1),
)
WIDTH = 4 + sum(n for *_, n in JOINTS)
# Points fixed to a joint that show its orientation, or its limb's end.
MARKS = {
    "left_wrist": ("left_elbow", (0.0, -0.258947, 0.0)),
    "right_wrist": ("right_elbow", (0.0, -0.258947, 0.0)),
    "head": ("neck", (0.0, 0.175, 0.0)),
    "face": ("neck", (0.1, 0.175, 0.0)),
    "sternum": ("chest", (0.12, 0.12, 0.0)),
    "belly": ("root", (0.12, 0.07, 0.0)),
    "left_heel": ("left_ankle", (-0.04, -0.05, 0.0)),
    "right_heel": ("right_ankle", (-0.04, -0.05, 0.0)),
    "left_ball": ("left_ankle", (0.12, -0.05, 0.0)),
    "right_ball": ("right_ankle", (0.12, -0.05, 0.0)),
}


def _anchors() -> dict[str, Anchor]:
    anchors = {
        "root": Anchor("pelvis"),
        "belly": Anchor("pelvis", (0.12, 0.0, 0.07), 0.5),
        "chest": Anchor("thorax", (0.0, 0.0, -0.01), 0.7),
        "sternum": Anchor("thorax", (0.12, 0.0, 0.11), 0.5),
        "neck": Anchor("thorax", (0.0, 0.0, 0.21), 0.5),
        "head": Anchor("head", (0.0, 0.0, 0.14), 0.7),
        "face": Anchor("head", (0.1, 0.0, 0.14), 0.7),
    }
    for side in ("left", "right"):
        anchors |= {
            f"{side}_shoulder": Anchor(f"{side}_upper_arm", weight=0.7),
            f"{side}_elbow": Anchor(f"{side}_forearm"),
            f"{side}_wrist": Anchor(f"{side}_hand"),
            f"{side}_hip": Anchor(f"{side}_thigh"),
            f"{side}_knee": Anchor(f"{side}_shin"),
            f"{side}_ankle": Anchor(f"{side}_foot"),
            f"{side}_heel": Anchor(f"{side}_foot", (-0.04, 0.0, -0.06), 0.7),
            f"{side}_ball": Anchor(f"{side}_foot", (0.12, 0.0, -0.06), 0.7),
        }
    return anchors


LIMB_BONES = (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))
BONES = (("root", "neck"), *((f"{side}_{a}", f"{side}_{b}") for side in ("left", "right") for a, b in LIMB_BONES))


def is_deepmimic(path: str | Path) -> bool:
    """Whether the file looks like JSON with the key "Frames" near its start."""
    head = Path(path).read_bytes()[:400].lstrip()
    return head.startswith(b"{") and b'"Frames"' in head


def read_deepmimic(path: str | Path, times: int = 1) -> Recording:
    """The joints' points over time, a cyclic motion gone through `times` times. Raises RecordingError."""
    path = Path(path)
    rows, cyclic = _rows(path)
    if times > 1 and not cyclic:
        raise RecordingError(f"{path}: field Loop: the motion is not cyclic, it cannot be repeated")
    fps, points = _even(path, rows[:, 0], _forward_kinematics(rows))
    anchors = _anchors()
    used = np.stack([points[name] for name in anchors], axis=1)
    recording = Recording(path.name, LICENCE, fps, tuple(anchors), tuple(anchors.values()), used, BONES)
    return repeat(recording, times, "root", "left_hip", "right_hip")


def _rows(path: Path) -> tuple[np.ndarray, bool]:
    try:
        content = json.loads(path.read_text())
        frames = content["Frames"]
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: not readable JSON: {error}") from None
    except (KeyError, TypeError):
        raise RecordingError(f"{path}: field Frames is missing") from None
    if not isinstance(frames, list) or len(frames) < 4:
        raise RecordingError(f"{path}: field Frames must be a list of at least 4 rows")
    for number, row in enumerate(frames):
        if not isinstance(row, list) or len(row) != WIDTH:
            found = len(row) if isinstance(row, list) else type(row).__name__
            raise RecordingError(f"{path}: field Frames, frame {number}: {found} numbers, expected {WIDTH}")
        if not all(isinstance(x, (int, float)) and np.isfinite(x) for x in row):
            raise RecordingError(f"{path}: field Frames, frame {number}: not all of it are finite numbers")
    return np.array(frames, np.float64), content.get("Loop") == "wrap"


def _forward_kinematics(rows: np.ndarray) -> dict[str, np.ndarray]:
    """(T, 3) of every joint and mark, Z up."""
    place, turn, column = {}, {}, 4
    for name, parent, offset, width in JOINTS:
        numbers = rows[:, column : column + width]
        local = Rotation.from_quat(numbers, scalar_first=True) if width == 4 else Rotation.from_euler("z", numbers)
        column += width
        if parent is None:
            place[name], turn[name] = rows[:, 1:4], local
        else:
            place[name], turn[name] = place[parent] + turn[parent].apply(offset), turn[parent] * local
    place |= {name: place[joint] + turn[joint].apply(offset) for name, (joint, offset) in MARKS.items()}
    return {name: np.stack([p[:, 0], -p[:, 2], p[:, 1]], axis=1) for name, p in place.items()}


def _even(path: Path, durations: np.ndarray, points: dict[str, np.ndarray]) -> tuple[float, dict[str, np.ndarray]]:
    """Frame rate [Hz] of the median duration, and points at that rate. The last frame's duration means nothing."""
    bad = np.flatnonzero(durations[:-1] <= 0)
    if len(bad):
        raise RecordingError(f"{path}: field Frames, frame {bad[0]}: its duration is {durations[bad[0]]} s")
    times = np.concatenate([[0.0], np.cumsum(durations[:-1])])
    count = max(round(times[-1] / np.median(durations[:-1])), 3)
    even = np.linspace(0.0, times[-1], count + 1)
    fps = round(count / times[-1], 1)  # durations are written as 0.033332 or 0.016666
    return fps, {k: np.stack([np.interp(even, times, x) for x in p.T], axis=1) for k, p in points.items()}
