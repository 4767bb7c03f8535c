"""Poses and velocities of all bodies from a state, in JAX: the same code for every engine, no engine call for a reset.

The tree is cut into nodes of at most one joint each (a body with three hinges is a chain of three), and one short scan
goes down it level by level: a node's parent is one level up. That compiles seven times faster than the tree unrolled.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from qes_jax.rotations import quat_mul, rotate

FREE, HINGE, SLIDE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in ("FREE", "HINGE", "SLIDE"))


class Node(NamedTuple):
    """A frame and the joint that moves it in its parent. In a `Tree`, arrays of D levels by W nodes, padded."""

    parent: np.ndarray  # place in the level above
    pos: np.ndarray  # (3,) in the parent's frame
    quat: np.ndarray  # (4,)
    qpos: np.ndarray  # address, and its value at rest
    rest: np.ndarray
    dof: np.ndarray
    hinge: np.ndarray  # (3,) axis in the node's frame, zero if it is no hinge
    slide: np.ndarray  # (3,)
    anchor: np.ndarray  # (3,) in the node's frame


class Tree(NamedTuple):
    """A model's kinematic tree, made outside jit. World, mocap and free bodies (the roots) hang on nothing."""

    free_qpos: np.ndarray  # (n_free, 7) addresses
    free_dofs: np.ndarray  # (n_free, 6)
    top: np.ndarray  # (W,) roots that have children, padded
    nodes: Node  # D levels by W
    order: np.ndarray  # (K,) body 1, 2, ...: its place among the roots and then all nodes


class Poses(NamedTuple):
    """Of K bodies, all but the world."""

    xpos: jax.Array  # (K, 3) [m]
    xquat: jax.Array  # (K, 4)
    linvel: jax.Array  # (K, 3) of the frame's origin, world axes [m/s]
    angvel: jax.Array  # (K, 3) world axes [rad/s]


def make_tree(m: mujoco.MjModel) -> Tree:
    """The tree of a model of free, hinge and slide joints. Raises ValueError at a ball joint."""
    balls = [m.joint(j).name for j in range(m.njnt) if m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL]
    if balls:
        raise ValueError(f"joints {balls} are ball joints: use hinges")
    mocap = sorted(np.flatnonzero(m.body_mocapid >= 0), key=lambda b: m.body_mocapid[b])
    free = np.flatnonzero(m.jnt_type == FREE)
    roots = [0, *mocap, *m.jnt_bodyid[free]]
    top = [b for b in roots if any(m.body_parentid[c] == b and c not in roots for c in range(1, m.nbody))]
    levels, ends = _levels(m, roots, top)
    width = max([len(top), *map(len, levels)])
    rigid = _node(m, 0, None, 0)
    nodes = [level + [rigid] * (width - len(level)) for level in levels]
    stacked = Node(*(np.array([[n[i] for n in level] for level in nodes]) for i in range(len(Node._fields))))
    place = {b: i for i, b in enumerate(roots)} | {b: len(roots) + d * width + k for b, (d, k) in ends.items()}
    top_rows = np.array([roots.index(b) for b in top] + [0] * (width - len(top)), int)
    order = np.array([place[b] for b in range(1, m.nbody)])
    return Tree(
        m.jnt_qposadr[free][:, None] + np.arange(7),
        m.jnt_dofadr[free][:, None] + np.arange(6),
        top_rows,
        stacked,
        order,
    )


def _levels(m: mujoco.MjModel, roots: list, top: list) -> tuple[list[list[Node]], dict[int, tuple[int, int]]]:
    """Nodes by depth below the roots, and the (level, place) of each body's last node."""
    levels: list[list[Node]] = []
    ends: dict[int, tuple[int, int]] = {b: (-1, k) for k, b in enumerate(top)}
    for body in (b for b in range(1, m.nbody) if b not in roots):
        depth, place = ends[int(m.body_parentid[body])]
        first = m.body_jntadr[body]
        for joint in range(first, first + m.body_jntnum[body]) if m.body_jntnum[body] else [None]:
            depth += 1
            levels += [[]] * (depth == len(levels))
            levels[depth] = [*levels[depth], _node(m, body if joint in (None, first) else 0, joint, place)]
            place = len(levels[depth]) - 1
        ends[body] = depth, place
    return levels, {b: at for b, at in ends.items() if at[0] >= 0}


