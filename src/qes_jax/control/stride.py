"""What the walk wants at an instant: objectives of each priority from the states of `walk`."""

from dataclasses import dataclass, replace
from math import dist

import mujoco
import numpy as np

from qes_jax.control import constraints as con
from qes_jax.control import contact, features
from qes_jax.control.balance import pose, scaled_momentum
from qes_jax.control.body import Body, Foot
from qes_jax.control.contact import level_frame, yaw_frame
from qes_jax.control.dynamics import Dynamics, skew
from qes_jax.control.features import Feature
from qes_jax.control.footstep import FOOTSTEPS, FootstepConfig, foresee
from qes_jax.control.gait import NORMAL, FootState, WalkParameters, approached
from qes_jax.control.hierarchy import Level
from qes_jax.control.objectives import critical, minimum_torque, momentum, rows, setpoint, target_acceleration
from qes_jax.control.support import reachable
from qes_jax.control.tick import Wish
from qes_jax.control.walk import Step, Walk
from qes_jax.model.character import joint_kind

NEAR = 0.012  # [m] corners so low may push
SOONEST = 0.06  # [s] least time that a target is given


@dataclass(frozen=True)
class WalkGains:
    """Ours, by trial, about the 2012 implementation's. kp [1/s2]; weights are those within the last level."""

    capture: float = 4.0  # [1/s] how fast the capture point returns to its path
    height_kp: float = 60.0
    height_weight: float = 1.0
    trunk_kp: float = 60.0
    sole: float = 0.4  # share of the soles for the centre of mass in walking, the rest keeps the body upright
    momentum_kp: float = 5.0
    momentum_weight: float = 0.2
    pose_kp: float = 50.0
    pose_weight: float = 1.0
    turn_kp: float = 60.0
    turn_weight: float = 4.0
    torque_weight: float = 0.02
    roll_kp: float = 200.0
    most: float = 100.0  # [m/s2] of the swinging foot
    heeloff_knee: float = 0.9  # [rad] more bend of a knee whose heel is off the floor


GAINS = WalkGains()


