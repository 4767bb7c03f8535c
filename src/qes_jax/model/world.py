"""A world: one compiled model of character and pieces, with every name resolved to its id, once, outside jit."""

from dataclasses import dataclass

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig, character_spec
from qes_jax.model.scene import Piece, add_piece

SIM_DT = 1.0 / 108.0  # [s]
CHARACTER = CharacterConfig()
MAX_CONTACTS = "max_contact_points"
SENSORS = ("headset", "left_controller", "right_controller")


@dataclass(frozen=True)
class Layout:
    """Names and ids. L links, J hinges, O objects (floor and pieces), K bodies but the world. Arrays are NumPy."""

    links: tuple[str, ...]  # L, root first
    joints: tuple[str, ...]  # J, in the order of ctrl
    objects: tuple[str, ...]  # O, "floor" first, then the pieces
    link_ids: np.ndarray  # (L,) row of each link among the K bodies (body id - 1)
    joint_qpos: np.ndarray  # (J,) addresses in qpos
    joint_dofs: np.ndarray  # (J,) addresses in qvel
    joint_range: np.ndarray  # (J, 2) [rad]
    max_torque: np.ndarray  # (J,) [N m]
    site_link: np.ndarray  # (3,) link that carries the headset and each controller
    site_pos: np.ndarray  # (3, 3) in that link's frame
    body_object: np.ndarray  # (K,) object a body belongs to, 0 for the character's links
    piece_ids: np.ndarray  # (O-1,) row of each piece's root among the K bodies
    moving_ids: np.ndarray  # (M,) rows of bodies that move by joints of their own
    object_qpos: np.ndarray  # addresses in qpos of the objects' joints
    object_dofs: np.ndarray  # addresses in qvel of the objects' joints
    key_qpos: dict[str, np.ndarray]  # (39,) root and hinges of each key pose: a_pose, t_pose
    home_qpos: np.ndarray  # (nq,) A-pose, objects as modelled
    geoms: "Geoms"


@dataclass(frozen=True)
class Geoms:
    """The pieces' geoms that can be touched. G of them."""

    body: np.ndarray  # (G,) row among the K bodies
    object: np.ndarray  # (G,) object
    pos: np.ndarray  # (G, 3) in the body's frame
    quat: np.ndarray  # (G, 4)
    size: np.ndarray  # (G, 3) half extents; of a round geom those of the box around it


@dataclass(frozen=True)
class World:
    """Compiled models of one body among some pieces. `mj` has contact sensors by link and object, `plain` has none."""

    character: CharacterConfig
    pieces: tuple[Piece, ...]
    mj: mujoco.MjModel
    plain: mujoco.MjModel
    layout: Layout

    def placement(self) -> np.ndarray:
        """(O-1, 7) where the pieces stand unless an environment places them elsewhere."""
        return np.array([p.placement() for p in self.pieces]).reshape(-1, 7)


def build_world(
    character: CharacterConfig = CHARACTER, pieces: tuple[Piece, ...] = (), sim_dt: float = SIM_DT
) -> World:
    """Compile a character among pieces at a physics step of `sim_dt` [s]. Raises ValueError at a piece's name."""
    spec = character_spec(character)
    keys = {k.name: np.array(list(k.qpos)) for k in spec.keys}
    for key in list(spec.keys):
        spec.delete(key)  # their length would no longer fit once a piece brings joints
    links = tuple(b.name for b in spec.bodies if b.name != "world")
    for piece in pieces:
        if piece.name in (*links, "world"):
            raise ValueError(f"piece {piece.name!r}: a part of the character is called that, choose another name")
        add_piece(spec, piece)
    spec.option.timestep = sim_dt
    spec.add_numeric(name=MAX_CONTACTS, data=[-1], size=1)  # for MJX, which reads it: no limit
    plain = spec.compile()
    _add_contact_sensors(spec, links, ("floor", *(p.name for p in pieces)))
    return World(character, pieces, spec.compile(), plain, _layout(plain, links, pieces, keys))


