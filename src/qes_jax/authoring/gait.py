"""Walking: footsteps along a guide, and how pelvis, trunk, head and arms go with them.

A guide (T, 3) says where the person would be, x, y [m], and how they face, yaw [rad], frame by frame. The rest follows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from qes_jax.authoring.balance import load, pelvis_height, pendulum, pressure_point
from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body, arm_pose
from qes_jax.authoring.feet import Plan, Stance, foot_course, grip
from qes_jax.authoring.targets import RELAXED, Stand, Targets, standing, wxyz
from qes_jax.authoring.timeline import Angles, clock, ease, smooth, turned
from qes_jax.motion.clip import FPS

WALK_RATIO = 0.37  # [m s] step length over steps a second, the same at all speeds (Sekiya et al. 1996)
TURN_RATIO = 0.25  # [rad s] the body's turn in a step over steps a second, our choice: 29 degrees a step at 1 rad/s
GATHER = 0.55  # [s] to come up to the speed of a turn on the spot
DOUBLE = 0.22  # of a step both feet are on the ground, about 11 % of a cycle at each end
SPREAD, TOE_OUT = 0.075, 0.11  # half the distance between the ankles [m], turn of each foot outwards [rad]
SLOWEST = 1.35  # [steps/s]


@dataclass(frozen=True)
class Guide:
    """Where to walk."""

    pose: np.ndarray  # (T, 3)
    cadence: np.ndarray  # (T,) steps/s

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return len(self.pose) / FPS


def walk_guide(
    start: np.ndarray, points: list[tuple[float, float]], speed: float, final_yaw: float | None = None
) -> Guide:
    """From a pose (3,) along a smooth curve through points (x, y) [m] at `speed` [m/s], from rest to rest.

    The person faces along the curve, and at the end turns to `final_yaw`, if given, while slowing down.
    """
    curve, fine, arc = course(start, points)
    gain = 0.5 + 0.35 * speed  # [s] to reach the speed
    t = clock(arc[-1] / speed + gain)
    v = speed * ease(t / gain) * ease((t[-1] - t) / gain)
    travelled = np.cumsum(v) / np.sum(v) * arc[-1]
    s = np.interp(travelled, arc, fine)
    tangent = curve(s, 1)
    yaw = np.unwrap(np.concatenate([[start[2]], np.arctan2(tangent[:, 1], tangent[:, 0])]))[1:]
    final = np.zeros_like(t)
    if final_yaw is not None:
        turn = (final_yaw - yaw[-1] + np.pi) % (2 * np.pi) - np.pi
        seconds = min(max(1.3, 1.6 * abs(turn)), t[-1])
        final = turn * ease(1 - (t[-1] - t) / seconds)
    steps = np.sqrt(np.maximum(v / WALK_RATIO, np.abs(np.gradient(final, 1 / FPS)) / TURN_RATIO))
    return Guide(np.column_stack([curve(s), yaw + final]), np.maximum(steps, SLOWEST))


def course(start: np.ndarray, points: list[tuple[float, float]]) -> tuple[CubicSpline, np.ndarray, np.ndarray]:
    """Smooth curve from a pose (3,) through points, its parameter finely divided (N,), arc length [m] there (N,)."""
    knots = np.array([start[:2], *points])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    ahead = np.array([np.cos(start[2]), np.sin(start[2])])
    curve = CubicSpline(length, knots, bc_type=((1, ahead), (2, np.zeros(2))))  # pyright: ignore[reportArgumentType]
    fine = np.linspace(0, length[-1], 2000)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve(fine), axis=0), axis=1))])
    return curve, fine, arc


def turn_guide(start: np.ndarray, angle: float, to: tuple[float, float] | None = None, rate: float = 1.2) -> Guide:
    """Turn in place by `angle` [rad], left positive, at about `rate` [rad/s], drifting to a point if one is given.

    A foot turns twice as far as the body does meanwhile, so quick turns take more and quicker steps.
    """
    t = clock(max(abs(angle) / rate, 1.2) + 0.6)
    v = ease(t / GATHER) * ease((t[-1] - t) / GATHER)
    u = np.cumsum(v) / np.sum(v)
    target = np.array([*(start[:2] if to is None else to), start[2] + angle])
    spin = abs(angle) * v / np.sum(v) * FPS
    return Guide(start + u[:, None] * (target - start), np.maximum(np.sqrt(spin / TURN_RATIO), SLOWEST))


def guide_stand(pose: np.ndarray, ground: float = 0.0) -> Stand:
    """Easy standing at a guide's pose (3,)."""
    return Stand(np.stack([_spot(pose, side, ground) for side in (LEFT, RIGHT)]))


def stand_pose(stand: Stand) -> np.ndarray:
    """(3,) pose of a guide at a stand."""
    return np.array([*stand.center, stand.yaw])


def follow(body: Body, stand: Stand, guide: Guide, first: int | None = None) -> tuple[Targets, Stand]:
    """Walk from a stand along a guide, one side stepping first. Returns the targets and where one then stands."""
    if first is None:
        turn = guide.pose[-1, 2] - guide.pose[0, 2]
        first = LEFT if turn > 0 else RIGHT  # the inner foot opens the turn
    pause = 0.55  # [s] to shift the weight before the first step and after the last
    plan = plan_steps(stand, guide, first, pause)
    t = clock(guide.seconds + 2 * pause)
    lead = round(pause * FPS)
    yaw = np.pad(guide.pose[:, 2], (lead, len(t) - lead - len(guide.pose)), mode="edge")
    return step_targets(body, t, plan, yaw), Stand(np.stack([stances[-1].spot for stances in plan]))


