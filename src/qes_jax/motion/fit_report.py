"""How good a retargeted motion is: distances in centimetres, the same for every format."""

import numpy as np

from qes_jax.model.character import HEIGHT
from qes_jax.motion.contacts import NEAR
from qes_jax.motion.retarget import Fit
from qes_jax.motion.rig import Rig
from qes_jax.motion.touch import Toucher


def report(fit: Fit, contact: np.ndarray) -> dict[str, float]:
    """Quality of a fit whose contact labels are `contact` (T, L, O).

    mean_error_cm, p95_error_cm: of the recorded points to their anchors as fitted; joint_error_cm: mean to the anchors
    as they stand by the character's proportions. foot_skate_cm: mean way a standing foot slips from one frame to the
    next, of its touching corner that slips least (a foot that rolls does not skate). floor_penetration_cm,
    object_penetration_cm: the deepest of all frames.
    """
    rig = Rig(fit.world)
    poses, recording = rig.poses(fit.qpos), fit.recording
    body = np.array([rig.body(a.link) for a in recording.anchors])
    error = np.linalg.norm(poses.points(body, fit.offset) - recording.points, axis=-1)
    nominal = np.array([a.offset for a in recording.anchors]) * fit.height / HEIGHT
    plain = np.linalg.norm(poses.points(body, nominal) - recording.points, axis=-1)
    touches = Toucher(rig, NEAR)(fit.qpos)
    return {
        "mean_error_cm": 100 * float(error.mean()),
        "p95_error_cm": 100 * float(np.percentile(error, 95)),
        "joint_error_cm": 100 * float(plain.mean()),
        "foot_skate_cm": 100 * foot_skate(fit, contact),
        "floor_penetration_cm": 100 * touches.depth(floor=True),
        "object_penetration_cm": 100 * touches.depth(floor=False),
    }


def foot_skate(fit: Fit, contact: np.ndarray) -> float:
    """Mean slip [m] a contact frame, see `report`."""
    rig = Rig(fit.world)
    m, layout = rig.model, fit.world.layout
    touches = Toucher(rig, NEAR)(fit.qpos)
    near = touches.least(m.ngeom, touches.geom >= 0) <= NEAR
    slip = np.linalg.norm(np.diff(rig.poses(fit.qpos).geom_xpos, axis=0), axis=-1)
    slips = []
    for side in ("left", "right"):
        links = [layout.links.index(f"{side}_{part}") for part in ("foot", "toes")]
        corners = np.isin(m.geom_bodyid, layout.link_ids[links] + 1) & (m.geom_contype == 1)
        touching = near[:-1] & near[1:] & corners
        labelled = np.any(contact[:, links], axis=(1, 2))
        standing = touching.any(axis=1) & labelled[:-1] & labelled[1:]
        slips.append(np.where(touching, slip, np.inf).min(axis=1)[standing])
    slips = np.concatenate(slips)
    return float(slips.mean()) if len(slips) else 0.0
