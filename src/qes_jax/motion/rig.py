"""Whole-clip kinematics of the character in NumPy: poses of every frame, and Jacobians of points in closed form.

T frames, B bodies with the world first, n = 6 + J degrees of freedom: root translation (world axes), root rotation (its
own axes), then the hinges in the order of ctrl. All lengths [m], angles [rad], float64.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.model.world import World


@dataclass(frozen=True)
class Poses:
    """Where everything is at each frame."""

    xpos: np.ndarray  # (T, B, 3)
    xmat: np.ndarray  # (T, B, 3, 3)
    xanchor: np.ndarray  # (T, J, 3) a point on each hinge's axis
    xaxis: np.ndarray  # (T, J, 3)
    geom_xpos: np.ndarray  # (T, G, 3)

    def points(self, body: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """(T, P, 3) places of points fixed to bodies (P,) at offsets (P, 3)."""
        return self.xpos[:, body] + np.einsum("tpij,pj->tpi", self.xmat[:, body], offset)


class Rig:
    """A world's character as a set of moving points."""

    def __init__(self, world: World) -> None:
        self.world, self.model = world, world.plain
        m, layout = world.plain, world.layout
        self.joint_ids = m.dof_jntid[layout.joint_dofs]
        self.dofs = np.concatenate([np.arange(6), layout.joint_dofs])
        self.n = len(self.dofs)
        self.root = int(layout.link_ids[0]) + 1
        self.moves = np.array([[self.under(b, m.jnt_bodyid[j]) for j in self.joint_ids] for b in range(m.nbody)])

    def under(self, body: int, ancestor: int) -> bool:
        """Whether a body is another, or hangs on it."""
        while body not in (0, ancestor):
            body = self.model.body_parentid[body]
        return body == ancestor

    def body(self, link: str) -> int:
        """Body id of a link."""
        return int(self.model.body(link).id)

    def poses(self, qpos: np.ndarray) -> Poses:
        """Forward kinematics of qpos (T, nq)."""
        data, rows = mujoco.MjData(self.model), []
        for q in qpos:
            data.qpos[:] = q
            mujoco.mj_kinematics(self.model, data)
            xanchor, xaxis = data.xanchor[self.joint_ids], data.xaxis[self.joint_ids]
            rows.append((data.xpos.copy(), data.xmat.reshape(-1, 3, 3).copy(), xanchor, xaxis, data.geom_xpos.copy()))
        return Poses(*(np.stack(column) for column in zip(*rows, strict=True)))

    def jacobian(self, poses: Poses, body: np.ndarray, points: np.ndarray) -> np.ndarray:
        """(T, P, 3, n) of points (T, P, 3) that move with bodies, (P,) or (T, P), negative for none.

        A hinge turns a point p by a x (p - c), for its axis a through c; likewise the root's three axes.
        """
        body = np.broadcast_to(body, points.shape[:2])
        jac = np.zeros((*points.shape[:2], 3, self.n))
        jac[..., :3] = np.eye(3)
        arm = points - poses.xpos[:, None, self.root]
        jac[..., 3:6] = np.swapaxes(
            np.cross(np.swapaxes(poses.xmat[:, None, self.root], -1, -2), arm[:, :, None]), -1, -2
        )
        arm = points[:, :, None] - poses.xanchor[:, None]
        turned = np.cross(poses.xaxis[:, None], arm) * self.moves[body][..., None]
        jac[..., 6:] = np.swapaxes(turned, -1, -2)
        return jac * (body >= 0)[..., None, None]

    def move(self, qpos: np.ndarray, step: np.ndarray) -> np.ndarray:
        """qpos (T, nq) moved by step (T, n) on its manifold."""
        qpos, full = qpos.copy(), np.zeros((len(qpos), self.model.nv))
        full[:, self.dofs] = step
        for q, dq in zip(qpos, full, strict=True):
            mujoco.mj_integratePos(self.model, q, dq, 1.0)
        return qpos

    def differences(self, qpos: np.ndarray) -> np.ndarray:
        """(T-1, n) steps from each frame of qpos (T, nq) to the next."""
        full = np.zeros((len(qpos) - 1, self.model.nv))
        for dq, a, b in zip(full, qpos[:-1], qpos[1:], strict=True):
            mujoco.mj_differentiatePos(self.model, dq, 1.0, a, b)
        return full[:, self.dofs]
