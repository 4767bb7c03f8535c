"""Poses and velocities of all bodies from a state, in JAX: the same code for every engine, no engine call for a reset.

The tree is cut into nodes of at most one joint each (a body with three hinges is a chain of three), and one short scan
goes down it level by level: a node's parent is one level up. That compiles seven times faster than the tree unrolled.
"""

from functools import reduce
from operator import add
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

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
        return Node(np.array(parent), pos, quat, np.array(0), np.array(0.0), np.array(0), zero, zero, zero)
    kind, axis, address = m.jnt_type[joint], m.jnt_axis[joint].copy(), m.jnt_qposadr[joint]
    return Node(
        np.array(parent), pos, quat, address, m.qpos0[address], m.jnt_dofadr[joint],
        axis * (kind == HINGE), axis * (kind == SLIDE), m.jnt_pos[joint].copy(),
    )  # fmt: skip


def poses(tree: Tree, qpos: jax.Array, qvel: jax.Array, mocap_pos: jax.Array, mocap_quat: jax.Array) -> Poses:
    """Forward kinematics of one simulation, as mj_kinematics does it, with velocities.

    qpos (nq,), qvel (nv,), mocap_pos (n_mocap, 3), mocap_quat (n_mocap, 4). Mocap bodies have no velocity. Under vmap
    the simulations become the last axis, along which a CPU's vector units work.
    """

    @jax.custom_batching.custom_vmap
    def solve(*state: jax.Array) -> Poses:
        return jax.tree.map(lambda x: x[..., 0], _poses(tree, *(x[..., None] for x in state)))

    @solve.def_vmap
    def solve_all(axis_size: int, batched: list[bool], *state: jax.Array) -> tuple[Poses, Poses]:
        rows = (
            jnp.moveaxis(x, 0, -1) if is_batched else jnp.broadcast_to(x[..., None], (*x.shape, axis_size))
            for x, is_batched in zip(state, batched, strict=True)
        )
        result = jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), _poses(tree, *rows))
        return result, jax.tree.map(lambda _: True, result)

    return solve(qpos, qvel, mocap_pos, mocap_quat)


def _poses(tree: Tree, qpos: jax.Array, qvel: jax.Array, mocap_pos: jax.Array, mocap_quat: jax.Array) -> Poses:
    """`poses` of N simulations, which are the last axis of everything here."""
    free, rate = qpos[tree.free_qpos], qvel[tree.free_dofs]  # (n_free, 7, N), (n_free, 6, N)
    turn = _unit(free[:, 3:])
    spin = jnp.stack(_rotate(_parts(turn), _parts(rate[:, 3:])), axis=1)
    still = jnp.zeros((len(mocap_pos), 6, qpos.shape[-1]), qpos.dtype)
    world = jnp.zeros((1, 13, qpos.shape[-1]), qpos.dtype).at[:, 3].set(1.0)
    roots = jnp.concatenate(
        [
            world,
            jnp.concatenate([mocap_pos, _unit(mocap_quat), still], axis=1),
            jnp.concatenate([free[:, :3], turn, rate[:, :3], spin], axis=1),
        ]
    )
    nodes = jax.tree.map(lambda x: jnp.asarray(x, qpos.dtype if x.dtype == float else jnp.int32), tree.nodes)
    angle: jax.Array = qpos[tree.nodes.qpos] - nodes.rest[..., None]  # (D, W, N)
    half = jnp.where((tree.nodes.hinge != 0).any(axis=-1)[..., None], 0.5 * angle, 0.0)
    moves = nodes, angle, qvel[tree.nodes.dof], jnp.cos(half), jnp.sin(half)  # before the scan, which would repeat them

    def descend(above: jax.Array, move) -> tuple[jax.Array, jax.Array]:
        node, *motion = move
        level = _move(node, above[node.parent], *motion)
        return level, level

    # Two levels a turn of the loop: a third faster; more take longer to compile and gain nothing.
    levels = jax.lax.scan(descend, roots[tree.top], moves, unroll=2)[1]  # (D, W, 13, N)
    frames = jnp.concatenate([roots, levels.reshape(-1, 13, qpos.shape[-1])])[tree.order]
    return Poses(frames[:, :3], frames[:, 3:7], frames[:, 7:10], frames[:, 10:])


def _move(
    node: Node, parent: jax.Array, angle: jax.Array, speed: jax.Array, cos: jax.Array, sin: jax.Array
) -> jax.Array:
    """(W, 13, N) frames of W nodes (position, quaternion, velocity, angular velocity) from those of their parents.

    v = v_p + w_p x (x - x_p) + hinge rate x (x - anchor) + slide rate. Angle, speed, and cosine
    and sine of a hinge's half angle are (W, N).
    """
    at, turn, linvel, angvel = (_parts(parent[:, i:j]) for i, j in ((0, 3), (3, 7), (7, 10), (10, 13)))
    offset, quat, hinge, slide, arm = (
        _parts(jnp.asarray(x)[..., None]) for x in (node.pos, node.quat, node.hinge, node.slide, node.anchor)
    )
    rest = _multiply(turn, quat)
    anchor = _sum(at, _rotate(turn, offset), _rotate(rest, arm))
    quat = _multiply(rest, (cos, *_scale(hinge, sin)))
    slide, spin = _rotate(rest, slide), _scale(_rotate(rest, hinge), speed)
    pos = _sum(anchor, _scale(slide, angle), _scale(_rotate(quat, arm), -1.0))
    swing = _cross(angvel, _sum(pos, _scale(at, -1.0)))
    turned = _cross(spin, _sum(pos, _scale(anchor, -1.0)))
    return jnp.stack([*pos, *quat, *_sum(linvel, swing, turned, _scale(slide, speed)), *_sum(angvel, spin)], axis=1)


# Vectors and quaternions as tuples of components, so that all arithmetic is elementwise along the simulations.
Parts = tuple[jax.Array, ...]


def _parts(x: jax.Array) -> Parts:
    return tuple(x[:, i] for i in range(x.shape[1]))


def _sum(*vectors: Parts) -> Parts:
    return tuple(reduce(add, components) for components in zip(*vectors, strict=True))


def _scale(v: Parts, by: jax.Array | float) -> Parts:
    return tuple(x * by for x in v)


def _cross(a: Parts, b: Parts) -> Parts:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _multiply(a: Parts, b: Parts) -> Parts:
    """Hamilton product."""
    u, v = a[1:], b[1:]
    dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    return a[0] * b[0] - dot, *_sum(_scale(v, a[0]), _scale(u, b[0]), _cross(u, v))


def _rotate(q: Parts, v: Parts) -> Parts:
    t = _scale(_cross(q[1:], v), 2.0)
    return _sum(v, _scale(t, q[0]), _cross(q[1:], t))


def _unit(q: jax.Array) -> jax.Array:
    return q / jnp.linalg.norm(q, axis=1, keepdims=True)
