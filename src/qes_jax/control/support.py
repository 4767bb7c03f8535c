"""What the soles can do for the centre of mass: accelerations that need no turning of the body.

An inverted pendulum accelerates away from its centre of pressure, a = (g + a_z) (c - p) / c_z, and p lies within
the soles. The paper asks for any acceleration and lets the body's rotation make up for the rest; at the edge of a sole
that throws the trunk and the arms about.
"""

import numpy as np

GRAVITY = 9.81


def reachable(acceleration: np.ndarray, com: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(3,) the acceleration [m/s2] cut, horizontally, to what some centre of pressure within the corners gives.

    acceleration (3,), com (3,), corners (N, 2) of the soles on the floor, all in the world. N >= 1.
    """
    if len(corners) == 0:
        return acceleration
    lift = max(GRAVITY + acceleration[2], 1.0) / com[2]
    wanted = com[:2] - acceleration[:2] / lift
    pressure = nearest(hull(corners), wanted)
    return np.append(lift * (com[:2] - pressure), acceleration[2])


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull (H, 2) of points (N, 2), counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))
    return np.array(_chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]) if len(ordered) > 1 else np.array(ordered)


def _chain(points: list[tuple]) -> list[tuple]:
    chain: list[tuple] = []
    for p in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: tuple, b: tuple, c: tuple) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def nearest(polygon: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The point of a convex polygon (H, 2), counter-clockwise, that is nearest to `point` (2,)."""
    a, edge = polygon, polygon[np.arange(1, len(polygon) + 1) % len(polygon)] - polygon
    offset = point - a
    if len(polygon) > 2 and np.all(edge[:, 0] * offset[:, 1] - edge[:, 1] * offset[:, 0] >= 0):
        return point
    along = (np.sum(offset * edge, axis=1) / np.maximum(np.sum(edge**2, axis=1), 1e-12)).clip(0.0, 1.0)
    feet = a + along[:, None] * edge
    return feet[np.argmin(np.sum((point - feet) ** 2, axis=1))]
