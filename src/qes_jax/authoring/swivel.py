"""Turning with an office chair: the feet step around it, push after push, and body and seat go with them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.authoring.body import LEFT, RIGHT, Body
from qes_jax.authoring.feet import Stance, foot_course
from qes_jax.authoring.furniture import RESTING, TUCKED, Seat, Visit, seat_stand
from qes_jax.authoring.gait import look_ahead
from qes_jax.authoring.targets import Stand, Targets, wxyz
from qes_jax.authoring.timeline import ease, turned
from qes_jax.motion.clip import FPS

PUSH = 0.42  # [rad] that one push of the feet turns the chair at most
BEAT = 0.85  # [s] from push to push
STEP = 0.3  # [s] that a foot is in the air


@dataclass(frozen=True)
class Push:
    """The chair turns `by` [rad] from `start` to `end` [s], meanwhile both feet step."""

    start: float
    end: float
    by: float


def pushes(visit: Visit, turns: Sequence[float], pause: float) -> list[Push]:
    """The pushes that turn by one angle [rad] after the other, with a pause [s] between, once one is seated."""
    now, found = visit.down + 1.7, []
    for turn in turns:
        count = int(np.ceil(abs(turn) / PUSH))
        for _ in range(count):
            found.append(Push(now, now + BEAT, turn / count))
            now += BEAT
        now += pause
    return found


def seconds_needed(turns: Sequence[float], pause: float) -> float:
    """How long [s] to be seated for these turns."""
    return 1.7 + sum(np.ceil(abs(turn) / PUSH) * BEAT + pause for turn in turns) + 1.5


def swivel(body: Body, targets: Targets, seat: Seat, visit: Visit, plan: Sequence[Push], base: float = 0.0) -> Targets:
    """Sitting (`furniture.sit`) on a chair that turns about the seat's middle; its joint stood at `base` [rad]."""
    t = np.arange(targets.n_frames) / FPS
    angle = sum((push.by * ease((t - push.start) / (push.end - push.start)) for push in plan), np.zeros_like(t))
    rotation = turned(angle)
    feet = [foot_course(body, t, _stances(seat, visit, plan, side)) for side in (LEFT, RIGHT)]

    def around(points: np.ndarray) -> np.ndarray:
        center = np.zeros(points.shape[-1])
        center[:2] = seat.xy
        matrix = rotation.as_matrix()[:, : points.shape[-1], : points.shape[-1]]
        return center + np.einsum("tij,t...j->t...i", matrix, points - center)

    def turn(quat: np.ndarray, by: np.ndarray) -> np.ndarray:
        return wxyz(turned(by) * Rotation.from_quat(quat, scalar_first=True))

    return targets.but(
        foot_pos=np.stack([f[0] for f in feet], axis=1),
        foot_quat=np.stack([wxyz(turned(f[3], f[1])) for f in feet], axis=1),
        toes=np.stack([f[2] for f in feet], axis=1),
        pelvis_pos=around(targets.pelvis_pos),
        com=around(targets.com),
        hand_pos=around(targets.hand_pos),
        pelvis_quat=turn(targets.pelvis_quat, angle),
        thorax_quat=turn(targets.thorax_quat, angle),
        head_quat=turn(targets.head_quat, look_ahead(angle, 0.35)),
        objects=base + angle[:, None],
    )


def _stances(seat: Seat, visit: Visit, plan: Sequence[Push], side: int) -> list[Stance]:
    """Where one foot stands: tucked, out to rest, around with the chair, tucked again."""
    tucked, rest, angle = seat_stand(seat), _at(seat, RESTING, 0.0), 0.0
    out, back = visit.down + 0.55 + 0.35 * side, visit.rise - 1.0 + 0.35 * side
    stances = [Stance(-np.inf, out, tucked.feet[side], lift=0.02)]
    landed, spot = out + 0.4, rest.feet[side]
    for push in plan:
        opening = LEFT if push.by > 0 else RIGHT  # the foot on that side goes first
        leave = push.start + (0.12 if side == opening else 0.5) * (push.end - push.start)
        angle += push.by
        stances.append(Stance(landed, leave, spot, push=0.15, lift=0.03))
        landed, spot = leave + STEP, _at(seat, RESTING, angle).feet[side]
    stances.append(Stance(landed, back, spot, lift=0.02))
    stances.append(Stance(back + 0.4, np.inf, _at(seat, TUCKED, angle).feet[side]))
    return stances


def _at(seat: Seat, ankles: float, angle: float) -> Stand:
    """Feet so far ahead of the hips [m] when the seat has turned by an angle [rad]."""
    shifted = Seat(seat.xy, seat.yaw + angle, seat.height, seat.depth, seat.hips + ankles - TUCKED)
    return seat_stand(shifted)
