"""The problem that every solver of this room takes: objectives in strict order under linear inequalities.

    h_i = min_x |A_i x - b_i|^2   subject to   |A_k x - b_k|^2 = h_k for k < i,   G x <= h

The paper's unknowns are torques, accelerations and contact forces. Torques follow from the other two, so here
x = [qacc (nv), lambda (K)], the six unactuated rows of the equation of motion are level 0, and torque limits are rows
of G. n unknowns, m_i rows of level i, p inequalities; all float64.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

Array = Any  # np.ndarray in the reference solvers, jax.Array in the batched one


class Level(NamedTuple):
    """One objective |A x - b|^2. Rows of zeros (with b zero) are allowed: they pad to a fixed shape."""

    A: Array  # (m, n)
    b: Array  # (m,)


class Hierarchy(NamedTuple):
    """Objectives, first the most important. Rows of zeros in G with a positive h pad to a fixed shape."""

    levels: tuple[Level, ...]
    G: Array  # (p, n)
    h: Array  # (p,)


class Solution(NamedTuple):
    """What a solver gives. Where no x meets G x <= h, x is zero and `feasible` False."""

    x: Array  # (n,)
    errors: Array  # (number of levels,) |A_i x - b_i|
    feasible: Array  # bool


def below_each_other(parts: Sequence[tuple[np.ndarray, np.ndarray]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (A, b) of several parts as one, over all n unknowns; those over the first few alone get columns of zeros."""
    size = sum(len(b) for _, b in parts)
    rows, right, at = np.zeros((size, n)), np.zeros(size), 0
    for A, b in parts:
        to = at + len(b)
        rows[at:to, : A.shape[1]], right[at:to], at = A, b, to
    return rows, right


def errors(problem: Hierarchy, x: np.ndarray) -> np.ndarray:
    """|A_i x - b_i| of every level."""
    residuals = (level.A @ x - level.b for level in problem.levels)
    return np.array([sqrt(r @ r) for r in residuals])
