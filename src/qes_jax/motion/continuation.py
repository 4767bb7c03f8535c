"""Clips made longer: a test of 30 s needs a reference of 30 s, and most recordings are shorter.

A clip is played to its end. If its last half second resembles some earlier half second in its first half, playback
crosses over to there, and so on: a loop (Kovar et al. 2002, "Motion graphs", with one edge). On bare ground the
resemblance, and each repetition, is up to place and heading, so that a walk walks on. Among furniture a repetition
has to stay in its place, so only a clip that comes back to where it was can loop. Any other clip slows down over its
last second and stays in its last frame. Every pose is then one that was recorded: a blend from afar would pass
through furniture, and playing backwards would climb by falling.
"""

import dataclasses

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import Clip, validate_clip
from qes_jax.motion.frames import slerp, turn_points, turn_quats, yaw_of

BLEND = 0.5  # [s] of a crossing, and of the recording that a slowing down uses
ALIKE = 0.15  # [m] mean distance of the links over a crossing beyond which two stretches do not resemble, our choice
ALIKE_JOINT = 0.15  # [rad, m] the same for each joint of the pieces: a chair turned once around would have to turn back


@dataclasses.dataclass(frozen=True)
class Schedule:
    """For each new frame two source frames, the share of the second, and the loop's turns so far in each."""

    first: np.ndarray  # (T,) int
    second: np.ndarray  # (T,) int
    share: np.ndarray  # (T,) in [0, 1]
    first_turn: np.ndarray  # (T,) int
    second_turn: np.ndarray  # (T,) int


@dataclasses.dataclass(frozen=True)
class Planar:
    """A turn by `yaw` [rad] about Z through the origin, then a shift (3,) [m] along the floor."""

    yaw: float
    shift: np.ndarray

    def power(self, n: int) -> "Planar":
        """The motion made n times."""
        yaw, shift = 0.0, np.zeros(3)
        for _ in range(n):
            yaw, shift = yaw + self.yaw, turn_points(shift, self.yaw) + self.shift
        return Planar(yaw, shift)


def continue_clip(clip: Clip, seconds: float, world: World | None = None) -> Clip:
    """The clip made at least `seconds` long, by a loop or by coming to rest (see above); a longer one stays itself.

    `world` spares building one: the world of the clip's own pieces.
    """
    frames = int(np.ceil(seconds * clip.fps - 1e-6)) + 1
    if clip.n_frames >= frames:
        return clip
    world = world or build_world(CharacterConfig(height=clip.height), clip.scene.pieces)
    seam = find_seam(clip, clip.qpos[:, world.layout.object_qpos])
    if seam is None:
        return _blend(clip, rest(clip.n_frames, frames, round(BLEND * clip.fps)), Planar(0.0, np.zeros(3)), world)
    start, width, step = seam
    return _blend(clip, loop(clip.n_frames, frames, start, width), step, world)


