"""A body that the controllers can move: its model and, by name, the few things that they need to know of it.

Names follow `model.bodies`; besides, feet may have corners SIDE_toe_in and SIDE_toe_out on a toe of its own, and arms
are joints whose names hold shoulder, elbow, forearm or wrist.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.model.bodies import body_spec
from qes_jax.model.character import joint_kind

ARMS = ("shoulder", "elbow", "forearm", "wrist")
SIDES = ("left", "right")
SIM_DT = 0.002  # [s] the stage's step

# The humanoid's rest pose [rad] by joint kind: neutral, knees a little bent. Our choice.
REST = {
    "hip_pitch": 0.07, "knee": 0.24, "ankle_pitch": 0.17,
    "shoulder_swing": -0.06, "shoulder_lift": 0.10, "elbow": 0.25,
}  # fmt: skip
LONG_ARMS = {"humanoid_arms2": 0.8, "humanoid_limbs2": 0.8}  # [rad] of elbows: a crouch would put hands on the floor


@dataclass(frozen=True, eq=False)
class Foot:
    """One foot: its corners are geoms, front ones (ball, toes) and rear ones (heel)."""

    side: str
    body: int  # the body that carries heel and ball
    corners: np.ndarray  # (C,) geom ids
    bodies: np.ndarray  # (C,) body of each corner
    radii: np.ndarray  # (C,) [m] of the corners, spheres
    rear: np.ndarray  # (C,) bool, the heel's corners
    ball: np.ndarray  # (C,) bool, the ball's corners; neither rear nor ball: toes
    sole: np.ndarray  # (C,) bool, both
    toe: int  # the body of the toes' corners, -1 where there are none


@dataclass(frozen=True)
class Body:
    """One compiled model and what its names mean. A actuated joints."""

    name: str
    m: mujoco.MjModel
    joints: tuple[str, ...]  # A
    mass: float  # [kg]
    qpos: np.ndarray  # (A,) addresses in qpos of the actuated joints
    dofs: np.ndarray  # (A,) addresses in qvel
    range: np.ndarray  # (A, 2) [rad]
    max_torque: np.ndarray  # (A,) [N m]
    arms: np.ndarray  # (A,) bool
    feet: tuple[Foot, Foot]  # left, right
    head: int  # body id
    neck: int  # body id
    trunk: int  # body id
    root: int  # body id
    rest: np.ndarray  # (nq,) standing on the floor, feet at x = 0
    selection: np.ndarray  # (A, nv) velocities of the actuated joints
    toward: np.ndarray  # (2 A, nv) speeds toward the lower limits of the actuated joints, then toward the upper ones
    moved: np.ndarray  # (nbody, nv) 1 where a velocity moves a body, else 0
    com_height: float  # [m] over the floor in the rest pose


def load_body(name: str = "humanoid", dt: float = SIM_DT) -> Body:
    """One of `model.bodies.BODIES`. Raises KeyError that lists them."""
    return make_body(name, body_spec(name), dt)


def make_body(name: str, spec: mujoco.MjSpec, dt: float) -> Body:
    """Compile a body and resolve its names. Raises KeyError from MuJoCo where a required name is missing."""
    spec.option.timestep = dt
    m = spec.compile()
    joints = m.actuator_trnid[:, 0]
    kinds = [joint_kind(m.joint(j).name) for j in joints]
    root = int(m.jnt_bodyid[0])
    rest = _rest(m, joints, kinds, REST | {"elbow": LONG_ARMS.get(name, REST["elbow"])})
    feet = (_foot(m, "left"), _foot(m, "right"))
    standing = _standing(m, rest, feet)
    selection = np.eye(m.nv)[m.jnt_dofadr[joints]]
    return Body(
        name=name, m=m, joints=tuple(m.joint(j).name for j in joints), mass=float(m.body_subtreemass[root]),
        qpos=m.jnt_qposadr[joints], dofs=m.jnt_dofadr[joints], range=m.jnt_range[joints],
        max_torque=m.actuator_gear[:, 0] * m.actuator_ctrlrange[:, 1],
        arms=np.array([any(a in k for a in ARMS) for k in kinds]),
        feet=feet, head=m.body("head").id, neck=_first(m, "neck", "head"),
        trunk=_first(m, "thorax", m.body(root).name), root=root,
        rest=standing, selection=selection, toward=np.concatenate([-selection, selection]), moved=_moved(m),
        com_height=_com_height(m, standing, root),
    )  # fmt: skip


def _moved(m: mujoco.MjModel) -> np.ndarray:
    """(nbody, nv) which velocities move which bodies: their own and their parents'."""
    moved = (np.arange(m.nbody)[:, None] == m.dof_bodyid).astype(float)
    for body in range(1, m.nbody):
        moved[body] += moved[m.body_parentid[body]]
    return moved


def _first(m: mujoco.MjModel, *names: str) -> int:
    """Id of the first of these bodies that the model has."""
    return next(b for b in (mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, n) for n in names) if b >= 0)


def _foot(m: mujoco.MjModel, side: str) -> Foot:
    names = [f"{side}_{part}_{edge}" for part in ("heel", "ball", "toe") for edge in ("in", "out")]
    names = [n for n in names if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, n) >= 0]
    ids = np.array([m.geom(n).id for n in names])
    rear, ball = (np.array([part in n for n in names]) for part in ("_heel_", "_ball_"))
    toes = m.geom_bodyid[ids][~rear & ~ball]
    return Foot(
        side=side, body=int(m.geom_bodyid[m.geom(f"{side}_ball_in").id]), corners=ids, bodies=m.geom_bodyid[ids],
        radii=m.geom_size[ids, 0], rear=rear, ball=ball, sole=rear | ball, toe=int(toes[0]) if len(toes) else -1,
    )  # fmt: skip


def _rest(m: mujoco.MjModel, joints: np.ndarray, kinds: list[str], angles: dict[str, float]) -> np.ndarray:
    if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_KEY, "rest") >= 0:
        return m.key("rest").qpos.copy()
    qpos = m.qpos0.copy()
    qpos[m.jnt_qposadr[joints]] = [angles.get(k, 0.0) for k in kinds]
    return qpos


def _standing(m: mujoco.MjModel, qpos: np.ndarray, feet: tuple[Foot, Foot]) -> np.ndarray:
    """The pose moved so that its lowest corner touches the floor and its feet are about the origin."""
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(m, data)
    corners = np.concatenate([f.corners for f in feet])
    at = data.geom_xpos[corners]
    qpos = qpos.copy()
    qpos[:2] -= at[:, :2].mean(axis=0)
    qpos[2] -= (at[:, 2] - m.geom_size[corners, 0]).min()
    return qpos


def _com_height(m: mujoco.MjModel, qpos: np.ndarray, root: int) -> float:
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_fwdPosition(m, data)
    return float(data.subtree_com[root, 2])
