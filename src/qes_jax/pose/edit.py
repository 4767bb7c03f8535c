"""Pose edition: bring any subset of joints to targets and keep the rest of the pose near to where it was.

    solver = make_solver()                                   # plain inverse kinematics
    solver = make_solver(load_prior(weights_dir() / "pose" / "prior.npz"))   # with the trained prior (weights.py)
    targets = make_targets(
        [Target("left_wrist", position=(0.4, 0.3, 1.2)), Target("right_ankle", position=here, rotation=now),
         Target("head", look_at=(2.0, 0.0, 1.5), weight=0.1)], slots=16)
    qpos = solver.solve(qpos, targets)                       # (39,) of the character, hinges within their ranges
    missing = solver.missing(qpos, targets)                  # (16,) [m] or [rad] that each target is still off
    points, quats = solver.points(qpos)                      # (22, 3), (22, 4) of skeleton.JOINTS: where to put gizmos

- qpos is the character's: root position, root quaternion wxyz, 32 hinges in the order of `Layout.joints`. Anything
  behind (joints of furniture) is to be cut off before and put back after. All is in the world's frame, Z up.
- Joints are called as in `skeleton.JOINTS`; "root" (the mark on the floor) takes no target.
- A target of weight 1 is held (to about a millimetre where it can be reached), a lesser one is a wish: its
  deviation is 1 mm / weight, against some 10 cm that the pose gives way by itself. `tolerance` is the radius within
  which a target asks nothing. Weight 0 leaves a slot empty.
- `solve` is compiled once for a number of slots; change targets as you like, but keep `slots` (16 serve an editor).
- Bones keep their lengths exactly, hinges their ranges: what cannot be reached is approached.
- `solve_many` does the same for poses (N, 39) with targets that have a leading axis N.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from qes_jax.pose.canonical import enter, enter_targets, ground, leave
from qes_jax.pose.figure import Figure, frames, make_figure
from qes_jax.pose.prior import stay
from qes_jax.pose.refine import refine
from qes_jax.pose.residual import Slots, look_up, residual
from qes_jax.pose.targets import Targets

# Of a guess: from a start pose and targets, both in the canonical frame, a pose (39, N) and its deviations (38, N).
Prior = Callable[[Figure, jax.Array, Slots], tuple[jax.Array, jax.Array]]
STEPS = 12  # of refinement for a single pose
STEPS_MANY = 5  # for many at once, where time counts


class Solver(NamedTuple):
    """Compiled functions of one character; see the top of this file."""

    solve: Callable[[jax.Array, Targets], jax.Array]  # (39,), targets (S, ...) -> (39,)
    solve_many: Callable[[jax.Array, Targets], jax.Array]  # (N, 39), targets (N, S, ...) -> (N, 39)
    missing: Callable[[jax.Array, Targets], jax.Array]  # (39,), targets -> (S,) [m], [rad]; 0 of an empty slot
    points: Callable[[jax.Array], tuple[jax.Array, jax.Array]]  # (39,) -> (22, 3) [m], (22, 4)
    figure: Figure


def make_solver(
    prior: Prior = stay, figure: Figure | None = None, steps: int = STEPS, steps_many: int = STEPS_MANY
) -> Solver:
    """A solver for a figure (by default the character of 1.75 m)."""
    figure = make_figure() if figure is None else figure

    def many(qpos: jax.Array, targets: Targets, count: int) -> jax.Array:
        return edit(figure, prior, jnp.asarray(qpos).T, _poses_last(targets), count).T

    def one(qpos: jax.Array, targets: Targets) -> jax.Array:
        return many(jnp.asarray(qpos)[None], _batch_of_one(targets), steps)[0]

    def missing(qpos: jax.Array, targets: Targets) -> jax.Array:
        slots = look_up(figure, _poses_last(_batch_of_one(targets)))
        away = residual(frames(figure, jnp.asarray(qpos)[:, None]), slots)[..., 0]
        return jnp.sqrt(jnp.sum(away**2, axis=1))

    def points(qpos: jax.Array) -> tuple[jax.Array, jax.Array]:
        now = frames(figure, jnp.asarray(qpos)[:, None])
        return now.points[..., 0], now.quat[..., 0]

    def all_of_them(qpos: jax.Array, targets: Targets) -> jax.Array:
        return many(qpos, targets, steps_many)

    return Solver(jax.jit(one), jax.jit(all_of_them), jax.jit(missing), jax.jit(points), figure)


def edit(figure: Figure, prior: Prior, start: jax.Array, targets: Targets, steps: int) -> jax.Array:
    """qpos (39, N) from start (39, N) and targets (S, ..., N): canonical frame, guess, refinement, and back."""
    at = ground(figure, start)
    slots = look_up(figure, enter_targets(at, targets))
    guess, spread = prior(figure, enter(at, start), slots)
    return leave(at, refine(figure, guess, spread, slots, steps))


def _batch_of_one(targets: Targets) -> Targets:
    return jax.tree.map(lambda x: jnp.asarray(x)[None], targets)


def _poses_last(targets: Targets) -> Targets:
    return jax.tree.map(lambda x: jnp.moveaxis(jnp.asarray(x), 0, -1), targets)
