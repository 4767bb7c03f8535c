"""What another method makes of the same edit, to be shown beside it: FABRIK, or plain inverse kinematics."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.pose.editor.state import State, Tools, pack
from qes_jax.pose.fabrik import fabrik
from qes_jax.pose.skeleton import JOINTS, joint_number
from qes_jax.pose.targets import Target

METHODS = ("FABRIK", "without prior")


class Beside(NamedTuple):
    """A skeleton, and the mean and greatest distance [m] of its joints to their position targets."""

    points: np.ndarray  # (22, 3) [m]
    mean: float
    greatest: float


def beside(method: str, state: State, tools: Tools, targets: list[Target]) -> Beside:
    """The method's skeleton for targets, from a state's pose. FABRIK sees positions alone, and no limits."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: expected one of {', '.join(METHODS)}")
    start = jnp.asarray(state.qpos, jnp.float32)
    if method == "FABRIK":
        points = _fabrik(tools.solver.points(start)[0], *_goal(targets))
    else:
        points = tools.plain.points(tools.plain.solve(start, pack(targets)))[0]
    return measured(np.asarray(points), targets)


def measured(points: np.ndarray, targets: list[Target]) -> Beside:
    """Joints (22, 3) with their distances to position targets."""
    goal, asked = _goal(targets)
    away = np.linalg.norm(points - goal, axis=1)[asked]
    return Beside(points, float(away.mean()) if len(away) else 0.0, float(away.max(initial=0.0)))


def _goal(targets: list[Target]) -> tuple[np.ndarray, np.ndarray]:
    """Positions (22, 3) and which of them (22,) are asked for."""
    goal, asked = np.zeros((len(JOINTS), 3), np.float32), np.zeros(len(JOINTS), bool)
    for target in targets:
        if target.position is not None and target.weight > 0:
            goal[joint_number(target.joint)] = target.position
            asked[joint_number(target.joint)] = True
    return goal, asked


@jax.jit
def _fabrik(points: jax.Array, goal: jax.Array, asked: jax.Array) -> jax.Array:
    return fabrik(points[..., None], goal[..., None], asked[:, None])[..., 0]
