"""Walking: footsteps along a guide, feet that roll from heel to toe, and a centre of mass that obeys the inverted pendulum.

A guide (T, 3) says where the person would be, x, y [m] and yaw [rad], and how they face, frame by frame. The rest follows from it.
F footsteps; sides are left, right.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import solve_banded

from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body, arm_pose
from qes_jax.authoring.targets import CENTER, RELAXED, STRAIGHT, Stand, Targets, reach_height, standing, wxyz
from qes_jax.authoring.timeline import clock, ease, hermite, smooth, turned
from qes_jax.motion.clip import FPS

WALK_RATIO = 0.37  # [m s] step length over steps a second, the same at all speeds (Sekiya et al. 1996)
DOUBLE = 0.22  # of a step both feet are on the ground, about 11 % of a cycle at each end
SPREAD, TOE_OUT = 0.075, 0.11  # half the distance between the ankles [m], turn of each foot outwards [rad]
TOE_BEND = 0.5  # [rad] toes never bend more
SHIFT = 0.45  # [s] to bring the weight over from easy standing
TOUCHDOWN = 0.15  # [m/s] at which a foot comes down
SLOWEST = 1.35  # [steps/s]
GRAVITY = 9.81


@dataclass(frozen=True)
class Stance:
    """One foot on the ground from `start` to `end` [s], standing at `spot`: x, y, z of the ground below the ankle and yaw."""

    start: float
    end: float
    spot: np.ndarray  # (4,)
    strike: float = 0.0  # [rad] toes up when it lands
    push: float = 0.0  # [rad] heel up when it leaves
    peel: float | None = None  # [s] for which the heel comes up before it leaves; by itself longer the higher it gets
    lift: float = 0.03  # [m] how much the ankle rises above the straight course in the swing that follows


Plan = tuple[list[Stance], list[Stance]]  # the stances of the left and of the right foot


@dataclass(frozen=True)
class Guide:
    """Where to walk."""

    pose: np.ndarray  # (T, 3)
    cadence: np.ndarray  # (T,) steps/s

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return len(self.pose) / FPS


def walk_guide(start: np.ndarray, points: list[tuple[float, float]], speed: float, final_yaw: float | None = None) -> Guide:
    """From a pose (3,) along a smooth curve through points (x, y) [m] at `speed` [m/s], from rest to rest.

    The person faces along the curve, and at the end turns to `final_yaw`, if given, while slowing down.
    """
    knots = np.array([start[:2], *points])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    ahead = np.array([np.cos(start[2]), np.sin(start[2])])
    curve = CubicSpline(length, knots, bc_type=((1, ahead), (2, np.zeros(2))))
    fine = np.linspace(0, length[-1], 2000)
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve(fine), axis=0), axis=1))])
    gain = 0.5 + 0.35 * speed  # [s] to reach the speed
    t = clock(arc[-1] / speed + gain)
    v = speed * ease(t / gain) * ease((t[-1] - t) / gain)
    travelled = np.cumsum(v) / np.sum(v) * arc[-1]
    s = np.interp(travelled, arc, fine)
    tangent = curve(s, 1)
    yaw = start[2] + np.unwrap(np.concatenate([[start[2]], np.arctan2(tangent[:, 1], tangent[:, 0])]))[1:] - start[2]
    if final_yaw is not None:
        turn = (final_yaw - yaw[-1] + np.pi) % (2 * np.pi) - np.pi
        yaw = yaw + turn * ease((t - (t[-1] - 1.3)) / 1.3)
    return Guide(np.column_stack([curve(s), yaw]), np.maximum(np.sqrt(v / WALK_RATIO), SLOWEST))


def turn_guide(start: np.ndarray, angle: float, to: tuple[float, float] | None = None, rate: float = 1.2) -> Guide:
    """Turn in place by `angle` [rad], left positive, in small steps at about `rate` [rad/s], drifting to a point if given."""
    t = clock(max(abs(angle) / rate, 1.2) + 0.6)
    u = ease(t / t[-1])
    target = np.array([*(start[:2] if to is None else to), start[2] + angle])
    return Guide(start + u[:, None] * (target - start), np.full(len(t), 1.5))


def guide_stand(pose: np.ndarray, ground: float = 0.0) -> Stand:
    """Easy standing at a guide's pose (3,)."""
    return Stand(np.stack([_spot(pose, side, ground) for side in (LEFT, RIGHT)]))


def stand_pose(stand: Stand) -> np.ndarray:
    """(3,) pose of a guide at a stand."""
    return np.array([*stand.center, stand.yaw])


def follow(body: Body, stand: Stand, guide: Guide, first: int | None = None) -> tuple[Targets, Stand]:
    """Walk from a stand along a guide; `first` is the side that steps first. Returns the targets and where one then stands."""
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


