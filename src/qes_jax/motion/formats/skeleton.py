"""What every format that has a skeleton is read into: a tree of joints and how each is placed in its parent over time.

T frames, J joints, parents before their children. Metres, Z up, quaternions wxyz. A joint's frame follows from its
parent's by x_parent = pos + R(quat) x_joint; a root's "parent" is the world. A format whose world is not Z up, or not
in metres, goes through `z_up` and `in_metres`, which also keep what the file had for the report.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from qes_jax.motion.formats.recording import ROUNDED, RecordingError
from qes_jax.motion.frames import rotation, slerp

UP = {"x": [0.5, -0.5, -0.5, -0.5], "y": [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0], "z": [1.0, 0.0, 0.0, 0.0]}  # to Z up


@dataclass(frozen=True)
class SkeletonMotion:
    """A skeleton, the pose it rests in, and its motion."""

    source: str
    licence: str
    fps: float  # [Hz]
    joints: tuple[str, ...]  # J names, distinct
    parents: tuple[int, ...]  # J, -1 for a root
    rest_pos: np.ndarray  # (J, 3) in the parent's frame [m]
    rest_quat: np.ndarray  # (J, 4) in the parent's frame
    pos: np.ndarray  # (T, J, 3) in the parent's frame [m]; rest_pos again, but for joints that move in it
    quat: np.ndarray  # (T, J, 4) in the parent's frame, of unit length
    unit: float = 1.0  # [m] that one unit of the file was taken for
    up: str = "z"  # the file's own upward axis
    cyclic: bool = False  # whether the last frame is the first one's pose, and the motion may go on from there
    notes: tuple[str, ...] = ()  # what was assumed beyond what the file says

    def __post_init__(self) -> None:
        frames, count = len(self.quat), len(self.joints)
        self._check_tree()
        shapes = ((count, 3), (count, 4), (frames, count, 3), (frames, count, 4))
        for field, shape in zip(("rest_pos", "rest_quat", "pos", "quat"), shapes, strict=True):
            array = getattr(self, field)
            if array.shape != shape:
                raise RecordingError(f"{self.source}: {field} has shape {array.shape}, expected {shape}")
            bad = np.argwhere(~np.isfinite(array))
            if len(bad):
                place = f" at frame {bad[0][0]}" if array.ndim == 3 else ""
                raise RecordingError(f"{self.source}: {field} of {self.joints[bad[0][-2]]} is not finite{place}")
        if frames < 1 or not (np.isfinite(self.fps) and self.fps > 0):
            raise RecordingError(f"{self.source}: {frames} frames at {self.fps} Hz")

    def _check_tree(self) -> None:
        if not self.joints or len(self.parents) != len(self.joints) or len(set(self.joints)) < len(self.joints):
            raise RecordingError(f"{self.source}: joints need distinct names and a parent each")
        if any(not -1 <= parent < joint for joint, parent in enumerate(self.parents)):
            raise RecordingError(f"{self.source}: parents must come before their children")

    @property
    def duration(self) -> float:
        """Length [s]."""
        return (len(self.quat) - 1) / self.fps

    def index(self, joint: str) -> int:
        """Place of a joint in the arrays. Raises RecordingError where there is none of that name."""
        if joint not in self.joints:
            raise RecordingError(f"{self.source}: no joint is called {joint!r}")
        return self.joints.index(joint)

    def children(self, joint: int) -> list[int]:
        """Indices of the joints right below one."""
        return [i for i, parent in enumerate(self.parents) if parent == joint]


def forward(motion: SkeletonMotion) -> tuple[np.ndarray, np.ndarray]:
    """World positions (T, J, 3) [m] and quaternions (T, J, 4) of all joints."""
    return chain(motion.parents, motion.pos, motion.quat)


def snapshots(motion: SkeletonMotion, count: int = 100) -> np.ndarray:
    """World positions (about `count`, J, 3) at frames spread over the motion."""
    every = len(motion.quat) // count + 1
    return chain(motion.parents, motion.pos[::every], motion.quat[::every])[0]


def rest(motion: SkeletonMotion) -> tuple[np.ndarray, np.ndarray]:
    """World positions (J, 3) and quaternions (J, 4) in the rest pose."""
    pos, quat = chain(motion.parents, motion.rest_pos[None], motion.rest_quat[None])
    return pos[0], quat[0]


def chain(parents: tuple[int, ...], pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """World places of a tree from local ones: pos (T, J, 3), quat (T, J, 4)."""
    places, turns = pos.copy(), [rotation(q) for q in np.swapaxes(quat, 0, 1)]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            places[:, joint] = places[:, parent] + turns[parent].apply(pos[:, joint])
            turns[joint] = turns[parent] * turns[joint]
    return places, np.stack([t.as_quat(scalar_first=True) for t in turns], axis=1)


def localised(parents: tuple[int, ...], pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in their parents, (T, J, 3) and (T, J, 4), from those in the world: `chain` undone."""
    places, turns = pos.copy(), quat.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            back = rotation(quat[:, parent]).inv()
            places[:, joint] = back.apply(pos[:, joint] - pos[:, parent])
            turns[:, joint] = (back * rotation(quat[:, joint])).as_quat(scalar_first=True)
    return places, turns


