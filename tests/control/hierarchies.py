"""Random hierarchies, and an oracle for them that shares no code with the solvers under test."""

import daqp
import numpy as np
from scipy.linalg import null_space

from qes_jax.control.hierarchy import Hierarchy, Level, errors

FREE = 1e30


class OracleError(Exception):
    """The oracle found no optimum to the accuracy asked for."""


def oracle(problem: Hierarchy) -> np.ndarray:
    """|A_i x - b_i| of every level at the strict optimum, level by level, by SVD and DAQP in 64 bits.

    Sharper than the solvers that are timed: no early exits, proximal iterations instead of a regularised Hessian.
    """
    x, Z = np.zeros(problem.G.shape[1]), np.eye(problem.G.shape[1])
    G, h = problem.G, problem.h
    for number, level in enumerate(problem.levels):
        if Z.shape[1] == 0:
            break
        A, b, room = level.A @ Z, level.b - level.A @ x, h - G @ x
        if np.linalg.norm(A) <= 1e-9 * np.linalg.norm(level.A):
            continue
        if number > 0:
            room = np.maximum(room, 0)  # x is feasible, whatever rounding says
        kept = np.linalg.norm(G @ Z, axis=1) > 1e-9
        w, _, flag, _ = daqp.solve(
            A.T @ A / np.linalg.norm(A, 2) ** 2, -A.T @ b / np.linalg.norm(A, 2) ** 2, (G @ Z)[kept], room[kept],
            np.full(kept.sum(), -FREE), np.zeros(kept.sum(), np.int32),
            primal_tol=1e-11, eps_prox=1e-4, eta_prox=1e-13, iter_limit=100_000,
        )  # fmt: skip
        if flag <= 0:
            raise OracleError(f"DAQP gave up on level {number}: {flag}")
        x = x + Z @ w
        Z = Z @ null_space(A, rcond=1e-6)
    return errors(problem, x)


def draw(rng: np.random.Generator, n: int = 20, sizes: tuple[int, ...] = (4, 5, 4, 6), p: int = 16) -> Hierarchy:
    """Levels and inequalities at random, of rather different scales; some x meets the inequalities."""
    levels = tuple(
        Level(10.0 ** rng.uniform(-1, 1) * rng.normal(size=(m, n)), 10.0 ** rng.uniform(-1, 1.5) * rng.normal(size=m))
        for m in sizes
    )
    G = rng.normal(size=(p, n))
    return Hierarchy(levels, G, G @ rng.normal(size=n) + rng.exponential(size=p))


def locked(rng: np.random.Generator) -> Hierarchy:
    """A level of low rank, one that repeats a level above with other aims, one of full rank, and one below it."""
    problem = draw(rng, sizes=(4, 3, 20, 5))
    first, second, full, last = problem.levels
    low = Level(np.concatenate([second.A, second.A[:1] + second.A[1:2]]), np.append(second.b, 0.3))
    again = Level(first.A[:3], first.b[:3] + 1.0)
    return problem._replace(levels=(first, low, again, full, last))


def switching(rng: np.random.Generator, most: int = 4) -> Hierarchy:
    """Bodies on up to `most` contacts: unknown forces of absent contacts have no column, their rows are zeros."""
    problem = draw(rng, n=10 + 3 * most, sizes=(6, 3 * most, 4, 10 + 3 * most), p=2 * most + 12)
    on = np.repeat(rng.random(most) < 0.5, 3)
    levels = []
    for number, level in enumerate(problem.levels):
        A, b = level.A.copy(), level.b.copy()
        A[:, 10:][:, ~on] = 0
        if number == 1:
            A[~on], b[~on] = 0, 0
        levels.append(Level(A, b))
    G = problem.G.copy()
    G[:, 10:][:, ~on] = 0
    G[:3] = 0
    inside = np.concatenate([rng.normal(size=10), np.where(on, 1.0, 0.0)])  # some x with forces that push
    h = np.where(np.arange(len(G)) < 3, 1.0, G @ inside + rng.exponential(size=len(G)))
    push = np.concatenate([np.zeros((3 * most, 10)), -np.diag(on.astype(float))], axis=1)
    return Hierarchy(tuple(levels), np.concatenate([G, push]), np.concatenate([h, np.where(on, 0.0, 1.0)]))


def out_of_reach(rng: np.random.Generator) -> Hierarchy:
    """The first level asks for what a box around the origin forbids, and it touches the box's faces exactly."""
    problem = draw(rng, p=0)
    n = problem.G.shape[1]
    first = Level(np.eye(n)[:5], 100 * rng.normal(size=5))
    G = np.concatenate([np.eye(n), -np.eye(n)])
    return Hierarchy((first, *problem.levels[1:]), G, rng.uniform(0.5, 2, size=2 * n))


def flat(rng: np.random.Generator) -> Hierarchy:
    """Inequalities that leave no interior: two pairs of opposite faces meet."""
    problem = draw(rng)
    both = rng.normal(size=(2, problem.G.shape[1]))
    inside = np.linalg.lstsq(problem.G, problem.h - 1, rcond=None)[0]
    slack = np.maximum(problem.h, problem.G @ inside + 0.5)
    G = np.concatenate([problem.G, both, -both])
    return Hierarchy(problem.levels, G, np.concatenate([slack, both @ inside, -both @ inside]))


KINDS = {"random": draw, "locked": locked, "switching": switching, "out_of_reach": out_of_reach, "flat": flat}


def batch(problems: list[Hierarchy]) -> Hierarchy:
    """Stack problems of equal shapes along a leading axis."""
    levels = tuple(
        Level(np.stack([p.levels[i].A for p in problems]), np.stack([p.levels[i].b for p in problems]))
        for i in range(len(problems[0].levels))
    )
    return Hierarchy(levels, np.stack([p.G for p in problems]), np.stack([p.h for p in problems]))
