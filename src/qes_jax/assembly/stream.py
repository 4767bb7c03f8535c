"""A policy that follows a user who arrives frame by frame, of any height, with controllers of a known kind."""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from qes_jax.assembly.program import make_task
from qes_jax.assembly.trained import Trained, find_trained, load_trained
from qes_jax.evaluate.stream import Follower, Pose
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.scene_file import find_scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import kinematics
from qes_jax.motion.clip import FPS
from qes_jax.motion.sensors import GRIPS, SensorTrack, hold, sensor_clip


class StreamTracker:
    """A body that a policy moves in real time: `reset` once, then `step` at 36 Hz.

    `policy` is what `load_policy` gives, or its name; `scene` a `Scene`, a built-in one's name or a file. `height` [m]
    is the user's, by default the character's: positions are scaled by `scale`, and poses are the character's, on its
    scale, so divide their lengths by `scale` to have the user's. `device` says what `controllers` are: "hands" are
    poses of the hands themselves (X where the thumb points, Z up the forearm), others are turned as a fist holds them.

    >>> import numpy as np
    >>> tracker = StreamTracker("walk", height=1.62)
    >>> headset, controllers = tracker.rest()             # (7,), (2, 7): position [m], quaternion wxyz; Z is up
    >>> pose = tracker.reset(headset, controllers)
    >>> for _ in range(20):
    ...     pose = tracker.step(headset, controllers)     # and so on, with the user's next frame each time
    >>> pose.xpos.shape, pose.force.shape                 # links' positions [m], contact forces with objects [N]
    ((18, 3), (18, 1))
    """

    def __init__(
        self, policy: Trained | str, scene: Scene | str = "flat", height: float | None = None, device: str = "hands"
    ) -> None:
        """Compiling waits until the first `reset` and `step`. Raises ValueError at an unknown device or odd height."""
        trained = load_trained(find_trained(Path("runs"), policy)) if isinstance(policy, str) else policy
        scene = find_scene(scene) if isinstance(scene, str) else scene
        own = trained.config.character.height
        self.height = own if height is None else height
        if not 0.5 <= self.height <= 3.0:
            raise ValueError(f"height {height}: expected metres")
        if device != "hands" and device not in GRIPS:
            raise ValueError(f"unknown device {device!r}: expected hands or one of {', '.join(GRIPS)}")
        self.scale, self._device = own / self.height, device
        self._rest = rest_pose(own)
        still = (np.float32(x)[None].repeat(2, axis=0) for x in self._rest)
        clip = sensor_clip(SensorTrack("live", own, FPS, *still, np.ones((2, 3), bool)), scene)
        task, _ = make_task(trained.config, [clip])
        placement = task.engine.world.placement()
        self._follower = Follower(task, trained.act, trained.policy, trained.mean_pose, placement)

    @property
    def latency(self) -> float:
        """How far the body lies behind the user [s]."""
        return self._follower.latency

    def rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Headset (7,) and hands (2, 7) of a user of this height who stands at the origin and looks along X."""
        pos, quat = self._rest
        rows = np.concatenate([pos / self.scale, quat], axis=1)
        return rows[0], rows[1:]

    def reset(self, headset: ArrayLike, controllers: ArrayLike) -> Pose:
        """Stand the body at rest under the headset; poses (7,) and (2, 7), left before right."""
        return self._follower.reset(*self._sensors(headset, controllers))

    def step(self, headset: ArrayLike, controllers: ArrayLike) -> Pose:
        """The body 1/36 s on. Raises ValueError at numbers that are no poses, RuntimeError before a `reset`."""
        return self._follower.step(*self._sensors(headset, controllers))

    def _sensors(self, headset: ArrayLike, controllers: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Positions (3, 3) and quaternions (3, 4) on the character's scale."""
        rows = np.concatenate([np.atleast_2d(np.asarray(headset, float)), np.asarray(controllers, float)])
        if rows.shape != (3, 7) or not np.isfinite(rows).all() or not np.linalg.norm(rows[:, 3:], axis=1).all():
            raise ValueError("expected headset (7,) and controllers (2, 7): finite positions, quaternions that turn")
        pos, quat = rows[:, :3], rows[:, 3:] / np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
        if self._device != "hands":
            pos[1:], quat[1:] = hold(GRIPS[self._device], pos[1:], quat[1:])
        return np.float32(pos * self.scale), np.float32(quat)


def rest_pose(height: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions (3, 3) and quaternions (3, 4) of the sensors of a character of `height` [m] in the A-pose."""
    world = build_world(CharacterConfig(height=height))
    pos, quat = (x[0] for x in kinematics(world, world.layout.home_qpos[None])[2:])
    return pos, quat
