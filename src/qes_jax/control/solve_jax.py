"""Strict hierarchies in JAX: jitted, vmapped, float64, fixed shapes. Agrees with priority.strict (NumPy and DAQP).

Three ways, each for what the one before it leaves: `solve_met`, hasty, then patient, and what follows.

Algorithm 1 (de Lasa et al. 2010): each level is a quadratic programme in what the levels above leave free, x + Z w. The
null space's width changes with contacts, so Z keeps its shape (n, n) and columns that are not free are zero.

Each programme goes to an interior-point method (Mehrotra's predictor and corrector), which ends near the centre of the
optimal set. There an inequality with a positive multiplier is active at *every* optimum. So it becomes an equality: it
makes the end exact by least squares, and it is locked with its level, whereby levels below keep a set with an interior.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve

from qes_jax.control.hierarchy import Hierarchy, Level, Solution
from qes_jax.control.solve_met import solve_met

RANK_TOL = 1e-6  # singular values below this share of the largest count as none
LOST = 1e-9  # a row shorter than this share of its length before projection is rounding
DAMPING = 1e-10  # of the Newton matrix: holds directions that no row asks for, and biases nothing
MAX_ITERATIONS = 40
GAP_TOL, RESIDUAL_TOL, ROUNDING = 1e-12, 1e-9, 1e-14  # scaled
FEASIBLE_TOL = 1e-6  # scaled
FAR = 1e30


class Step(NamedTuple):
    """An iterate of the interior-point method. w (n,), slacks and multipliers (p,)."""

    w: jax.Array
    slack: jax.Array
    force: jax.Array
    damping: jax.Array
    iteration: jax.Array
    done: jax.Array


def make_solver(chunk: int | None = None) -> Callable[[Hierarchy], Solution]:
    """The solver of a batch: every array of the Hierarchy has a leading axis B. Float64, whatever the caller's default.

    Shapes are static: pad levels with rows of zeros, G with rows of zeros and a positive h. `chunk` problems are solved
    at a time, as many chunks at once as there are cores: a chunk lasts as long as its hardest problem. By default few
    on a CPU, all on other devices. The slow way is taken by those alone that no quicker one solves.
    """
    size = chunk or (4 if jax.default_backend() == "cpu" else 1 << 20)
    met, every = jax.jit(jax.vmap(solve_met, (0, None))), jax.jit(jax.vmap(solve))
    ways = (lambda p: met(p, False), lambda p: met(p, True), lambda p: (every(p), True))
    pool = ThreadPoolExecutor(os.cpu_count())

    def run(problem: Hierarchy) -> Solution:
        problem = jax.tree.map(lambda a: np.asarray(a, np.float64), problem)
        count, _, n = problem.G.shape
        found = Solution(np.zeros((count, n)), np.zeros((count, len(problem.levels))), np.zeros(count, bool))
        left = np.arange(count)
        for way in ways:
            parts = [np.resize(left[i : i + size], min(size, count)) for i in range(0, len(left), size)]
            done = list(pool.map(lambda part, way=way: _solve_part(way, problem, part, found), parts))
            left = left[~np.concatenate(done)[: len(left)]] if len(left) else left
        return found

    return run


def _solve_part(way: Callable, problem: Hierarchy, part: np.ndarray, found: Solution) -> np.ndarray:
    """Solve the problems `part` (chunk,), write those that were into `found`; which they are (chunk,) bool."""
    with jax.enable_x64(True):
        solution, done = jax.tree.map(np.asarray, way(jax.tree.map(lambda a: a[part], problem)))
    done = np.broadcast_to(done, part.shape)
    for to, of in zip(found, solution, strict=True):
        to[part[done]] = of[done]
    return done


def solve(problem: Hierarchy) -> Solution:
    """One hierarchy, to be traced with 64-bit types enabled."""
    n = problem.G.shape[1]
    G, h = _normal_rows(problem.G, problem.h)

    def descend(above, level):
        x, Z, feasible = above
        first, A, b = level
        # Below the first level x meets the inequalities, whatever rounding says: w = 0 must be allowed.
        room = jnp.maximum(h - G @ x, first * -FAR)
        w, free = _programme(A @ Z, b - A @ x, _norm(A), G @ Z, room)
        x = x + Z @ w
        met = (G @ x - h).max() < FEASIBLE_TOL * (1 + jnp.abs(x).max())
        return (x, Z @ free, feasible & (met | ~first)), None

    start = (jnp.zeros(n), jnp.eye(n), jnp.array(True))
    (x, _, feasible), _ = jax.lax.scan(descend, start, _same_size(problem.levels))
    x = jnp.where(feasible, x, 0.0)
    return Solution(x, jnp.stack([_norm(level.A @ x - level.b) for level in problem.levels]), feasible)


def _same_size(levels: tuple[Level, ...]) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Which level is the first (L,), A (L, m, n), b (L, m): zeros fill the smaller levels, one programme serves all."""
    m = max(len(level.b) for level in levels)
    A = jnp.stack([jnp.pad(level.A, ((0, m - len(level.b)), (0, 0))) for level in levels])
    b = jnp.stack([jnp.pad(level.b, (0, m - len(level.b))) for level in levels])
    return jnp.arange(len(levels)) == 0, A, b


def _norm(v: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(v**2))


