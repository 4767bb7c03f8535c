"""What a motion asks of the ground: how hard it must push, and where. A person's feet can give both or they cannot."""

import mujoco
import numpy as np

from qes_jax.authoring.balance import GRAVITY, pendulum
from qes_jax.authoring.body import Body
from qes_jax.authoring.ik import solve
from qes_jax.authoring.targets import Targets, stretch
from qes_jax.authoring.timeline import smooth
from qes_jax.model.world import World
from qes_jax.motion.clip import FPS

HEIGHT = 0.93  # [m] of the centre of mass above the ground while walking
SOFT = 1 / FPS  # [s] of smoothing of what differences over frames give


def steady(body: Body, targets: Targets) -> Targets:
    """Targets whose centre of mass makes up for swinging limbs, so that the ground pushes where the steps planned it.

    The inverted pendulum that planned the way knows no limbs. As in the preview control of Kajita et al. (2003, sec. 4)
    the motion is made once, the error of its zero moment point goes through the same pendulum, and the way is shifted.
    """
    com, pelvis = targets.com.copy(), targets.pelvis_pos.copy()
    for first, end in _planned(targets):
        part = stretch(targets, first, end)
        error = part.pressure[:, :2] - push(body.world, solve(body, part), part.pressure[:, 2])[1]
        error[:2] = error[-2:] = 0.0  # at rest
        shift = pendulum(smooth(error, SOFT), np.full(end - first, HEIGHT))
        com[first:end] += shift
        pelvis[first:end, :2] += shift
    return targets.but(com=com, pelvis_pos=pelvis)


def _planned(targets: Targets) -> list[tuple[int, int]]:
    """Stretches of frames (first, end) whose steps plan where the ground pushes."""
    known = np.isfinite(targets.pressure[:, 0]).astype(int)
    edges = np.flatnonzero(np.diff(known, prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def push(
    world: World, qpos: np.ndarray, ground: np.ndarray | float = 0.0, fps: float = FPS
) -> tuple[np.ndarray, np.ndarray]:
    """What qpos (T, nq) needs if feet alone bear it: upward force (T,) in body weights, and its place (T, 2) [m].

    The place is the zero moment point at the height of the ground (T,) [m] (Vukobratovic & Borovac 2004).
    """
    m = world.plain
    com, momentum = _course(m, qpos, fps)
    acceleration = np.zeros_like(com)
    acceleration[1:-1] = np.diff(com, 2, axis=0) * fps**2
    acceleration = smooth(acceleration, SOFT)
    spin = smooth(np.gradient(momentum, 1 / fps, axis=0), SOFT) / m.body_subtreemass[1]
    up = np.maximum(acceleration[:, 2] + GRAVITY, 0.1 * GRAVITY)  # a falling body pushes nowhere
    lever = com[:, 2] - ground
    x = com[:, 0] - (lever * acceleration[:, 0] + spin[:, 1]) / up
    y = com[:, 1] - (lever * acceleration[:, 1] - spin[:, 0]) / up
    return acceleration[:, 2] / GRAVITY + 1, np.stack([x, y], axis=-1)


def _course(m: mujoco.MjModel, qpos: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (T, 3) [m] and angular momentum about it (T, 3) [kg m^2/s]."""
    data, com, momentum = mujoco.MjData(m), np.empty((len(qpos), 3)), np.empty((len(qpos), 3))
    for frame in range(len(qpos)):
        before, after = max(frame - 1, 0), min(frame + 1, len(qpos) - 1)
        mujoco.mj_differentiatePos(m, data.qvel, max(after - before, 1) / fps, qpos[before], qpos[after])
        data.qpos[:] = qpos[frame]
        mujoco.mj_fwdPosition(m, data)
        mujoco.mj_fwdVelocity(m, data)
        mujoco.mj_subtreeVel(m, data)
        com[frame], momentum[frame] = data.subtree_com[1], data.subtree_angmom[1]
    return com, momentum
