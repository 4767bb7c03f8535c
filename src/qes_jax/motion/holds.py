"""Where the character rests on something, told from a motion that nearly does: what is near, slow, and stays."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from qes_jax.motion.rig import Rig
from qes_jax.motion.touch import Toucher, Touches

FLOAT = 0.065  # [m] a resting foot may seem to float, as the floor of a recording is rarely where it says

HOVER = 1.0  # [m] from how high a body that floats is brought down
FLIGHT, LONGEST = 0.7, 100  # [s] of a high jump, and frames more than that


@dataclass(frozen=True)
class Holds:
    """Which geoms rest on an object: at those places distance and speed shall vanish."""

    resting: np.ndarray  # (T, G) bool

    def of(self, touches: Touches) -> np.ndarray:
        """(T, C) the nearest touch of each resting geom."""
        frames = np.arange(len(self.resting))[:, None]
        nearest = touches.dist <= touches.least(self.resting.shape[1], touches.geom >= 0)[frames, touches.geom]
        return self.resting[frames, touches.geom] & nearest & (touches.geom >= 0)


def find_holds(rig: Rig, toucher: Toucher, qpos: np.ndarray, fps: float) -> Holds:
    """Geoms that rest on something: near, slow, and for longer than an instant.

    A foot's corner rests on what is below it only, if the foot is within FLOAT, the corner no more than 3 cm above the
    foot's lowest (a lifted heel is) and slower than 0.5 m/s. Anything else rests within 3 cm and below 0.25 m/s. Our
    choice.
    """
    m, touches = rig.model, toucher(qpos)
    speed = np.linalg.norm(np.gradient(rig.poses(qpos).geom_xpos, 1.0 / fps, axis=0), axis=-1)
    side = np.array([_foot_side(m.body(b).name) for b in m.geom_bodyid])
    below = touches.normal[..., 2] > 0.7
    usable = np.where(side[touches.geom] > 0, below, touches.dist < 0.03) & (touches.geom >= 0)
    least = touches.least(m.ngeom, usable)
    resting = (least < np.inf) & (speed < np.where(side > 0, 0.5, 0.25))
    for foot in (1, 2):
        mine = side == foot
        lowest = least[:, mine].min(axis=1, keepdims=True)
        resting[:, mine] &= (least[:, mine] <= lowest + 0.03) & (lowest <= FLOAT)
    resting = np.pad(resting, ((4, 4), (0, 0)), mode="edge")  # the first and the last frame count as going on
    return Holds(ndimage.binary_opening(ndimage.binary_closing(resting, np.ones((3, 1))), np.ones((4, 1)))[4:-4])


def floating(rig: Rig, qpos: np.ndarray, fps: float) -> np.ndarray:
    """(T,) height [m] that the whole body hovers over everything for longer than a jump lasts, 0 below FLOAT.

    So does one who lies on a fat back, or climbs on what the scene does not have.
    """
    gap = Toucher(rig, HOVER)(qpos).dist.min(axis=1).clip(0.0, HOVER)
    lasting = ndimage.grey_opening(np.pad(gap, LONGEST, mode="edge"), round(FLIGHT * fps))[LONGEST:-LONGEST]
    return ndimage.gaussian_filter1d(np.where(lasting > FLOAT, lasting, 0.0), 0.1 * fps, mode="nearest")


def _foot_side(body: str) -> int:
    """1 for a link of the left foot, 2 for the right, 0 for others."""
    side, _, link = body.partition("_")
    return {"left": 1, "right": 2}.get(side, 0) * (link in ("foot", "toes"))
