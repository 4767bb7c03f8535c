"""A mirrored clip is the mirror image: MuJoCo's forward kinematics and finite differences are the oracles."""

import dataclasses

import mujoco
import numpy as np
import pytest

from qes_jax.model.character import CharacterConfig, character_spec
from qes_jax.model.scene import Piece, Scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import kinematics, velocities
from qes_jax.motion.clip import ARRAYS, validate_clip
from qes_jax.motion.mirror import mirror_clip, mirror_maps
from tests.motion.synthetic import wobble

SCENE = Scene(
    "test",
    (Piece("a", "chair", pos=(0.5, 0.3, 0.0), yaw=0.7), Piece("b", "box", (0.3, 0.5, 0.2), (1.0, -0.4, 0.1), -0.2)),
)


@pytest.fixture(scope="module")
def clip():
    return wobble(SCENE)


@pytest.fixture(scope="module")
def mirrored(clip):
    return mirror_clip(clip)


@pytest.fixture(scope="module")
def mirrored_world(mirrored):
    return build_world(CharacterConfig(), mirrored.scene.pieces)


def test_it_is_a_clip_and_twice_mirrored_the_same(clip, mirrored):
    validate_clip(mirrored)
    again = mirror_clip(mirrored)
    assert (again.name, again.scene) == (clip.name, clip.scene)
    assert mirrored.name != clip.name and mirrored.scene != clip.scene
    for field in ARRAYS:
        np.testing.assert_array_equal(getattr(again, field), getattr(clip, field))
        assert getattr(mirrored, field).dtype == getattr(clip, field).dtype


def test_kinematics_of_the_mirrored_qpos_are_the_mirrored_kinematics(clip, mirrored, mirrored_world):
    link_pos, link_quat, sensor_pos, sensor_quat = kinematics(mirrored_world, mirrored.qpos.astype(float))
    np.testing.assert_allclose(mirrored.link_pos, link_pos, atol=2e-6)
    np.testing.assert_allclose(mirrored.sensor_pos, sensor_pos, atol=2e-6)
    for got, expected in ((mirrored.link_quat, link_quat), (mirrored.sensor_quat, sensor_quat)):
        np.testing.assert_allclose(np.abs(np.sum(got * expected, axis=-1)), 1, atol=1e-6)


def test_points_are_reflected_and_sides_swapped(clip, mirrored, mirrored_world):
    links = mirrored_world.layout.links
    left, right = links.index("left_hand"), links.index("right_hand")
    np.testing.assert_allclose(mirrored.link_pos[:, left], clip.link_pos[:, right] * [1, -1, 1], atol=1e-7)
    np.testing.assert_array_equal(mirrored.contact[:, left], clip.contact[:, right])
    np.testing.assert_allclose(mirrored.sensor_pos[:, 1], clip.sensor_pos[:, 2] * [1, -1, 1], atol=1e-7)


def test_velocities_are_those_of_the_mirrored_positions(clip, mirrored, mirrored_world):
    expected = velocities(mirrored_world.plain, mirrored.qpos.astype(float), mirrored.fps)
    np.testing.assert_allclose(mirrored.qvel, expected, atol=2e-4)
    assert np.abs(mirrored.qvel - clip.qvel).max() > 0.1


def test_pieces_stand_at_mirrored_places(clip, mirrored, mirrored_world):
    """Every corner of every touchable geom has a mirror image among the corners of the mirrored scene."""
    world = build_world(CharacterConfig(), clip.scene.pieces)
    np.testing.assert_allclose(_sorted(_corners(world) * [1, -1, 1]), _sorted(_corners(mirrored_world)), atol=1e-6)


def test_maps_are_involutions_with_signs_of_the_trunk(mirrored_world):
    maps, joints = mirror_maps(mirrored_world), mirrored_world.layout.joints
    for index in (maps.hinge_index, maps.link_index, maps.sensor_index, maps.qpos_index, maps.qvel_index):
        np.testing.assert_array_equal(index[index], np.arange(len(index)))
    assert {joints[j] for j in np.flatnonzero(maps.hinge_sign < 0)} == {"lumbar_roll", "thorax_yaw", "neck_yaw"}
    assert joints[maps.hinge_index[joints.index("left_knee")]] == "right_knee"


@pytest.mark.parametrize(
    ("kind", "axis", "sign"),
    [
        ("hinge", (0, 0, 1), -1),
        ("hinge", (1, 0, 0), -1),
        ("hinge", (0, -1, 0), 1),
        ("slide", (0, 1, 0), -1),
        ("slide", (0, 0, 1), 1),
    ],
)
def test_signs_of_object_joints_follow_from_their_axes(kind, axis, sign):
    maps = mirror_maps(_with_object_joint(kind, axis))
    assert maps.qpos_sign[-1] == maps.qvel_sign[-1] == sign


def test_an_axis_across_the_plane_is_refused():
    with pytest.raises(ValueError, match="door"):
        mirror_maps(_with_object_joint("hinge", (1, 1, 0)))


def _with_object_joint(kind, axis):
    """A world whose model has one more joint."""
    world = build_world()
    spec = character_spec(world.character)
    for key in list(spec.keys):
        spec.delete(key)
    body = spec.worldbody.add_body(name="thing")
    body.add_geom(size=[0.1, 0.1, 0.1])
    body.add_joint(name="thing/door", type=getattr(mujoco.mjtJoint, f"mjJNT_{kind.upper()}"), axis=axis)
    return dataclasses.replace(world, plain=spec.compile())


def _corners(world):
    m = world.plain
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
    geoms = [g for g in range(m.ngeom) if m.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX and m.geom_contype[g] == 2]
    return np.concatenate(
        [data.geom_xpos[g] + (signs * m.geom_size[g]) @ data.geom_xmat[g].reshape(3, 3).T for g in geoms]
    )


def _sorted(points):
    return points[np.lexsort(np.round(points, 4).T)]