def _normal_rows(G: jax.Array, h: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Rows of length one; rows of zeros stay, with a bound of one."""
    length = jnp.sqrt(jnp.sum(G**2, axis=1))
    used = length > 1e-12
    length = jnp.where(used, length, 1.0)
    return G / length[:, None], jnp.where(used, h / length, 1.0)


def _programme(A: jax.Array, b: jax.Array, whole: jax.Array, G: jax.Array, h: jax.Array) -> tuple[jax.Array, jax.Array]:
    """argmin_w |A w - b|^2 under G w <= h, and (n, n) what it leaves free. `whole`: norm of A before projection."""
    size = _norm(A)
    some = size > LOST * whole
    size = jnp.where(some, size, 1.0)
    A, b = A * some / size, b / size
    bound = jnp.sum(G**2, axis=1) > LOST**2
    G, h = G * bound[:, None], jnp.where(bound, h, 1.0)
    unit = jnp.maximum(jnp.maximum(jnp.abs(A.T @ b).max(), (-h).max()), 1e-9)
    end = _interior(A.T @ A, A.T @ (b / unit), G, h / unit)
    active = bound & (end.force > end.slack) & (end.force > 1e-7)
    rough = unit * end.w
    change, free = _equality(A, b - A @ rough, G * active[:, None], (h - G @ rough) * active)
    w = rough + change
    worse = (G @ w - h).max() > jnp.maximum((G @ rough - h).max(), 0.0) + FEASIBLE_TOL * unit
    return jnp.where(some, jnp.where(worse, rough, w), 0.0), free


def _equality(A: jax.Array, b: jax.Array, G: jax.Array, h: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Shortest argmin |A w - b|^2 under G w = h, and (n, n) a basis of what is left, padded with zeros."""
    to, rest = _split(G)
    w = to @ (G.T @ h)
    A_rest = A @ rest
    to, free = _split(A_rest)
    return w + rest @ (to @ (A_rest.T @ (b - A @ w))), rest @ free


def _split(A: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(A^T A)^+ and an orthonormal basis of A's null space: both (n, n), the latter's other columns zero."""
    values, vectors = jax.lax.linalg.eigh(A.T @ A)[::-1]
    null = values <= RANK_TOL**2 * jnp.maximum(values[-1], LOST)
    inverse = jnp.where(null, 0.0, 1 / jnp.where(null, 1.0, values))
    return (vectors * inverse) @ vectors.T, vectors * null


def _interior(H: jax.Array, q: jax.Array, G: jax.Array, h: jax.Array) -> Step:
    """argmin w H w / 2 - q w under G w <= h, close enough to tell active inequalities from others."""
    return jax.lax.while_loop(lambda s: ~s.done, lambda s: _iterate(s, H, q, G, h), _start(H, q, G, h))


def _start(H: jax.Array, q: jax.Array, G: jax.Array, h: jax.Array) -> Step:
    """The point that CVXOPT starts from: least squares of objective and slacks, shifted to be positive."""
    w = cho_solve(cho_factor(H + G.T @ G + DAMPING * jnp.eye(len(q))), q + G.T @ h)
    slack = h - G @ w

    def positive(v: jax.Array) -> jax.Array:
        return jnp.where(v.min() > 0, v, v - v.min() + 1.0)

    return Step(w, positive(slack), positive(-slack), jnp.array(DAMPING), jnp.array(0), jnp.array(False))


def _iterate(now: Step, H: jax.Array, q: jax.Array, G: jax.Array, h: jax.Array) -> Step:
    """One predictor and corrector."""
    w, s, z = now.w, now.slack, now.force
    r_dual, r_primal = H @ w - q + G.T @ z, G @ w + s - h
    gap = s @ z / len(s)
    factor = cho_factor(H + (G.T * (z / s)) @ G + now.damping * jnp.eye(len(w)))

    def direction(r_comp: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        dw = cho_solve(factor, -r_dual - G.T @ ((z * r_primal - r_comp) / s))
        ds = -r_primal - G @ dw
        return dw, ds, -(r_comp + z * ds) / s

    _, ds, dz = direction(s * z)
    after = (s + _reach(s, ds) * ds) @ (z + _reach(z, dz) * dz) / len(s)
    dw, ds, dz = direction(s * z + ds * dz - (after / gap) ** 3 * gap)
    step = 0.99 * jnp.minimum(_reach(s, ds, 1 / 0.99), _reach(z, dz, 1 / 0.99))
    fine = jnp.isfinite(dw).all() & jnp.isfinite(dz).all()  # else the matrix has no factor: try again with more damping
    w, s, z = (jnp.where(fine, v + step * dv, v) for v, dv in ((w, dw), (s, ds), (z, dz)))
    residual = jnp.maximum(jnp.abs(r_dual).max(), jnp.abs(r_primal).max()) * (1 - step)
    small = (residual < RESIDUAL_TOL + ROUNDING * jnp.abs(h).max()) & (s @ z / len(s) < GAP_TOL)
    done = (fine & small) | (now.iteration + 1 >= MAX_ITERATIONS)
    return Step(w, s, z, jnp.where(fine, 1.0, 100.0) * now.damping, now.iteration + 1, done)


def _reach(v: jax.Array, dv: jax.Array, most: float = 1.0) -> jax.Array:
    """How far v can go along dv and stay positive, at most `most`."""
    return jnp.minimum(most, jnp.min(jnp.where(dv < 0, -v / jnp.where(dv < 0, dv, -1.0), most)))
