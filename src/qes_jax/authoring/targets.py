"""What inverse kinematics shall reach, frame by frame. T frames; sides are left, right."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.authoring.body import SIGN, Body, arm_pose
from qes_jax.authoring.timeline import turned

RELAXED = {
    "flexion": 0.0,
    "abduction": 0.17,
    "twist": 0.15,
    "elbow": 0.30,
    "forearm": 0.25,
    "wrist": 0.0,
}  # [rad], our choice
CENTER = 0.055  # [m] middle of the sole ahead of the ankle, over which the weight rests
STRAIGHT = 0.99  # of a leg's length: knees never lock


@dataclass(frozen=True)
class Stand:
    """Where two flat feet stand: (2, 4) x, y, z of the ground below the ankle [m], and yaw [rad]."""

    feet: np.ndarray

    @property
    def yaw(self) -> float:
        """Where the person faces: midway between the feet."""
        a, b = self.feet[:, 3]
        return float(np.arctan2(np.sin(a) + np.sin(b), np.cos(a) + np.cos(b)))

    @property
    def center(self) -> np.ndarray:
        """(2,) midway between the ankles."""
        return self.feet[:, :2].mean(axis=0)

    @property
    def ground(self) -> float:
        """Mean height of the ground below the feet [m]."""
        return float(self.feet[:, 2].mean())


@dataclass(frozen=True)
class Targets:
    """Positions [m] and quaternions wxyz in the world. Weights lie in [0, 1]: 0 leaves the target out."""

    foot_pos: np.ndarray  # (T, 2, 3) ankles
    foot_quat: np.ndarray  # (T, 2, 4)
    foot_grip: np.ndarray  # (T, 2) how exactly a foot must be met: 1 on the ground, less in the air
    toes: np.ndarray  # (T, 2) toe hinges [rad]
    pelvis_pos: np.ndarray  # (T, 3)
    pelvis_quat: np.ndarray  # (T, 4)
    pelvis_weight: np.ndarray  # (T,) of its x and y; its height always counts
    com: np.ndarray  # (T, 2) centre of mass on the floor
    com_weight: np.ndarray  # (T,)
    pressure: np.ndarray  # (T, 3) where steps plan that the ground pushes, NaN where nothing plans it
    thorax_quat: np.ndarray  # (T, 4)
    head_quat: np.ndarray  # (T, 4)
    arms: np.ndarray  # (T, 2, 6) arm hinges in the order of body.ARM [rad]
    hand_pos: np.ndarray  # (T, 2, 3) controllers
    hand_weight: np.ndarray  # (T, 2)
    objects: np.ndarray  # (T, K) the scene's own joints, or (T, 0) where they stay as they are

    @property
    def n_frames(self) -> int:
        """T."""
        return len(self.com)

    def but(self, **changes: np.ndarray) -> "Targets":
        """A copy with some fields replaced."""
        return replace(self, **changes)


def join(parts: list[Targets]) -> Targets:
    """One stretch after the other."""
    return Targets(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Targets)))


def stretch(targets: Targets, first: int, end: int) -> Targets:
    """The frames from `first` up to `end`."""
    return Targets(*(getattr(targets, f.name)[first:end] for f in fields(Targets)))


def wxyz(rotation: Rotation) -> np.ndarray:
    """Quaternions wxyz of SciPy rotations, (..., 4)."""
    return rotation.as_quat(scalar_first=True)


def standing(body: Body, stand: Stand, frames: int) -> Targets:
    """Easy standing: weight on both feet, arms relaxed, looking ahead."""
    ahead = np.array([np.cos(stand.yaw), np.sin(stand.yaw)])
    com = stand.center + CENTER * ahead
    foot_pos = stand.feet[:, :3] + [0.0, 0.0, body.sole]
    upright = wxyz(turned(np.array([stand.yaw])))[0]

    def held(value: np.ndarray) -> np.ndarray:
        return np.broadcast_to(value, (frames, *np.shape(value))).copy()

    return Targets(
        foot_pos=held(foot_pos),
        foot_quat=held(wxyz(turned(stand.feet[:, 3]))),
        foot_grip=held(np.ones(2)),
        toes=held(np.zeros(2)),
        pelvis_pos=held(np.array([*com, reach_height(body, foot_pos[None], com[None], np.array([stand.yaw]))[0]])),
        pelvis_quat=held(upright),
        pelvis_weight=held(np.zeros(())),
        com=held(com),
        com_weight=held(np.ones(())),
        pressure=held(np.full(3, np.nan)),
        thorax_quat=held(wxyz(turned(np.array([stand.yaw]), 0.03))[0]),
        head_quat=held(upright),
        arms=held(np.stack([arm_pose(**RELAXED)] * 2)),
        hand_pos=held(np.zeros((2, 3))),
        hand_weight=held(np.zeros(2)),
        objects=np.zeros((frames, 0)),
    )


def reach_height(body: Body, ankles: np.ndarray, pelvis_xy: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Greatest height (T,) at which a pelvis at (T, 2), facing yaw (T,), reaches both ankles (T, 2, 3), knees soft."""
    aside = body.hip * SIGN[:, None] * np.stack([-np.sin(yaw), np.cos(yaw)], axis=-1)[:, None, :]
    flat = np.linalg.norm(ankles[..., :2] - (pelvis_xy[:, None, :] + aside), axis=-1)
    drop = np.sqrt(np.maximum((STRAIGHT * body.leg) ** 2 - flat**2, 0.01))
    return (ankles[..., 2] + drop).min(axis=-1)
