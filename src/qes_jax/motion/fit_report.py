"""How good a retargeted motion is: distances in centimetres, the same for every format."""

import numpy as np

from qes_jax.model.character import HEIGHT
from qes_jax.motion.contacts import NEAR, SLOW
from qes_jax.motion.kept import kept_touches, runs
from qes_jax.motion.retarget import Fit, raised
from qes_jax.motion.rig import Rig
from qes_jax.motion.subject import is_joint
from qes_jax.motion.touch import Toucher

SHORTEST = 3  # frames from one to the next of a stance; a foot that swings may pass the floor closely


def report(fit: Fit, contact: np.ndarray) -> dict[str, float]:
    """Quality of a fit whose contact labels are `contact` (T, L, O).

    mean_error_cm, p95_error_cm: of all recorded points to their anchors as fitted.
    joint_error_cm, joint_p95_error_cm: of the limbs' recorded joints (shoulders, elbows, wrists, hips, knees, ankles,
    balls of the feet) to the character's own, wherever those are. Both after the uniform scaling that `Fit` tells.
    foot_skate_cm: mean way a standing foot slips from one frame to the next, of its touching corner that slips least (a
    foot that rolls does not skate); stance_slide_cm: that summed over a stance, mean of all stances.
    floor_penetration_cm, object_penetration_cm: the deepest of all frames.
    peak_acceleration: the largest of all hinges and frames [rad/s^2].
    touches, touches_kept: see `kept`; only with objects.
    """
    rig = Rig(fit.world)
    touches = Toucher(rig, NEAR)(fit.qpos)
    slips = foot_slips(fit, contact)
    hinges = fit.qpos[:, fit.world.layout.joint_qpos]
    return {
        **point_errors(fit),
        "foot_skate_cm": 100 * float(np.concatenate(slips).mean()) if slips else 0.0,
        "stance_slide_cm": 100 * float(np.mean([s.sum() for s in slips])) if slips else 0.0,
        "floor_penetration_cm": 100 * touches.depth(floor=True),
        "object_penetration_cm": 100 * touches.depth(floor=False),
        "peak_acceleration": float(np.abs(np.diff(hinges, 2, axis=0)).max() * fit.recording.fps**2),
        **kept_touches(fit),
    }


def point_errors(fit: Fit) -> dict[str, float]:
    """The four figures of distances, see `report`."""
    rig, recording = Rig(fit.world), fit.recording
    poses, points = rig.poses(fit.qpos), raised(recording.points, fit.lift)
    body = np.array([rig.body(a.link) for a in recording.anchors])
    error = 100 * np.linalg.norm(poses.points(body, fit.offset) - points, axis=-1)
    nominal = np.array([a.offset for a in recording.anchors]) * fit.height / HEIGHT
    joints = np.array([is_joint(a) for a in recording.anchors])
    own = 100 * np.linalg.norm(poses.points(body, nominal) - points, axis=-1)[:, joints]
    return {
        "mean_error_cm": float(error.mean()),
        "p95_error_cm": float(np.percentile(error, 95)),
        "joint_error_cm": float(own.mean()),
        "joint_p95_error_cm": float(np.percentile(own, 95)),
    }


def foot_slips(fit: Fit, contact: np.ndarray) -> list[np.ndarray]:
    """For each stance of a foot the slips [m] from frame to frame, see `report`."""
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
        least = np.where(touching, slip, np.inf).min(axis=1)
        slips += [least[first:last] for first, last in runs(standing) if last - first >= SHORTEST]
    return slips


def quick_labels(fit: Fit) -> np.ndarray:
    """(T, L, O) labels as `contacts.label_contacts` has them, for still objects: by MuJoCo's C code, quick."""
    rig = Rig(fit.world)
    m, layout = rig.model, fit.world.layout
    touches, frames = Toucher(rig, NEAR)(fit.qpos), np.arange(len(fit.qpos))[:, None]
    speed = np.linalg.norm(np.gradient(rig.poses(fit.qpos).geom_xpos, 1 / fit.recording.fps, axis=0), axis=-1)
    link = np.full(m.nbody, -1)
    link[layout.link_ids + 1] = np.arange(len(layout.links))
    slow = (touches.geom >= 0) & (touches.dist <= NEAR) & (speed[frames, touches.geom] <= SLOW)
    t, c = np.nonzero(slow)
    labels = np.zeros((len(fit.qpos), len(layout.links), len(layout.objects)), np.uint8)
    labels[t, link[touches.body[t, c]], touches.object[t, c]] = 1
    return labels
