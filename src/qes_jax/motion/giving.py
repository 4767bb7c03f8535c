"""The joints of furniture where a recording has none of them: moving parts go where the body takes them. Our choice.

A part that turns about an upright axis and bears the pelvis turns with it: its X axis, where seats face, keeps to the
pelvis's heading while somebody sits. Any other joint with a range gives way, from where it rests, by as little as keeps
the body out of what it carries.
"""

from collections.abc import Callable

import mujoco
import numpy as np
from scipy import ndimage

from qes_jax.motion.rig import Rig

REST = 0.08  # [m] nearer than this the pelvis bears on a seat: recordings and furniture rarely fit better
UPRIGHT = 0.9  # cosine of the greatest slant of a seat's axis
SETTLED = 0.4  # [s] shorter touches are no sitting, shorter gaps no getting up
MEET = 0.5  # [s] before one sits down anew, a seat comes to meet one
DEPTH = 0.005  # [m] that a body may sink in before a part gives way
HALVINGS = 8
STILL = 0.1  # [s] over which headings are smoothed; half of it for what gives way


def follow_body(rig: Rig, qpos: np.ndarray, fps: float) -> np.ndarray:
    """qpos (T, nq) with the joints of its pieces moved to where the body takes them."""
    qpos, m = qpos.copy(), rig.model
    joints = [int(j) for j in dict.fromkeys(m.dof_jntid[rig.world.layout.object_dofs].tolist())]
    home = mujoco.MjData(m)
    home.qpos[:] = rig.world.layout.home_qpos
    mujoco.mj_kinematics(m, home)
    seats = [j for j in joints if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE and abs(home.xaxis[j, 2]) > UPRIGHT]
    for j in seats:
        sits = _settled(_bears(rig, qpos, j), fps)
        if sits.any():
            qpos[:, m.jnt_qposadr[j]] = _turned(rig, qpos, home, j, sits, fps)
    for j in joints:
        if j not in seats and m.jnt_limited[j]:
            angle = _given_way(rig, qpos, j)
            smooth = ndimage.gaussian_filter1d(angle, 0.5 * STILL * fps, mode="nearest")
            qpos[:, m.jnt_qposadr[j]] = np.clip(smooth, *m.jnt_range[j])
    return qpos


def _carried(rig: Rig, joint: int) -> list[int]:
    """Geoms that can be touched and move with a joint."""
    m = rig.model
    bodies = [b for b in range(m.nbody) if rig.under(b, m.jnt_bodyid[joint])]
    return [g for g in range(m.ngeom) if m.geom_bodyid[g] in bodies and m.geom_contype[g] == 2]


def _bears(rig: Rig, qpos: np.ndarray, joint: int) -> np.ndarray:
    """(T,) whether the pelvis is on what a joint carries: within REST, its middle above the part's."""
    m, data, bears = rig.model, mujoco.MjData(rig.model), np.zeros(len(qpos), bool)
    hips = [g for g in range(m.ngeom) if m.geom_bodyid[g] == rig.root and m.geom_contype[g] == 1]
    carried = _carried(rig, joint)
    for t, q in enumerate(qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        for g in carried:
            away = data.xpos[rig.root] - data.geom_xpos[g]
            if away[2] > 0 and np.hypot(*away[:2]) < m.geom_rbound[g]:
                bears[t] |= min(mujoco.mj_geomDistance(m, data, h, g, REST, None) for h in hips) < REST
    return bears


def _settled(bears: np.ndarray, fps: float) -> np.ndarray:
    """Without what is shorter than SETTLED; the first and the last frame count as going on."""
    frames = max(1, round(SETTLED * fps))
    padded = np.pad(bears, frames, mode="edge")
    window = np.ones(frames)
    return ndimage.binary_opening(ndimage.binary_closing(padded, window), window)[frames:-frames]


def _turned(rig: Rig, qpos: np.ndarray, home: mujoco.MjData, joint: int, sits: np.ndarray, fps: float) -> np.ndarray:
    """(T,) [rad] of a seat: with the pelvis while somebody sits, else as it was left, or as the first one finds it."""
    m = rig.model
    w, x, y, z = qpos[:, 3:7].T
    heading = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    heading = ndimage.gaussian_filter1d(heading, STILL * fps, mode="nearest")
    ahead = home.xmat[m.jnt_bodyid[joint]].reshape(3, 3)[:, 0]
    angle = np.sign(home.xaxis[joint, 2]) * (heading - np.arctan2(ahead[1], ahead[0]))
    angle -= 2 * np.pi * np.round(angle[np.argmax(sits)] / (2 * np.pi))
    known = np.flatnonzero(sits)
    begins = known[1:][np.diff(known) > 1]  # whoever comes back turns the seat as they need it
    leaves = known[:-1][np.diff(known) > 1]
    meets = np.maximum(begins - round(MEET * fps), leaves)
    knots = np.concatenate([known, meets])
    values = np.concatenate([angle[known], angle[leaves]])
    order = np.argsort(knots, kind="stable")
    angle = m.qpos0[m.jnt_qposadr[joint]] + np.interp(np.arange(len(qpos)), knots[order], values[order])
    return np.clip(angle, *m.jnt_range[joint]) if m.jnt_limited[joint] else angle


def _given_way(rig: Rig, qpos: np.ndarray, joint: int) -> np.ndarray:
    """(T,) of a joint with a range: where it rests, or moved no further than the body asks for."""
    m, data = rig.model, mujoco.MjData(rig.model)
    carried, address = _carried(rig, joint), m.jnt_qposadr[joint]
    body = np.flatnonzero(m.geom_contype == 1)
    rest, found = m.qpos0[address], np.full(len(qpos), m.qpos0[address])
    for t, q in enumerate(qpos):
        data.qpos[:] = q

        def clear(value: float) -> bool:
            data.qpos[address] = value
            mujoco.mj_kinematics(m, data)
            pairs = ((g, b) for g in carried for b in body)
            return all(mujoco.mj_geomDistance(m, data, g, b, 0.0, None) > -DEPTH for g, b in pairs)

        if not clear(rest):
            ends = sorted(m.jnt_range[joint], key=lambda end: abs(end - rest))
            reached = [_nearest(clear, rest, end) for end in ends if abs(end - rest) > 1e-6]
            found[t] = min((v for v in reached if v is not None), key=lambda v: abs(v - rest), default=ends[-1])
    return found


def _nearest(clear: Callable[[float], bool], rest: float, end: float) -> float | None:
    """Nearest to `rest` that is clear on the way to `end`, by halving; None where not even `end` is."""
    if not clear(end):
        return None
    for _ in range(HALVINGS):
        middle = 0.5 * (rest + end)
        rest, end = (rest, middle) if clear(middle) else (middle, end)
    return end
