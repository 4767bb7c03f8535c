"""Bodies for the feature-based controllers: the human, the human with doubled limbs, infant, ostrich, dinosaur.

One controller moves them all, by names alone: the root link carries hips, `thorax` (else the root) is the trunk,
`neck` (else `head`) starts where the neck does, SIDE_thigh and SIDE_upper_arm start at hips and shoulders, SIDE_foot
stands on the spheres SIDE_heel_in, _heel_out, _ball_in, _ball_out, and its joints are called ankle. Key pose "rest" of
a file in mjcf/bodies/ stands on flat feet.
"""

import mujoco
import numpy as np

from qes_jax.model.character import CharacterConfig, character_spec
from qes_jax.paths import mjcf_dir

HUMAN = "humanoid"
DOUBLED = {
    "humanoid_arms2": ("upper_arm",),
    "humanoid_legs2": ("thigh",),
    "humanoid_limbs2": ("upper_arm", "thigh"),
}
OTHERS = ("infant", "ostrich", "dinosaur")
BODIES = (HUMAN, *DOUBLED, *OTHERS)


def body_spec(name: str) -> mujoco.MjSpec:
    """One of `BODIES` on a floor, as an editable MjSpec. Raises KeyError that lists the valid names."""
    if name not in BODIES:
        raise KeyError(f"unknown body {name!r}: expected one of {list(BODIES)}")
    if name in OTHERS:
        return mujoco.MjSpec.from_file(str(mjcf_dir() / "bodies" / f"{name}.xml"))
    spec = character_spec(CharacterConfig())
    for limb in DOUBLED.get(name, ()):
        for side in ("left", "right"):
            double_limb(spec, spec.body(f"{side}_{limb}"))
    return spec


def double_limb(spec: mujoco.MjSpec, root: mujoco.MjsBody) -> None:
    """Make a limb, from its first link on, twice as long and as deep (z, x), not wider: feet stay apart.

    The paper says "twofold"; how is our choice: mass doubles at an equal girth, so weight times length, and with it
    torques and damping, grow fourfold, and m l^2, and with it armature, eightfold. Key poses keep their height.
    """
    stretch = np.array([2.0, 1.0, 2.0])
    limb = [root, *root.find_all("body")]
    for body in limb:
        if body is not root:
            body.pos = body.pos * stretch
        for geom in body.geoms:
            geom.pos, geom.fromto, geom.mass = geom.pos * stretch, geom.fromto * np.tile(stretch, 2), 2 * geom.mass
            if geom.type == mujoco.mjtGeom.mjGEOM_BOX:
                geom.size = geom.size * stretch
        for site in body.sites:
            site.pos = site.pos * stretch
        for joint in body.joints:
            joint.armature, joint.damping = 8 * joint.armature, 4 * joint.damping
    joints = {j.name for b in limb for j in b.joints}
    for actuator in spec.actuators:
        if actuator.target in joints:
            actuator.gear = 4 * actuator.gear