def step_targets(body: Body, t: np.ndarray, plan: Plan, yaw: np.ndarray, rise=0.0, lean=0.0) -> Targets:
    """Targets of stepping through each foot's stances while facing yaw (T,).

    `rise` (T,) [m] is how high the ground is below a body that stands easily, `lean` (T,) [rad] how far the trunk bows.
    """
    feet = [foot_course(body, t, stances) for stances in plan]
    ankles = np.stack([f[0] for f in feet], axis=1)  # (T, 2, 3)
    pitch, toes = (np.stack([f[i] for f in feet], axis=1) for i in (1, 2))
    heading = np.stack([f[3] for f in feet], axis=1)
    loads = np.stack([load(t, plan[side], plan[1 - side]) for side in (LEFT, RIGHT)], axis=1)
    com = pendulum(pressure_point(t, plan, loads), np.full(len(t), 0.95))
    rest = standing(body, Stand(np.stack([p[0].spot for p in plan])), len(t))
    ahead = np.stack([np.cos(yaw), np.sin(yaw)], axis=-1)
    apart = smooth(np.sum((ankles[:, 0, :2] - ankles[:, 1, :2]) * ahead, axis=-1), 0.05)  # left foot ahead of the right [m]
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
        thorax_quat=wxyz(turned(body_yaw + 0.12 * apart, 0.03 + 0.03 * np.abs(apart) + lean, -0.015 * weight)),
        head_quat=wxyz(turned(look_ahead(yaw), 0.02)),
        arms=arm_swing(apart),
    )


