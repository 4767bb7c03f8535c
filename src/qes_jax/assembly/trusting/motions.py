"""Good files in every motion format that is read, of made-up motions: what a campaign spoils."""

import json
from functools import cache
from pathlib import Path

import numpy as np

from qes_jax.evaluate.glb import write_glb
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Piece, Scene
from qes_jax.model.world import World, build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import Clip
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.motion.formats.holosoma import JOINTS
from qes_jax.motion.formats.maps import find_roles, write_roles
from qes_jax.motion.formats.vive_csv import COLUMNS

FRAMES = 8
ROOM = Scene("room", (Piece("box", "box", (0.4, 0.5, 0.3), (0.8, 0.0, 0.0), 0.2),))

BODY = {  # someone upright, X forward, Z up [m]
    "hips": (0, 0, 0.95), "spine": (0, 0, 1.1), "chest": (0, 0, 1.25), "neck": (0, 0, 1.5), "head": (0.02, 0, 1.6),
    "left_shoulder": (0, 0.18, 1.42), "left_elbow": (0, 0.45, 1.42), "left_wrist": (0, 0.7, 1.42),
    "left_hip": (0, 0.09, 0.93), "left_knee": (0, 0.09, 0.5), "left_ankle": (0, 0.09, 0.08),
    "left_ball": (0.13, 0.09, 0.02),
}  # fmt: skip
BODY |= {n.replace("left", "right"): (x, -y, z) for n, (x, y, z) in BODY.items() if "left" in n}

# Name, place across and up [m], and roll [degrees] in A-Frame.
DEVICES = (("camera", 0.0, 1.7, 0.0), ("left", -0.3, 1.0, 90.0), ("right", 0.3, 1.0, -90.0))

BONES = (  # of an ASF: name, what it hangs on, direction, length [in], degrees of freedom
    ("lowerback", "root", (0, 1, 0), 4.0, "rx ry rz"), ("upperback", "lowerback", (0, 1, 0), 4.0, "rx ry rz"),
    ("thorax", "upperback", (0, 1, 0), 4.0, "rx ry rz"), ("lowerneck", "thorax", (0, 1, 0), 3.0, "rx ry rz"),
    ("head", "lowerneck", (0, 1, 0), 3.0, "rx ry rz"),
    *(
        bone
        for side, x in (("l", 1), ("r", -1))
        for bone in (
            (f"{side}clavicle", "thorax", (x, 0.3, 0), 3.0, "ry rz"),
            (f"{side}humerus", f"{side}clavicle", (x, 0, 0), 5.0, "rx ry rz"),
            (f"{side}radius", f"{side}humerus", (x, 0, 0), 4.5, "rx"),
            (f"{side}hand", f"{side}radius", (x, 0, 0), 1.5, "rx rz"),
            (f"{side}hipjoint", "root", (x, -0.8, 0), 2.0, ""),
            (f"{side}femur", f"{side}hipjoint", (0, -1, 0), 7.0, "rx ry rz"),
            (f"{side}tibia", f"{side}femur", (0, -1, 0), 7.0, "rx"),
            (f"{side}foot", f"{side}tibia", (0, -0.3, 1), 2.5, "rx rz"),
        )
    ),
)  # fmt: skip


@cache
def world() -> World:
    """The character in ROOM."""
    return build_world(CharacterConfig(), ROOM.pieces)


@cache
def swaying() -> Clip:
    """A short clip of the character, all of whose joints move a little."""
    time = np.arange(FRAMES)[:, None] / 36.0
    layout = world().layout
    qpos = np.tile(layout.home_qpos, (FRAMES, 1))
    low, high = layout.joint_range.T
    middle, swing = qpos[:, layout.joint_qpos], 0.1 * (high - low)
    qpos[:, layout.joint_qpos] = np.clip(middle + swing * np.sin(5.0 * time + np.arange(len(low))), low, high)
    qpos[:, 0] += 0.5 * time[:, 0]
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(world(), qpos)
    contact = np.zeros((FRAMES, len(layout.links), len(layout.objects)), np.uint8)
    qvel = velocities(world().plain, qpos, 36.0).astype(np.float32)
    return Clip(
        "swaying", "made up", "none", 36.0, 1.75, ROOM, qpos.astype(np.float32), qvel, link_pos, link_quat, contact,
        sensor_pos, sensor_quat,
    )  # fmt: skip


def bvh(folder: Path) -> None:
    """The clip as BVH."""
    write_bvh(folder / "motion.bvh", clip_skeleton(swaying()))


def glb(folder: Path) -> None:
    """The clip as a binary glTF, skinned, with the furniture."""
    write_glb(folder / "motion.glb", swaying())


def gltf(folder: Path) -> None:
    """The same as JSON with its buffer beside it."""
    glb(folder)
    data = (folder / "motion.glb").read_bytes()
    length = int.from_bytes(data[12:16], "little")
    tree, rest = json.loads(data[20 : 20 + length]), data[28 + length :]
    tree["buffers"][0] |= {"uri": "buffer.bin", "byteLength": len(rest)}
    (folder / "buffer.bin").write_bytes(rest)
    (folder / "motion.gltf").write_text(json.dumps(tree))
    (folder / "motion.glb").unlink()


