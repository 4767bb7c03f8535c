"""The character: mjcf/humanoid.xml, scaled to a subject's height, driven by torques or by PD targets."""

from dataclasses import dataclass
from typing import Literal

import mujoco

from qes_jax.paths import mjcf_dir

HEIGHT = 1.75  # [m] of mjcf/humanoid.xml

# PD gains [N m / rad] by joint, at 1.75 m. Our choice: about 1.5-2 x the maximum torque per radian,
# as in DeepMimic's humanoid.
STIFFNESS = {
    "lumbar_pitch": 500, "lumbar_roll": 500, "thorax_pitch": 400, "thorax_yaw": 300, "neck_pitch": 60, "neck_yaw": 40,
    "shoulder_swing": 200, "shoulder_lift": 200, "shoulder_twist": 100, "elbow": 150, "forearm_twist": 25, "wrist": 25,
    "hip_pitch": 400, "hip_roll": 400, "hip_yaw": 250, "knee": 400, "ankle_pitch": 300, "ankle_roll": 150,
    "toe_pitch": 40,
}  # fmt: skip
DAMPING_RATIO = 0.1  # [s] kv = 0.1 kp


@dataclass(frozen=True)
class CharacterConfig:
    """`height` [m], 1.4 to 2.0. `actuation`: "torque" (action in [-1, 1] times maximum torque, the paper's) or "pd"."""

    height: float = HEIGHT
    actuation: Literal["torque", "pd"] = "torque"

    def __post_init__(self) -> None:
        if not 1.4 <= self.height <= 2.0:
            raise ValueError(f"character height is {self.height} m: expected 1.4 to 2.0 m")
        if self.actuation not in ("torque", "pd"):
            raise ValueError(f"actuation is {self.actuation!r}: expected 'torque' or 'pd'")


def character_spec(config: CharacterConfig) -> mujoco.MjSpec:
    """The character alone on a floor, as an editable MjSpec of the config's height and actuation."""
    spec = mujoco.MjSpec.from_file(str(mjcf_dir() / "humanoid.xml"))
    _scale(spec, config.height / HEIGHT)
    if config.actuation == "pd":
        _drive_by_targets(spec, config.height / HEIGHT)
    return spec


def joint_kind(name: str) -> str:
    """A joint's name without its side: "left_knee" -> "knee"."""
    return name.removeprefix("left_").removeprefix("right_")


def _scale(spec: mujoco.MjSpec, s: float) -> None:
    """Scale a whole body by s, dynamically similar under the same gravity (Hodgins & Pollard 1997).

    Lengths s, masses s^3, moments of inertia s^5, torques s^4, damping torque x time s^4.5.
    """
    bodies = [b for b in spec.bodies if b.name != "world"]
    for body in bodies:
        body.pos = body.pos * s
    for geom in (g for b in bodies for g in b.geoms):
        geom.size, geom.pos, geom.fromto, geom.mass = geom.size * s, geom.pos * s, geom.fromto * s, geom.mass * s**3
    for site in spec.sites:
        site.pos = site.pos * s
    for joint in spec.joints:
        joint.armature, joint.damping = joint.armature * s**5, joint.damping * s**4.5
    for actuator in spec.actuators:
        actuator.gear = actuator.gear * s**4
    for key in spec.keys:
        key.qpos[2] *= s


def _drive_by_targets(spec: mujoco.MjSpec, s: float) -> None:
    """Turn each motor into a PD servo on its joint's angle: ctrl is a target [rad], limited to the maximum torque."""
    for actuator in spec.actuators:
        limit = actuator.gear[0]
        kp = STIFFNESS[joint_kind(actuator.name)] * s**4
        actuator.set_to_position(kp=kp, kv=DAMPING_RATIO * kp * s**0.5)
        actuator.gear = [1, 0, 0, 0, 0, 0]
        actuator.forcelimited, actuator.forcerange = True, [-limit, limit]
        actuator.ctrllimited = False