def _add_contact_sensors(spec: mujoco.MjSpec, links: tuple[str, ...], objects: tuple[str, ...]) -> None:
    """One sensor for each link and object: the net contact force on the link [N], in the world frame."""
    force_bit, net_force, slots = 1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE), 3, 1
    for link in links:
        for name in objects:
            floor = name == "floor"
            spec.add_sensor(
                name=f"touch/{link}/{name}",
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                objname=link,
                reftype=mujoco.mjtObj.mjOBJ_GEOM if floor else mujoco.mjtObj.mjOBJ_XBODY,
                refname=name,
                intprm=[force_bit, net_force, slots],
            )


def _layout(m: mujoco.MjModel, links: tuple[str, ...], pieces: tuple[Piece, ...], keys: dict) -> Layout:
    joints = tuple(m.joint(m.actuator_trnid[i, 0]).name for i in range(m.nu))
    joint_ids = np.array([m.joint(n).id for n in joints])
    object_joints = [j for j in range(m.njnt) if m.body(m.jnt_bodyid[j]).name not in links]
    home = m.qpos0.copy()
    home[: len(keys["a_pose"])] = keys["a_pose"]
    roots = np.array([m.body(p.name).id for p in pieces], int)
    owner = np.zeros(m.nbody, int)
    for number, root in enumerate(roots, start=1):
        owner[[b for b in range(m.nbody) if _under(m, b, root)]] = number
    sites = [m.site(s) for s in SENSORS]
    return Layout(
        links=links,
        joints=joints,
        objects=("floor", *(p.name for p in pieces)),
        link_ids=np.array([m.body(n).id - 1 for n in links]),
        joint_qpos=m.jnt_qposadr[joint_ids],
        joint_dofs=m.jnt_dofadr[joint_ids],
        joint_range=m.jnt_range[joint_ids],
        max_torque=np.where(m.actuator_forcelimited, m.actuator_forcerange[:, 1], m.actuator_gear[:, 0]),
        site_link=np.array([links.index(m.body(s.bodyid[0]).name) for s in sites]),
        site_pos=np.array([s.pos for s in sites]),
        body_object=owner[1:],
        piece_ids=roots - 1,
        moving_ids=np.array(sorted({m.jnt_bodyid[j] - 1 for j in object_joints}), int),
        object_qpos=np.concatenate([_span(m, j, "q") for j in object_joints] + [np.zeros(0, int)]),
        object_dofs=np.concatenate([_span(m, j, "v") for j in object_joints] + [np.zeros(0, int)]),
        key_qpos=keys,
        home_qpos=home,
        geoms=_geoms(m, owner),
    )


def _under(m: mujoco.MjModel, body: int, root: int) -> bool:
    while body not in (0, root):
        body = m.body_parentid[body]
    return body == root


def _span(m: mujoco.MjModel, joint: int, which: str) -> np.ndarray:
    """Addresses of a joint's coordinates ("q") or velocities ("v")."""
    kinds = mujoco.mjtJoint
    length = {kinds.mjJNT_FREE: (7, 6), kinds.mjJNT_BALL: (4, 3)}.get(kinds(m.jnt_type[joint]), (1, 1))[which == "v"]
    start = (m.jnt_qposadr if which == "q" else m.jnt_dofadr)[joint]
    return np.arange(start, start + length)


def _geoms(m: mujoco.MjModel, owner: np.ndarray) -> Geoms:
    ids = [g for g in range(m.ngeom) if owner[m.geom_bodyid[g]] > 0 and m.geom_contype[g]]
    return Geoms(
        body=m.geom_bodyid[ids] - 1, object=owner[m.geom_bodyid[ids]],
        pos=m.geom_pos[ids].reshape(-1, 3), quat=m.geom_quat[ids].reshape(-1, 4),
        size=np.array([_half_extents(m.geom_type[g], m.geom_size[g]) for g in ids]).reshape(-1, 3),
    )  # fmt: skip


def _half_extents(kind: int, size: np.ndarray) -> np.ndarray:
    """(3,) of the box around a geom, along its own axes."""
    kinds = mujoco.mjtGeom
    if kind == kinds.mjGEOM_SPHERE:
        return size[[0, 0, 0]]
    if kind == kinds.mjGEOM_CYLINDER:
        return size[[0, 0, 1]]
    if kind == kinds.mjGEOM_CAPSULE:
        return np.array([size[0], size[0], size[0] + size[1]])
    return size.copy()
