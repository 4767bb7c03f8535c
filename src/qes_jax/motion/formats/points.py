"""Joint points of any source: places over time (.npy or .npz) and the points' names.

Names come from a joint list, a text file with one a line or a JSON list; without one, from the npz itself (`names`), or
a list beside the file that is called like it. They are understood however they are spelt (see `names`), as are the
roles of `maps` themselves. Points of other names are left out. Where a source has no point between the hips, or marks
nose and ears instead of a head (as COCO does), those stand in.
"""

import json
import re
from pathlib import Path

import numpy as np

from qes_jax.motion.formats.arrays import fields_of, find_rate, finite_rows, load_array, load_fields
from qes_jax.motion.formats.body import BONES, anchors
from qes_jax.motion.formats.guess import settle
from qes_jax.motion.formats.maps import ARMS, BALLS, FINGERS, LEGS, NEEDED, SIDES
from qes_jax.motion.formats.names import parts
from qes_jax.motion.formats.recording import Anchor, Recording, RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, forward
from qes_jax.motion.formats.text import read_text

FIELDS, NAMES, RATES = ("points", "positions", "joints"), ("names", "joint_names"), ("fps", "frame_rate", "framerate")
LIMBS = ((("shoulder", "elbow", "wrist"), ARMS), (("hip", "knee", "ankle"), LEGS))
TRUNK = {
    "hips": ("hips", "pelvis", "midhip", "hip", "root"),
    "spine": ("spine", "spine1", "torso", "abdomen"),
    "chest": ("chest", "thorax", "spine3", "spine2", "upperchest"),
    "neck": ("neck", "neck1"),
    "head": ("head",),
}
LOW = {"ball": (*BALLS, "bigtoe", "footindex"), **FINGERS}
PARENTS = {"spine": "hips", "chest": "hips", "neck": "hips", "head": "hips", "hip": "hips", "shoulder": "hips",
           "knee": "hip", "ankle": "knee", "ball": "ankle", "elbow": "shoulder", "wrist": "elbow",
           "hand": "wrist", "index": "wrist", "pinky": "wrist"}  # fmt: skip
EARS, NOSE = Anchor("head", (0.0, 0.0, 0.17), 0.7), Anchor("head", (0.11, 0.0, 0.17), 0.7)


def is_points(path: str | Path) -> bool:
    """Whether the file is an npz with points and names, or an npy or npz with a joint list beside it."""
    path = Path(path)
    fields = fields_of(path) if path.suffix == ".npz" else set()
    if fields & set(FIELDS) and fields & set(NAMES):
        return True
    return path.suffix in (".npy", ".npz") and _list_beside(path) is not None


def read_points(
    path: str | Path, joints: Path | None = None, fps: float | None = None, up: str | None = None,
    unit: float | None = None,
) -> Recording:  # fmt: skip
    """Points (T, P, 3) as a Recording. `fps` [Hz] instead of the file's; `up` and `unit` [m] are guessed where None.

    Raises RecordingError.
    """
    path = Path(path)
    array, names, rate = _content(path)
    joints = joints or (None if names else _list_beside(path))
    names = read_names(joints) if joints else names
    if not names:
        raise RecordingError(f"{path}: what its points are called is not known: give a joint list, --joints")
    if len(set(names)) < len(names):
        raise RecordingError(f"{joints or path}: names are not distinct")
    if len(names) != array.shape[1]:
        raise RecordingError(f"{path}: {array.shape[1]} points, but {len(names)} names in {joints or 'the file'}")
    rate = fps or rate
    if not rate:
        raise RecordingError(f"{path}: the frame rate is not known: give it [Hz]")
    points, stand_ins = _by_role(path, array, names)
    motion = settle(_as_tree(path, points, rate), unit, up)
    marks = {role: stand_ins.get(role, anchor) for role, anchor in anchors().items() if role in points}
    place = forward(motion)[0]
    rows = np.stack([place[:, motion.index(role)] for role in marks], axis=1)
    return Recording(
        path.name, "unknown", rate, tuple(marks), tuple(marks.values()), rows, BONES, unit=motion.unit, up=motion.up
    )


def read_names(path: Path) -> tuple[str, ...]:
    """Names in a joint list: JSON, or text with one a line. Raises RecordingError."""
    try:
        text = read_text(path)
        if path.suffix.lower() != ".json":
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        names = json.loads(text)
    except (ValueError, RecursionError, OSError) as error:
        raise RecordingError(f"{path}: not a readable joint list: {error}") from None
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise RecordingError(f"{path}: expected a JSON list of names")
    return tuple(names)


