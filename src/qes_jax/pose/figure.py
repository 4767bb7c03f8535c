"""The character as an articulated figure in JAX: points of the standard skeleton, and what turns them, from qpos.

Written for many poses at once: N poses are the LAST axis of everything here, along which a CPU's vector units work.
The hinges are cut into levels of the tree, gone down by a short scan, as in `model.kinematics`: unrolled it would
compile for a minute once it is differentiated.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.model.character import HEIGHT
from qes_jax.model.world import World, build_world
from qes_jax.pose.parts import columns, conjugate, exponential, logarithm, multiply, parts, rotate, scale, total
from qes_jax.pose.skeleton import SKELETON


class Figure(NamedTuple):
    """Tables of a character, NumPy, made outside jit. J hinges in the order of ctrl; 38 degrees of freedom.

    The degrees of freedom are: root translation, root rotation (both in world axes), hinges.
    """

    hinge: np.ndarray  # (D, W) hinges of D levels, at most W each, padded by 0
    parent: np.ndarray  # (D, W) place in the level above
    offset: np.ndarray  # (D, W, 3) in the parent's frame [m]
    turn: np.ndarray  # (D, W, 3) axis
    order: np.ndarray  # (J,) place of each hinge among the D x W
    axis: np.ndarray  # (J, 3)
    range: np.ndarray  # (J, 2) [rad]
    link: np.ndarray  # (22,) the last hinge (J: the root) of each joint's link
    place: np.ndarray  # (22, 3) of each joint in that link [m]
    moves: np.ndarray  # (22, 38) 1 where a degree of freedom moves a joint
    look: np.ndarray  # (22, 3) the way each joint looks, in its link: an arm along itself, everything else forward


class Frames(NamedTuple):
    """Where everything is in N poses."""

    points: jax.Array  # (22, 3, N) the skeleton's joints [m]
    quat: jax.Array  # (22, 4, N) of the link that carries each joint
    axis: jax.Array  # (35, 3, N) world axes of root rotation and hinges
    anchor: jax.Array  # (35, 3, N) a point on each [m]


def make_figure(world: World | None = None) -> Figure:
    """The tables of a world's character, by default one of 1.75 m. Raises ValueError where its joints are not ours."""
    world = world or build_world()
    m, layout = world.plain, world.layout
    joints = [int(m.dof_jntid[d]) for d in layout.joint_dofs]
    if np.any(m.jnt_pos[joints]) or not np.allclose(m.body_quat[1:], [1.0, 0.0, 0.0, 0.0]):
        raise ValueError("the character's hinges must stand in their links' origins, and links must not be turned")
    parent, offset = [], []
    for number, joint in enumerate(joints):
        body = m.jnt_bodyid[joint]
        first = m.body_jntadr[body] == joint
        parent.append(_last_hinge(world, joints, int(m.body_parentid[body])) if first else number - 1)
        offset.append(m.body_pos[body] if first else np.zeros(3))
    link = np.array([_last_hinge(world, joints, m.body(j.link).id) for j in SKELETON])
    turns = np.array([[h in _chain(parent, last) for h in range(len(joints))] for last in link], np.float32)
    moves = np.concatenate([np.ones((len(SKELETON), 6)), turns], axis=1).astype(np.float32)
    moves[0, 2:] = 0.0  # the root stays on the floor, under the pelvis
    place = np.array([j.offset for j in SKELETON]) * world.character.height / HEIGHT
    axis = m.jnt_axis[joints].astype(np.float32)
    return Figure(
        *_levels(parent, np.array(offset, np.float32), axis), axis, layout.joint_range.astype(np.float32),
        link, place.astype(np.float32), moves, _look(),
    )  # fmt: skip


