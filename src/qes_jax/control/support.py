"""What the soles can do for the centre of mass: accelerations that need no turning of the body.

An inverted pendulum accelerates away from its centre of pressure, a = (g + a_z) (c - p) / c_z, and p lies within
the soles. The paper asks for any acceleration and lets the body's rotation make up for the rest; at the edge of a sole
that throws the trunk and the arms about.
"""

from collections.abc import Iterable, Sequence
from math import dist

import numpy as np

GRAVITY = 9.81


Point = tuple[float, float]  # plain floats: NumPy's calls would cost more than the work on so few points


def reachable(acceleration: np.ndarray, com: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(3,) the acceleration [m/s2] cut, horizontally, to what some centre of pressure within the corners gives.

    acceleration (3,), com (3,), corners (N, 2) of the soles on the floor, all in the world. N >= 1.
    """
    if len(corners) == 0:
        return acceleration
    (ax, ay, az), (x, y, height) = acceleration.tolist(), com.tolist()
    lift = max(GRAVITY + az, 1.0) / height
    px, py = nearest(hull(corners.tolist()), (x - ax / lift, y - ay / lift))
    return np.array([lift * (x - px), lift * (y - py), az])


def hull(points: Iterable[Sequence[float]]) -> list[Point]:
    """Convex hull of points (x, y), counter-clockwise (Andrew's monotone chain)."""
    ordered = sorted((x, y) for x, y in points)
    return _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1] if len(ordered) > 1 else ordered


def _chain(points: list[Point]) -> list[Point]:
    chain: list[Point] = []
    for p in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def nearest(polygon: list[Point], point: Point) -> Point:
    """The point of a convex polygon, counter-clockwise, that is nearest to a point."""
    edges = list(zip(polygon, polygon[1:] + polygon[:1], strict=True))
    if len(polygon) > 2 and all(_turn(a, b, point) >= 0 for a, b in edges):
        return point
    return min((_on_edge(a, b, point) for a, b in edges), key=lambda foot: dist(foot, point))


def _on_edge(a: Point, b: Point, point: Point) -> Point:
    """The point of an edge that is nearest."""
    x, y = b[0] - a[0], b[1] - a[1]
    along = ((point[0] - a[0]) * x + (point[1] - a[1]) * y) / max(x * x + y * y, 1e-12)
    along = min(max(along, 0.0), 1.0)
    return a[0] + along * x, a[1] + along * y
