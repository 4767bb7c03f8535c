"""A recording put onto the floor: where its feet stand, wherever the file has that, and a body that is a person's.

Thresholds are our choice. A few centimetres between feet and floor are left to the fit, see `retarget`: skeletons put
ankles and balls of the feet in different places.
"""

from dataclasses import replace

import numpy as np
from scipy import ndimage, special

from qes_jax.model.character import HEIGHT
from qes_jax.motion.formats.guess import POSSIBLE
from qes_jax.motion.formats.recording import Recording, RecordingError
from qes_jax.motion.subject import estimate_height, feet

NEAR = 0.07  # [m] by which feet may miss the floor, and the fit still finds it
LEG = 0.8  # of the height: farther than this from the hips no foot is
STILL = 1e-6  # [m] hips that move less have no positions
MOVES = 0.02  # [m] of feet that tell a still body from one whose hips are nailed to their place
TOUCH = 0.015  # [m] within which two points of the feet share the weight
SMOOTH = 0.05  # [s]


def check_person(recording: Recording) -> None:
    """Raise RecordingError, which names the figure, where no person is built so."""
    height = estimate_height(recording)
    if not POSSIBLE[0] <= height <= POSSIBLE[1]:
        raise RecordingError(
            f"{recording.source}: the body is {height:.3g} m tall by its bones, expected {POSSIBLE[0]} to "
            f"{POSSIBLE[1]} m (its unit of length is taken for {recording.unit:g} m; --unit says another)"
        )
    names = [n for n in ("left_ankle", "right_ankle") if n in recording.names]
    if "hips" in recording.names and names:
        far = min(float(np.median(_apart(recording, "hips", name))) for name in names)
        if far > LEG * height:
            raise RecordingError(
                f"{recording.source}: the hips are {far:.3g} m from the feet of a body of {height:.3g} m: no person; "
                "are its parts right (--map)?"
            )


def _apart(recording: Recording, a: str, b: str) -> np.ndarray:
    return np.linalg.norm(recording.point(a) - recording.point(b), axis=-1)


def grounded(recording: Recording, floor: float | None = None) -> tuple[Recording, float]:
    """The recording with its floor at zero, and where in the file that was [m]. `floor` overrules what the feet say.

    Hips that never move, while feet do, get their height from the lowest point and their way from the foot that stands.
    """
    if floor is None and not recording.pieces and _nailed(recording):
        note = "its root has no positions: the height is from the lowest point, the way from the foot that stands"
        recording = replace(_on_its_feet(recording), notes=(*recording.notes, note))
    found = find_floor(recording) if floor is None else floor
    if not found:
        return recording, 0.0
    where = f"the floor lies {abs(found):.2f} m {'below' if found < 0 else 'above'} the file's zero"
    why = "where the feet stand; --floor overrules" if floor is None else "as told"
    recording = replace(recording, notes=(*recording.notes, f"{where}, {why}"))
    down = np.array([0.0, 0.0, found])
    pieces = recording.pieces
    if pieces and abs(min(p.pos[2] for p in pieces) - found) < 3 * NEAR:  # they stand on the same floor
        pieces = tuple(replace(p, pos=(p.pos[0], p.pos[1], p.pos[2] - found)) for p in pieces)
    return replace(recording, points=recording.points - down, pieces=pieces), found


def find_floor(recording: Recording) -> float:
    """Height [m] of the floor: where the feet stand, or what else of the body is lowest; 0 if that is near.

    Among furniture feet may stand on that: the floor is at zero, or where the pieces stand, unless feet are lower.
    """
    size = estimate_height(recording) / HEIGHT
    lowest = float(np.percentile(_lowest(recording, size), 5))
    if recording.pieces:
        bottom = min(p.pos[2] for p in recording.pieces)
        if abs(bottom) > NEAR * size and lowest > bottom - 3 * NEAR * size:
            return float(bottom)
    if abs(lowest) <= NEAR * size or (recording.pieces and lowest > 0):
        return 0.0
    return lowest


def _lowest(recording: Recording, size: float) -> np.ndarray:
    """(T,) height [m] of what is lowest: feet as if they were bare, or any other point."""
    return np.minimum(feet(recording, size)[1].min(axis=1), recording.points[..., 2].min(axis=1))


def _nailed(recording: Recording) -> bool:
    """Whether the hips stay in their place to the last digit while feet move."""
    hips = [i for i, anchor in enumerate(recording.anchors) if anchor.link == "pelvis"][:1]
    still = np.ptp(recording.points[:, hips], axis=0).max(initial=0.0) < STILL
    return bool(hips) and bool(still) and np.ptp(feet(recording)[0], axis=0).max() > MOVES


def _on_its_feet(recording: Recording) -> Recording:
    """The body moved so that its lowest point is at zero and that the foot that stands stays where it is."""
    size = estimate_height(recording) / HEIGHT
    places, heights = feet(recording, size)
    share = special.softmax(-heights / TOUCH, axis=1)
    share = 0.5 * (share[1:] + share[:-1])
    step = np.einsum("tf,tfi->ti", share, np.diff(places[..., :2], axis=0))
    low = ndimage.gaussian_filter1d(_lowest(recording, size), SMOOTH * recording.fps, mode="nearest")
    way = np.c_[np.append(np.zeros((1, 2)), -np.cumsum(step, axis=0), axis=0), -low]
    return replace(recording, points=recording.points + way[:, None])
