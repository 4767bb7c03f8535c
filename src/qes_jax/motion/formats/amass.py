"""AMASS motions (.npz) of SMPL, SMPL-H or SMPL-X bodies (Mahmood et al. 2019): axis-angle poses, Z up, metres.

The files carry rotations but no skeleton, and the body models are not free. A motion needs only where the joints are,
so the tree of the 22 joints that the three bodies share is stated here, with the mean neutral body's offsets: as
published with SMPL (Loper et al. 2015) and with the MuJoCo bodies made after it, rounded to 5 mm and alike left and
right. The subject's own shape (`betas`) is left out: it needs the body model, and the fit scales the motion anyway.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.amass_guess import guess_axis, guess_metre, guess_size
from qes_jax.motion.formats.arrays import fields_of, find_rate, finite_rows, load_fields
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, z_up

LICENCE = "AMASS: non-commercial research"
# The pelvis's place in the model's frame (X left, Y up, Z forward) [m]. A body turns about its pelvis, and `trans`
# moves the model's origin: the pelvis is at this plus trans, whatever the pose.
PELVIS = (0.0, -0.225, 0.03)
# Name, parent, place in the parent [m], in the order of the files.
JOINTS = (
    ("pelvis", None, (0.0, 0.0, 0.0)),
    ("left_hip", "pelvis", (0.07, -0.09, -0.005)),
    ("right_hip", "pelvis", (-0.07, -0.09, -0.005)),
    ("spine1", "pelvis", (0.0, 0.11, -0.025)),
    ("left_knee", "left_hip", (0.035, -0.38, -0.005)),
    ("right_knee", "right_hip", (-0.035, -0.38, -0.005)),
    ("spine2", "spine1", (0.0, 0.135, 0.0)),
    ("left_ankle", "left_knee", (-0.015, -0.4, -0.045)),
    ("right_ankle", "right_knee", (0.015, -0.4, -0.045)),
    ("spine3", "spine2", (0.0, 0.055, 0.025)),
    ("left_foot", "left_ankle", (0.025, -0.055, 0.12)),
    ("right_foot", "right_ankle", (-0.025, -0.055, 0.12)),
    ("neck", "spine3", (0.0, 0.215, -0.045)),
    ("left_collar", "spine3", (0.08, 0.12, -0.035)),
    ("right_collar", "spine3", (-0.08, 0.12, -0.035)),
    ("head", "neck", (0.0, 0.065, 0.05)),
    ("left_shoulder", "left_collar", (0.095, 0.03, -0.01)),
    ("right_shoulder", "right_collar", (-0.095, 0.03, -0.01)),
    ("left_elbow", "left_shoulder", (0.26, -0.015, -0.025)),
    ("right_elbow", "right_shoulder", (-0.26, -0.015, -0.025)),
    ("left_wrist", "left_elbow", (0.25, 0.01, 0.0)),
    ("right_wrist", "right_elbow", (-0.25, 0.01, 0.0)),
)
RATES = ("mocap_framerate", "mocap_frame_rate", "fps")  # SMPL-H files, SMPL-X files, those of other publishers
BODY = 3 * len(JOINTS)
WIDTHS = (BODY, 72, 156, 165)  # of poses
KINDS = "66 (body), 72 (SMPL), 156 (SMPL+H) or 165 (SMPL-X)"
MOST_TURN = 9.0  # [rad] a turn and a half: fits may go once around, no joint does more
UPRIGHT = (0.5, 0.5, 0.5, 0.5)  # wxyz, turns the model's frame to X forward, Y left, Z up


def is_amass(path: str | Path) -> bool:
    """Whether the file is an npz with poses, and with anything else that those of AMASS have."""
    fields = fields_of(path)
    return bool(fields & {"poses", "pose_body"}) and bool(fields & {"trans", "betas", "gender", *RATES})


def read_amass(
    path: str | Path, fps: float | None = None, up: str | None = None, unit: float | None = None
) -> SkeletonMotion:  # fmt: skip
    """The body's 22 joints; hands and face are left out. `fps` [Hz] instead of the file's.

    `up` is AMASS's Z, and `unit` of `trans` the metre, unless the motion plainly says another, see `amass_guess`, which
    also tells the body's size. Raises RecordingError.
    """
    path = Path(path)
    arrays = load_fields(path, ("poses", "root_orient", "pose_body", "trans", "betas", *RATES))
    rotvec, trans = _poses(path, arrays), _rows(path, arrays, "trans", 3)
    if len(rotvec) != len(trans):
        raise RecordingError(f"{path}: field trans holds {len(trans)} frames, the poses {len(rotvec)}")
    rate = fps or find_rate(path, arrays, RATES)
    if rate is None:
        raise RecordingError(f"{path}: field {RATES[0]} (or {RATES[1]}) is missing: give the rate [Hz], --fps")
    names = tuple(name for name, *_ in JOINTS)
    parents = tuple(-1 if parent is None else names.index(parent) for _, parent, _ in JOINTS)
    quat = Rotation.from_rotvec(rotvec.reshape(-1, 3)).as_quat(scalar_first=True).reshape(len(trans), -1, 4)
    rest_quat = np.tile([1.0, 0.0, 0.0, 0.0], (len(JOINTS), 1))
    rest_quat[0] = UPRIGHT

    def body(size: float, metre: float, axis: str) -> SkeletonMotion:
        """A mean body made `size` times as large, in metres and Z up."""
        offset = size * np.array([place for *_, place in JOINTS])
        pos = np.tile(offset, (len(trans), 1, 1))
        pos[:, 0] = metre * trans + size * np.array(PELVIS)
        motion = SkeletonMotion(path.name, LICENCE, rate, names, parents, offset, rest_quat, pos, quat)
        return replace(z_up(motion, axis), rest_quat=rest_quat, unit=metre)  # which is upright already

    gender, notes = _gender(path), []
    metre = unit or guess_metre(trans, rate, body(1.0, 1.0, "z"), notes)
    axis = up or guess_axis(lambda a: body(1.0, metre, a), notes)
    size = guess_size(_betas(path, arrays), gender, lambda s: body(s, metre, axis), notes)
    return replace(body(size, metre, axis), notes=tuple(notes))


def _gender(path: Path) -> str:
    """ "male", "female", or "" where the file does not say, or says it in a way that is not opened."""
    try:
        value = str(load_fields(path, ("gender",)).get("gender", np.array("")))
    except RecordingError:
        return ""
    return next((g for g in ("female", "male") if g in value.lower()), "")


def _betas(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Numbers of the body's shape, none where the file has none."""
    betas = arrays.get("betas", np.zeros(0))
    if betas.dtype.kind not in "fiu" or not np.isfinite(betas).all() or np.abs(betas).max(initial=0.0) > 100:
        raise RecordingError(f"{path}: field betas is {betas!r:.80}, expected finite numbers")
    return betas.reshape(-1, betas.shape[-1])[0].astype(np.float64) if betas.size else np.zeros(0)


