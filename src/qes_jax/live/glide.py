"""No jumps: a point that was lost, or leaps, is held, then goes back to where it is seen at a bounded speed."""

import numpy as np

from qes_jax.motion.formats.device import HOLD
from qes_jax.motion.frames import rotation, slerp, turn_points, turn_quats, yaw_of

LEAP = 0.7  # [m] between two frames, which no hand does: 25 m/s
SPEED, TURN = 2.5, 6.0  # [m/s], [rad/s] of a point on its way back
THERE = 0.03  # [m] from where it is seen, where it has come back
ASLEEP = 1.0  # [s] unseen, after which a hand sinks to its rest


class Glide:
    """Headset and hands as the body is to follow them. `rest` (2, 3), (2, 4): the hands', seen from the headset."""

    def __init__(self, rest_pos: np.ndarray, rest_quat: np.ndarray, dt: float) -> None:
        self.rest, self.dt = (rest_pos, rest_quat), dt
        self.gliding = np.zeros(3, bool)
        self.held = np.zeros(3, bool)
        self._now: tuple[np.ndarray, np.ndarray] | None = None

    def start(self, pos: np.ndarray, quat: np.ndarray, age: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Begin at these poses (3, 3), (3, 4); a hand that is not seen begins at its rest."""
        pos, quat = self._rested(pos, quat, age, HOLD)
        self.gliding[:] = False
        self._now = pos, quat
        return pos, quat

    def step(self, pos: np.ndarray, quat: np.ndarray, age: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The next frame: the poses themselves as long as they are seen and do not leap. RuntimeError before `start`.

        Unseen for longer than HOLD, a point stays where it is; after ASLEEP a hand glides to its rest.
        """
        if self._now is None:
            raise RuntimeError("a glide steps only after a start")
        was, turned = self._now
        self.held = age > HOLD
        asleep = age > ASLEEP
        pos, quat = self._rested(pos, quat, age, ASLEEP)
        stay = self.held & ~(asleep & np.array([False, True, True]))
        pos, quat = np.where(stay[:, None], was, pos), np.where(stay[:, None], turned, quat)
        far = np.linalg.norm(pos - was, axis=1)
        self.gliding |= self.held | (far > LEAP)
        share = np.ones(3)
        for i in np.flatnonzero(self.gliding):
            angle = (rotation(turned[i]).inv() * rotation(quat[i])).magnitude()[0]
            share[i] = min(1.0, SPEED * self.dt / max(far[i], 1e-9), TURN * self.dt / max(angle, 1e-9))
        self.gliding &= self.held | (far > THERE) | (share < 1.0)
        if (share < 1.0).any():
            pos = was + share[:, None] * (pos - was)
            quat = slerp(turned[:, None], quat[:, None], share)[:, 0]
        self._now = pos, quat
        return self._now

    def _rested(self, pos: np.ndarray, quat: np.ndarray, age: np.ndarray, after: float):
        """The poses, but hands unseen for longer than `after` [s] at their rest beside the headset."""
        yaw = float(yaw_of(quat[0]))
        gone = (age > after)[1:, None]
        hands = np.where(gone, pos[0] + turn_points(self.rest[0], yaw), pos[1:])
        turns = np.where(gone, turn_quats(self.rest[1], yaw), quat[1:])
        return np.concatenate([pos[:1], hands]), np.concatenate([quat[:1], turns])
