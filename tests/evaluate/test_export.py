"""Clips written as BVH and GLB: read back by our readers, by pygltflib and by trimesh, everything where it was."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pygltflib
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from qes_jax.evaluate.glb import write_glb
from qes_jax.model.scene import get_scene
from qes_jax.model.world import build_world
from qes_jax.motion.clip import Clip, save_clip
from qes_jax.motion.export import clip_skeleton, joint_name
from qes_jax.motion.formats.bvh import read_bvh
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.motion.formats.gltf import read_gltf
from qes_jax.motion.formats.skeleton import SkeletonMotion, forward, rest
from tests.motion.synthetic import wobble

MILLIMETRE = 1e-3


@pytest.fixture(scope="module", params=["flat", "chair", "office_chair"])
def clip(request) -> Clip:
    return wobble(get_scene(request.param), frames=20, height=1.6, name=request.param)


def links_of(motion: SkeletonMotion) -> np.ndarray:
    """(T, 18, 3) places of the joints that are our links."""
    links = build_world().layout.links
    return forward(motion)[0][:, [motion.index(joint_name(link)) for link in links]]


def test_the_skeleton_moves_as_the_links_do(clip) -> None:
    motion = clip_skeleton(clip)
    place, turn = forward(motion)
    np.testing.assert_allclose(place[:, :18], clip.link_pos, atol=1e-5)
    assert np.abs(np.einsum("tji,tji->tj", turn[:, :18], clip.link_quat)).min() > 1 - 1e-6


def test_it_rests_in_a_t_pose() -> None:
    motion = clip_skeleton(wobble(get_scene("flat"), frames=4))
    place = dict(zip(motion.joints, rest(motion)[0], strict=True))
    assert motion.joints[0] == "Hips" and len(motion.joints) == 18 + 5
    assert place["LeftHand_end"][1] > 0.8 and place["RightHand_end"][1] < -0.8  # arms out, left to +Y
    assert np.ptp([place[n][2] for n in ("LeftArm", "LeftForeArm", "LeftHand", "LeftHand_end")]) < 0.02
    assert 1.7 < place["Head_end"][2] < 1.8 and abs(place["LeftToeBase_end"][2]) < 0.05
    assert place["LeftToeBase_end"][0] > place["LeftFoot"][0] + 0.15


def test_a_bvh_comes_back(clip, tmp_path) -> None:
    write_bvh(tmp_path / "out.bvh", clip_skeleton(clip))
    motion = read_bvh(tmp_path / "out.bvh")
    assert motion.fps == pytest.approx(clip.fps) and motion.unit == 0.01 and motion.up == "y"
    assert np.abs(links_of(motion) - clip.link_pos).max() < MILLIMETRE


def test_a_glb_comes_back(clip, tmp_path) -> None:
    write_glb(tmp_path / "out.glb", clip)
    motion = read_gltf(tmp_path / "out.glb")
    assert motion.fps == pytest.approx(clip.fps)
    assert np.abs(links_of(motion) - clip.link_pos).max() < MILLIMETRE


def test_pygltflib_sees_a_skin_whose_bind_pose_is_the_rest(clip, tmp_path) -> None:
    write_glb(tmp_path / "out.glb", clip)
    file = pygltflib.GLTF2().load(str(tmp_path / "out.glb"))
    (skin,), (animation,) = file.skins, file.animations
    moved = {file.nodes[c.target.node].name for c in animation.channels}
    assert animation.name == clip.name and {"Hips", "LeftLeg"} <= moved and "Head_end" not in moved
    view = file.bufferViews[file.accessors[skin.inverseBindMatrices].bufferView]
    data = np.frombuffer(file.binary_blob(), "<f4", 16 * len(skin.joints), view.byteOffset)
    inverse = data.reshape(-1, 4, 4).swapaxes(1, 2)
    world, parent = {}, {child: k for k, node in enumerate(file.nodes) for child in node.children or []}
    for joint in skin.joints:  # parents come first
        node, local = file.nodes[joint], np.eye(4)
        local[:3, :3], local[:3, 3] = Rotation.from_quat(node.rotation).as_matrix(), node.translation
        world[joint] = world.get(parent[joint], np.eye(4)) @ local
    for joint, back in zip(skin.joints, inverse, strict=True):
        np.testing.assert_allclose(world[joint] @ back, np.eye(4), atol=1e-6)


def test_trimesh_sees_body_and_furniture_where_they_stand(clip, tmp_path) -> None:
    write_glb(tmp_path / "out.glb", clip)
    scene = trimesh.load(tmp_path / "out.glb")
    turn = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # Y up to Z up
    points: dict[str, list[np.ndarray]] = {}
    for node in scene.graph.nodes_geometry:
        transform, geometry = scene.graph[node]
        vertices = trimesh.transform_points(scene.geometry[geometry].vertices, transform) @ turn.T
        owner = node.split("_")[0] if node.startswith("Body") else "furniture"
        points.setdefault(owner, []).append(vertices)
    size = {k: np.ptp(np.concatenate(v), axis=0) for k, v in points.items()}
    assert size["Body"][2] == pytest.approx(1.6, abs=0.05) and size["Body"][1] > 1.4  # a T-pose of 1.6 m
    if clip.scene.pieces:
        world = build_world(pieces=clip.scene.pieces)
        geoms = [g for g in range(world.plain.ngeom) if world.layout.body_object[world.plain.geom_bodyid[g] - 1] > 0]
        assert len(geoms) > 0
        top = np.concatenate(points["furniture"])[:, 2]
        assert -0.01 < top.min() < 0.05 and 0.6 < top.max() < 1.3


def test_what_turns_in_the_scene_turns_in_the_glb(tmp_path) -> None:
    clip = wobble(get_scene("office_chair"), frames=8)
    write_glb(tmp_path / "out.glb", clip)
    file = pygltflib.GLTF2().load(str(tmp_path / "out.glb"))
    world = build_world(pieces=clip.scene.pieces)
    turning = {world.plain.body(int(i) + 1).name for i in world.layout.moving_ids}
    moved = {file.nodes[c.target.node].name for c in file.animations[0].channels}
    pieces = {world.plain.body(b).name for b in range(1, world.plain.nbody) if world.layout.body_object[b - 1]}
    assert turning and moved & pieces == turning


def command(*args: object) -> subprocess.CompletedProcess[str]:
    script = Path(__file__).resolve().parents[2] / "experiments" / "export_motion.py"
    return subprocess.run([sys.executable, script, *map(str, args)], capture_output=True, text=True)


@pytest.mark.parametrize("ending", ["bvh", "glb"])
def test_the_command_writes_either(tmp_path, ending) -> None:
    save_clip(tmp_path / "clip.npz", wobble(get_scene("flat"), frames=20))
    out, report = tmp_path / f"out.{ending}", tmp_path / "report.json"
    done = command(tmp_path / "clip.npz", out, "--json", report)
    assert done.returncode == 0, done.stderr
    assert "20 frames at 36 Hz" in done.stdout and out.stat().st_size > 1000
    assert json.loads(report.read_text())["frames"] == 20


def test_the_command_refuses_other_formats(tmp_path) -> None:
    done = command(tmp_path / "clip.npz", tmp_path / "out.fbx")
    assert done.returncode == 2 and "expected a name that ends in .bvh or .glb" in done.stderr
