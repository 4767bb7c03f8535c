"""Whole-body inverse kinematics: each frame a small nonlinear least squares, started from the frame before.

Every residual is divided by the error that we would tolerate in it, so that the tolerances say who yields to whom.
M rows in all, nv velocities.
"""

import mujoco
import numpy as np

from qes_jax.authoring.body import SIDES, Body
from qes_jax.authoring.targets import Targets
from qes_jax.authoring.timeline import ease
from qes_jax.model.scene import Piece
from qes_jax.model.world import World, build_world

# Tolerances, our choice: [m] of positions, [rad] of rotations and hinges.
FOOT, FOOT_TURN, TOES = 0.0005, 0.01, 0.02
COM, PELVIS, PELVIS_HEIGHT, PELVIS_TURN = 0.008, 0.003, 0.01, 0.04
THORAX_TURN, HEAD_TURN, HAND, ARM = 0.05, 0.06, 0.006, 0.08
AIR = 0.12  # of the grip remains while a foot swings
TRUNK, NECK, LEG = 0.2, 1.0, 5.0  # pull of hinges towards 0 where nothing else asks
STEP = 2e-4  # [rad] an iteration that moves no hinge more than this is the last
ITERATIONS = 30
DAMPING = 1e-3
CALM = 0.25  # [rad] of change from one frame to the next, where the body is solid
FLESH, OUT = 0.004, 0.001  # [m] that may sink in, and the tolerance of sinking deeper
KNEE = 0.06  # [rad] least flexion

Rows = tuple[np.ndarray, np.ndarray]  # residuals (m,) and their Jacobian (m, nv), divided by the tolerance


def solve(body: Body, targets: Targets, pieces: tuple[Piece, ...] | None = None) -> np.ndarray:
    """qpos (T, nq) that meets the targets as well as joint ranges and tolerances allow.

    Without `pieces` the body moves as if nothing were there; with them it keeps out of the floor and of the pieces, and
    hands come to their targets in smooth ways from where they would be without them.
    """
    if pieces is None:
        return _track(_Problem(body, body.world, solid=False), targets)
    problem = _Problem(body, build_world(body.world.character, pieces), solid=True)
    if not targets.hand_weight.any():
        return _track(problem, targets)
    free = _track(problem, targets.but(hand_weight=np.zeros_like(targets.hand_weight)))
    return _track(problem, _led(targets, np.array([problem.controllers(q) for q in free])))


def _led(targets: Targets, free: np.ndarray) -> Targets:
    """Hands (T, 2, 3) that go from where they are `free` to their targets as their weights say, and no less exactly.

    A hand with a small weight is far stiffer than an arm's posture, and would else jump when it is let go.
    """
    weight = targets.hand_weight[..., None]
    led = free + weight * (targets.hand_pos - free)
    return targets.but(hand_pos=np.where(weight > 0, led, 0.0), hand_weight=ease(targets.hand_weight / 0.1))


def _track(problem: "_Problem", targets: Targets) -> np.ndarray:
    """qpos (T, nq), frame after frame."""
    world = problem.world
    qpos = world.layout.home_qpos.copy()
    qpos[:3], qpos[3:7] = targets.pelvis_pos[0], targets.pelvis_quat[0]
    rows = np.empty((targets.n_frames, world.plain.nq))
    for frame in range(targets.n_frames):
        if targets.objects.shape[1]:
            qpos[world.layout.object_qpos] = targets.objects[frame]
        qpos = problem.solve_frame(qpos, targets, frame)
        rows[frame] = qpos
    return rows