def _levels(
    parent: list[int], offset: np.ndarray, axis: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The tables of the levels, and the place of each hinge among them."""
    depth = np.array([len(_chain(parent, h)) - 1 for h in range(len(parent))])
    levels = [np.flatnonzero(depth == d).tolist() for d in range(depth.max() + 1)]
    shape = len(levels), max(map(len, levels))
    hinge, above = np.zeros(shape, int), np.zeros(shape, int)
    offsets, turns, order = np.zeros((*shape, 3), np.float32), np.zeros((*shape, 3), np.float32), np.zeros_like(depth)
    for d, level in enumerate(levels):
        for w, h in enumerate(level):
            hinge[d, w], offsets[d, w], turns[d, w], order[h] = h, offset[h], axis[h], d * shape[1] + w
            above[d, w] = levels[d - 1].index(parent[h]) if d else 0
    return hinge, above, offsets, turns, order


def _look() -> np.ndarray:
    arms = [any(part in j.link for part in ("arm", "hand")) for j in SKELETON]
    return np.where(np.array(arms)[:, None], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]).astype(np.float32)


def _last_hinge(world: World, joints: list[int], body: int) -> int:
    """Number of the hinge whose frame is a link's; J for the root."""
    m = world.plain
    last = int(m.body_jntadr[body] + m.body_jntnum[body]) - 1
    return joints.index(last) if last in joints else len(joints)


def _chain(parent: list[int], hinge: int) -> list[int]:
    """The hinges from one up to the root, itself included."""
    chain = []
    while hinge < len(parent):
        chain.append(hinge)
        hinge = parent[hinge]
    return chain


def frames(figure: Figure, qpos: jax.Array) -> Frames:
    """Forward kinematics of qpos (39, N): root position, root quaternion, hinges."""
    root, n = jnp.concatenate([qpos[:3], qpos[3:7]])[None], qpos.shape[1]
    half = 0.5 * qpos[7:][figure.hinge]  # (D, W, N)
    tables = jax.tree.map(jnp.asarray, (figure.parent, figure.offset, figure.turn))

    def descend(above: jax.Array, level: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        parent, offset, axis, cos, sin = level
        frame = above[parent]  # (W, 7, N)
        x, q = parts(frame[:, :3], 1), parts(frame[:, 3:], 1)
        x = total(x, rotate(q, parts(offset[..., None], 1)))
        q = multiply(q, (cos, *scale(parts(axis[..., None], 1), sin)))
        here = jnp.stack([*x, *q], axis=1)
        return here, here

    top = jnp.broadcast_to(root, (figure.hinge.shape[1], 7, n))
    levels = jax.lax.scan(descend, top, (*tables, jnp.cos(half), jnp.sin(half)))[1]
    every = jnp.concatenate([levels.reshape(-1, 7, n)[figure.order], root])  # (J + 1, 7, N), the root last
    anchor, turned = every[:, :3], every[:, 3:]
    axis = jnp.stack(rotate(parts(turned[:-1], 1), columns(figure.axis)), axis=1)
    of_link = turned[figure.link]
    points = anchor[figure.link] + jnp.stack(rotate(parts(of_link, 1), columns(figure.place)), axis=1)
    points = points.at[0, 2].set(0.0)
    world_axes = jnp.broadcast_to(jnp.eye(3)[..., None], (3, 3, n))
    at_root = jnp.broadcast_to(anchor[-1], (3, 3, n))
    return Frames(points, of_link, jnp.concatenate([world_axes, axis]), jnp.concatenate([at_root, anchor[:-1]]))


def move(figure: Figure, qpos: jax.Array, step: jax.Array) -> jax.Array:
    """qpos (39, N) moved by step (38, N): the root turns about world axes. Hinges may leave their ranges."""
    turn = jnp.stack(multiply(exponential(parts(step[3:6])), parts(qpos[3:7])))
    turn = turn / jnp.sqrt(jnp.sum(turn**2, axis=0))
    return jnp.concatenate([qpos[:3] + step[:3], turn, qpos[7:] + step[6:]])


def difference(end: jax.Array, start: jax.Array) -> jax.Array:
    """(38, N) the step that `move` needs from start to end."""
    turn = multiply(parts(end[3:7]), conjugate(parts(start[3:7])))
    return jnp.concatenate([end[:3] - start[:3], jnp.stack(logarithm(turn)), end[7:] - start[7:]])
