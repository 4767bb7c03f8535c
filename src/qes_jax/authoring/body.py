"""The character as an author needs it: its measures, and arms posed by anatomical angles."""

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.authoring.timeline import Angles
from qes_jax.model.character import CharacterConfig
from qes_jax.model.world import World, build_world

SIDES = ("left", "right")
LEFT, RIGHT = 0, 1
SIGN = np.array([1.0, -1.0])  # of Y on each side
ARM = ("shoulder_swing", "shoulder_lift", "shoulder_twist", "elbow", "forearm_twist", "wrist")


@dataclass(frozen=True)
class Body:
    """Measures [m] of a character that stands straight in its model's zero pose."""

    world: World

    @cached_property
    def data(self) -> mujoco.MjData:
        """The zero pose."""
        data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, data)
        return data

    @property
    def model(self) -> mujoco.MjModel:
        """The compiled model without sensors."""
        return self.world.plain

    @cached_property
    def leg(self) -> float:
        """Hip to ankle, straight."""
        return float(np.linalg.norm(self._at("left_thigh") - self._at("left_foot")))

    @cached_property
    def hip(self) -> float:
        """Half the distance between the hips."""
        return float(self._at("left_thigh")[1])

    @cached_property
    def sole(self) -> float:
        """Height of a flat foot's ankle above the ground."""
        corner = self.model.geom("left_heel_in")
        return float(corner.size[0] - corner.pos[2])

    @cached_property
    def heel(self) -> np.ndarray:
        """(2,) forward and up from ankle to the middle of the heel's corners."""
        return self.model.geom("left_heel_in").pos[[0, 2]]

    @cached_property
    def toe_joint(self) -> np.ndarray:
        """(2,) forward and up from ankle to the toes' hinge."""
        return self.model.body("left_toes").pos[[0, 2]]

    @cached_property
    def toe(self) -> float:
        """From the toes' hinge to their tips."""
        return float(self.model.geom("left_toe_in").pos[0])

    def seat_depth(self, pitch: np.ndarray | float) -> np.ndarray:
        """Depth [m] (...) of the pelvis capsule below the frame of a pelvis pitched nose down by `pitch` [rad]."""
        geom = self.model.geom("pelvis")
        return geom.size[0] - geom.pos[2] * np.cos(pitch) + geom.pos[0] * np.sin(pitch)

    @cached_property
    def arm_joints(self) -> np.ndarray:
        """(2, 6) hinge numbers of each arm in the order of ARM."""
        return np.array([[self.world.layout.joints.index(f"{side}_{j}") for j in ARM] for side in SIDES])

    def joint(self, name: str) -> int:
        """Number of a hinge."""
        return self.world.layout.joints.index(name)

    def _at(self, name: str) -> np.ndarray:
        return self.data.body(name).xpos


def make_body(height: float = 1.75) -> Body:
    """The character of this height [m] alone on a floor."""
    return Body(build_world(CharacterConfig(height=height)))


def arm_pose(
    flexion: Angles,
    abduction: Angles,
    twist: Angles = 0.0,
    elbow: Angles = 0.0,
    forearm: Angles = 0.0,
    wrist: Angles = 0.0,
) -> np.ndarray:
    """(..., 6) arm hinges in the order of ARM from anatomical angles [rad] that broadcast, the same for both sides.

    The upper arm hangs down, turns inwards about itself by `twist`, then sideways by `abduction`, then forwards by
    `flexion`.
    The shoulder's hinges are Y, X, Z seen from a frame turned by 45 degrees about Z (mjcf/humanoid.xml).
    """
    flexion, abduction, twist, *rest = np.broadcast_arrays(flexion, abduction, twist, elbow, forearm, wrist)
    shape = flexion.shape
    euler = np.stack([-flexion, abduction, -twist], axis=-1).reshape(-1, 3)
    turn = Rotation.from_euler("YXZ", euler)
    diagonal = Rotation.from_euler("Z", np.pi / 4)
    hinges = (diagonal.inv() * turn * diagonal).as_euler("YXZ").reshape(*shape, 3)
    return np.concatenate([hinges, np.stack(rest, axis=-1)], axis=-1)
