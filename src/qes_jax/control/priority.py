"""Solvers of a hierarchy in NumPy, float64: the paper's Algorithm 1, Kanoun's form, the weighted sum.

Each takes a Hierarchy and gives a Solution; quadratic programmes go to DAQP (dual active set).
"""

from collections.abc import Callable

import daqp
import numpy as np

from qes_jax.control.hierarchy import Hierarchy, Level, Solution, errors

RANK_TOL = 1e-6  # singular values below this share of the largest are none
LOST = 1e-9  # what is left of a level's rows below this share of them is rounding
FREE = 1e30  # DAQP's infinity

# Proximal iterations where the objective leaves directions free: DAQP itself needs a definite one.
ACCURATE = {"primal_tol": 1e-11, "eps_prox": 1e-4, "eta_prox": 1e-13, "iter_limit": 1000}

Solver = Callable[[Hierarchy], Solution]


def strict(problem: Hierarchy) -> Solution:
    """Algorithm 1: each level is solved in what those above leave free, x = x + Z w, Z a basis of their null spaces.

    Ends early where nothing is left free. Programmes that need not be solved are not: as long as the plain
    least-squares optima of the first levels have a point in common with G x <= h, no constrained optimum can be better,
    so only the first level at which they have none, and those below, are solved under the inequalities.
    """
    states = [(np.zeros(problem.G.shape[1]), np.eye(problem.G.shape[1]))]
    for level in problem.levels:
        x, Z = states[-1]
        if Z.shape[1] == 0:
            break
        states.append(descend(x, Z, level))
    return _solve_from(problem, states)


def _solve_from(problem: Hierarchy, states: list[tuple[np.ndarray, np.ndarray]]) -> Solution:
    """The deepest unconstrained optimum that the inequalities allow, then constrained level by level."""
    G, h = problem.G, problem.h
    last = states[-1][0]
    if np.all(G @ last <= h + 1e-9):
        return Solution(last, errors(problem, last), True)
    for start in range(len(states) - 2, -1, -1):
        x, Z = states[start]
        w = constrained(problem.levels[start], x, Z, G, h)
        if w is not None:
            break
    else:
        zero = np.zeros(G.shape[1])
        return Solution(zero, errors(problem, zero), False)
    for level, below in zip(problem.levels[start:], [*problem.levels[start + 1 :], None], strict=True):
        x = x + Z @ w
        Z = Z @ null_space(level.A, Z)
        if below is None or Z.shape[1] == 0:
            break
        w = constrained(below, x, Z, G, np.maximum(h, G @ x))  # x is feasible, whatever rounding says
        if w is None:  # x itself is feasible: only rounding says otherwise
            break
    return Solution(x, errors(problem, x), True)


def descend(x: np.ndarray, Z: np.ndarray, level: Level) -> tuple[np.ndarray, np.ndarray]:
    """Least squares of one level within x + Z w: the new x, and a basis of what stays free."""
    A = level.A @ Z
    U, s, Vt = np.linalg.svd(A)
    rank = _rank(s, level.A)
    w = Vt[:rank].T @ ((U[:, :rank].T @ (level.b - level.A @ x)) / s[:rank])
    return x + Z @ w, Z @ Vt[rank:].T


def null_space(A: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Orthonormal basis (k, k - rank) of the null space of A Z (m, k)."""
    _, s, Vt = np.linalg.svd(A @ Z)
    return Vt[_rank(s, A) :].T


def _rank(s: np.ndarray, A: np.ndarray) -> int:
    """How many of the singular values of A Z, largest first, are more than rounding of those of A."""
    return int(np.sum(s > max(RANK_TOL * s.max(initial=0.0), LOST * float(np.linalg.norm(A)))))


def constrained(level: Level, x: np.ndarray, Z: np.ndarray, G: np.ndarray, h: np.ndarray) -> np.ndarray | None:
    """argmin_w |A (x + Z w) - b|^2 under G (x + Z w) <= h, or None where there is no such w."""
    A, b, within, room = level.A @ Z, level.b - level.A @ x, G @ Z, h - G @ x
    bound = np.linalg.norm(within, axis=1) > LOST  # no w changes the others, and DAQP takes no rows of rounding
    if np.any(room[~bound] < -1e-9):
        return None
    A = A * (np.linalg.norm(A) > LOST * np.linalg.norm(level.A))  # all rounding: any w will do
    return quadratic(A.T @ A, -A.T @ b, within[bound], room[bound])


def quadratic(H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, equal: int = 0) -> np.ndarray | None:
    """argmin x H x / 2 + f x under A x <= upper, the first `equal` rows with equality. None where infeasible."""
    lower = np.full(len(upper), -FREE)
    lower[:equal] = upper[:equal]
    sense = np.zeros(len(upper), np.int32)
    sense[:equal] = 5
    scale = max(float(np.trace(H)) / len(f), 1e-9)
    x, _, flag, _ = daqp.solve(H / scale, f / scale, np.ascontiguousarray(A), upper, lower, sense, **ACCURATE)
    return x if flag > 0 else None


def kanoun(problem: Hierarchy) -> Solution:
    """Linear-constraint form (Kanoun et al. 2009): every solved level k stays as the constraint A_k x = A_k x_k*."""
    n = problem.G.shape[1]
    x, solved, feasible = np.zeros(n), np.zeros((0, n)), False
    for level in problem.levels:
        rows = np.concatenate([solved, problem.G])
        bound = np.concatenate([solved @ x, problem.h])
        new = quadratic(level.A.T @ level.A, -level.A.T @ level.b, rows, bound, len(solved))
        if new is None:
            break
        x, feasible = new, True
        solved = _independent(np.concatenate([solved, level.A]))
        if len(solved) == n:
            break
    return Solution(x, errors(problem, x), feasible)


def _independent(A: np.ndarray) -> np.ndarray:
    """Orthonormal rows that span those of A."""
    _, s, Vt = np.linalg.svd(A, full_matrices=False)
    return Vt[: int(np.sum(s > RANK_TOL * max(s[0], 1e-9)))]


def weighted(problem: Hierarchy, ratio: float = 10.0) -> Solution:
    """One programme, each level `ratio` times as heavy as the next; the first, the laws of motion, stays strict."""
    first, *rest = problem.levels
    weights = [ratio ** (-0.5 * i) for i in range(len(rest))]
    A = np.concatenate([w * level.A for w, level in zip(weights, rest, strict=True)])
    b = np.concatenate([w * level.b for w, level in zip(weights, rest, strict=True)])
    found = strict(Hierarchy((first, Level(A, b)), problem.G, problem.h))
    return Solution(found.x, errors(problem, found.x), found.feasible)


SOLVERS: dict[str, Solver] = {"strict": strict, "kanoun": kanoun, "weighted": weighted}
