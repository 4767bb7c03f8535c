"""What a person does on the spot: look about, reach, wave, write in the air, squat. Laid over standing or sitting."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.authoring.body import LEFT, SIGN, Body, arm_pose
from qes_jax.authoring.targets import CENTER, RELAXED, Stand, Targets, standing, wxyz
from qes_jax.authoring.timeline import clock, drift, keyed, ramp, smooth, spline, turned
from qes_jax.motion.clip import FPS

Path = Sequence[
    tuple[float, tuple[float, float, float]]
]  # (time [s], forward, outward, up from the middle of the hips [m])


def look(targets: Targets, keys: Sequence[tuple[float, tuple[float, float]]]) -> Targets:
    """Turn the head by (yaw left, pitch down) [rad] at times [s]; the chest follows a little."""
    t = np.arange(targets.n_frames) / FPS
    yaw, pitch = keyed(t, [(keys[0][0] - 0.5, (0.0, 0.0)), *keys, (keys[-1][0] + 0.8, (0.0, 0.0))]).T
    return targets.but(
        head_quat=turned_by(targets.head_quat, yaw, pitch),
        thorax_quat=turned_by(targets.thorax_quat, 0.3 * yaw, 0.1 * pitch),
    )


def reach(targets: Targets, side: int, path: Path, ease_in: float = 0.8, ease_out: float = 0.9) -> Targets:
    """Lead one hand along a smooth path, from where it rests and back; `path` is relative to the hips as it begins."""
    t = np.arange(targets.n_frames) / FPS
    first, last = path[0][0], path[-1][0]
    frame = min(round(first * FPS), targets.n_frames - 1)
    forward, outward, up = spline(t, path).T
    facing = Rotation.from_quat(targets.thorax_quat[frame], scalar_first=True).as_euler("ZYX")[0]
    local = np.column_stack([forward, SIGN[side] * outward, up])
    point = targets.pelvis_pos[frame] + turned(np.array([facing])).as_matrix()[0].dot(local.T).T
    amount = ramp(t, first - ease_in, first) * ramp(t, last + ease_out, last)
    pos, weight, arms = targets.hand_pos.copy(), targets.hand_weight.copy(), targets.arms.copy()
    rest = weight[:, side].copy()
    blend = amount / np.maximum(amount + rest * (1 - amount), 1e-9)
    pos[:, side] = np.where(rest[:, None] > 0, pos[:, side] + blend[:, None] * (point - pos[:, side]), point)
    weight[:, side] = np.maximum(amount, rest)
    raised = arm_pose(**(RELAXED | {"flexion": 0.7, "abduction": 0.25, "elbow": 1.0}))
    arms[:, side] += amount[:, None] * (raised - arms[:, side])
    lean = 0.35 * np.maximum(smooth(local[:, 0], 0.2) - 0.45, 0.0) * amount
    thorax = turned_by(targets.thorax_quat, -SIGN[side] * 0.12 * amount, lean)
    return targets.but(hand_pos=pos, hand_weight=weight, arms=arms, thorax_quat=thorax)


def wave(targets: Targets, side: int, start: float, times: int = 4) -> Targets:
    """Raise a hand beside the head and wave it."""
    path = [(start + 0.3 * k, (0.22, 0.36 + 0.09 * (-1) ** k, 0.62 - 0.02 * (k % 2))) for k in range(2 * times + 1)]
    return reach(targets, side, path)


def point_at(targets: Targets, side: int, start: float, angle: float = 0.3, hold: float = 1.2) -> Targets:
    """Point outwards at `angle` [rad] with an almost straight arm."""
    tip = (0.55 * np.cos(angle), 0.18 + 0.5 * np.sin(angle), 0.46)
    return look(reach(targets, side, [(start, tip), (start + hold, tip)]), [(start, (SIGN[side] * angle, 0.0))])


def write(targets: Targets, side: int, start: float, rng: np.random.Generator, strokes: int = 8) -> Targets:
    """Write in the air in front of the chest."""
    path = []
    for k in range(strokes):
        across = 0.22 - 0.4 * (k // 2) / max(strokes // 2 - 1, 1)  # from the writer's outer side inwards
        path.append(
            (start + 0.42 * k, (0.42, across + rng.normal(0, 0.02), 0.4 + 0.09 * (-1) ** k + rng.normal(0, 0.015)))
        )
    return reach(targets, side, path)


def alive(targets: Targets, rng: np.random.Generator) -> Targets:
    """Small slow wandering of head, chest and arms: nobody holds quite still."""
    t = np.arange(targets.n_frames) / FPS
    small = [drift(t, rng, period) for period in (4.0, 5.0, 6.0, 5.0)]
    arms = targets.arms + 0.02 * np.stack([drift(t, rng, 3.5) for _ in range(12)], axis=-1).reshape(-1, 2, 6)
    return targets.but(
        head_quat=turned_by(targets.head_quat, 0.06 * small[0], 0.03 * small[1]),
        thorax_quat=turned_by(targets.thorax_quat, 0.02 * small[2], 0.012 * small[3]),
        arms=arms,
    )


def squat(body: Body, stand: Stand, depth: float, seconds: float, hold: float = 0.4) -> Targets:
    """Squat down by `depth` [m] with the heels down, the arms forward for balance, and come up again."""
    t = clock(2 * seconds + hold + 0.4)
    rest = standing(body, stand, len(t))
    low = keyed(t, [(0.1, 0.0), (seconds, 1.0), (seconds + hold, 1.0), (2 * seconds + hold, 0.0)])
    share = depth / body.leg
    pelvis = rest.pelvis_pos - depth * low[:, None] * np.array([0.0, 0.0, 1.0])
    ahead = np.array([np.cos(stand.yaw), np.sin(stand.yaw)])
    arms = arm_pose(
        **(RELAXED | {"flexion": 1.9 * share * low, "elbow": RELAXED["elbow"] + 0.2 * low, "abduction": 0.15})
    )
    return rest.but(
        pelvis_pos=pelvis,
        pelvis_quat=wxyz(turned(stand.yaw, 0.03 + 0.8 * share * low)),
        thorax_quat=wxyz(turned(stand.yaw, 0.03 + 1.3 * share * low)),
        head_quat=wxyz(turned(stand.yaw, 0.3 * share * low)),
        com=stand.center + (CENTER - 0.01 * low)[:, None] * ahead,
        arms=np.repeat(arms[:, None], 2, axis=1),
    )


def shift(body: Body, stand: Stand, seconds: float, side: int = LEFT, share: float = 0.7) -> Targets:
    """Stand for a while with the weight on one leg, the hips lower on the other side."""
    t = clock(seconds)
    rest = standing(body, stand, len(t))
    amount = ramp(t, 0.1, 1.1) * ramp(t, seconds - 0.1, seconds - 1.1)
    toward = stand.feet[side, :2] - stand.center
    com = rest.com + share * amount[:, None] * toward
    roll = SIGN[side] * 0.06 * amount
    return rest.but(
        com=com,
        pelvis_pos=rest.pelvis_pos - 0.012 * amount[:, None] * np.array([0.0, 0.0, 1.0]),
        pelvis_quat=wxyz(turned(stand.yaw, 0.0, roll)),
        thorax_quat=wxyz(turned(stand.yaw, 0.03, -0.3 * roll)),
    )


def turned_by(quat: np.ndarray, yaw: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Quaternions (T, 4) turned by yaw about the vertical and by pitch about their own Y."""
    base = Rotation.from_quat(quat, scalar_first=True)
    return wxyz(turned(yaw) * base * turned(np.zeros_like(yaw), pitch))
