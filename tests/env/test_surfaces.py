"""Heights and nearest surfaces against MuJoCo's rays and against bounded least squares."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from qes_jax.env.surfaces import geom_poses, heights, nearest
from qes_jax.model.engine import Derived
from qes_jax.model.scene import PARKED, Piece
from qes_jax.model.world import World, build_world

PIECES = (
    Piece("low", "box", (0.8, 0.5, 0.2)),
    Piece("high", "box", (0.4, 0.4, 0.9)),
    Piece("chair", "chair"),
    Piece("stool", "stool"),
    Piece("office", "office_chair"),
    Piece("tilting", "tilting_chair"),
)
FAR = 1000.0  # [m] where the character is out of the way
EDGE = 1e-4  # [m] within which of a vertical face either side's height is right


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(pieces=PIECES)


def furnish(world: World, rng: np.random.Generator, tilt: float, parked: int | None) -> tuple[mujoco.MjData, Derived]:
    """The room in C MuJoCo with pieces and their joints at random, and the same poses for the code under test."""
    data = mujoco.MjData(world.plain)
    data.qpos[0] = FAR
    data.qpos[world.layout.object_qpos] = rng.uniform(0.0, [3.0, 0.5])
    data.mocap_pos[:] = rng.uniform([-0.8, -0.8, -0.1], [0.8, 0.8, 0.3], (len(PIECES), 3))
    turns = Rotation.from_euler("zyx", rng.uniform([-3, -tilt, -tilt], [3, tilt, tilt], (len(PIECES), 3)))
    data.mocap_quat[:] = turns.as_quat(scalar_first=True)
    if parked is not None:
        data.mocap_pos[parked], data.mocap_quat[parked] = PARKED[:3], PARKED[3:]
    mujoco.mj_kinematics(world.plain, data)
    none = jnp.zeros(0)
    pose = jnp.asarray(data.xpos[1:], jnp.float32), jnp.asarray(data.xquat[1:], jnp.float32)
    return data, Derived(*pose, none, none, none)


def ray_down(world: World, data: mujoco.MjData, x: float, y: float) -> float:
    """Height of what a ray from the sky meets; only geoms that can be touched (group 0)."""
    group, hit = np.array([1, 0, 0, 0, 0, 0], np.uint8), np.zeros(1, np.int32)
    return 10.0 - mujoco.mj_ray(world.plain, data, [x, y, 10.0], [0.0, 0.0, -1.0], group, 1, -1, hit)


@pytest.mark.parametrize(("tilt", "parked"), [(0.0, None), (0.0, 2), (0.5, None), (1.5, 0)])
def test_heights_are_those_that_mujoco_rays_meet(world, tilt, parked):
    rng = np.random.default_rng(int(10 * tilt) + 1)
    compute = jax.jit(lambda d, p: heights(world.layout.geoms, d, p))
    raised = 0
    for _ in range(4):
        data, derived = furnish(world, rng, tilt, parked)
        points = rng.uniform(-1.2, 1.2, (80, 2)).astype(np.float32)
        found = np.asarray(compute(derived, jnp.asarray(points)))
        for (x, y), height in zip(points.astype(float), found, strict=True):
            around = [ray_down(world, data, x + dx, y + dy) for dx in (-EDGE, 0, EDGE) for dy in (-EDGE, 0, EDGE)]
            assert min(around) - 1e-4 <= height <= max(around) + 1e-4
        raised += np.sum(found > 0.01)
    assert raised > 20  # the rays do meet furniture


@pytest.mark.parametrize("tilt", [0.0, 0.6])
def test_nearest_is_the_closest_point_by_bounded_least_squares(world, tilt):
    rng = np.random.default_rng(3)
    geoms = world.layout.geoms
    _, derived = furnish(world, rng, tilt, parked=1)
    points = rng.uniform([-1.5, -1.5, 0.0], [1.5, 1.5, 1.5], (40, 3)).astype(np.float32)
    found = np.asarray(jax.jit(lambda d, p: nearest(geoms, d, p))(derived, jnp.asarray(points)))
    centre, quat = (np.asarray(x, float) for x in geom_poses(geoms, derived))
    axes = Rotation.from_quat(quat, scalar_first=True).as_matrix()
    by_floor = 0
    for point, vector in zip(points.astype(float), found, strict=True):
        ends = [np.array([point[0], point[1], 0.0])]
        for c, r, size in zip(centre, axes, geoms.size, strict=True):
            ends.append(c + r @ lsq_linear(r, point - c, (-size, size), tol=1e-12).x)
        best = min(ends, key=lambda end: np.linalg.norm(end - point))
        assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(best - point), abs=1e-4)
        np.testing.assert_allclose(point + vector, best, atol=2e-3)
        by_floor += best is ends[0]
    assert 0 < by_floor < len(points)


def test_nearest_is_zero_inside_a_piece_and_a_bare_room_is_flat(world):
    derived = furnish(world, np.random.default_rng(0), 0.3, None)[1]
    inside = geom_poses(world.layout.geoms, derived)[0]
    above = inside[inside[:, 2] > 0]
    np.testing.assert_allclose(nearest(world.layout.geoms, derived, above), 0.0, atol=1e-6)
    bare = build_world()
    points = jnp.array([[0.3, -2.0, 0.7]])
    np.testing.assert_array_equal(heights(bare.layout.geoms, derived, points[:, :2]), [0.0])
    np.testing.assert_allclose(nearest(bare.layout.geoms, derived, points), [[0.0, 0.0, -0.7]], atol=1e-6)
