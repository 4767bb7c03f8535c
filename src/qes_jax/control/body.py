"""A body that the controllers can move: its model and, by name, the few things that they need to know of it.

Conventions, so that one controller moves every body of mjcf/: the root has a free joint; the actuated joints are hinges with one
motor each, gear times ctrlrange being the torque; feet stand on spheres named SIDE_heel_in, SIDE_heel_out,
SIDE_ball_in, SIDE_ball_out and, where there are toes, SIDE_toe_in, SIDE_toe_out (SIDE is left or right); the body
`head` sits on the neck, the body `thorax` (else the root) is the trunk; a key frame `rest` holds the rest pose. Arms
are joints whose names hold shoulder, elbow, forearm or wrist. X forward, Y left, Z up.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig, character_spec, joint_kind
from qes_jax.paths import mjcf_dir

ARMS = ("shoulder", "elbow", "forearm", "wrist")
SIDES = ("left", "right")
SIM_DT = 0.002  # [s] the stage's step

# The humanoid's rest pose [rad] by joint kind: neutral, knees a little bent. Our choice.
REST = {"hip_pitch": 0.12, "knee": 0.24, "ankle_pitch": 0.12, "shoulder_swing": -0.06, "shoulder_lift": 0.10, "elbow": 0.25}


@dataclass(frozen=True)
class Foot:
    """One foot: its corners are geoms, front ones (ball, toes) and rear ones (heel)."""

    side: str
    body: int  # the body that carries heel and ball
    corners: np.ndarray  # (C,) geom ids
    bodies: np.ndarray  # (C,) body of each corner
    rear: np.ndarray  # (C,) bool, the heel's corners
    ball: np.ndarray  # (C,) bool, the ball's corners; neither rear nor ball: toes


@dataclass(frozen=True)
class Body:
    """One compiled model and what its names mean. A actuated joints."""

    name: str
    m: mujoco.MjModel
    mass: float  # [kg]
    qpos: np.ndarray  # (A,) addresses in qpos of the actuated joints
    dofs: np.ndarray  # (A,) addresses in qvel
    range: np.ndarray  # (A, 2) [rad]
    max_torque: np.ndarray  # (A,) [N m]
    arms: np.ndarray  # (A,) bool
    feet: tuple[Foot, Foot]  # left, right
    head: int  # body id
    trunk: int  # body id
    root: int  # body id
    rest: np.ndarray  # (nq,) standing on the floor, feet at x = 0
    com_height: float  # [m] over the floor in the rest pose


def humanoid(height: float = 1.75, limbs: float = 1.0, dt: float = SIM_DT) -> Body:
    """The character of mjcf/humanoid.xml. `limbs` scales arms and legs alone (the paper's doubled limbs at 2)."""
    spec = character_spec(CharacterConfig(height=height))
    if limbs != 1.0:
        _scale_limbs(spec, limbs)
    return make_body("humanoid", spec, dt)


def load_body(name: str, dt: float = SIM_DT) -> Body:
    """"humanoid", "humanoid_limbs2" or the name of a file in mjcf/bodies/. Raises KeyError that lists them."""
    if name == "humanoid":
        return humanoid(dt=dt)
    if name == "humanoid_limbs2":
        return humanoid(limbs=2.0, dt=dt)
    path = mjcf_dir() / "bodies" / f"{name}.xml"
    if not path.is_file():
        raise KeyError(f"unknown body {name!r}: expected one of {bodies()}")
    return make_body(name, mujoco.MjSpec.from_file(str(path)), dt)


def bodies() -> list[str]:
    """Names that `load_body` takes."""
    return ["humanoid", "humanoid_limbs2", *sorted(p.stem for p in (mjcf_dir() / "bodies").glob("*.xml"))]


def make_body(name: str, spec: mujoco.MjSpec, dt: float) -> Body:
    """Compile a body and resolve its names. Raises KeyError from MuJoCo where a required name is missing."""
    spec.option.timestep = dt
    m = spec.compile()
    joints = m.actuator_trnid[:, 0]
    kinds = [joint_kind(m.joint(j).name) for j in joints]
    root = int(m.jnt_bodyid[0])
    rest = _rest(m, joints, kinds)
    feet = (_foot(m, "left"), _foot(m, "right"))
    standing = _standing(m, rest, feet)
    has_thorax = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, "thorax") >= 0
    return Body(
        name=name, m=m, mass=float(m.body_subtreemass[root]),
        qpos=m.jnt_qposadr[joints], dofs=m.jnt_dofadr[joints], range=m.jnt_range[joints],
        max_torque=m.actuator_gear[:, 0] * m.actuator_ctrlrange[:, 1],
        arms=np.array([any(a in k for a in ARMS) for k in kinds]),
        feet=feet, head=m.body("head").id, trunk=m.body("thorax").id if has_thorax else root, root=root,
        rest=standing, com_height=_com_height(m, standing, root),
    )  # fmt: skip


def _foot(m: mujoco.MjModel, side: str) -> Foot:
    names = [f"{side}_{part}_{edge}" for part in ("heel", "ball", "toe") for edge in ("in", "out")]
    names = [n for n in names if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, n) >= 0]
    ids = np.array([m.geom(n).id for n in names])
    return Foot(
        side, int(m.geom_bodyid[m.geom(f"{side}_ball_in").id]), ids, m.geom_bodyid[ids],
        np.array(["_heel_" in n for n in names]), np.array(["_ball_" in n for n in names]),
    )  # fmt: skip


def _rest(m: mujoco.MjModel, joints: np.ndarray, kinds: list[str]) -> np.ndarray:
    if mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_KEY, "rest") >= 0:
        return m.key("rest").qpos.copy()
    qpos = m.qpos0.copy()
    qpos[m.jnt_qposadr[joints]] = [REST.get(k, 0.0) for k in kinds]
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


def _scale_limbs(spec: mujoco.MjSpec, s: float) -> None:
    """Lengthen arms and legs by s: lengths s, masses and inertias as if the cross-section stayed (s, s^3 along)."""
    raise NotImplementedError
