"""Problems of different contacts in one fixed shape, for the batched solver."""

import numpy as np

from qes_jax.control.hierarchy import Hierarchy, Level


def pad(problems: list[Hierarchy]) -> Hierarchy:
    """Stack problems along a leading axis, filled up to the largest with zeros: rows, and unknowns asked for nowhere.

    A problem of fewer levels gets empty ones before its last.
    """
    n = max(p.G.shape[1] for p in problems)
    count = max(len(p.levels) for p in problems)
    levels = [(*p.levels[:-1], *[None] * (count - len(p.levels)), p.levels[-1]) for p in problems]
    stacked = tuple(_stack([rows[i] for rows in levels], n) for i in range(count))
    most = max(len(p.h) for p in problems)
    G, h = np.zeros((len(problems), most, n)), np.ones((len(problems), most))
    for i, p in enumerate(problems):
        G[i, : len(p.h), : p.G.shape[1]], h[i, : len(p.h)] = p.G, p.h
    return Hierarchy(stacked, G, h)


def _stack(levels: list[Level | None], n: int) -> Level:
    most = max(len(level.b) for level in levels if level is not None)
    A, b = np.zeros((len(levels), most, n)), np.zeros((len(levels), most))
    for i, level in enumerate(levels):
        if level is not None:
            m, k = level.A.shape
            A[i, :m, :k], b[i, :m] = level.A, level.b
    return Level(A, b)