def in_metres(motion: SkeletonMotion, unit: float) -> SkeletonMotion:
    """Lengths that were in units of `unit` [m], in metres."""
    return replace(motion, rest_pos=unit * motion.rest_pos, pos=unit * motion.pos, unit=unit)


def z_up(motion: SkeletonMotion, up: str) -> SkeletonMotion:
    """A motion whose world has the axis `up` ("x", "y" or "z") upwards, its roots turned so that Z is."""
    return replace(_turned(motion, Rotation.from_quat(UP[up], scalar_first=True)), up=up)


def _turned(motion: SkeletonMotion, turn: Rotation) -> SkeletonMotion:
    arrays = {k: getattr(motion, k).copy() for k in ("rest_pos", "rest_quat", "pos", "quat")}
    for root in (joint for joint, parent in enumerate(motion.parents) if parent < 0):
        for k in ("rest_pos", "pos"):
            arrays[k][..., root, :] = turn.apply(arrays[k][..., root, :].reshape(-1, 3)).reshape(-1, 3)
        for k in ("rest_quat", "quat"):
            turned = turn * rotation(arrays[k][..., root, :])
            arrays[k][..., root, :] = turned.as_quat(scalar_first=True)
    return replace(motion, **arrays)


def resampled(motion: SkeletonMotion, fps: float) -> SkeletonMotion:
    """The same motion at another rate: rotations by slerp, positions through a cubic spline."""
    return sampled(motion, np.arange(int(motion.duration * fps + ROUNDED) + 1) / fps * motion.fps, fps)


def sampled(motion: SkeletonMotion, frames: np.ndarray, fps: float) -> SkeletonMotion:
    """The motion at the fractions of a frame `frames` (T,), which become a motion at `fps` [Hz]."""
    count = len(motion.quat)
    if count < 2:
        return replace(motion, fps=fps)
    first = np.clip(frames.astype(int), 0, count - 2)
    quat = slerp(motion.quat[first], motion.quat[first + 1], frames - first)
    return replace(motion, fps=fps, pos=CubicSpline(np.arange(count), motion.pos)(frames), quat=quat)


def repeated(motion: SkeletonMotion, times: int) -> SkeletonMotion:
    """A cyclic motion walked through `times` times, each cycle from the place and heading where the one before ended.

    One of the two like frames is dropped at each seam. Raises RecordingError if the motion is not cyclic.
    """
    if times > 1 and not motion.cyclic:
        raise RecordingError(f"{motion.source}: the motion is not cyclic, it cannot be repeated")
    root = motion.parents.index(-1)
    first, last = (rotation(motion.quat[frame, root]) for frame in (0, -1))
    turn = Rotation.from_rotvec([0.0, 0.0, _yaw(last * first.inv())])
    pos, quat = [motion.pos], [motion.quat]
    for _ in range(times - 1):
        place, turned = motion.pos[1:].copy(), motion.quat[1:].copy()
        start, end = motion.pos[0, root] * [1.0, 1.0, 0.0], pos[-1][-1, root] * [1.0, 1.0, 0.0]
        heading = turn ** len(pos)
        place[:, root] = heading.apply(place[:, root] - start) + end
        turned[:, root] = (heading * rotation(turned[:, root])).as_quat(scalar_first=True)
        pos.append(place)
        quat.append(turned)
    return replace(motion, pos=np.concatenate(pos), quat=np.concatenate(quat))


def _yaw(turn: Rotation) -> float:
    """[rad] of the turn about Z that is nearest to a rotation."""
    m = turn.as_matrix()[0]
    return float(np.arctan2(m[1, 0] - m[0, 1], m[0, 0] + m[1, 1]))


def y_up(motion: SkeletonMotion) -> SkeletonMotion:
    """A motion of our world (Z up) in one whose Y axis is up, as other programs have it."""
    return _turned(motion, Rotation.from_quat(UP["y"], scalar_first=True).inv())


def rest_aligned(motion: SkeletonMotion) -> SkeletonMotion:
    """The same motion with joints' frames that lie along the world's in the rest pose, as BVH has them."""
    _, turned = rest(motion)
    world = [rotation(q) for q in turned]
    rest_pos, pos, quat = motion.rest_pos.copy(), motion.pos.copy(), motion.quat.copy()
    for joint, parent in enumerate(motion.parents):
        above = world[parent] if parent >= 0 else Rotation.identity()
        rest_pos[joint], pos[:, joint] = above.apply(rest_pos[joint]), above.apply(pos[:, joint])
        turns = above * rotation(quat[:, joint]) * world[joint].inv()
        quat[:, joint] = turns.as_quat(scalar_first=True)
    unit = np.tile([1.0, 0.0, 0.0, 0.0], (len(rest_pos), 1))
    return replace(motion, rest_pos=rest_pos, rest_quat=unit, pos=pos, quat=quat)