class Walker:
    """The controller: called once a tick with dynamics and time [s].

    `parameters` may change while it runs; the walk follows at the rates of `gait.RANGES`.
    """

    def __init__(
        self, body: Body, parameters: WalkParameters = NORMAL, gains: WalkGains = GAINS,
        footsteps: FootstepConfig = FOOTSTEPS,
    ) -> None:  # fmt: skip
        self.body, self.gains, self.walk = body, gains, Walk(body, replace(NORMAL, heading=parameters.heading))
        self.footsteps, self._wanted, self._time = footsteps, parameters, 0.0
        rest = rest_data(body)
        self._neck = rest.xpos[body.neck] - rest.subtree_com[body.root]
        self._upright = {b: rest.xmat[b].reshape(3, 3).copy() for b in (body.root, body.trunk, body.head)}
        self._sole = half_sole(rest, body.feet[0])
        self._at = {name: i for i, name in enumerate(body.joints)}
        swings = {"left_shoulder_swing": 1.0, "right_shoulder_swing": -1.0}  # an arm swings back, by its sign
        self._swings = np.array([swings.get(name, 0.0) for name in body.joints])
        kinds = np.array([joint_kind(n) for n in body.joints])
        self._knees = (kinds == "knee") + 0.5 * ((kinds == "hip_pitch") | (kinds == "ankle_pitch"))
        self._elbows = (kinds == "elbow") * 1.0
        self._rest_pose = body.rest[body.qpos]

    @property
    def parameters(self) -> WalkParameters:
        """As for the human of 1.75 m; lengths and times are scaled to the body."""
        return self._wanted

    @parameters.setter
    def parameters(self, parameters: WalkParameters) -> None:
        self._wanted = parameters

    def __call__(self, d: Dynamics, time: float) -> Wish:
        self.walk.parameters = approached(self.walk.parameters, self._wanted, time - self._time)
        self._time = time
        step = self.walk.advance(d, time)
        if not step.is_shift:
            held = self.footsteps.held * self._sole
            foresee(d, step, time, self.walk.omega, self.walk.size, held, self.gains.capture, self.footsteps)
        held, pushing, guarded = self._feet(d)
        levels = [("contact", held), ("com", self._com(d, step, time, pushing) + self._trunk(d, step))]
        pushers = con.contacts(d, pushing)
        if FootState.SWING in self.walk.states:
            levels.append(("swing", self._swing(d, step, time)))
        levels.append(("rest", self._rest(d, step, pushers)))
        return Wish(pushers, guarded, tuple(levels))

    def _feet(self, d: Dynamics) -> tuple[list[Level], list[Feature], list[Feature]]:
        """Objectives of standing feet, corners that may push, corners that may not sink."""
        held, pushing, guarded = [], [], []
        for foot, state in zip(self.body.feet, self.walk.states, strict=True):
            if state is FootState.SWING:
                continue
            stands = ~foot.rear if state is FootState.HEELOFF else foot.sole
            which = {FootState.PLANT: foot.rear, FootState.HEELOFF: foot.ball}.get(state)
            held += contact.whole(d, foot) if which is None else contact.edge(d, foot, which)
            low = con.lowest(d, foot)[:, 2] < NEAR
            pushing.append(con.corners(d, foot, stands & low))
            guarded.append(con.corners(d, foot, ~stands & foot.sole & low))
        return held, pushing, guarded

    def _com(self, d: Dynamics, step: Step, time: float, pushing: list[Feature]) -> list[Level]:
        """Back to the path, level at the rate at which an inverted pendulum's capture point would return; height."""
        y, v, a = step.path(time - step.start)
        w, k, kz = self.walk.omega, self.gains.capture, self.gains.height_kp
        com = features.weight(d)
        place, velocity, acceleration = np.zeros((3, 3))
        place[:2], velocity[:2], acceleration[:2] = y, v, a
        place[2] = self._height(com.value[:2], step, time)
        kp, kd = np.array([w * k, w * k, kz]), np.array([w + k, w + k, critical(kz)])
        wanted = kp * (place - com.value) + kd * (velocity - com.velocity) + acceleration
        corners = np.concatenate([p.value.reshape(-1, 3) for p in pushing])[:, :2]
        if not step.is_shift and len(corners):
            corners = corners + (1 - self.gains.sole) * (corners.mean(axis=0) - corners)
        return [rows(com, reachable(wanted, com.value, corners), np.array([1.0, 1.0, self.gains.height_weight]))]

    def _trunk(self, d: Dynamics, step: Step) -> list[Level]:
        """Horizontal place of the neck relative to the centre of mass."""
        p, kp = step.parameters, self.gains.trunk_kp
        goal = (plumb(d) @ yaw_frame(p.heading) @ self._neck)[:2] + p.trunk_offset * step.forward
        flat = Feature(*(x[:2] for x in features.neck(d)))
        return [setpoint(flat, goal, kp, critical(kp))]

    def _swing(self, d: Dynamics, step: Step, time: float) -> list[Level]:
        """Heel and ball each move to their places; the foot does not roll."""
        foot, p = self.body.feet[step.swing], step.parameters
        heel, ball = contact.middle(d, foot, foot.rear), contact.middle(d, foot, foot.ball)
        half = 0.5 * dist(ball.value, heel.value)
        landing, left, done, lasts = step.place, step.end - time, step.done(time), step.end - step.lift_off
        ahead, up = half * step.forward, p.step_height
        to_heel = self._towards(heel, landing - ahead, up, 0.0, done, left, lasts)
        to_ball = self._towards(ball, landing + ahead, up, 0.25 * half, done, left, lasts)
        turn = features.orientation(d, foot.body)
        upright = setpoint(turn, level_frame(turn.value), self.gains.roll_kp, critical(self.gains.roll_kp))
        # The ball goes forward with the heel: its own two rows are across and up.
        beside = np.array([[-step.forward[1], step.forward[0], 0.0], [0.0, 0.0, 1.0]])
        return [to_heel, Level(beside @ to_ball.A, beside @ to_ball.b), one_row(turn.value[:, 0], upright)]

    def _towards(
        self, point: Feature, place: np.ndarray, height: float, end: float, done: float, left: float, duration: float
    ) -> Level:
        """Up to `height` in the first part of the swing, then down to `end`; level all the while to `place`."""
        soon, up = max(left, SOONEST), 0.4
        flat, _ = target_acceleration(point.value[:2], point.velocity[:2], place, 0.0, soon)
        if done < up:
            z, speed, time = height, 0.0, max((up - done) * duration, SOONEST)
        else:
            z, speed, time = end - 0.1 * (left < 0), -0.1, soon
        rise, _ = target_acceleration(point.value[2], point.velocity[2], z, speed, time)
        return rows(point, np.append(flat, rise).clip(-self.gains.most, self.gains.most))

    def _rest(self, d: Dynamics, step: Step, c: con.Contacts) -> list[Level]:
        """Angular momentum, pose, headings, and the least torque in the arms."""
        g, p = self.gains, step.parameters
        weight = np.where(self.body.arms, p.arms, 1.0) * g.pose_weight
        return [
            momentum(scaled_momentum(d), 0.0, g.momentum_kp, g.momentum_weight),
            pose(d, g.pose_kp, weight, *self._pose(d, p)),
            *self._headings(d, p),
            minimum_torque(c, self.body.arms, g.torque_weight),
        ]

    def _height(self, com: np.ndarray, step: Step, time: float) -> float:
        """[m] of the centre of mass on a leg of constant length; towards the end the next foot reaches down, too."""
        leg = step.parameters.height * self.body.com_height
        if step.is_shift:
            return leg
        away = [float(off @ off) for off in (com - step.path.pivot, com - step.place)]
        under, ahead = (leg - max(leg**2 - r2, 0.5 * leg**2) ** 0.5 for r2 in away)
        return leg - max(under, min(max(2 * step.done(time) - 1, 0.0), 1.0) * ahead)

    def _headings(self, d: Dynamics, p: WalkParameters) -> list[Level]:
        """Root and trunk stay upright and face the walk's way but for their turns, the head its own."""
        g, parts, stride, lean = self.gains, [], self._stride(d), plumb(d)
        for body in {self.body.root, self.body.trunk}:
            turn, rate = (-p.hip_turn if body == self.body.root else p.shoulder_turn) * stride
            upright, velocity = lean @ yaw_frame(p.heading + turn) @ self._upright[body], np.array([0.0, 0.0, rate])
            now = features.orientation(d, body)
            parts.append(setpoint(now, upright, g.turn_kp, critical(g.turn_kp), g.turn_weight, velocity))
        facing = yaw_frame(p.heading + p.head_heading) @ pitch_frame(p.head_pitch) @ self._upright[self.body.head]
        turn = features.orientation(d, self.body.head)
        return [*parts, setpoint(turn, lean @ facing, g.turn_kp, critical(g.turn_kp), g.turn_weight)]

    def _stride(self, d: Dynamics) -> np.ndarray:
        """(2,) [rad], [rad/s] half of how far the left thigh is before the right one, and its rate."""
        left, right = (self._at[f"{foot.side}_hip_pitch"] for foot in self.body.feet)
        q, v = d.data.qpos[self.body.qpos], d.qvel[self.body.dofs]
        return 0.5 * np.array([q[left] - q[right], v[left] - v[right]])

    def _pose(self, d: Dynamics, p: WalkParameters) -> tuple[np.ndarray, np.ndarray]:
        """(A,) the rest pose with the bends that the parameters ask, the arms swinging against the legs; its rate."""
        pose = self._rest_pose + p.knee * self._knees + p.elbow * self._elbows
        for foot, state in zip(self.body.feet, self.walk.states, strict=True):
            if state is FootState.HEELOFF:
                pose[self._at[f"{foot.side}_knee"]] += self.gains.heeloff_knee
        swing, rate = p.arm_swing * self._stride(d)[:, None] * self._swings
        return pose + swing, rate


def one_row(direction: np.ndarray, level: Level) -> Level:
    """One direction (3,) of an objective of three rows."""
    return Level((direction @ level.A)[None], (direction @ level.b)[None])


def plumb(d: Dynamics) -> np.ndarray:
    """Rotation matrix that brings Z, the floor's normal, against gravity."""
    up = -d.body.m.opt.gravity / np.linalg.norm(d.body.m.opt.gravity)
    cross = skew(np.array([-up[1], up[0], 0.0]))  # of Z x up
    return np.eye(3) + cross + cross @ cross / (1.0 + up[2])


def pitch_frame(angle: float) -> np.ndarray:
    """Rotation matrix of a turn about Y [rad], forward and down."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def half_sole(data: mujoco.MjData, foot: Foot) -> np.ndarray:
    """(2,) [m] half of the length and width of heel and ball, of a body that faces forward."""
    at = data.geom_xpos[foot.corners[foot.rear | foot.ball]][:, :2]
    return 0.5 * (at.max(axis=0) - at.min(axis=0))


def rest_data(body: Body) -> mujoco.MjData:
    """The body in its rest pose."""
    data = mujoco.MjData(body.m)
    data.qpos[:] = body.rest
    mujoco.mj_fwdPosition(body.m, data)
    return data