class _Problem:
    """The least squares of one frame at a time, with all names resolved to ids."""

    def __init__(self, body: Body, world: World, solid: bool) -> None:
        self.world, self.model, self.layout = world, world.plain, world.layout
        self.data = mujoco.MjData(world.plain)
        self.before = world.layout.home_qpos
        self.solid, self.links = solid, set(world.layout.link_ids + 1)
        self.ids = {name: self.model.body(name).id for name in self.layout.links}
        self.feet = [self.ids[f"{side}_foot"] for side in SIDES]
        self.hands = [self.model.site(f"{side}_controller").id for side in SIDES]
        self.arms = body.arm_joints
        self.toes = [body.joint(f"{side}_toe_pitch") for side in SIDES]
        self.range = self.layout.joint_range.copy()
        for side in SIDES:
            self.range[body.joint(f"{side}_knee"), 0] = KNEE  # a straight knee knows no way to bend
        self.posture = 1.0 / np.array([_tolerance(joint) for joint in self.layout.joints])

    def controllers(self, qpos: np.ndarray) -> np.ndarray:
        """Where both (2, 3) are."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self.hands]

    def solve_frame(self, start: np.ndarray, targets: Targets, frame: int) -> np.ndarray:
        """Levenberg-Marquardt within the hinges' ranges."""
        qpos, damping, self.before = start, DAMPING, start
        residual, jacobian = self.linearize(qpos, targets, frame)
        for _ in range(ITERATIONS):
            step = self._step(qpos, residual, jacobian, damping)
            trial = qpos.copy()
            mujoco.mj_integratePos(self.model, trial, step, 1.0)
            new_residual, new_jacobian = self.linearize(trial, targets, frame)
            if new_residual @ new_residual > residual @ residual:
                damping *= 8.0
                continue
            qpos, residual, jacobian, damping = trial, new_residual, new_jacobian, max(damping / 8.0, DAMPING)
            if np.abs(step).max() < STEP:
                break
        return qpos

    def _step(self, qpos: np.ndarray, residual: np.ndarray, jacobian: np.ndarray, damping: float) -> np.ndarray:
        """(nv,) the damped Gauss-Newton step; where a hinge meets its limit, the others make up for it."""
        dofs, hinges = self.layout.joint_dofs, qpos[self.layout.joint_qpos]
        normal, gradient = jacobian.T @ jacobian + damping * np.eye(self.model.nv), jacobian.T @ residual
        step = np.linalg.solve(normal, gradient)
        for _ in range(3):
            bounded = np.clip(step[dofs], *(self.range.T - hinges))
            held = dofs[np.abs(bounded - step[dofs]) > 1e-12]
            if len(held) == 0:
                break
            step[dofs] = bounded
            free = np.setdiff1d(np.arange(self.model.nv), held)
            rest = gradient[free] - normal[np.ix_(free, held)] @ step[held]
            step[free] = np.linalg.solve(normal[np.ix_(free, free)], rest)
        step[dofs] = np.clip(step[dofs], *(self.range.T - hinges))
        return step

    def linearize(self, qpos: np.ndarray, targets: Targets, frame: int) -> Rows:
        """All residuals (M,) of one frame at qpos and their Jacobian (M, nv)."""
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        t, f = targets, frame
        rows = [self._posture(t.toes[f], t.arms[f], t.hand_weight[f])]
        for side, foot in enumerate(self.feet):
            grip = AIR + (1.0 - AIR) * t.foot_grip[f, side]
            rows.append(self._place(foot, t.foot_pos[f, side], np.full(3, grip / FOOT)))
            rows.append(self._turn(foot, t.foot_quat[f, side], grip / FOOT_TURN))
            if t.hand_weight[f, side] > 0:
                rows.append(self._hand(side, t.hand_pos[f, side], t.hand_weight[f, side] / HAND))
        flat = t.pelvis_weight[f] / PELVIS
        scale = np.array([flat, flat, np.hypot(flat, 1.0 / PELVIS_HEIGHT)])
        rows.append(self._place(self.ids["pelvis"], t.pelvis_pos[f], scale))
        rows.append(self._turn(self.ids["pelvis"], t.pelvis_quat[f], 1.0 / PELVIS_TURN))
        rows.append(self._turn(self.ids["thorax"], t.thorax_quat[f], 1.0 / THORAX_TURN))
        rows.append(self._turn(self.ids["head"], t.head_quat[f], 1.0 / HEAD_TURN))
        if t.com_weight[f] > 0:
            rows.append(self._balance(t.com[f], t.com_weight[f] / COM))
        if self.solid:
            rows.extend([self._calm(), *self._outside()])
        residuals, jacobians = zip(*rows, strict=True)
        return np.concatenate(residuals), np.concatenate(jacobians)

    def _place(self, body: int, target: np.ndarray, scale: np.ndarray) -> Rows:
        jac = np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, jac, None, body)
        return (target - self.data.xpos[body]) * scale, jac * scale[:, None]

    def _turn(self, body: int, target: np.ndarray, scale: float) -> Rows:
        jac, inverse, error, angle = np.zeros((3, self.model.nv)), np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mj_jacBody(self.model, self.data, None, jac, body)
        mujoco.mju_negQuat(inverse, self.data.xquat[body])
        mujoco.mju_mulQuat(error, target, inverse)
        mujoco.mju_quat2Vel(angle, error, 1.0)
        return angle * scale, jac * scale

    def _hand(self, side: int, target: np.ndarray, scale: float) -> Rows:
        jac, site = np.zeros((3, self.model.nv)), self.hands[side]
        mujoco.mj_jacSite(self.model, self.data, jac, None, site)
        return (target - self.data.site_xpos[site]) * scale, jac * scale

    def _balance(self, target: np.ndarray, scale: float) -> Rows:
        jac = np.zeros((3, self.model.nv))
        mujoco.mj_jacSubtreeCom(self.model, self.data, jac, 1)
        return (target - self.data.subtree_com[1, :2]) * scale, jac[:2] * scale

    def _calm(self) -> Rows:
        """Hinges would rather stay as they were a frame ago: no snapping from one way of doing it to another."""
        jac = np.zeros((len(self.posture), self.model.nv))
        jac[np.arange(len(self.posture)), self.layout.joint_dofs] = 1.0 / CALM
        return (self.before - self.data.qpos)[self.layout.joint_qpos] / CALM, jac

    def _outside(self) -> list[Rows]:
        """One row for each place where the body is too deep in the floor or in an object."""
        mujoco.mj_collision(self.model, self.data)
        rows = []
        for contact in self.data.contact[: self.data.ncon]:
            depth = -float(contact.dist) - FLESH
            if depth <= 0:
                continue
            bodies = self.model.geom_bodyid[contact.geom]
            sign = 1.0 if bodies[1] in self.links else -1.0  # the normal points from the first geom to the second
            jac = np.zeros((3, self.model.nv))
            mujoco.mj_jac(self.model, self.data, jac, None, contact.pos, bodies[1] if sign > 0 else bodies[0])
            rows.append((np.array([depth / OUT]), sign / OUT * contact.frame[None, :3] @ jac))
        return rows

    def _posture(self, toes: np.ndarray, arms: np.ndarray, hand_weight: np.ndarray) -> Rows:
        target, scale = np.zeros(len(self.posture)), self.posture.copy()
        target[self.arms], target[self.toes] = arms, toes
        scale[self.arms] *= 1.0 - 0.85 * hand_weight[:, None]  # the arm follows its hand, not the trunk
        jac = np.zeros((len(scale), self.model.nv))
        jac[np.arange(len(scale)), self.layout.joint_dofs] = scale
        return (target - self.data.qpos[self.layout.joint_qpos]) * scale, jac


def _tolerance(joint: str) -> float:
    """How far [rad] a hinge may stray from its posture."""
    if "toe" in joint:
        return TOES
    if any(part in joint for part in ("hip", "knee", "ankle")):
        return LEG
    if "neck" in joint:
        return NECK
    return TRUNK if joint.startswith(("lumbar", "thorax")) else ARM
