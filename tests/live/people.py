"""A user who stands in the A-pose of the character, somewhere in a device's space, and a body that needs no physics."""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.evaluate.stream import Pose
from qes_jax.live.person import Figure
from qes_jax.live.room import Room
from qes_jax.live.wire import Sample
from qes_jax.model.scene import SCENES
from qes_jax.model.world import build_world
from qes_jax.motion.frames import turn_points, turn_quats

DT = 1 / 36
WORLD = build_world()
FIGURE = Figure(WORLD)


def user(scale: float = 1.0, yaw: float = 0.0, at=(0.0, 0.0), arms: float = 1.0, offset=(0.0, 0.0, 0.0), grip=None):
    """Headset and controllers (3, 3), (3, 4) of someone in the A-pose: `scale` times our size, turned, moved.

    `offset` [m] and `grip` are where the middle of each fist is in its controller's frame, and how it is turned there.
    """
    chest = FIGURE.pos[0] - [0, 0, 0.22 * FIGURE.eye_height]
    pos = np.concatenate([FIGURE.pos[:1], chest + arms * (FIGURE.pos[1:] - chest)]) * scale
    quat = FIGURE.quat.copy()
    grip = grip or Rotation.identity()
    for i in (1, 2):
        hand = Rotation.from_quat(quat[i], scalar_first=True)
        pos[i] -= hand.apply(offset)
        quat[i] = (hand * grip.inv()).as_quat(scalar_first=True)
    pos = turn_points(pos - [*pos[0, :2], 0], yaw) + np.array([*at, 0.0])
    return pos, turn_quats(quat, yaw)


def sample(n: int, t: float, pos, quat, tracked=(1, 1, 1), visible: bool = True, buttons: int = 0) -> Sample:
    return Sample(n, t, visible, buttons, np.array(tracked, bool), np.array(pos), np.array(quat))


class Puppet:
    """Stands in for a `Follower`: its sensors are where it is told, or `off` [m] beside."""

    latency = 5 * DT

    def __init__(self) -> None:
        self.world, self.off, self.resets, self.steps = WORLD, 0.0, [], []
        self.task = SimpleNamespace(config=SimpleNamespace(ctrl_dt=DT, future=0))
        self.placement = np.zeros((0, 7), np.float32)

    def reset(self, pos, quat, objects=None) -> Pose:
        self.resets.append((np.array(pos), np.array(quat)))
        return self._pose(0.0)

    def step(self, pos, quat) -> Pose:
        self.steps.append((np.array(pos), np.array(quat)))
        return self._pose(self.off)

    def place(self, placement) -> None:
        self.placement = placement

    def _pose(self, error: float) -> Pose:
        k = WORLD.plain.nbody - 1
        force = np.zeros((len(WORLD.layout.links), len(WORLD.layout.objects)))
        return Pose(WORLD.layout.home_qpos, np.zeros((k, 3)), np.tile([1.0, 0, 0, 0], (k, 1)), force, np.float32(error))


def puppet_room() -> Room:
    return Room("puppet", SCENES["flat"], (), Puppet(), FIGURE)  # type: ignore[arg-type]
