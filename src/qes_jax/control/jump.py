"""The standing jump: balance whose centre of mass is sent down, then up; in the air only ankles and pose are held.

    STAND -> COMPRESS -> THRUST -> ASCENT -> DESCENT -> IMPACT -> STAND

What makes it a jump are three parameters: depth of the crouch, time of the thrust, reference angular momentum. A
variant is a number or two more: `forward` for a jump ahead, `spread` and `swing` of the ankles for splits and kicks.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from qes_jax.control import constraints as con
from qes_jax.control import contact, features
from qes_jax.control.balance import pose, scaled_momentum, sole_middle
from qes_jax.control.body import Body
from qes_jax.control.contact import yaw_frame
from qes_jax.control.dynamics import Dynamics
from qes_jax.control.flight import Flight, about_y, airtime, catch_time, heading, take_off
from qes_jax.control.hierarchy import Level
from qes_jax.control.objectives import critical, momentum, rows, setpoint, target_acceleration
from qes_jax.control.support import reachable
from qes_jax.control.tick import Wish
from qes_jax.control.walk import HUMAN, touches
from qes_jax.model.character import joint_kind

SOON = 0.03  # [s] no target is asked for faster than this
STRAIGHT = {"knee": 0.45, "hip_pitch": 0.8}  # [rad] from a joint's lower limit: a leg that can hardly push any more
FOLDING = ("hip_pitch", "knee", "hock", "ankle_pitch")  # joints by which legs fold


class State(Enum):
    STAND = "stand"
    COMPRESS = "compress"
    THRUST = "thrust"
    ASCENT = "ascent"
    DESCENT = "descent"
    IMPACT = "impact"


@dataclass(frozen=True)
class JumpConfig:
    """Lengths [m] and times [s] are the human's and scale with the body; heights are shares of its standing height.

    Gains [1/s2], [1/s]; all values found by trial, from balance's.
    """

    crouch: float = 0.3  # how far the centre of mass goes down
    thrust_time: float = 0.23
    momentum: tuple[float, float, float] = (0.0, 0.0, 0.0)  # L_r / (m (h/2)^2) [1/s]; the last twists to the left
    forward: float = 0.0  # how far ahead to land
    spread: float = 0.0  # [rad] each ankle's turn outwards in the air, about the forward axis
    swing: tuple[float, float] = (0.0, 0.0)  # [rad] left and right ankle's turn forwards, about the lateral axis
    lean: float = 0.5  # [rad] of the root forwards in the deepest crouch
    stand_time: float = 0.5
    compress_time: float = 0.6
    rest_time: float = 0.8  # of IMPACT
    full: float = 0.96  # height at the end of the thrust: knees still bend, straight ones cannot be slowed
    land: float = 0.9  # height of landing: knees bend
    stand: float = 0.97  # height of standing
    com_kp: float = 60.0
    impact_kp: float = 36.0  # of the height in landing: how softly
    lean_kp: float = 80.0
    momentum_kp: float = 12.0
    momentum_weight: float = 1.0
    pose_kp: float = 80.0
    folding_weight: float = 0.03  # of the joints by which legs fold, in the pose: else the back bends to crouch


VARIANTS = {
    "up": JumpConfig(),
    "twist": JumpConfig(momentum=(0.0, 0.0, 0.2)),
    "kick": JumpConfig(swing=(0.9, 0.0)),
    "split": JumpConfig(spread=0.5),
    "forward": JumpConfig(forward=0.3),
}


class Jump:
    """One jump, then balance. A controller: called once a tick with the dynamics and the time [s]."""

    def __init__(self, body: Body, config: JumpConfig = VARIANTS["up"]) -> None:
        self.body, self.config = body, config
        self.size = body.com_height / HUMAN
        self.state, self.since = State.STAND, 0.0
        self.flight: Flight | None = None
        self._start = np.zeros(3)  # of the centre of mass, when the state began
        self._forward = np.array([1.0, 0.0])  # of the jump
        self._done = False
        kinds = [joint_kind(j) for j in body.joints]
        self._least = body.range[:, 0] + np.array([STRAIGHT.get(k, -np.inf) for k in kinds])
        folds = np.isin(kinds, FOLDING)
        self._loose = np.where(folds, config.folding_weight, 1.0)

    def __call__(self, d: Dynamics, time: float) -> Wish:
        self._advance(d, time)
        if self.state in (State.ASCENT, State.DESCENT):
            assert self.flight is not None
            ankles = [level for side in (0, 1) for level in self.flight.ankle(d, side, time)]
            still = pose(d, self.config.pose_kp, self._loose)
            return Wish(con.contacts(d, []), [], (("ankles", ankles), ("rest", [still])))
        return self._on_ground(d, time)

    def _advance(self, d: Dynamics, time: float) -> None:
        """The state's successor, where it is time."""
        c, scale, elapsed = self.config, self.size**0.5, time - self.since
        com = features.com(d)
        if self.state is State.STAND and not self._done and elapsed >= c.stand_time:
            self._enter(State.COMPRESS, d, time)
        elif self.state is State.COMPRESS and elapsed >= c.compress_time * scale:
            self._enter(State.THRUST, d, time)
        elif self.state is State.THRUST and (elapsed >= c.thrust_time * scale or self._straight(d)):
            self.flight = take_off(d, time, c.land * self.body.com_height, c.spread, c.swing)
            self._enter(State.ASCENT, d, time)
        elif self.state is State.ASCENT and com.velocity[2] < 0:
            self._enter(State.DESCENT, d, time)
        elif self.state is State.DESCENT and (touches(d, 0) or touches(d, 1)):
            self._enter(State.IMPACT, d, time)
        elif self.state is State.IMPACT and elapsed >= c.rest_time * scale:
            self._done = True
            self._enter(State.STAND, d, time)

    def _straight(self, d: Dynamics) -> bool:
        """Whether a knee or a hip comes near its limit, where it can push no more and would be stopped with a jerk.

        Long thighs turn the trunk back as they straighten: hips may come there first.
        """
        return bool(np.any(d.data.qpos[self.body.qpos] < self._least))

    def _enter(self, state: State, d: Dynamics, time: float) -> None:
        self.state, self.since, self._start = state, time, features.com(d).value
        if state is State.COMPRESS:
            self._forward = yaw_frame(heading(d))[:2, 0]

    def _on_ground(self, d: Dynamics, time: float) -> Wish:
        """Feet that stand are held, one that has not landed goes on landing; then centre of mass; then the rest."""
        standing = [s for s in (0, 1) if self.state is not State.IMPACT or touches(d, s)]
        feet = [self.body.feet[s] for s in standing]
        held = [level for foot in feet for level in contact.whole(d, foot)]
        if self.flight is not None:
            held += [level for s in (0, 1) if s not in standing for level in self.flight.ankle(d, s, time)]
        acceleration = self._acceleration(d, time, standing)
        com = [rows(features.com(d), acceleration)]
        levels = (("contact", held), ("com", com), *self._free(d))
        return Wish(con.contacts(d, [con.every_corner(d, foot) for foot in feet]), [], levels)

    def _free(self, d: Dynamics) -> tuple[tuple[str, list[Level]], ...]:
        """What contact and centre of mass leave free: lean, angular momentum, pose.

        Nothing can be done in the air about a momentum taken there, so in THRUST it comes before the lean.
        """
        c, lean = self.config, self._upright(d)
        wanted = np.array(c.momentum) if self.state is State.THRUST else np.zeros(3)
        turn = momentum(scaled_momentum(d), wanted, c.momentum_kp, c.momentum_weight)
        still = pose(d, c.pose_kp, 1.0 if self.state is State.STAND else self._loose)
        if self.state is State.THRUST:
            return ("momentum", [turn]), ("rest", [lean, still])
        return ("trunk", [lean]), ("rest", [turn, still])

    def _upright(self, d: Dynamics) -> Level:
        """The root leans as far as the body crouches, and turns freely about Z."""
        c, low = self.config, self.body.com_height - features.com(d).value[2]
        lean = c.lean * np.clip(low / (c.crouch * self.size), 0.0, 1.0)
        wanted = yaw_frame(heading(d)) @ about_y(lean)
        level = setpoint(features.orientation(d, self.body.root), wanted, c.lean_kp, critical(c.lean_kp))
        return Level(level.A[:2], level.b[:2])

    def _acceleration(self, d: Dynamics, time: float, standing: list[int]) -> np.ndarray:
        """(3,) of the centre of mass [m/s2], as far as the soles can give it."""
        com, soles = features.com(d), [sole_middle(d, s) for s in standing or (0, 1)]
        middle = np.mean(soles, axis=0)[:2]
        if self.state is State.COMPRESS:
            goal, speed, end = self._crouch(middle)
            wanted = self._towards(com, goal, speed, end - time)
        elif self.state is State.THRUST:
            goal, speed, end = self._thrust()
            late = end - time < SOON  # the target's gains grow without bound: go on as planned
            even = speed / (self.config.thrust_time * self.size**0.5)
            wanted = even if late else self._towards(com, goal, speed, end - time)
        else:
            kp = np.array([self.config.com_kp, self.config.com_kp, self.config.impact_kp])
            height = self.config.land if self.state is State.IMPACT else self.config.stand
            goal = np.array([*middle, height * self.body.com_height])
            wanted = kp * (goal - com.value) - critical(1.0) * np.sqrt(kp) * com.velocity
        at = [d.data.geom_xpos[g, :2] for s in standing for g in self.body.feet[s].corners]
        return reachable(wanted, com.value, np.array(at).reshape(-1, 2))

    def _towards(self, com: features.Feature, goal: np.ndarray, speed: np.ndarray, left: float) -> np.ndarray:
        return target_acceleration(com.value, com.velocity, goal, speed, max(left, SOON))[0]

    def _crouch(self, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Goal (3,), velocity there, and time of the end of COMPRESS."""
        depth = self.config.crouch * self.size
        goal = np.array([*middle, self.body.com_height - depth])
        return goal, np.zeros(3), self.since + self.config.compress_time * self.size**0.5

    def _thrust(self) -> tuple[np.ndarray, np.ndarray, float]:
        """The same of THRUST: from rest, evenly, v = 2 s / T upwards; ahead as fast as the flight's length asks."""
        c, T = self.config, self.config.thrust_time * self.size**0.5
        rise = c.full * self.body.com_height - self._start[2]
        lift = 2 * rise / T
        fall = (c.full - c.land) * self.body.com_height
        # The way: half of it in the thrust, all in the flight, and then to where the feet catch the body.
        carried = 0.5 * T + airtime(lift, fall) + catch_time(c.land * self.body.com_height)
        ahead = c.forward * self.size / carried
        speed = np.append(ahead * self._forward, lift)
        return self._start + np.append(0.5 * T * speed[:2], rise), speed, self.since + T
