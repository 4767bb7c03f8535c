"""The three fields x y z: what stands in them, and what is meant when one is changed."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

Numbers = tuple[float, ...]  # three
Typed = tuple[float | None, ...]  # three, None where nothing was typed


def as_numbers(kind: str, place: np.ndarray, quat: np.ndarray) -> Numbers:
    """What stands in the three fields: metres, or for a rotation degrees about X, Y, Z (fixed axes)."""
    return tuple(round(v, 1 if kind == "rotation" else 3) + 0.0 for v in _exactly(kind, place, quat))


def from_numbers(kind: str, typed: Typed, place: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) and quaternion (4,), of which what was not typed stays as it is."""
    old = _exactly(kind, place, quat)
    values = np.array([o if t is None else t for o, t in zip(old, typed, strict=True)])
    if kind == "rotation":
        return place, Rotation.from_euler("xyz", values, degrees=True).as_quat(scalar_first=True)
    return values, quat


def _exactly(kind: str, place: np.ndarray, quat: np.ndarray) -> list[float]:
    values = Rotation.from_quat(quat, scalar_first=True).as_euler("xyz", degrees=True) if kind == "rotation" else place
    return [float(v) for v in values]


def typed(values: Numbers, shown: Sequence[Numbers]) -> Typed:
    """Of three values those that the user has typed; `shown` is what the fields lately showed, the last at the end.

    A page sends all three where one was typed, and the two others may still be those of the joint before: they are told
    from it by what the fields have shown.
    """
    if values == shown[-1]:
        return (None,) * len(values)
    changes = [tuple(v if v != o else None for v, o in zip(values, old, strict=True)) for old in reversed(shown)]
    return max((c for c in changes if any(v is not None for v in c)), key=lambda c: c.count(None))
