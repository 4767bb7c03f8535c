"""The solver for real time: the same optimum as `priority.strict`, with one small programme a tick where that suffices.

While the upper levels can all be met at once (they nearly always can), they are one set of equations: a QR
factorisation gives their solutions x0 + Z w, and one strictly convex programme over w is left. Where they cannot, the
lowest gets a programme of its own. Inequalities enter when first violated, and those of the last tick stay in.

A tick has a budget of work. What is not solved within it, as while falling, gets a compromise: one programme over all
levels, weighted, whose inequalities may be violated at a price; if that takes too long, too, there is no solution.
Without a budget it goes to Algorithm 1, which takes as long as it takes.
"""

from collections.abc import Sequence
from itertools import pairwise

import daqp
import numpy as np
from scipy.linalg import lapack

from qes_jax.control.hierarchy import Hierarchy, Level, Solution, errors
from qes_jax.control.priority import FREE, RANK_TOL, strict

TOL = 1e-8  # of an inequality, relative to its size
BUDGET = 64  # iterations a tick; one takes about 10 us
CALL = 8  # iterations that a programme costs besides its own
COMPROMISE = 56  # iterations of the compromise, at most
RATIO = 30.0  # each level of the compromise is so much heavier than the next
ENDLESS = 10_000
SOFT = 8  # DAQP's mark of an inequality that may be violated


class Fast:
    """A solver that remembers the last tick's active rows. Takes a Hierarchy whose last level leaves nothing free.

    budget: iterations a tick, None for as many as it takes.
    """

    def __init__(self, budget: int | None = BUDGET) -> None:
        self._rows = np.zeros(0, bool)
        self._active = np.zeros(0, bool)
        self.budget = budget
        self.spent = 0  # iterations of the last tick
        self.fallbacks = 0  # ticks that were solved by Algorithm 1 or by a compromise

    def __call__(self, problem: Hierarchy) -> Solution:
        if len(self._rows) != len(problem.h):
            self._rows = np.zeros(len(problem.h), bool)
            self._active = np.zeros(len(problem.h), bool)
        self.spent = 0
        x = self._solve(problem)
        if x is None:
            self.fallbacks += 1
            if self.budget is None:
                return strict(problem)
            x = self._compromise(problem)
        return unsolved(problem) if x is None else Solution(x, errors(problem, x), True)

    def _solve(self, problem: Hierarchy) -> np.ndarray | None:
        """Meet as many upper levels as can be met at once, then optimise those below one by one."""
        most = len(problem.levels) - 1
        for met in range(most, 0, -1):
            if self._left() < CALL:
                return None
            space = solutions(stacked(problem.levels[:met]))
            if space is None:
                continue
            (x, Z), below = space, problem.levels[met:]
            found = self._within(x, Z, below[0], problem)
            for above, level in pairwise(below):
                if found is None:
                    break
                Z = Z @ free_directions(above.A @ Z)
                found = self._within(found, Z, level, problem)
            if found is not None:
                return found
        return None

    def _within(self, x: np.ndarray, Z: np.ndarray, level: Level, problem: Hierarchy) -> np.ndarray | None:
        """argmin |A (x + Z w) - b|^2 under G (x + Z w) <= h, None where there is none. Leaves the active rows."""
        G, h, size = problem.G, problem.h, 1 + np.abs(problem.h)
        room, rounding = h - G @ x, -TOL * size
        if Z.shape[1] == 0:  # nothing is left free
            return x if np.all(room >= -1e-9 * size) else None
        A, is_last = level.A @ Z, level is problem.levels[-1]  # which leaves nothing free: H is definite
        H, f = A.T @ A, A.T @ (level.A @ x - level.b)
        room[(rounding < room) & (room < 0)] = 0.0  # x may touch a limit, by rounding beyond it
        for attempt in range(6):
            if self._left() < CALL:
                return None
            self._rows |= attempt >= 4
            (index,) = self._rows.nonzero()
            found, spent = minimum(H, f, G[index] @ Z, room[index], self._active[index], is_last, self._left())
            self.spent += spent
            self._active[:] = False
            if found is None:
                self._rows[:] = False
                return None
            w, self._active[index] = found
            y = x + Z @ w
            left = h - G @ y
            broken = left < rounding
            broken[index] = False
            if not broken.any():
                self._rows = self._active | (left < 0.02 * size)
                return y
            self._rows |= broken
        return None

    def _left(self) -> int:
        """Iterations that this tick may still spend."""
        return ENDLESS if self.budget is None else self.budget - self.spent

    def _compromise(self, problem: Hierarchy) -> np.ndarray | None:
        """All levels but the first weighted, under soft inequalities; the first, the laws of motion, is met."""
        space = solutions(problem.levels[0])
        if space is None:
            return None
        (x, Z), n = space, len(problem.levels)
        level = stacked([weighed(one, RATIO**-i) for i, one in enumerate(problem.levels[1:n])])
        A, G = level.A @ Z, problem.G @ Z
        H, f = A.T @ A, A.T @ (level.A @ x - level.b)
        scale, p = len(f) / max(float(np.trace(H)), 1e-12), len(problem.h)
        w, _, flag, info = daqp.solve(
            scale * H, scale * f, G, problem.h - problem.G @ x, np.full(p, -FREE), np.full(p, SOFT, np.int32),
            primal_tol=1e-6, iter_limit=COMPROMISE,
        )  # fmt: skip
        self.spent += info["iterations"] + CALL
        return x + Z @ w if flag > 0 else None


