"""What no person's headset and controllers do, told of a session's samples: N times, positions and quaternions.

Small pure functions and the thresholds that they share with whoever reads a device live, one sample at a time: `leaps`
for a step, `ASLEEP` for how long a device may stand still, `PAUSE` for how long it may say nothing. Thresholds are our
choice, by what real sessions hold: heads in them reach 4.6 m/s and 850 deg/s, and controllers, whose tracking slips in
fast swings, move by 0.35 m from one sample to the next at 90 Hz.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.motion.frames import rotation, turn_points, turn_quats

CLOCKS = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds", 1e-9: "nanoseconds"}
STEPS = (2e-3, 0.4)  # [s] between the samples of any device
PAUSE = 3.0  # [s] a longer gap parts two sessions: in it people take the headset off, recentre it, or set the clock
ASLEEP = 1.0  # [s] a held device trembles: one that does not change by a bit for longer is asleep, or lies on a table
GLITCH = 2.0  # [s] a device that leaps away and comes back sooner was mistracked in between
FAR_BACK = 0.5  # [m] how far from where it left a device may come back
REACH = 1.5  # [m] from the headset: arms reach 1.1, and who bends down 1.3
LEVEL = 0.5  # mean cosine of a headset's slant below which nobody wears it upright
TOGETHER = 0.15  # [m] by which a controller may miss where a recentred space would have it
CLOCK_OFF = 0.25  # [s] of clocks that differ


@dataclass(frozen=True)
class Limit:
    """The most that a device moves between two samples: whichever is more of a step and of a speed over the time."""

    step: float  # [m]
    speed: float  # [m/s]
    turn: float = np.inf  # [rad]
    spin: float = np.inf  # [rad/s]


HEAD = Limit(0.12, 5.0, np.radians(30.0), np.radians(1200.0))  # sprinters run at 12 m/s, but not in a room
HAND = Limit(0.4, 12.0)  # a punch; and controllers slip


def clock_unit(time: np.ndarray, usual: float = 1.0) -> float | None:
    """Seconds that one unit of time (N,) stands for, by the rate of the samples; None where no unit makes one.

    The `usual` unit if that does.
    """
    steps = np.diff(time)
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    return next((unit for unit in (usual, *CLOCKS) if STEPS[0] <= unit * step <= STEPS[1]), None)


def parts(time: np.ndarray, pause: float = PAUSE) -> list[slice]:
    """The stretches of times (N,) [s] without a gap of more than `pause`."""
    ends = [0, *(np.flatnonzero(np.diff(time) > pause) + 1), len(time)]
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def leaps(time: np.ndarray, pos: np.ndarray, quat: np.ndarray, limit: Limit) -> np.ndarray:
    """(N,) whether a sample is farther from the one before than `limit` has it; the first never is."""
    dt, way = np.diff(time), np.linalg.norm(np.diff(pos, axis=0), axis=1)
    far = way > np.maximum(limit.step, limit.speed * dt)
    if np.isfinite(limit.turn):
        far |= turns(quat) > np.maximum(limit.turn, limit.spin * dt)
    return np.append(False, far)


def turns(quat: np.ndarray) -> np.ndarray:
    """(N-1,) angles [rad] from each quaternion (N, 4) to the next."""
    return 2 * np.arccos(np.abs(np.einsum("ni,ni->n", quat[1:], quat[:-1])).clip(0.0, 1.0))


def asleep(time: np.ndarray, pos: np.ndarray, longest: float = ASLEEP) -> np.ndarray:
    """(N,) whether a sample repeats, to the last bit, a place that the device has for longer than `longest` [s].

    The first sample of such a stretch is not one: when it was taken the device was awake.
    """
    begins = np.append(True, (np.diff(pos, axis=0) != 0).any(axis=1))
    first = np.maximum.accumulate(np.where(begins, np.arange(len(time)), 0))
    last = np.append(np.flatnonzero(begins)[1:] - 1, len(time) - 1)[np.cumsum(begins) - 1]
    return ~begins & (time[last] - time[first] > longest)


def mistracked(time: np.ndarray, pos: np.ndarray, quat: np.ndarray, limit: Limit) -> tuple[np.ndarray, list[int]]:
    """(N,) samples to which a device leapt and from which it came back, and the leaps after which it did not."""
    starts = [0, *np.flatnonzero(leaps(time, pos, quat, limit)).tolist()]
    wrong, lasting, at = np.zeros(len(time), bool), [], 0
    while at + 1 < len(starts):
        left = starts[at + 1] - 1
        back = (j for j in range(at + 2, len(starts)) if time[starts[j]] - time[left] <= GLITCH)
        found = next((j for j in back if _came_back(time, pos, left, starts[j], limit)), None)
        if found is None:
            lasting.append(starts[at + 1])
            at += 1
        else:
            wrong[left + 1 : starts[found]] = True
            at = found
    return wrong, lasting


def _came_back(time: np.ndarray, pos: np.ndarray, left: int, back: int, limit: Limit) -> bool:
    reach = limit.step + min(FAR_BACK, limit.speed * (time[back] - time[left]))
    return bool(np.linalg.norm(pos[back] - pos[left]) <= reach)


@dataclass(frozen=True)
class Recentring:
    """The space of a session turned by `yaw` [rad] about Z, then shifted by `shift` (3,) [m]."""

    yaw: float
    shift: np.ndarray

    def apply(self, pos: np.ndarray) -> np.ndarray:
        """Positions (..., 3) before it as they are after it."""
        return turn_points(pos, self.yaw) + self.shift

    def undo(self, pos: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (N, 3) and quaternions (N, 4) after it as they would be before it."""
        return turn_points(pos - self.shift, -self.yaw), turn_quats(quat, -self.yaw)