def plan_steps(stand: Stand, guide: Guide, first: int, pause: float) -> Plan:
    """Stances of each foot: each foot comes down where the guide is in the middle of the stance to come."""
    times = np.arange(len(guide.pose)) / FPS
    phase = np.concatenate([[0.0], np.cumsum(0.5 * (guide.cadence[1:] + guide.cadence[:-1])) / FPS])
    count = max(2, int(np.ceil(phase[-1] - 0.3)))
    phase = phase * count / phase[-1]

    def at(step: float) -> float:
        return float(np.interp(step, phase, times))

    plan: Plan = ([], [])
    landed, spots = [-np.inf, -np.inf], [stand.feet[LEFT], stand.feet[RIGHT]]
    strikes = [0.0, 0.0]
    for k in range(count):
        side = (first + k) % 2
        leave, land = at(k + DOUBLE / 2), at(k + 1 - DOUBLE / 2)
        middle = at(k + 1.5) if k < count - 2 else times[-1]
        pose = np.array([np.interp(middle, times, column) for column in guide.pose.T])
        spot = _spot(pose, side, stand.ground)
        spot[3] = spots[side][3] + (spot[3] - spots[side][3] + np.pi) % (2 * np.pi) - np.pi
        forward = (spot[:2] - spots[side][:2]) @ [np.cos(pose[2]), np.sin(pose[2])]
        push = float(np.clip(0.62 * forward, 0.12, 0.85))
        plan[side].append(Stance(landed[side], leave + pause, spots[side], strikes[side], push))
        landed[side], spots[side] = land + pause, spot
        strikes[side] = float(np.clip(0.22 * forward, 0.0, 0.3))
    for side in (LEFT, RIGHT):
        plan[side].append(Stance(landed[side], np.inf, spots[side], strikes[side]))
    return plan


def _spot(pose: np.ndarray, side: int, ground: float) -> np.ndarray:
    x, y, yaw = pose
    aside = SIGN[side] * SPREAD
    return np.array([x - aside * np.sin(yaw), y + aside * np.cos(yaw), ground, yaw + SIGN[side] * TOE_OUT])


def step_targets(
    body: Body, t: np.ndarray, plan: Plan, yaw: np.ndarray, rise: Angles = 0.0, lean: Angles = 0.0
) -> Targets:
    """Targets of stepping through each foot's stances while facing yaw (T,).

    `rise` (T,) [m] is how high the ground is below a body that stands easily, `lean` (T,) [rad] how far the trunk bows.
    """
    feet = [foot_course(body, t, stances) for stances in plan]
    ankles = np.stack([f[0] for f in feet], axis=1)  # (T, 2, 3)
    pitch, toes = (np.stack([f[i] for f in feet], axis=1) for i in (1, 2))
    heading = np.stack([f[3] for f in feet], axis=1)
    loads = np.stack([load(t, plan[side], plan[1 - side]) for side in (LEFT, RIGHT)], axis=1)
    pressure = pressure_point(body, t, plan, loads)
    com = pendulum(pressure[:, :2], np.full(len(t), 0.95))
    rest = standing(body, Stand(np.stack([p[0].spot for p in plan])), len(t))
    ahead = np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)
    apart = smooth(
        np.sum((ankles[:, 0, :2] - ankles[:, 1, :2]) * ahead, axis=-1), 0.05
    )  # left foot ahead of the right [m]
    weight = smooth(loads[:, 0] - loads[:, 1], 0.06)  # 1 on the left foot
    pelvis_yaw = yaw - 0.13 * apart
    body_yaw = smooth(yaw, 0.15)
    return rest.but(
        foot_pos=ankles,
        foot_quat=np.stack([wxyz(turned(heading[:, s], pitch[:, s])) for s in (LEFT, RIGHT)], axis=1),
        foot_grip=np.stack([grip(t, stances) for stances in plan], axis=1),
        toes=toes,
        pelvis_pos=np.column_stack([com, pelvis_height(body, ankles, com, pelvis_yaw, rise)]),
        pelvis_quat=wxyz(turned(pelvis_yaw, 0.03 + 0.4 * lean, 0.05 * weight)),
        com=com,
        pressure=pressure,
        thorax_quat=wxyz(turned(body_yaw + 0.12 * apart, 0.03 + 0.03 * np.abs(apart) + lean, -0.015 * weight)),
        head_quat=wxyz(turned(look_ahead(yaw), 0.02)),
        arms=arm_swing(apart),
    )


def look_ahead(yaw: np.ndarray, seconds: float = 0.45) -> np.ndarray:
    """Yaw (T,) of the head: eyes go into a turn before the body does."""
    frames = round(seconds * FPS)
    return smooth(np.concatenate([yaw[frames:], np.full(frames, yaw[-1])]), 0.25)


def arm_swing(apart: np.ndarray) -> np.ndarray:
    """Arms (T, 2, 6) that swing against the legs: `apart` (T,) is how far the left foot is ahead [m]."""
    late = np.concatenate([np.full(2, apart[0]), apart[:-2]])  # arms trail the legs a little
    flexion = -0.52 * late[:, None] * SIGN  # (T, 2)
    elbow = RELAXED["elbow"] + 0.12 * np.abs(late[:, None]) + 0.55 * np.maximum(flexion, -0.1) * (flexion > -0.1)
    return arm_pose(**(RELAXED | {"flexion": flexion - 0.04 * np.abs(late[:, None]), "elbow": smooth(elbow, 0.05)}))