def amc(folder: Path) -> None:
    """A walker of BONES as ASF and AMC."""
    bones = [
        f"  begin\n    id {i}\n    name {name}\n    direction {' '.join(map(str, way))}\n    length {length}\n"
        f"    axis 0 0 0 XYZ\n" + (f"    dof {dofs}\n" if dofs else "") + "  end"
        for i, (name, _, way, length, dofs) in enumerate(BONES, start=1)
    ]
    tree = [f"    {parent} {name}" for name, parent, *_ in BONES]
    head = "# made up\n:version 1.10\n:name walker\n:units\n  mass 1.0\n  length 0.45\n  angle deg\n:root\n"
    head += "  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n:bonedata\n"
    asf = head + "\n".join(bones) + "\n:hierarchy\n  begin\n" + "\n".join(tree) + "\n  end\n"
    frames = [
        f"{t + 1}\nroot 0 17 {0.5 * t} 0 0 0\n"
        + "\n".join(f"{name} {' '.join('3.5' for _ in dofs.split())}" for name, *_, dofs in BONES if dofs)
        for t in range(FRAMES)
    ]
    (folder / "motion.asf").write_text(asf)
    (folder / "motion.amc").write_text("#!OML\n:FULLY-SPECIFIED\n:DEGREES\n" + "\n".join(frames) + "\n")


def amass(folder: Path) -> None:
    """Small random turns of SMPL's joints."""
    rng = np.random.default_rng(0)
    np.savez(
        folder / "motion.npz", poses=rng.normal(0, 0.1, (FRAMES, 156)), trans=rng.normal(0, 0.1, (FRAMES, 3)),
        betas=np.zeros(16), gender=np.array("neutral"), mocap_framerate=np.array(60.0),
    )  # fmt: skip


def deepmimic(folder: Path) -> None:
    """The skeleton at rest, which walks forward."""
    unit = [1.0, 0.0, 0.0, 0.0]
    pose = [*unit * 3, *unit, 0.0, *unit, *unit, 0.0, *unit, 0.0, *unit, *unit, 0.0]
    rows = [[1 / 30, 0.1 * t, 0.9, 0.0, *pose] for t in range(FRAMES)]
    (folder / "motion.txt").write_text(json.dumps({"Loop": "wrap", "Frames": rows}))


def _points() -> np.ndarray:
    """(T, P, 3) [m] BODY, which walks along X and trembles by a centimetre."""
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 0.3, FRAMES)[:, None, None] * [1.0, 0, 0]
    return np.array(list(BODY.values()))[None] + steps + rng.normal(0, 0.01, (FRAMES, len(BODY), 3))


def points_npz(folder: Path) -> None:
    """Joint points with their names in one file."""
    np.savez(folder / "motion.npz", points=_points(), names=list(BODY), fps=50.0)


def points_npy(folder: Path) -> None:
    """Joint points with their names beside them."""
    np.save(folder / "motion.npy", _points())
    (folder / "motion.json").write_text(json.dumps(list(BODY)))


def holosoma(folder: Path) -> None:
    """Joint points of a known order, no names."""
    rng = np.random.default_rng(0)
    np.save(folder / "motion.npy", rng.normal(0, 0.5, (FRAMES, len(JOINTS), 3)).astype(np.float32))


def box(folder: Path) -> None:
    """An upright box as OBJ."""
    corners = [(x, y, z) for x in (0.0, 0.5) for y in (0.0, 0.4) for z in (0.0, 0.3)]
    (folder / "box.obj").write_text("\n".join(f"v {x} {y} {z}" for x, y, z in corners) + "\nf 1 2 3\n")


def roles(folder: Path) -> None:
    """Which joints are which parts, as a map file."""
    motion = clip_skeleton(swaying())
    write_roles(folder / "map.toml", motion, find_roles(motion)[0])


def aframe(folder: Path, rows: int = 40) -> None:
    """Headset and controllers that walk, in three.js's frame, milliseconds and degrees."""
    data = {
        name: {
            "poses": [
                {
                    "position": {"x": x, "y": y, "z": -0.5 - t / 90},
                    "rotation": {"x": 0.0, "y": 0.0, "z": roll},
                    "timestamp": 5000 + 1000 * t / 90,
                }
                for t in range(rows)
            ]
        }
        for name, x, y, roll in DEVICES
    }
    (folder / "motion.json").write_text(json.dumps(data))


def unity(folder: Path, rows: int = 40) -> None:
    """The same as Unity's CSV."""
    cells = np.zeros((rows, 22))
    cells[:, 0] = np.arange(rows) / 90
    for n, (_, x, y, _) in enumerate(DEVICES):
        cells[:, 1 + 7 * n : 4 + 7 * n] = np.stack([np.full(rows, x), np.full(rows, y), 0.5 + cells[:, 0]], axis=1)
        cells[:, 7 + 7 * n] = 1.0
    lines = [",".join(COLUMNS), *(",".join(str(c) for c in row) for row in cells)]
    (folder / "motion.csv").write_text("\n".join(lines) + "\n")