def _node(m: mujoco.MjModel, body: int, joint: int | None, parent: int) -> Node:
    """A node at a body's frame (the world's, which is no offset, for a joint after the first)."""
    pos, quat, zero = m.body_pos[body].copy(), m.body_quat[body].copy(), np.zeros(3)
    if joint is None:
        return Node(parent, pos, quat, 0, 0.0, 0, zero, zero, zero)
    kind, axis, address = m.jnt_type[joint], m.jnt_axis[joint].copy(), m.jnt_qposadr[joint]
    return Node(
        parent, pos, quat, address, m.qpos0[address], m.jnt_dofadr[joint],
        axis * (kind == HINGE), axis * (kind == SLIDE), m.jnt_pos[joint].copy(),
    )  # fmt: skip


def poses(tree: Tree, qpos: jax.Array, qvel: jax.Array, mocap_pos: jax.Array, mocap_quat: jax.Array) -> Poses:
    """Forward kinematics of one simulation, as mj_kinematics does it, with velocities.

    qpos (nq,), qvel (nv,), mocap_pos (n_mocap, 3), mocap_quat (n_mocap, 4). Mocap bodies have no velocity.
    """
    free, rate = qpos[tree.free_qpos], qvel[tree.free_dofs]
    turn = _unit(free[:, 3:])
    zero, identity = jnp.zeros((1, 3), qpos.dtype), jnp.array([[1.0, 0, 0, 0]], qpos.dtype)
    still = jnp.zeros_like(mocap_pos)
    roots = Poses(
        jnp.concatenate([zero, mocap_pos, free[:, :3]]),
        jnp.concatenate([identity, _unit(mocap_quat), turn]),
        jnp.concatenate([zero, still, rate[:, :3]]),
        jnp.concatenate([zero, still, rotate(turn, rate[:, 3:])]),
    )
    nodes = jax.tree.map(lambda x: jnp.asarray(x, qpos.dtype if x.dtype == float else jnp.int32), tree.nodes)
    moves = nodes, qpos[tree.nodes.qpos] - nodes.rest, qvel[tree.nodes.dof]

    def descend(above: Poses, move) -> tuple[Poses, Poses]:
        node, angle, speed = move
        level = _move(node, Poses(*(x[node.parent] for x in above)), angle[:, None], speed[:, None])
        return level, level

    _, levels = jax.lax.scan(descend, Poses(*(x[tree.top] for x in roots)), moves)
    return Poses(
        *(jnp.concatenate([r, x.reshape(-1, x.shape[-1])])[tree.order] for r, x in zip(roots, levels, strict=True))
    )


def _move(node: Node, parent: Poses, angle: jax.Array, speed: jax.Array) -> Poses:
    """Node frames from their parents', by row: v = v_p + w_p x (x - x_p) + hinge rate x (x - anchor) + slide rate."""
    rest = quat_mul(parent.xquat, node.quat)
    anchor = parent.xpos + rotate(parent.xquat, node.pos) + rotate(rest, node.anchor)
    is_hinge = jnp.any(node.hinge != 0, axis=-1, keepdims=True)
    half = jnp.where(is_hinge, 0.5 * angle, 0.0)
    quat = quat_mul(rest, jnp.concatenate([jnp.cos(half), jnp.sin(half) * node.hinge], axis=-1))
    slide, spin = rotate(rest, node.slide), rotate(rest, node.hinge) * speed
    pos = anchor + slide * angle - rotate(quat, node.anchor)
    linvel = parent.linvel + jnp.cross(parent.angvel, pos - parent.xpos) + jnp.cross(spin, pos - anchor) + slide * speed
    return Poses(pos, quat, linvel, parent.angvel + spin)


def _unit(q: jax.Array) -> jax.Array:
    return q / jnp.linalg.norm(q, axis=-1, keepdims=True)
