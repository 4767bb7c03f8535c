"""Videos and pictures of an episode by MuJoCo's renderer, on the OpenGL that was chosen when MuJoCo was imported."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import mediapy
import mujoco
import numpy as np
from PIL import Image

from qes_jax.evaluate.episode import Episode
from qes_jax.files import replacing

SIZE = (480, 640)  # height, width; even numbers, as H.264 wants
STRIP = (400, 340)  # of one moment of a strip
GHOST = np.array([0.3, 0.7, 0.45, 0.35])
DEVICE = np.array([0.9, 0.25, 0.15, 1.0])
AZIMUTHS, ELEVATION = (130.0, 50.0, 230.0, 310.0, 90.0, 180.0, 270.0, 0.0), -14.0  # [degrees] of cameras, best first


def save_video(path: Path, episode: Episode, every: int = 2, size: tuple[int, int] = SIZE) -> None:
    """Write every `every`-th frame as mp4: body, reference (a green ghost), the user's devices (red balls)."""
    with (
        replacing(path, path.suffix) as aside,
        mediapy.VideoWriter(aside, shape=size, fps=episode.fps / every, crf=24) as writer,
    ):
        for image in images(episode, range(0, len(episode.qpos), every), size):
            writer.add_image(image)


def save_strip(path: Path, episode: Episode, at: Sequence[float], size: tuple[int, int] = STRIP) -> None:
    """Write the moments `at` [s] side by side as png, in at most 256 colours. Raises ValueError at one past the end."""
    frames = [round(t * episode.fps) for t in at]
    if not all(0 <= f < len(episode.qpos) for f in frames):
        end = (len(episode.qpos) - 1) / episode.fps
        raise ValueError(f"{episode.name}: moments {list(at)} s, expected 0 to {end:.2f} s")
    strip = np.concatenate(list(images(episode, frames, size, fine=True)), axis=1)
    with replacing(path, path.suffix) as aside:
        Image.fromarray(strip).quantize(256, dither=Image.Dither.NONE).save(aside, optimize=True)


def images(
    episode: Episode, frames: Iterable[int], size: tuple[int, int] = SIZE, fine: bool = False
) -> Iterator[np.ndarray]:
    """Images (height, width, 3) uint8 of these frames. `fine` smooths edges and shadows, at ten times the price."""
    m = episode.world().plain
    m.vis.global_.offheight, m.vis.global_.offwidth = size
    # A software renderer takes 0.2 s a frame with samples.
    m.vis.quality.offsamples, m.vis.quality.shadowsize = (8, 8192) if fine else (0, 2048)
    m.vis.map.shadowclip *= 4.0 if fine else 1.0  # beyond, the floor is speckled
    ghost_model = _ghost(m) if episode.body_known else None
    data, ghost = mujoco.MjData(m), mujoco.MjData(m)
    for d in (data, ghost):
        d.mocap_pos[:], d.mocap_quat[:] = episode.placement[:, :3], episode.placement[:, 3:]
    frames = list(frames)
    with mujoco.Renderer(m, *size) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        camera = mujoco.MjvCamera()
        camera.lookat[:], camera.distance = look_at(episode, 0), 3.0 if fine else 4.0
        camera.azimuth, camera.elevation = open_azimuth(episode, frames, camera.distance), ELEVATION
        for t in frames:
            data.qpos[:], ghost.qpos[:] = episode.qpos[t], episode.reference_qpos[t]
            # A video's camera follows smoothly, a picture's is there.
            camera.lookat += (1.0 if fine else 0.1) * (look_at(episode, t) - camera.lookat)
            mujoco.mj_kinematics(m, data)
            mujoco.mj_camlight(m, data)
            data.light_xpos[:, :2] += camera.lookat[:2]  # shadows end some metres from their light
            renderer.update_scene(data, camera)
            if ghost_model is not None:
                mujoco.mj_kinematics(m, ghost)
                _add_ghost(renderer.scene, ghost_model, ghost)
            for pos in episode.user_pos[t]:
                _add_ball(renderer.scene, pos)
            yield renderer.render()


def look_at(episode: Episode, frame: int) -> np.ndarray:
    """(3,) where a camera looks: at the body, from below the pelvis as long as it stands on the floor."""
    x, y, z = episode.qpos[frame, :3]
    return np.array([x, y, max(0.85, z - 0.1)])


def open_azimuth(episode: Episode, frames: Sequence[int], distance: float) -> float:
    """[degrees] the first of AZIMUTHS from which furniture hides least of the body, in up to a dozen of the frames."""
    m = episode.world().plain
    m.geom_rgba[m.body_mocapid[m.body_rootid[m.geom_bodyid]] < 0, 3], m.geom_matid[:] = 0.0, -1  # rays pass
    data, links = mujoco.MjData(m), episode.world().layout.link_ids + 1
    data.mocap_pos[:], data.mocap_quat[:] = episode.placement[:, :3], episode.placement[:, 3:]
    hidden = np.zeros(len(AZIMUTHS))
    for frame in frames[:: max(1, len(frames) // 12)]:
        data.qpos[:] = episode.qpos[frame]
        mujoco.mj_kinematics(m, data)
        for i, azimuth in enumerate(np.radians(AZIMUTHS)):
            eye = look_at(episode, frame) - distance * _forward(azimuth, np.radians(ELEVATION))
            hidden[i] += sum(_blocked(m, data, eye, data.xpos[link]) for link in links)
    return AZIMUTHS[int(np.argmin(hidden))]


def _forward(azimuth: float, elevation: float) -> np.ndarray:
    flat = np.cos(elevation)
    return np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])


def _blocked(m: mujoco.MjModel, data: mujoco.MjData, eye: np.ndarray, point: np.ndarray) -> bool:
    """Whether a visible geom lies between an eye and a point."""
    share = mujoco.mj_ray(m, data, eye, point - eye, None, 1, -1, np.zeros(1, np.int32))
    return 0.0 <= share < 1.0


def _ghost(m: mujoco.MjModel) -> mujoco.MjModel:
    """A copy of the model with only the character to be seen, in one transparent colour."""
    ghost = copy.copy(m)
    root = m.body_rootid[m.geom_bodyid]
    ghost.geom_rgba[:], ghost.geom_matid[:] = GHOST, -1
    ghost.geom_rgba[(root == 0) | (m.body_mocapid[root] >= 0), 3] = 0.0
    return ghost


def _add_ghost(scene: mujoco.MjvScene, m: mujoco.MjModel, data: mujoco.MjData) -> None:
    everything, option = mujoco.mjtCatBit.mjCAT_DYNAMIC, mujoco.MjvOption()
    mujoco.mjv_addGeoms(m, data, option, mujoco.MjvPerturb(), everything, scene)


def _add_ball(scene: mujoco.MjvScene, pos: np.ndarray) -> None:
    size, turn = np.full(3, 0.035), np.eye(3).ravel()
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_SPHERE, size, pos.astype(float), turn, DEVICE.astype(np.float32))
    scene.ngeom += 1