def minimum(
    H: np.ndarray, f: np.ndarray, G: np.ndarray, h: np.ndarray, active: np.ndarray, is_definite: bool, most: int
) -> tuple[tuple[np.ndarray, np.ndarray] | None, int]:
    """argmin w H w / 2 + f w under G w <= h and which rows are active, or None; and what it cost, of `most` iterations.

    `active` (p,) bool is a guess.
    """
    if is_definite and len(h) == 0:
        _, w, failed = lapack.dposv(H, -f)
        if not failed:
            return (w, active), 0
    scale = len(f) / max(float(np.trace(H)), 1e-12)
    w, _, flag, info = daqp.solve(
        scale * H, scale * f, G, h, np.full(len(h), -FREE), active.astype(np.int32), primal_tol=1e-9, iter_limit=most
    )
    return (w, info["lam"] > 1e-10) if flag > 0 else None, info["iterations"] + CALL


def weighed(level: Level, weight: float) -> Level:
    """The same objective, so much heavier."""
    return Level(weight**0.5 * level.A, weight**0.5 * level.b)


def unsolved(problem: Hierarchy) -> Solution:
    """No solution: zeros."""
    x = np.zeros(problem.G.shape[1])
    return Solution(x, errors(problem, x), False)


def stacked(levels: Sequence[Level]) -> Level:
    """Several levels as one."""
    return Level(*map(np.concatenate, zip(*levels, strict=True)))


def solutions(level: Level) -> tuple[np.ndarray, np.ndarray] | None:
    """x0 (n,) and Z (n, n - m) with A (x0 + Z w) = b for every w, or None where the rows (m) are not independent."""
    m, n = level.A.shape
    factor, tau, _, _ = lapack.dgeqrf(level.A.T)
    diagonal = np.abs(factor.diagonal())
    if m > n or diagonal.min() < 1e-5 * diagonal.max():
        return None
    y, _ = lapack.dtrtrs(factor[:m], level.b, trans=1)
    Q = orthogonal(factor, tau)
    return Q[:, :m] @ y, Q[:, m:]


def free_directions(A: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the null space of A (m, k), whose rows may depend on each other: QR with pivots."""
    factor, _, tau, _, _ = lapack.dgeqp3(A.T)
    size = np.abs(factor.diagonal())
    rank = np.count_nonzero(size > RANK_TOL * size.max(initial=0.0))
    return orthogonal(factor[:, :rank], tau[:rank])[:, rank:] if rank else np.eye(A.shape[1])


def orthogonal(factor: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """(n, n) the whole of Q from the reflectors (n, m) of a QR factorisation."""
    n, m = factor.shape
    square = np.zeros((n, n), order="F")
    square[:, :m] = factor
    return lapack.dorgqr(square, tau)[0]
