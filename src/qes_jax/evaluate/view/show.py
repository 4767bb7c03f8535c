"""What there is to be seen of an episode or of a clip: poses, contacts, devices, height map and error, as arrays."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.config import SceneObsConfig
from qes_jax.env.observe import height_grid, map_points
from qes_jax.env.surfaces import heights
from qes_jax.evaluate.episode import Episode, body_poses
from qes_jax.evaluate.likeness import TOUCHED
from qes_jax.model.engine import Derived
from qes_jax.model.world import World
from qes_jax.motion.build import clip_world
from qes_jax.motion.clip import Clip
from qes_jax.rotations import heading


class Poses(NamedTuple):
    """Of all K bodies but the world, over T frames."""

    pos: np.ndarray  # (T, K, 3) [m]
    quat: np.ndarray  # (T, K, 4)


class HeightMap(NamedTuple):
    """The P points that a policy observes, in the root's heading frame, which moves."""

    pos: np.ndarray  # (T, 3) of the frame's origin, on the floor [m]
    quat: np.ndarray  # (T, 4) its yaw
    points: np.ndarray  # (T, P, 3) float32 in that frame [m]


@dataclass(frozen=True)
class Show:
    """T frames of one motion. L links, O objects."""

    title: str
    fps: float  # [Hz]
    world: World
    placement: np.ndarray  # (O-1, 7) of the pieces
    body: Poses  # drawn solid: the simulated body, or that of a clip shown by itself
    ghost: Poses | None  # drawn translucent: the reference
    user_pos: np.ndarray  # (T, 3, 3) headset, left, right controller [m]
    user_quat: np.ndarray  # (T, 3, 4)
    touch: np.ndarray | None  # (T, L, O) bool, contacts as simulated
    label: np.ndarray  # (T, L, O) bool, contacts as the reference has them
    error: np.ndarray | None  # (T, 3) [m] of headset, left, right controller
    height_map: HeightMap | None

    @property
    def n_frames(self) -> int:
        """T."""
        return len(self.user_pos)

    @property
    def duration(self) -> float:
        """Length [s]."""
        return (self.n_frames - 1) / self.fps

    def root(self) -> np.ndarray:
        """(T, 3) where the solid body's root is [m]."""
        return self.body.pos[:, self.world.layout.link_ids[0]]


def show_episode(episode: Episode, seen: SceneObsConfig | None = None, title: str = "") -> Show:
    """The simulated body solid, the reference as a ghost. `seen` is the height map of the policy, None to leave it out.

    The ghost's joints of pieces are the reference's own, of which only the body is drawn. A stand-in is no ghost.
    """
    world = episode.world()
    body = Poses(*body_poses(world, episode.qpos, episode.placement))
    ghost = Poses(*body_poses(world, episode.reference_qpos, episode.placement)) if episode.body_known else None
    return Show(
        title or episode.name, episode.fps, world, episode.placement, body, ghost, episode.user_pos, episode.user_quat,
        episode.force > TOUCHED, episode.label > 0.5,
        np.linalg.norm(episode.sensor_pos - episode.user_pos, axis=-1), see_heights(world, seen, body),
    )  # fmt: skip


def show_clip(clip: Clip, seen: SceneObsConfig | None = None, title: str = "") -> Show:
    """A clip by itself: its body solid, with the contacts that it labels."""
    world = clip_world(clip)
    body = Poses(*body_poses(world, clip.qpos, world.placement()))
    return Show(
        title or clip.name, clip.fps, world, world.placement(), body, None, clip.sensor_pos, clip.sensor_quat,
        None, clip.contact > 0, None, see_heights(world, seen, body),
    )  # fmt: skip


def see_heights(world: World, config: SceneObsConfig | None, body: Poses) -> HeightMap | None:
    """The height map around a body at each frame, by the code that the policy sees through; None if it sees none."""
    if config is None or config.kind != "heightmap":
        return None
    root, geoms = int(world.layout.link_ids[0]), world.layout.geoms
    nothing = jnp.zeros(0)

    def one(xpos: jax.Array, xquat: jax.Array) -> tuple[jax.Array, jax.Array]:
        yaw = heading(xquat[root])
        there = Derived(xpos, xquat, nothing, nothing, nothing)
        return yaw, heights(geoms, there, map_points(config, xpos[root, :2], yaw))

    yaw, high = jax.jit(jax.vmap(one))(*(jnp.asarray(x, jnp.float32) for x in body))
    grid = np.broadcast_to(height_grid(config), (*high.shape, 2))
    points = np.concatenate([grid, np.asarray(high)[..., None]], axis=-1).astype(np.float32)
    return HeightMap(body.pos[:, root] * [1.0, 1.0, 0.0], np.asarray(yaw), points)