def find_seam(clip: Clip, joints: np.ndarray | None = None) -> tuple[int, int, Planar] | None:
    """First frame and length of the stretch that best resembles the clip's end, and how to move it there, or None.

    `joints` (T, n) are those of the pieces.
    """
    joints = np.zeros((clip.n_frames, 0)) if joints is None else joints
    frames = clip.n_frames
    width = min(round(BLEND * clip.fps), frames // 4)
    if width < 2:
        return None
    points = clip.link_pos if clip.body_known else clip.sensor_pos
    end = frames - width
    best: tuple[float, int, Planar] = (ALIKE, 0, Planar(0.0, np.zeros(3)))
    for start in range(frames // 2 - width + 1):
        if np.abs(joints[start : start + width] - joints[end:]).max(initial=0.0) > ALIKE_JOINT:
            continue
        step = Planar(0.0, np.zeros(3)) if clip.scene.pieces else _align(clip, start + width // 2, end + width // 2)
        moved = _move(points[start : start + width], step)
        distance = np.linalg.norm(moved - points[end:], axis=-1).mean()
        if distance < best[0]:
            best = (float(distance), start, step)
    return None if best[0] == ALIKE else (best[1], width, best[2])


def loop(length: int, frames: int, start: int, width: int) -> Schedule:
    """Play 0 .. length-1, crossing over from the last `width` frames to those from `start`, again and again."""
    period = length - width - start
    k = np.arange(frames)
    turn = np.maximum(
        0, (k - start - width) // period
    )  # complete turns; the first pass is the longer one by start + width
    source = k - turn * period
    into = source - (length - width)  # frames into the crossing, negative outside of it
    x = np.clip((into + 1) / (width + 1), 0, 1)
    return Schedule(source, np.where(into >= 0, start + into, source), 3 * x**2 - 2 * x**3, turn, turn + (into >= 0))


def rest(length: int, frames: int, width: int) -> Schedule:
    """Play 0 .. length-1, the last `width` frames ever more slowly (over twice as many), then stay."""
    width = min(width, length - 1)
    x = np.clip(np.arange(frames) - (length - 1 - width), 0, 2 * width)
    time = np.minimum(np.arange(frames), length - 1 - width) + x - x**2 / (4.0 * width)
    first = np.minimum(time.astype(int), length - 2)
    nought = np.zeros(frames, int)
    return Schedule(first, first + 1, time - first, nought, nought)


def _blend(clip: Clip, schedule: Schedule, step: Planar, world: World) -> Clip:
    """Resample the clip by a schedule, its turns moved by `step` each."""
    ends = [(schedule.first, schedule.first_turn), (schedule.second, schedule.second_turn)]
    a, b = (_moved_qpos(clip, f, t, step) for f, t in ends)
    qpos = _mix_qpos(world.plain, a, b, schedule.share)
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world, qpos)
    if not clip.body_known:
        (pos, quat), (pos2, quat2) = (_moved_sensors(clip, f, t, step) for f, t in ends)
        share = schedule.share[:, None, None]
        sensor_pos, sensor_quat = (1 - share) * pos + share * pos2, slerp(quat, quat2, schedule.share)
    nearest = np.where(schedule.share < 0.5, schedule.first, schedule.second)
    longer = dataclasses.replace(
        clip, qpos=qpos.astype(np.float32), qvel=velocities(world.plain, qpos, clip.fps).astype(np.float32),
        link_pos=link_pos, link_quat=link_quat, contact=clip.contact[nearest],
        sensor_pos=sensor_pos.astype(np.float32), sensor_quat=sensor_quat.astype(np.float32),
    )  # fmt: skip
    validate_clip(longer)
    return longer


def _mix_qpos(m: mujoco.MjModel, a: np.ndarray, b: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(T, nq) on the way from a to b, on the manifold of qpos."""
    mixed, way = a.copy(), np.zeros(m.nv)
    for t in np.flatnonzero(share > 0):
        mujoco.mj_differentiatePos(m, way, 1.0, a[t], b[t])
        mujoco.mj_integratePos(m, mixed[t], way, share[t])
    return mixed


def _moved_qpos(clip: Clip, frame: np.ndarray, turn: np.ndarray, step: Planar) -> np.ndarray:
    """qpos of the frames, its root moved by the power of `step` that `turn` says."""
    qpos = clip.qpos[frame].astype(np.float64)
    for n in np.unique(turn):
        rows, total = turn == n, step.power(int(n))
        qpos[rows, :3], qpos[rows, 3:7] = _move(qpos[rows, :3], total), turn_quats(qpos[rows, 3:7], total.yaw)
    return qpos


def _moved_sensors(clip: Clip, frame: np.ndarray, turn: np.ndarray, step: Planar) -> tuple[np.ndarray, np.ndarray]:
    pos, quat = clip.sensor_pos[frame].astype(np.float64), clip.sensor_quat[frame].astype(np.float64)
    for n in np.unique(turn):
        rows, total = turn == n, step.power(int(n))
        pos[rows], quat[rows] = _move(pos[rows], total), turn_quats(quat[rows], total.yaw)
    return pos, quat


def _align(clip: Clip, frame: int, onto: int) -> Planar:
    """What moves the root at `frame` to its place and heading at `onto`."""
    yaw = float(yaw_of(clip.qpos[onto, 3:7]) - yaw_of(clip.qpos[frame, 3:7]))
    here, there = (clip.qpos[t, :3] * [1.0, 1.0, 0.0] for t in (frame, onto))
    return Planar(yaw, there - turn_points(here, yaw))


def _move(points: np.ndarray, motion: Planar) -> np.ndarray:
    """Points (..., 3) after a planar motion."""
    return turn_points(points, motion.yaw) + motion.shift
