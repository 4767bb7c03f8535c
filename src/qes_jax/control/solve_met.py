"""Hierarchies whose upper levels can all be met at once, in JAX: one strictly convex programme, solved in its dual.

    min |A x - b|^2 (the last level)   subject to   M x = c (all levels above),   G x <= h

The multipliers of G x <= h solve a complementarity problem as large as there are inequalities, S y - v >= 0, y >= 0 and
either of both zero, in which only the few rows that push have to be found.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular

from qes_jax.control.hierarchy import Hierarchy, Level, Solution

MOST = 56  # rows of G that may push at a time
HASTE, PATIENCE = 8, 200  # iterations
WEAK = 1e-7  # a diagonal of a Cholesky factor below this share of the largest: not definite
SIGN, ROUNDING, REGULAR = 1e-9, 1e-11, 1e-13  # of multipliers and slacks; beside the largest; added to S
MET = 1e-8  # of levels and inequalities, relative to the largest unknown


class Pivots(NamedTuple):
    """Which rows push (p,), their multipliers (p,), iterations, and whether all is well."""

    active: jax.Array
    y: jax.Array
    count: jax.Array
    settled: jax.Array


def solve_met(problem: Hierarchy, patient: jax.Array) -> tuple[Solution, jax.Array]:
    """The optimum, and whether it is: all levels but the last are met, and the last leaves nothing free."""
    last, G, h = problem.levels[-1], problem.G, problem.h
    M, c, scale = _equations(problem.levels[:-1])
    idle = (jnp.abs(last.A).sum(0) + jnp.abs(M).sum(0) + jnp.abs(G).sum(0)) == 0  # unknowns that only pad
    H = jnp.linalg.cholesky(last.A.T @ last.A + jnp.diag(idle * 1.0))
    m = len(c)
    # Everything in z = H^T x, in which the objective is |z - z0|^2.
    scaled = solve_triangular(H, jnp.concatenate([M, G, (last.b @ last.A)[None]]).T, lower=True)
    rows, limits, free = scaled[:, :m], scaled[:, m:-1], scaled[:, -1]
    factor = jnp.linalg.cholesky(rows.T @ rows + jnp.diag((scale == 0) * 1.0))

    def project(v: jax.Array) -> jax.Array:
        """Without what lies in the equations' rows, twice against rounding."""
        for _ in range(2):
            v = v - rows @ cho_solve((factor, True), rows.T @ v)
        return v

    start = rows @ cho_solve((factor, True), c) + project(free)
    within = project(limits)
    size = jnp.sqrt(jnp.sum(within**2, axis=0))
    room, length = h - start @ limits, jnp.where(size > 1e-9, size, 1.0)
    within, room = within * (size > 1e-9) / length, room / length
    push, settled = complementary(within.T @ within, -room, patient)
    x = solve_triangular(H, start - within @ push, lower=True, trans=1)
    definite = jnp.all(jnp.diag(H) > WEAK * jnp.diag(H).max()) & jnp.all(jnp.diag(factor) > WEAK)
    far = jnp.maximum(jnp.abs(M @ x - c).max(), (G @ x - h).max())
    met = far <= MET * (1 + jnp.abs(x).max())
    fine = settled & definite & met & jnp.all(jnp.isfinite(x))
    errors = jnp.stack([jnp.sqrt(jnp.sum((level.A @ x - level.b) ** 2)) for level in problem.levels])
    return Solution(x, errors, fine), fine


def _equations(levels: tuple[Level, ...]) -> tuple[jax.Array, jax.Array, jax.Array]:
    """M (m, n), c (m,) of some levels, rows of length one, and their lengths before; rows of zeros stay."""
    M, c = jnp.concatenate([level.A for level in levels]), jnp.concatenate([level.b for level in levels])
    size = jnp.sqrt(jnp.sum(M**2, axis=1))
    return M / jnp.where(size > 0, size, 1.0)[:, None], c / jnp.where(size > 0, size, 1.0), size


def complementary(S: jax.Array, v: jax.Array, patient: jax.Array) -> tuple[jax.Array, jax.Array]:
    """y (p,) >= 0 with S y - v >= 0 and no i where both are positive, and whether it was found. S semi-definite.

    Hasty, all rows on the wrong side change at once, which ends after a few rounds or not at all. Patient, it is
    Lawson and Hanson's method (1974): the worst row enters, those that it would push negative leave, and it ends.
    """
    p, most = len(v), min(MOST, len(v))

    def solved(active: jax.Array) -> jax.Array:
        """y where slacks of the active rows are zero."""
        _, index = jax.lax.top_k(active * 1.0, most)
        on = active[index]
        part = jnp.where(on[:, None] & on, S[index][:, index], 0.0) + jnp.diag(jnp.where(on, 0.0, 1.0))
        factor, wanted = (jnp.linalg.cholesky(part + REGULAR * jnp.eye(most)), True), jnp.where(on, v[index], 0.0)
        y = cho_solve(factor, wanted)
        return jnp.zeros(p).at[index].set(y + cho_solve(factor, wanted - part @ y))

    def step(now: Pivots) -> Pivots:
        active, y = now.active, now.y
        aim = solved(active)
        slack, tol = S @ aim - v, SIGN * (1 + jnp.abs(v)) + ROUNDING * jnp.abs(aim).max()
        wrong = jnp.where(active, aim < -tol, slack < -tol)
        negative = active & (aim <= 0)
        y = y + jnp.min(jnp.where(negative, y / jnp.where(negative, y - aim, 1.0), 1.0)) * (aim - y)
        leaves = negative & (y <= 1e-12 * jnp.abs(y).max())
        enters = (jnp.arange(p) == jnp.argmin(slack)) & ~negative.any()
        settled = ~wrong.any() & jnp.all(jnp.isfinite(aim))
        active = jnp.where(patient, (active & ~leaves) | enters, active ^ wrong)
        return Pivots(active, jnp.where(settled, aim, y), now.count + 1, settled)

    def goes_on(now: Pivots) -> jax.Array:
        return ~now.settled & (now.count < jnp.where(patient, PATIENCE, HASTE)) & (now.active.sum() <= most)

    none = jnp.zeros(p)
    start = Pivots((v > SIGN * (1 + jnp.abs(v))) & ~patient, none, jnp.array(0), jnp.array(False))
    end = jax.lax.while_loop(goes_on, step, start)
    return end.y, end.settled
