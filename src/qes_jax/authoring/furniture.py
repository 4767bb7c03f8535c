"""Sitting down, sitting and standing up: the weight is over the feet until the seat takes it, and before it is left."""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.authoring.body import LEFT, RIGHT, SIGN, Body, arm_pose
from qes_jax.authoring.feet import Stance, foot_course
from qes_jax.authoring.gait import guide_stand
from qes_jax.authoring.targets import CENTER, RELAXED, Stand, Targets, standing, wxyz
from qes_jax.authoring.timeline import clock, keyed, ramp, turned
from qes_jax.model.scene import Piece
from qes_jax.paths import mjcf_dir

TUCKED, RESTING = 0.27, 0.36  # [m] ankles ahead of the hips when getting up, and when sitting at ease
SINK = 0.003  # [m] flesh and cushion give way
SLUMP = -0.12  # [rad] pitch of a sitting pelvis


@dataclass(frozen=True)
class Seat:
    """A seat where it stands."""

    xy: np.ndarray  # (2,) its middle [m]
    yaw: float  # where a sitter faces [rad]
    height: float  # [m]
    depth: float  # half of it [m]
    hips: float = 0.11  # of a sitter ahead of its middle [m]

    @property
    def ahead(self) -> np.ndarray:
        """(2,) where a sitter faces."""
        return np.array([np.cos(self.yaw), np.sin(self.yaw)])

    def point(self, forward: float, left: float = 0.0) -> np.ndarray:
        """(2,) a place relative to the seat's middle."""
        return self.xy + forward * self.ahead + left * np.array([-self.ahead[1], self.ahead[0]])


def seat_of(piece: Piece) -> Seat:
    """The geom named "seat" of a piece of furniture. Raises ValueError if it has none."""
    spec = mujoco.MjSpec.from_file(str(mjcf_dir() / "scenes" / f"{piece.kind}.xml"))
    geom = next((g for g in spec.geoms if g.name == "seat"), None)
    if geom is None:
        raise ValueError(f"piece {piece.name!r}: {piece.kind}.xml has no geom named seat")
    return Seat(
        np.array(piece.pos[:2]), piece.yaw, float(geom.pos[2] + geom.size[2]) + piece.pos[2], float(geom.size[0])
    )


def seat_stand(seat: Seat) -> Stand:
    """Where to stand with the back to the seat, ready to sit down."""
    return guide_stand(np.array([*seat.point(seat.hips + TUCKED), seat.yaw]))


@dataclass(frozen=True)
class Visit:
    """When things happen [s]: `down` to sit down, `seated` at ease, `up` to stand up."""

    down: float = 2.1
    seated: float = 6.0
    up: float = 2.2
    resting: float = RESTING  # [m] ankles ahead of the hips while at ease

    @property
    def rise(self) -> float:
        """When standing up begins."""
        return self.down + self.seated

    @property
    def seconds(self) -> float:
        """Length of it all, with a moment to settle."""
        return self.rise + self.up + 0.4


def sit(body: Body, seat: Seat, visit: Visit) -> Targets:
    """Sit down from `seat_stand`, sit at ease with the hands on the thighs, stand up again."""
    t, stand = clock(visit.seconds), seat_stand(seat)
    rest = standing(body, stand, len(t))
    feet = [foot_course(body, t, _shuffle(stand, side, visit)) for side in (LEFT, RIGHT)]
    touch, leave = 0.78 * visit.down, visit.rise + 0.36 * visit.up  # the seat
    end = visit.rise + visit.up
    low = [_hip_height(body, seat, ankles) for ankles in (TUCKED, visit.resting)]
    high = float(rest.pelvis_pos[0, 2])
    settle = [(touch, low[0]), (visit.down + 1.0, low[0]), (visit.down + 1.9, low[1])]
    unsettle = [(visit.rise - 1.6, low[1]), (visit.rise - 0.9, low[0]), (leave, low[0])]
    height = keyed(t, [(0.1, high), *settle, *unsettle, (end, high)])
    forward = keyed(t, [(0.05, CENTER), (touch - 0.2, -TUCKED), (leave, -TUCKED), (end - 0.05, CENTER)])
    crouch, seated = _courses(t, visit, touch, leave)
    com = keyed(t, [(0.0, CENTER), (touch - 0.15, -0.02), (leave, -0.03), (end, CENTER)])
    pitch = 0.4 * crouch + SLUMP * seated
    lean = 0.03 + 0.8 * crouch - 0.06 * seated
    height += (
        (body.seat_depth(pitch) - body.seat_depth(SLUMP)) * ramp(t, touch - 0.2, touch) * ramp(t, leave + 0.2, leave)
    )
    pelvis = stand.center + forward[:, None] * seat.ahead
    return rest.but(
        foot_pos=np.stack([f[0] for f in feet], axis=1),
        pelvis_pos=np.column_stack([pelvis, height]),
        pelvis_quat=wxyz(turned(seat.yaw, pitch)),
        pelvis_weight=ramp(t, 0.05, 0.6) * ramp(t, end, end - 0.5),
        com=stand.center + com[:, None] * seat.ahead,
        com_weight=1 - ramp(t, touch, touch + 0.4) * ramp(t, leave - 0.1, leave - 0.7),
        thorax_quat=wxyz(turned(seat.yaw, lean)),
        head_quat=wxyz(turned(seat.yaw, 0.02 + 0.3 * crouch)),
        arms=_arms(crouch, seated),
        hand_pos=_hands_on_thighs(body, seat, pelvis, height),
        hand_weight=np.repeat(
            (ramp(t, touch, visit.down + 0.5) * ramp(t, leave - 0.2, leave - 0.9))[:, None], 2, axis=1
        ),
    )


