"""A flight: where the ankles should be, relative to the centre of mass, from leaving the floor to landing."""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.control import features
from qes_jax.control.body import Body
from qes_jax.control.contact import yaw_frame
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.hierarchy import Level
from qes_jax.control.objectives import critical, setpoint
from qes_jax.control.support import GRAVITY

ANKLE_KP, FOOT_KP = 900.0, 300.0  # [1/s2]
EPS = 1e-3  # [s]
CLEAR = 0.1  # share of a flight at whose ends legs do not swing: a foot still near the floor would push it


@dataclass(frozen=True)
class Flight:
    """Offsets (2, 3) [m] of left and right ankle from the centre of mass are in the frame of a heading.

    It is that of the body at the start, and turns as fast as the whole body does: the root's own would answer every
    swing of a leg, and the ankles, held in it, the root.
    """

    start: float  # [s]
    heading: float  # [rad] at the start
    rate: float  # [rad/s] of the heading
    duration: float  # [s] expected
    left: np.ndarray  # offsets when leaving the floor
    land: np.ndarray  # offsets to land with
    spread: float  # [rad] of each ankle outwards, about X
    swing: tuple[float, float]  # [rad] of each ankle forwards, about Y

    def offset(self, side: int, time: float) -> np.ndarray:
        """(3,) reference: from leaving to landing, turned in between."""
        phase = np.clip((time - self.start) / self.duration, 0.0, 1.0)
        plain = self.left[side] + phase**2 * (3 - 2 * phase) * (self.land[side] - self.left[side])
        turn = np.sin(np.pi * np.clip((phase - CLEAR) / (1 - 2 * CLEAR), 0.0, 1.0)) ** 2
        outwards = self.spread if side == 0 else -self.spread
        return about_x(turn * outwards) @ about_y(-turn * self.swing[side]) @ plain

    def ankle(self, d: Dynamics, side: int, time: float) -> list[Level]:
        """Hold an ankle's offset and the sole parallel to the floor."""
        body = d.body.feet[side].body
        turn = yaw_frame(self.heading + self.rate * (time - self.start))
        before, now, after = (turn @ self.offset(side, time + s) for s in (-EPS, 0.0, EPS))
        speed, change = (after - before) / (2 * EPS), (after - 2 * now + before) / EPS**2
        offset = features.difference(features.points(d, body, d.data.xpos[body].copy()), features.com(d))
        flat = setpoint(features.orientation(d, body), turn, FOOT_KP, critical(FOOT_KP))
        return [setpoint(offset, now, ANKLE_KP, critical(ANKLE_KP), velocity=speed, acceleration=change), flat]


def take_off(d: Dynamics, time: float, height: float, spread: float, swing: tuple[float, float]) -> Flight:
    """The flight that begins now and ends with the centre of mass at `height` [m] over the soles.

    Feet are to land below the capture point, as far apart as they stand at rest.
    """
    com, facing = features.com(d), heading(d)
    v, turn = com.velocity, yaw_frame(facing).T
    feet = [foot.body for foot in d.body.feet]
    left = np.array([turn @ (d.data.xpos[b] - com.value) for b in feet])
    land = standing_offsets(d.body)
    land[:, 2] += d.body.com_height - height
    land[:, :2] += (turn @ v)[:2] * catch_time(height)
    return Flight(time, facing, spin(d), airtime(v[2], com.value[2] - height), left, land, spread, swing)


def spin(d: Dynamics) -> float:
    """[rad/s] about Z of the rigid body that has the same inertia and angular momentum."""
    L = features.angular_momentum(d)
    return float(np.linalg.solve(L.J[:, 3:6] @ features.root_rotation(d).T, L.value)[2])


def airtime(speed: float, fall: float) -> float:
    """[s] from leaving the floor upwards at `speed` [m/s] to landing `fall` [m] lower."""
    return max((speed + max(speed**2 + 2 * GRAVITY * fall, 0.0) ** 0.5) / GRAVITY, 0.1)


def catch_time(height: float) -> float:
    """[s] sqrt(h/g): a body at h [m] with a velocity v comes to rest over feet v sqrt(h/g) ahead (capture point)."""
    return (height / GRAVITY) ** 0.5


def heading(d: Dynamics) -> float:
    """[rad] where the root faces."""
    R = features.root_rotation(d)
    return float(np.arctan2(R[1, 0], R[0, 0]))


def standing_offsets(body: Body) -> np.ndarray:
    """(2, 3) [m] of the ankles from the centre of mass in the rest pose."""
    data = mujoco.MjData(body.m)
    data.qpos[:] = body.rest
    mujoco.mj_fwdPosition(body.m, data)
    return data.xpos[[foot.body for foot in body.feet]] - data.subtree_com[body.root]


def about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_y(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