def foot_course(body: Body, t: np.ndarray, stances: list[Stance]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ankle (T, 3), pitch (T,) (toes down positive), toe hinge (T,) and yaw (T,) of one foot through its stances."""
    ankle, (pitch, toes, yaw) = np.zeros((len(t), 3)), np.zeros((3, len(t)))
    for stance in stances:
        on = (t >= stance.start - 1e-9) & (t <= stance.end + 1e-9)
        pitch[on] = stance_pitch(stance, t[on])
        ankle[on], yaw[on] = rolled_ankle(body, stance.spot, pitch[on]), stance.spot[3]
        toes[on] = toe_bend(pitch[on])
    for a, b in zip(stances[:-1], stances[1:], strict=True):
        air = (t > a.end + 1e-9) & (t < b.start - 1e-9)
        u, seconds = (t[air] - a.end) / (b.start - a.end), b.start - a.end
        ends = stance_pitch(a, np.array([a.end - 1e-3, a.end])), stance_pitch(b, np.array([b.start, b.start + 1e-3]))
        calm = min(1.0, 0.4 / seconds)  # a long swing would overshoot
        rates = [calm * float(np.diff(e)[0]) / 1e-3 for e in ends]
        points = rolled_ankle(body, a.spot, ends[0]), rolled_ankle(body, b.spot, ends[1])
        speeds = [np.diff(p, axis=0)[0] / 1e-3 for p in points]
        speeds[1][2] -= TOUCHDOWN
        pitch[air] = hermite(u, [ends[0][1]], [ends[1][0]], [rates[0]], [rates[1]], seconds)[:, 0]
        ankle[air] = _swing(u, points, speeds, seconds)
        ankle[air, 2] += a.lift * 16 * (u * (1 - u)) ** 2
        toes[air] = toe_bend(ends[0][1]) * (1 - ease(u / 0.7))
        yaw[air] = a.spot[3] + ease(u) * (b.spot[3] - a.spot[3])
    return ankle, pitch, toes, yaw


def _swing(u: np.ndarray, points: list[np.ndarray], speeds: list[np.ndarray], seconds: float) -> np.ndarray:
    """Ankle (U, 3) in the air. It goes up before it goes ahead, and ahead before it goes down."""
    start, end = points[0][1], points[1][0]
    rise = float(end[2] - start[2])
    bend = 1 + min((3.5 if rise > 0 else 1.2) * max(abs(rise) - 0.05, 0.0), 1.2)
    early, late = 1 - (1 - u) ** bend, u**bend
    flat, up = (late, early) if rise > 0 else (early, late)
    back = 0.35 * max(rise, 0.0) * u * (1 - u) ** 3 / 0.105  # heels go to the buttocks before they go up
    ahead = hermite(flat, start[:2], end[:2], speeds[0][:2], speeds[1][:2], seconds, 6.0 if bend == 1 else 0.0)
    ahead -= back[:, None] * (end - start)[:2] / max(np.linalg.norm((end - start)[:2]), 1e-6)
    return np.column_stack([ahead, hermite(up, start[2:], end[2:], speeds[0][2:], speeds[1][2:], seconds)])


def stance_pitch(stance: Stance, t: np.ndarray) -> np.ndarray:
    """Pitch [rad] of a foot on the ground, toes down positive: the sole slaps down after the strike, the heel peels off at the end."""
    length = stance.end - stance.start
    slap = min(0.16, 0.25 * length)
    peel = min(0.15 + 0.25 * stance.push, 0.5 * length) if stance.peel is None else stance.peel
    down = np.clip(1 - (t - stance.start) / slap, 0.0, 1.0) ** 2
    up = np.clip(1 - (stance.end - t) / peel, 0.0, 1.0) ** 2
    return stance.push * up - stance.strike * down


def toe_bend(pitch: np.ndarray) -> np.ndarray:
    """Toe hinge (T,) of a foot that stands with this pitch (T,): toes stay flat at first, then roll up onto their tips."""
    return TOE_BEND * np.tanh(np.maximum(pitch, 0.0) / TOE_BEND)


def rolled_ankle(body: Body, spot: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Ankle (T, 3) of a foot that stands at a spot and is pitched (T,) about its heel (toes up) or about its toes (heel up)."""
    up = pitch > 0
    pivot = np.where(up[:, None], body.toe_joint, body.heel)  # (T, 2) forward, up
    tipped = np.where(up, pitch - toe_bend(pitch), 0.0)  # the toes' own pitch, about their tips
    moved = pivot - _pitched(pivot, pitch) + [body.toe, 0.0] - _pitched(np.array([body.toe, 0.0]), tipped)
    x, y, ground, yaw = spot
    return np.stack(
        [x + moved[:, 0] * np.cos(yaw), y + moved[:, 0] * np.sin(yaw), ground + body.sole + moved[:, 1]], axis=-1
    )


def _pitched(point: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Points (..., 2) forward and up, turned nose down by pitch (T,), (T, 2)."""
    x, z = np.moveaxis(point, -1, 0)
    return np.stack([x * np.cos(pitch) + z * np.sin(pitch), z * np.cos(pitch) - x * np.sin(pitch)], axis=-1)


def grip(t: np.ndarray, stances: list[Stance]) -> np.ndarray:
    """1 (T,) where the foot stands, 0 in the middle of its swings."""
    near = np.min([np.maximum(np.maximum(s.start - t, t - s.end), 0.0) for s in stances], axis=0)
    return 1 - ease(near / 0.1)


def load(t: np.ndarray, stances: list[Stance], others: list[Stance]) -> np.ndarray:
    """Share of weight (T,) a foot can take beside the other: 0 in the air, 1 once it stands; it changes while both feet stand."""
    total = np.zeros(len(t))
    for stance in stances:
        leaving = min((o.end for o in others if o.end > stance.start), default=np.inf)  # the other foot, after we land
        landed = max((o.start for o in others if o.start < stance.end), default=-np.inf)  # and before we leave
        take, give = (float(np.clip(gap, 0.08, SHIFT)) for gap in (leaving - stance.start, stance.end - landed))
        ready = _blend(t, stance.start, take) * (1 - _blend(t, stance.end - give, give))
        total = np.where((t >= stance.start) & (t <= stance.end), ready, total)
    return total


def _blend(t: np.ndarray, start: float, seconds: float) -> np.ndarray:
    u = np.clip((t - start) / seconds, 0.0, 1.0)  # from -inf on it is 1, until inf 0
    return u * u * (3 - 2 * u)


def pressure_point(t: np.ndarray, plan: Plan, loads: np.ndarray) -> np.ndarray:
    """Where the ground pushes (T, 2): it rolls from heel to ball below each foot, and goes from foot to foot with the load."""
    points = np.zeros((len(t), 2, 2))
    for side, stances in enumerate(plan):
        for k, stance in enumerate(stances):
            on = (t >= stance.start) & (t <= stance.end)
            length = min(0.5 * (stance.end - stance.start), 0.3)
            forward = np.full(len(t), CENTER)
            if k > 0:
                forward -= 0.06 * np.clip(1 - (t - stance.start) / length, 0, 1)
            if k < len(stances) - 1:
                length, far = (length, 0.06) if stance.peel is None else (stance.peel, 0.1)  # onto the toes
                forward += far * np.clip(1 - (stance.end - t) / length, 0, 1)
            x, y, _, yaw = stance.spot
            points[on, side] = np.stack([x + forward * np.cos(yaw), y + forward * np.sin(yaw)], axis=-1)[on]
    total = np.maximum(loads.sum(axis=1, keepdims=True), 1e-6)
    return np.einsum("ts,tsd->td", loads / total, points)


def pendulum(pressure: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Centre of mass (T, 2) over a pressure point (T, 2): x'' = g / h (x - p) (Kajita et al. 2001), at rest over it at both ends.

    Central differences make one tridiagonal system of the whole course.
    """
    a = height / GRAVITY * FPS**2
    bands = np.stack([-a, 1 + 2 * a, -a])
    bands[1, [0, -1]], bands[0], bands[2] = 1.0, np.roll(-a, 1), np.roll(-a, -1)
    bands[0, 1] = bands[2, -2] = 0.0
    return solve_banded((1, 1), bands, pressure)


def pelvis_height(body: Body, ankles: np.ndarray, pelvis_xy: np.ndarray, yaw: np.ndarray, rise=0.0) -> np.ndarray:
    """Height (T,) of the pelvis: as high as both legs reach, no higher than standing on ground at `rise`, without corners."""
    reach = np.minimum(reach_height(body, ankles, pelvis_xy, yaw), body.sole + STRAIGHT * body.leg + rise)
    half = 1  # frames; the mean of minima over one window nowhere exceeds what it bounds
    padded = np.pad(reach, half, mode="edge")
    low = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).min(axis=-1)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(low, half, mode="edge"), window / window.sum(), mode="valid")


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
