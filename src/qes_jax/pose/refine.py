"""From a guess and how sure it is to a pose that meets its targets: a Gaussian conditioned on them, step by step.

The pose is the guess moved by d, where d has zero mean and the standard deviations `spread`. Each step linearises the
targets at the present pose (with RETURN = 1 it is the iterated extended Kalman filter, Gauss-Newton on the most
probable pose):

    d = e + S J^T (J S J^T + R)^-1 (r + J (d_now - e)),    e = (1 - RETURN) d_now
    S = spread^2,    R = (SHARP / weight)^2 + (DAMPING |r|)^2

for the residual r and its Jacobian -J: what targets do not ask for goes back towards the guess by RETURN in a step, for
all at once would overshoot where J changes much. Bones are as long as ever, for d are angles. Hinges are clipped to
their ranges, and those which the step drives beyond stay at the limit in the next one while the others make up for it
(a primal-dual active set). N poses are the last axis.
"""

import jax
import jax.numpy as jnp
from jax.lax import optimization_barrier as apart  # XLA would fuse the stages and compute each one many times

from qes_jax.pose.figure import Figure, frames, move
from qes_jax.pose.residual import Slots, jacobian, residual

SHARP = 1e-3  # [m], [rad] deviation of a target of weight 1. Our choice, as all numbers here
DAMPING = 0.1  # so that what is out of reach does not shake the pose; it vanishes where targets are met
RETURN = 0.2  # this and DAMPING were chosen on the validation clips: experiments/pose.py tune
STRIDE = 0.7  # [rad], [m] no degree of freedom goes further in one step


def refine(
    figure: Figure,
    guess: jax.Array,
    spread: jax.Array,
    slots: Slots,
    steps: int,
    damping: float = DAMPING,
    back: float = RETURN,
) -> jax.Array:
    """qpos (39, N) from a guess (39, N), `spread` (38, N) and targets, within the hinges' ranges.

    After the last of the steps only what is beyond a limit is off its target; see `residual`.
    """
    low, high = _bounds(figure, guess)

    def step(_: int, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        way, held, asked = state
        now = apart(frames(figure, apart(move(figure, guess, way))))
        jac, missing = apart((jacobian(now, slots), residual(now, slots)))
        missing, asked = _to_tolerance(missing, asked, slots)
        wanted = _condition(jac, missing, way, (1.0 - back) * way, spread, held, asked, _noise(missing, damping, slots))
        wanted = way + jnp.clip(wanted - way, -STRIDE, STRIDE)
        return jnp.clip(wanted, low, high), (wanted < low) | (wanted > high), asked

    start = jnp.clip(jnp.zeros_like(spread), low, high)
    used = jnp.asarray(slots.targets.weight) > 0
    asked = used & (jnp.asarray(slots.targets.tolerance) == 0)
    way, _, _ = jax.lax.fori_loop(0, steps, step, (start, jnp.zeros(spread.shape, bool), asked))
    return clip_hinges(figure, move(figure, guess, way))


def clip_hinges(figure: Figure, qpos: jax.Array) -> jax.Array:
    """qpos (39, N) with its hinges within their ranges."""
    return jnp.concatenate([qpos[:7], jnp.clip(qpos[7:], *_ranges(figure))])


def _ranges(figure: Figure) -> tuple[jax.Array, jax.Array]:
    return jnp.asarray(figure.range[:, :1]), jnp.asarray(figure.range[:, 1:])


def _bounds(figure: Figure, guess: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(38, N) least and greatest way; the root has none."""
    free = jnp.full((6, guess.shape[1]), jnp.inf)
    low, high = _ranges(figure)
    return jnp.concatenate([-free, low - guess[7:]]), jnp.concatenate([free, high - guess[7:]])


def _to_tolerance(missing: jax.Array, asked: jax.Array, slots: Slots) -> tuple[jax.Array, jax.Array]:
    """What is missing to the surface of the ball of the tolerance, (S, 3, N), and which targets ask for it (S, N).

    A target asks from the step on that finds it beyond its tolerance: let go within it, it would be left again.
    """
    tolerance = jnp.asarray(slots.targets.tolerance)
    distance = jnp.sqrt(jnp.sum(missing**2, axis=1) + 1e-20)
    asked = asked | ((jnp.asarray(slots.targets.weight) > 0) & (distance > tolerance))
    return missing * (asked * (1.0 - tolerance / distance))[:, None], asked


def _noise(missing: jax.Array, damping: float, slots: Slots) -> jax.Array:
    """(S, N) variance R of the targets."""
    size = jnp.sum(missing**2, axis=1)
    return (SHARP / jnp.maximum(jnp.asarray(slots.targets.weight), 1e-6)) ** 2 + damping**2 * size


def _condition(
    jac: jax.Array,
    missing: jax.Array,
    way: jax.Array,
    near: jax.Array,
    spread: jax.Array,
    held: jax.Array,
    asked: jax.Array,
    noise: jax.Array,
) -> jax.Array:
    """(38, N) the most probable way around `near`, where `held` freedoms stay and the targets `asked` (S, N) pull."""
    rows = (jac * asked[:, None, None]).reshape(-1, *jac.shape[2:])  # (3 S, 38, N)
    variance = spread**2
    free = variance * ~held
    wanted = missing.reshape(-1, missing.shape[-1]) + jnp.sum(rows * ((way - near) * ~held), axis=1)
    rows, wanted = apart((rows, wanted))
    gram = _gram(rows, free) + _diagonal(jnp.repeat(jnp.where(asked, noise, 1.0), 3, axis=0))
    force = solve_definite(gram, wanted)
    return near + variance * jnp.sum(rows * force[:, None], axis=0)


def _gram(rows: jax.Array, free: jax.Array) -> jax.Array:
    """rows diag(free) rows^T, (M, M, N) of (M, 38, N) and (38, N)."""
    return jnp.einsum("ikn,jkn->ijn", rows, rows * free)


def _diagonal(values: jax.Array) -> jax.Array:
    """(M, N) -> (M, M, N)."""
    return jnp.eye(len(values))[..., None] * values[:, None]


def solve_definite(matrix: jax.Array, right: jax.Array) -> jax.Array:
    """Solutions (M, N) of N positive definite systems (M, M, N), (M, N): elimination, elementwise along the last axis.

    No pivots are needed for such matrices. For few unknowns this is faster than one factorisation after the other.
    """
    whole = jnp.concatenate([matrix, right[:, None]], axis=1)  # (M, M + 1, N)

    def eliminate(k: int, whole: jax.Array) -> jax.Array:
        pivot = whole[k] / whole[k, k]
        return (whole - whole[:, k, None] * pivot).at[k].set(pivot)

    return jax.lax.fori_loop(0, len(matrix), eliminate, whole)[:, -1]