def _list_beside(path: Path) -> Path | None:
    return next((p for ending in (".json", ".txt") if (p := path.with_suffix(ending)).is_file()), None)


def _content(path: Path) -> tuple[np.ndarray, tuple[str, ...], float | None]:
    """Points (T, P, 3), and what an npz says of names and rate [Hz]."""
    if path.suffix.lower() != ".npz":
        return finite_rows(path, "points", load_array(path), (None, 3)), (), None
    arrays = load_fields(path, (*FIELDS, *NAMES, *RATES))
    field = next((f for f in FIELDS if f in arrays), None)
    if field is None:
        raise RecordingError(f"{path}: field {FIELDS[0]} is missing")
    listed = next((arrays[f] for f in NAMES if f in arrays), np.array([], str))
    if listed.ndim != 1 or (len(listed) and listed.dtype.kind != "U"):
        raise RecordingError(f"{path}: field {NAMES[0]} is {listed.dtype} of shape {listed.shape}, expected text")
    return finite_rows(path, field, arrays[field], (None, 3)), tuple(map(str, listed)), find_rate(path, arrays, RATES)


def _by_role(path: Path, array: np.ndarray, names: tuple[str, ...]) -> tuple[dict[str, np.ndarray], dict[str, Anchor]]:
    """(T, 3) of each role that is there, and anchors of points that stand in for a role."""
    known: dict[tuple[str, str], np.ndarray] = {}
    for number, (side, core) in enumerate(parts(names)):
        known.setdefault((side, re.sub(r"0+(\d)$", r"\1", core)), array[:, number])
    found = {}
    for role, cores in TRUNK.items():
        fits = [known["", c] for c in cores if ("", c) in known]
        found |= {role: fits[0]} if fits else {}
    for roles, families in LIMBS:
        fits = (f for f in families if all((side, core) in known for side in SIDES for core in f))
        family = next(fits, ())
        found |= {f"{s}_{role}": known[s, core] for s in SIDES for role, core in zip(roles, family, strict=False)}
    for role, cores in LOW.items():
        taken = {c for roles, families in LIMBS for f in families for c in f} if role == "ball" else set()
        for side in SIDES:
            fits = [known[side, c] for c in cores if (side, c) in known and c not in taken]
            found |= {f"{side}_{role}": fits[0]} if fits else {}
    stand_ins = _stand_in(found, known)
    missing = [role for role in NEEDED if role not in found]
    if missing:
        raise RecordingError(f"{path}: no point is known to be {', '.join(missing)}; points are {', '.join(names)}")
    return found, stand_ins


def _stand_in(found: dict[str, np.ndarray], known: dict[tuple[str, str], np.ndarray]) -> dict[str, Anchor]:
    """Add hips and head to what was found, from what is there instead; and the anchors that those need."""
    if "hips" not in found and "left_hip" in found:
        found["hips"] = 0.5 * (found["left_hip"] + found["right_hip"])
    if "head" in found:
        return {}
    if ("left", "ear") in known and ("right", "ear") in known:
        found["head"] = 0.5 * (known["left", "ear"] + known["right", "ear"])
        return {"head": EARS}
    if ("", "nose") in known:
        found["head"] = known["", "nose"]
        return {"head": NOSE}
    return {}


def _as_tree(path: Path, points: dict[str, np.ndarray], fps: float) -> SkeletonMotion:
    """The points as joints that move in their parents and never turn, for what is guessed of skeletons."""
    order = sorted(points, key=_depth)
    above = [_parent(role) for role in order]
    parents = tuple(order.index(p) if p else -1 for p in above)
    pos = np.stack([points[role] - (points[p] if p else 0.0) for role, p in zip(order, above, strict=True)], axis=1)
    unit = np.tile([1.0, 0.0, 0.0, 0.0], (*pos.shape[:2], 1))
    return SkeletonMotion(path.name, "unknown", fps, tuple(order), parents, pos[0], unit[0], pos, unit)


def _parent(role: str) -> str:
    side, _, part = role.rpartition("_")
    above = PARENTS.get(part, "")
    return f"{side}_{above}" if side and above != "hips" else above


def _depth(role: str) -> int:
    return 1 + _depth(_parent(role)) if _parent(role) else 0