def recentring(time: np.ndarray, pos: np.ndarray, quat: np.ndarray, at: int, limit: Limit = HEAD) -> Recentring | None:
    """The recentring that would have made the headset leap at sample `at`; None where it tilted too, which none does.

    The headset is taken to go on as it went.
    """
    turn = rotation(quat[at])[0] * rotation(quat[at - 1])[0].inv()
    yaw = 2 * np.arctan2(*turn.as_quat()[2:])
    tilt = (Rotation.from_rotvec([0.0, 0.0, -yaw]) * turn).magnitude()
    if tilt > limit.turn / 2:
        return None
    expected = pos[at - 1] + _velocity(time, pos, at - 1) * (time[at] - time[at - 1])
    return Recentring(float(yaw), pos[at] - turn_points(expected, yaw))


def _velocity(time: np.ndarray, pos: np.ndarray, at: int) -> np.ndarray:
    """(3,) [m/s] of the way to a sample from the one before."""
    return (pos[at] - pos[at - 1]) / (time[at] - time[at - 1]) if at else np.zeros(3)


def follows(time: np.ndarray, pos: np.ndarray, moved: Recentring, before: float, after: float) -> int | None:
    """The sample from which a controller is in the recentred space, -1 where it never is, None where it is not seen.

    The headset leapt between the times `before` and `after` [s]; other devices' samples may come a little later.
    """
    slack = 3 * (after - before)
    near = np.flatnonzero((time > before - slack) & (time < after + slack))
    near = near[near > 0]
    if not len(near) or (time[near] - time[near - 1]).min() > PAUSE:
        return None
    stays = np.linalg.norm(pos[near] - pos[near - 1], axis=1)
    misses = np.linalg.norm(pos[near] - moved.apply(pos[near - 1]), axis=1)
    best = int(np.argmin(misses - stays))
    return int(near[best]) if misses[best] < min(TOGETHER, stays[best]) else -1


def same_turn(quat: np.ndarray) -> bool:
    """Whether a device never turns at all, which no held one manages."""
    return bool(np.ptp(quat, axis=0).max() < 1e-9)


def upright(quat: np.ndarray) -> float:
    """Mean cosine of the angle between a headset's Z axis and the upward direction, of quaternions (N, 4)."""
    return float(rotation(quat).apply([0.0, 0.0, 1.0])[:, 2].mean())


def out_of_reach(head: np.ndarray, hand: np.ndarray, reach: float = REACH) -> np.ndarray:
    """(N,) whether a controller is farther from the headset, (N, 3) both, than an arm reaches."""
    return np.linalg.norm(hand - head, axis=1) > reach


def sides_swapped(head: np.ndarray, quat: np.ndarray, left: np.ndarray, right: np.ndarray) -> bool:
    """Whether the left controller (N, 3) is nearly always on the right side of the headset's gaze."""
    away = rotation(quat).inv().apply(left - right)[:, 1]
    clear = np.abs(away) > 0.1
    return bool(clear.sum() > 0.5 * len(away) and (away[clear] < 0).mean() > 0.9)


def clock_offset(mine: np.ndarray, theirs: np.ndarray) -> float:
    """[s] to add to a device's times (M,) where its clock is not the headset's (N,), else 0.

    It is another where it begins and ends off by the same, or where they never run at the same time.
    """
    first, last = theirs[0] - mine[0], theirs[-1] - mine[-1]
    apart = mine[-1] < theirs[0] or mine[0] > theirs[-1]
    alike = abs(first - last) < min(CLOCK_OFF, 0.05 * (theirs[-1] - theirs[0]))
    return float(first) if apart or (alike and abs(first) > CLOCK_OFF) else 0.0