def _courses(t: np.ndarray, visit: Visit, touch: float, leave: float) -> tuple[np.ndarray, np.ndarray]:
    """How much the trunk bows (T,) and how much one sits at ease (T,), each in [0, 1]."""
    end = visit.rise + visit.up
    down = keyed(t, [(0.0, 0.0), (touch - 0.2, 1.0), (visit.down + 0.6, 0.0)])
    up = keyed(t, [(visit.rise, 0.0), (leave, 1.0), (leave + 0.15, 1.0), (end, 0.0)])
    return down + up, ramp(t, touch, visit.down + 0.5) * ramp(t, visit.rise + 0.4, visit.rise - 0.2)


def _shuffle(stand: Stand, side: int, visit: Visit) -> list[Stance]:
    """One foot is put forward after sitting down, and back before standing up; the other a little later."""
    tucked = stand.feet[side]
    ahead = np.array([np.cos(stand.yaw), np.sin(stand.yaw)])
    resting = tucked + np.array([*(visit.resting - TUCKED) * ahead, 0.0, 0.0])
    out, back = visit.down + 0.55 + 0.35 * side, visit.rise - 1.0 + 0.35 * side
    lift = 0.02
    return [
        Stance(-np.inf, out, tucked, lift=lift),
        Stance(out + 0.4, back, resting, lift=lift),
        Stance(back + 0.4, np.inf, tucked, lift=lift),
    ]


def _hip_height(body: Body, seat: Seat, ankles: float) -> float:
    """Height [m] of sitting hips with the ankles so far ahead; pelvis and thighs sink into the seat by SINK at most."""
    radius, half = float(body.model.geom("left_thigh").size[0]), 0.5 * body.leg
    on_pelvis = seat.height + float(body.seat_depth(SLUMP)) - SINK
    height = on_pelvis
    for _ in range(20):
        span = np.array([ankles, body.sole - height])
        distance = np.linalg.norm(span)
        bend = np.sqrt(half**2 - (0.5 * distance) ** 2)
        knee = 0.5 * span + bend * np.array([-span[1], span[0]]) / distance  # from the hip, forward and up
        at_edge = (seat.depth - seat.hips) * knee[1] / knee[0]
        height = max(on_pelvis, seat.height + radius - SINK - at_edge)
    return height


def _arms(crouch: np.ndarray, seated: np.ndarray) -> np.ndarray:
    """Arms (T, 2, 6): forward for balance while the trunk bows, elbows bent while sitting."""
    pose = RELAXED | {
        "flexion": 0.85 * crouch + 0.25 * seated,
        "elbow": RELAXED["elbow"] + 0.45 * crouch + 0.9 * seated,
        "abduction": RELAXED["abduction"] + 0.08 * seated,
    }
    return np.repeat(arm_pose(**pose)[:, None, :], 2, axis=1)


def _hands_on_thighs(body: Body, seat: Seat, pelvis: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Controllers (T, 2, 3) above the thighs of a sitting body."""
    left = np.array([-seat.ahead[1], seat.ahead[0]])
    aside = (body.hip + 0.035) * SIGN[:, None] * left  # (2, 2)
    flat = pelvis[:, None, :] + 0.27 * seat.ahead + aside
    return np.concatenate([flat, np.repeat(height[:, None, None] + 0.12, 2, axis=1)], axis=-1)
