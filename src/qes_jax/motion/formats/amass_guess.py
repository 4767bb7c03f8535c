"""What AMASS motions leave open or get wrong: the unit of `trans`, the upward axis, and how tall `betas` make the body.

SMPL's own files, which turn `betas` into a body, may not be passed on. Its first number is mostly the height: by the
regression of Pujades et al. 2019 ("The Virtual Caliper") from height and volume, inverted, one unit of it is 7.7 cm of
a man and 7.2 cm of a woman, and has another sign in either; SMPL-X has one of its own. So the amount is known, and the
sign is taken by where the feet then stand, since AMASS has its floor at zero, else by the gender.
"""

from collections.abc import Callable

import numpy as np

from qes_jax.motion.formats.skeleton import SkeletonMotion, snapshots

FASTEST = 12.0  # [m/s] of any person
FARTHEST = 6.0  # [m] that a room of motion capture reaches from its middle
PELVIS = 0.9  # [m]
SLOPES, HEIGHT = {"male": -0.077, "female": 0.072}, 1.72  # [m] a unit of the first beta, [m] of the mean body
LARGEST = 0.3  # by which a body may differ from the mean one
SOLE = 0.02  # [m] the balls of the feet lie over the floor
NEAR, CLEAR = 0.12, 0.02  # [m] from the floor of feet that stand on it; between two readings
FLAT = 0.3  # [m]
Body = Callable[[float], SkeletonMotion]


def guess_metre(trans: np.ndarray, fps: float, body: SkeletonMotion, notes: list[str]) -> float:
    """[m] of the unit of `trans` (T, 3) at `fps` [Hz], the body's axes as in the file.

    The metre, unless it takes the body farther, or farther and faster, than anyone gets; then the unit that puts the
    pelvis most nearly to its height.
    """
    speed = np.linalg.norm(np.diff(trans, axis=0), axis=1) * fps
    fast, far = float(np.percentile(speed, 95)) if len(speed) else 0.0, float(np.percentile(np.abs(trans), 95))
    if far < FARTHEST or (far < 5 * FARTHEST and fast < FASTEST):
        return 1.0
    height = float(np.abs(np.median(trans[:, int(np.argmax(np.abs(_upwards(body))))])))
    unit = min((0.01, 0.001), key=lambda u: abs(np.log(max(u * height, 1e-6) / PELVIS)))
    notes.append(f"trans is taken for units of {unit:g} m: in metres nobody gets so far")
    return unit


def guess_axis(body: Callable[[str], SkeletonMotion], notes: list[str]) -> str:
    """AMASS's Z, or Y where the head is above the feet along that and the feet stand near zero, as converters do."""
    place = snapshots(body("z"))
    standing, lying = (abs(float(np.percentile(place[..., axis].min(axis=1), 5))) for axis in (1, 2))
    if _upwards(body("z"))[1] > 0.85 and (standing < FLAT or lying > FLAT):
        notes.append("Y is up, by head and feet, though AMASS has Z")
        return "y"
    return "z"


def _upwards(motion: SkeletonMotion) -> np.ndarray:
    """(3,) mean direction from the feet to the head."""
    place = snapshots(motion)
    ankles = [motion.index(f"{side}_ankle") for side in ("left", "right")]
    way = place[:, motion.index("head")] - place[:, ankles].mean(axis=1)
    return (way / np.linalg.norm(way, axis=1, keepdims=True).clip(1e-9)).mean(axis=0)


def guess_size(betas: np.ndarray, gender: str, body: Body, notes: list[str]) -> float:
    """By how much larger than the mean body the file's is, see above."""
    change = float(np.clip(0.075 * abs(betas[0]) / HEIGHT, 0.0, LARGEST)) if len(betas) else 0.0
    if change < 0.01:
        return 1.0
    choices = (1 + change, 1 - change)
    off = [abs(_lowest(body(size)) - SOLE) for size in choices]
    if min(off) < NEAR and abs(off[0] - off[1]) > CLEAR:
        size, why = choices[int(np.argmin(off))], "taller or shorter by where its feet stand"
    elif gender:
        taller = np.sign(SLOPES[gender]) == np.sign(betas[0])
        size, why = choices[0 if taller else 1], f"taller or shorter as {gender} bodies of SMPL are"
    else:
        notes.append(
            f"betas: the first is {betas[0]:.2f}, but neither feet nor gender tell which way: the mean body is taken"
        )
        return 1.0
    notes.append(
        f"betas: the body is taken to be {size * HEIGHT:.2f} m tall by the first one, {betas[0]:.2f} at about 7.5 cm a "
        f"unit, {why}; the others are left out"
    )
    return float(size)


def _lowest(motion: SkeletonMotion) -> float:
    """[m] where the lowest joint is while it is lowest."""
    return float(np.percentile(snapshots(motion)[..., 2].min(axis=1), 5))
