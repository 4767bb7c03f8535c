"""Contact sheets: a strip of moments of each clip, one JPEG a category. Needs an OpenGL: MUJOCO_GL=osmesa or egl."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw

from qes_jax.files import replacing
from qes_jax.model.world import build_world
from qes_jax.motion.clip import Clip

MOMENTS, COLUMNS, CELL = 6, 3, 96  # pictures of a clip, clips beside each other, pixels a picture


def save_sheet(path: Path, clips: Sequence[Clip], moments: int = MOMENTS, columns: int = COLUMNS, cell: int = CELL):
    """Write one JPEG with `moments` pictures of every clip, `columns` clips in a row."""
    label, rows = 12, -(-len(clips) // columns)
    sheet = Image.new("RGB", (columns * (moments * cell + 4), rows * (cell + label)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, clip in enumerate(clips):
        x, y = (k % columns) * (moments * cell + 4), (k // columns) * (cell + label)
        sheet.paste(Image.fromarray(np.concatenate(strip(clip, moments, cell), axis=1)), (x, y + label))
        draw.text((x + 2, y), f"{clip.name}  {clip.duration:.0f} s", fill="black")
    with replacing(path, path.suffix) as aside:
        sheet.save(aside, quality=72, optimize=True)


def strip(clip: Clip, moments: int, cell: int) -> list[np.ndarray]:
    """Pictures (cell, cell, 3) uint8 of a clip's moments, the camera on the body."""
    m = build_world(pieces=clip.scene.pieces).plain
    m.vis.global_.offheight, m.vis.global_.offwidth, m.vis.quality.offsamples = cell, cell, 4
    m.vis.quality.shadowsize = 1024
    data, camera, images = mujoco.MjData(m), mujoco.MjvCamera(), []
    camera.distance, camera.elevation = 2.9, -14.0
    with mujoco.Renderer(m, cell, cell) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        for frame in np.linspace(0, clip.n_frames - 1, moments + 2).round().astype(int)[1:-1]:
            data.qpos[:] = clip.qpos[frame]
            mujoco.mj_kinematics(m, data)
            mujoco.mj_camlight(m, data)
            data.light_xpos[:] = data.qpos[:3] + np.array([2.0, -2.0, 5.0])
            camera.lookat[:] = [*data.qpos[:2], max(data.qpos[2] - 0.15, 0.5)]
            camera.azimuth = 135.0 + _facing(clip)
            renderer.update_scene(data, camera)
            images.append(renderer.render())
    return images


def _facing(clip: Clip) -> float:
    """Yaw [deg] that the headset has half of the time."""
    w, x, y, z = clip.sensor_quat[:, 0].T
    yaw = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
    return float(np.degrees(np.median(yaw)))
