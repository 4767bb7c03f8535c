"""The character as an articulated figure in JAX: points of the standard skeleton, and what turns them, from qpos.

Written for many poses at once: N poses are the LAST axis of everything here, along which a CPU's vector units work.
The hinges are cut into levels of the tree; on one level all turn at once.
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

    levels: tuple[tuple[np.ndarray, np.ndarray], ...]  # of each level: its hinges, their parents (J: the root)
    offset: np.ndarray  # (J, 3) of a hinge in its parent's frame [m]
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
    above = [_chain(parent, h) for h in range(len(joints))]
    depth = np.array([len(a) for a in above])
    levels = [np.flatnonzero(depth == d) for d in range(1, depth.max() + 1)]
    link = np.array([_last_hinge(world, joints, m.body(j.link).id) for j in SKELETON])
    turns = np.array([[h in _chain(parent, last) for h in range(len(joints))] for last in link], np.float32)
    moves = np.concatenate([np.ones((len(SKELETON), 6)), turns], axis=1).astype(np.float32)
    moves[0, 2:] = 0.0  # the root stays on the floor, under the pelvis
    place = np.array([j.offset for j in SKELETON]) * world.character.height / HEIGHT
    return Figure(
        tuple((rows, np.array(parent)[rows]) for rows in levels),
        np.array(offset, np.float32), m.jnt_axis[joints].astype(np.float32), layout.joint_range.astype(np.float32),
        link, place.astype(np.float32), moves, _look(),
    )  # fmt: skip


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
    root, turn = parts(qpos[:3]), parts(qpos[3:7])
    count, n = len(figure.axis), qpos.shape[1]
    half = 0.5 * qpos[7:]
    cos, sin = jnp.cos(half), jnp.sin(half)
    pos = [jnp.zeros(n)] * count + [jnp.stack(root)]
    quat = [jnp.zeros(n)] * count + [jnp.stack(turn)]
    for rows, parents in figure.levels:
        x, q = (parts(jnp.stack([a[p] for p in parents], axis=1)) for a in (pos, quat))
        offset, axis = columns(figure.offset[rows]), columns(figure.axis[rows])
        x = jnp.stack(total(x, rotate(q, offset)))
        q = jnp.stack(multiply(q, (cos[rows], *scale(axis, sin[rows]))))
        for place, row in enumerate(rows):
            pos[row], quat[row] = x[:, place], q[:, place]
    anchor, turned = jnp.stack(pos), jnp.stack(quat)  # (J + 1, 3, N), (J + 1, 4, N)
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
