"""Unit and upward axis of a file that does not state them, guessed from the body in it."""

from dataclasses import replace

import numpy as np

from qes_jax.motion.formats.maps import Roles, complete, find_roles
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.formats.skeleton import SkeletonMotion, in_metres, rest, snapshots, z_up
from qes_jax.motion.formats.structure import LEG

UNITS = (1.0, 0.01, 0.0254, 0.0254 / 0.45, 0.001, 0.1, 0.3048)  # [m] usual first; the fourth is CMU's
HEIGHTS = (1.2, 2.2)  # [m] of most people
POSSIBLE = (0.5, 2.5)  # [m] of people and of cartoons


def settle(motion: SkeletonMotion, unit: float | None = None, up: str | None = None) -> SkeletonMotion:
    """A motion in the file's own units and axes, in metres and Z up; `unit` [m] and `up` are guessed where None."""
    roles, _ = find_roles(motion)
    up = up or guess_up(motion, roles)
    turned = z_up(motion, up)
    return in_metres(turned, unit or guess_unit(turned, roles))


def settle_stated(
    motion: SkeletonMotion, unit: float | None, up: str | None, usual: float = 1.0, usual_up: str = "y"
) -> SkeletonMotion:  # fmt: skip
    """The same where the format states unit [m] and axis: others are taken where the body plainly contradicts.

    Another axis, where head and feet show it at rest and over the motion; another unit, where no body is so tall.
    """
    roles, _ = find_roles(motion)
    notes = []
    if up is None:
        up = (plain_up(motion, roles) if complete(roles) else None) or usual_up
        if up != usual_up:
            notes.append(f"{up.upper()} is up, by head and feet, though the format says {usual_up.upper()}")
    turned = z_up(motion, up)
    if unit is None:
        unit, height = usual, usual * leg_height(turned, roles) if complete(roles) else 1.0
        if not POSSIBLE[0] <= height <= POSSIBLE[1]:
            unit = guess_unit(turned, roles)
            notes.append(f"its unit is taken for {unit:g} m, by the body's size: else it would be {height:.3g} m tall")
    return replace(in_metres(turned, unit), notes=motion.notes + tuple(notes))


def leg_height(motion: SkeletonMotion, roles: Roles) -> float:
    """The body's height by its legs' lengths, in the motion's units."""
    total = 0.0
    for side in ("left", "right"):
        joints = [motion.index(roles[f"{side}_{part}"]) for part in ("hip", "knee", "ankle")]
        place = snapshots(motion, 20)[:, joints]
        total += float(np.linalg.norm(np.diff(place, axis=1), axis=-1).mean(axis=0).sum())
    return total / 2 / LEG


def guess_unit(motion: SkeletonMotion, roles: Roles) -> float:
    """The first usual unit [m] that makes the body as tall as most people, else the one nearest to 1.7 m."""
    height = leg_height(motion, roles) if complete(roles) else extent(motion)
    if not height > 0:
        raise RecordingError(f"{motion.source}: its joints all lie in one place")
    low, high = HEIGHTS
    fits = [unit for unit in UNITS if low <= unit * height <= high]
    return fits[0] if fits else min(UNITS, key=lambda unit: abs(np.log(unit * height / 1.7)))


def extent(motion: SkeletonMotion) -> float:
    """How far the joints reach in height while the motion stands tallest: a rough height where no role is known."""
    height = snapshots(motion)[..., 2]
    return float(np.percentile(height.max(axis=1) - height.min(axis=1), 95))


def guess_up(motion: SkeletonMotion, roles: Roles) -> str:
    """The axis along which the head is above the feet in the rest pose, if clearly, else over the motion, else y."""
    if not complete(roles):
        return "y"
    head, feet = motion.index(roles["head"]), [motion.index(roles[f"{s}_ankle"]) for s in ("left", "right")]
    found = (_upward(place, head, feet) for place in (snapshots(motion), rest(motion)[0][None]))
    return next((axis for axis in found if axis), "y")


def plain_up(motion: SkeletonMotion, roles: Roles) -> str | None:
    """The axis along which the head is above the feet both at rest and over the motion, None where they disagree."""
    head, feet = motion.index(roles["head"]), [motion.index(roles[f"{s}_ankle"]) for s in ("left", "right")]
    found = {_upward(place, head, feet) for place in (snapshots(motion), rest(motion)[0][None])}
    return found.pop() if len(found) == 1 else None


def _upward(place: np.ndarray, head: int, feet: list[int]) -> str | None:
    way = place[:, head] - place[:, feet].mean(axis=1)
    mean = (way / np.linalg.norm(way, axis=1, keepdims=True).clip(1e-9)).mean(axis=0)
    return "xyz"[int(np.argmax(mean))] if mean.max() > 0.85 else None
