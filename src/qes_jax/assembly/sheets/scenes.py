"""Pictures of scenes side by side, a person in each. Needs an OpenGL: MUJOCO_GL=osmesa or egl."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw

from qes_jax.files import replacing
from qes_jax.model.scene import Scene
from qes_jax.model.world import World, build_world

COLUMNS, SIZE = 5, (240, 280)  # pictures in a row, height and width of one
SINK = 0.005  # [m] of a sitter into the seat
SEATED = {"hip_pitch": 1.5, "knee": 1.45, "elbow": 0.9}
JOINTS = {"swivel": 0.6, "tilt": 0.3}  # [rad] how joints of these names are shown


def save_sheet(path: Path, scenes: Sequence[Scene]) -> None:
    """Write one PNG of all scenes, each under its name."""
    height, width = SIZE
    columns, label = min(COLUMNS, len(scenes)), 14
    sheet = Image.new("RGB", (columns * width, -(-len(scenes) // columns) * (height + label)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, scene in enumerate(scenes):
        x, y = (k % columns) * width, (k // columns) * (height + label)
        sheet.paste(Image.fromarray(picture(scene)), (x, y + label))
        draw.text((x + 3, y + 1), scene.name, fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, path.suffix) as aside:
        sheet.quantize(128).save(aside, optimize=True)


def picture(scene: Scene) -> np.ndarray:
    """(height, width, 3) uint8 of a scene, seen from its front left."""
    world = build_world(pieces=scene.pieces)
    m = world.plain
    m.vis.global_.offheight, m.vis.global_.offwidth = SIZE
    m.vis.quality.offsamples, m.vis.quality.shadowsize = 4, 4096
    data, camera = mujoco.MjData(m), mujoco.MjvCamera()
    data.qpos[:] = person(world)
    mujoco.mj_forward(m, data)
    places = np.array([data.qpos[:2], *(p.pos[:2] for p in scene.pieces)])
    low, high = places.min(axis=0), places.max(axis=0)
    camera.lookat[:] = [*(0.5 * (low + high)), 0.6]
    camera.distance, camera.azimuth, camera.elevation = 3.2 + 0.75 * np.linalg.norm(high - low), 145.0, -20.0
    with mujoco.Renderer(m, *SIZE) as renderer:
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        renderer.update_scene(data, camera)
        return renderer.render()


def person(world: World) -> np.ndarray:
    """(nq,) somebody seated on the scene's one piece if it has a seat, else standing at the origin."""
    m, layout = world.plain, world.layout
    qpos, seats = layout.home_qpos.copy(), [g for g in range(m.ngeom) if m.geom(g).name.endswith("/seat")]
    if len(world.pieces) != 1 or not seats:
        return qpos
    angles = dict.fromkeys(JOINTS, 0.0)
    for address in layout.object_qpos:
        joint = m.joint(int(np.flatnonzero(m.jnt_qposadr == address)[0])).name.split("/")[-1]
        angles[joint] = qpos[address] = JOINTS.get(joint, 0.0)
    for joint, address in zip(layout.joints, layout.joint_qpos, strict=True):
        qpos[address] = SEATED.get(joint.removeprefix("left_").removeprefix("right_"), qpos[address])
    yaw, lean = angles["swivel"], -angles["tilt"]
    qpos[layout.joint_qpos[layout.joints.index("lumbar_pitch")]] = lean
    size, back = m.geom_size[seats[0]], 0.12 if lean else 0.0
    top = m.geom_pos[seats[0], 2] + size[2]
    ahead = max(size[0] - 0.2, 0.0) - back
    qpos[:3] = [ahead * np.cos(yaw), ahead * np.sin(yaw), top + m.geom("left_thigh").size[0] - SINK]
    qpos[3:7] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
    return qpos