def _poses(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """(T, 66) rotation vectors [rad] of the body's joints."""
    if "poses" in arrays:
        poses = finite_rows(path, "poses", arrays["poses"], (None,))
        if poses.shape[1] not in WIDTHS:
            four = poses.shape[1] % 4 == 0 and np.allclose(np.linalg.norm(poses[:, :4], axis=1), 1.0, atol=1e-3)
            why = f"; these are {poses.shape[1] // 4} quaternions: convert them" if four else ""
            raise RecordingError(
                f"{path}: field poses has {poses.shape[1]} columns, expected axis-angles, {KINDS}{why}"
            )
        return _angles(path, "poses", poses[:, :BODY])
    root, body = _rows(path, arrays, "root_orient", 3), _rows(path, arrays, "pose_body", BODY - 3)
    if len(root) != len(body):
        raise RecordingError(f"{path}: field root_orient holds {len(root)} frames, pose_body {len(body)}")
    return _angles(path, "root_orient or pose_body", np.concatenate([root, body], axis=1))


def _angles(path: Path, field: str, rotvec: np.ndarray) -> np.ndarray:
    """The rotation vectors again. Raises RecordingError at turns that are not in radians."""
    most = float(np.percentile(np.linalg.norm(rotvec.reshape(-1, 3), axis=1), 99))
    if most > MOST_TURN:
        raise RecordingError(f"{path}: field {field} turns by up to {most:.3g} rad; is it in degrees?")
    return rotvec


def _rows(path: Path, arrays: dict[str, np.ndarray], field: str, width: int) -> np.ndarray:
    if field not in arrays:
        there = ", ".join(sorted(fields_of(path)))
        raise RecordingError(f"{path}: field {field} is missing; is it an AMASS motion? It holds {there:.200}")
    return finite_rows(path, field, arrays[field], (width,))
