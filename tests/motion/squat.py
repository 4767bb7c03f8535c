"""A motion that is known: a squat on a box, and a recording of it."""

import numpy as np

from qes_jax.model.scene import Piece
from qes_jax.model.world import World
from qes_jax.motion.formats import holosoma
from qes_jax.motion.formats.recording import Recording
from qes_jax.motion.retarget import Fit
from qes_jax.motion.rig import Rig

BOX = Piece("box", "box", (0.8, 0.8, 0.3), (0.0, 0.0, 0.0), 0.2)


def known_motion(world: World, seconds: float = 2.0) -> np.ndarray:
    """qpos of a squat on the box, at 36 Hz: heels stay, arms rise in front above the head, elbows and trunk bend."""
    layout, time = world.layout, np.arange(int(36 * seconds)) / 36
    phase = 0.5 - 0.5 * np.cos(2 * np.pi * time / seconds)
    qpos = np.tile(layout.home_qpos, (len(time), 1))
    address = {name: layout.joint_qpos[i] for i, name in enumerate(layout.joints)}
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", 0.9), ("knee", 1.6), ("ankle_pitch", 0.7), ("elbow", 0.8)):
            qpos[:, address[f"{side}_{joint}"]] += angle * phase
        for joint, angle in (("shoulder_swing", -1.4), ("shoulder_lift", -0.3)):
            qpos[:, address[f"{side}_{joint}"]] += angle * phase
    qpos[:, address["thorax_yaw"]] = 0.4 * np.sin(2 * np.pi * time)
    rig = Rig(world)
    feet = rig.poses(qpos).xpos[:, [rig.body("left_foot"), rig.body("right_foot")]].mean(axis=1)
    qpos[:, :3] += np.array([0.0, 0.0, 0.3 + 0.08 * 1.68 / 1.75]) - feet
    return qpos


def recorded(world: World, qpos: np.ndarray) -> Recording:
    """The motion as joint points at 120 Hz would not differ: here at the clip's rate."""
    rig, anchors = Rig(world), holosoma._anchors()
    body = np.array([rig.body(a.link) for a in anchors.values()])
    offset = np.array([a.offset for a in anchors.values()]) * world.character.height / 1.75
    points = rig.poses(qpos).points(body, offset)
    return Recording("known", "", 36.0, tuple(anchors), tuple(anchors.values()), points, holosoma.BONES, world.pieces)


def everything_touches(fit: Fit) -> np.ndarray:
    """Contact labels that leave it to the report to see what is near; the labels' own tests are elsewhere."""
    layout = fit.world.layout
    return np.ones((len(fit.qpos), len(layout.links), len(layout.objects)), np.uint8)
