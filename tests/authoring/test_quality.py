"""The judge notices what it is there for."""

import mujoco
import numpy as np
import pytest

from qes_jax.authoring.body import make_body
from qes_jax.authoring.gait import guide_stand
from qes_jax.authoring.ik import solve
from qes_jax.authoring.quality import _margin, measure
from qes_jax.authoring.targets import standing
from qes_jax.model.scene import Piece
from qes_jax.model.world import World, build_world
from qes_jax.motion.clip import FPS


@pytest.fixture(scope="module")
def still() -> tuple[World, np.ndarray]:
    body = make_body()
    qpos = solve(body, standing(body, guide_stand(np.zeros(3)), 2))[-1]
    return body.world, np.tile(qpos, (12, 1))


def test_standing_still_is_faultless(still: tuple[World, np.ndarray]) -> None:
    quality = measure(*still, FPS)
    assert quality.foot_slide < 0.01 and quality.floor_depth < 0.02 and quality.object_depth == 0
    assert quality.balance > 5.0 and quality.joint_speed < 1e-6
    assert quality.push_outside == 0 and quality.push_least == pytest.approx(1) == quality.push_most


def test_what_feet_cannot_give_is_seen(still: tuple[World, np.ndarray]) -> None:
    world, qpos = still
    swayed, thrown = qpos.copy(), qpos.copy()
    swayed[:, 0] += 0.05 * np.sin(np.arange(len(qpos)) / 3)  # up to 7 m/s^2
    assert measure(world, swayed, FPS).push_outside > 50
    thrown[:, 2] += 0.02 * np.sin(np.arange(len(qpos)) / 1.8)
    quality = measure(world, thrown, FPS)
    assert quality.push_least < 0.9 and quality.push_most > 1.1


def test_sliding_and_sinking_are_seen(still: tuple[World, np.ndarray]) -> None:
    world, qpos = still
    slid, sunk = qpos.copy(), qpos.copy()
    slid[:, 0] += np.linspace(0, 0.05, len(qpos))
    assert measure(world, slid, FPS).foot_slide == pytest.approx(5.0, abs=0.05)
    sunk[:, 2] -= 0.03
    assert measure(world, sunk, FPS).floor_depth == pytest.approx(3.0, abs=0.05)


def test_balance_is_the_distance_inside_the_support() -> None:
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1]], float)
    assert _margin(np.array([1.5, 1.0]), square) == pytest.approx(0.5, abs=0.002)
    assert _margin(np.array([3.0, 1.0]), square) == pytest.approx(-1.0, abs=0.002)
    assert _margin(np.array([1.0, 0.3]), square[:2]) == pytest.approx(-0.3, abs=0.002)  # two contacts in a line
    assert _margin(np.zeros(2), np.zeros((0, 2))) == -1.0


def test_depth_in_an_object_is_what_mujoco_measures(still: tuple[World, np.ndarray]) -> None:
    world = build_world(pieces=(Piece("box", "box", (0.3, 0.3, 0.6), (0.25, 0.0, 0.0)),))
    qpos = still[1]
    data = mujoco.MjData(world.plain)
    data.qpos[:] = qpos[0]
    mujoco.mj_fwdPosition(world.plain, data)
    box = world.plain.geom("box/box").id
    deepest = max(-c.dist for c in data.contact if box in c.geom)
    assert measure(world, qpos, FPS).object_depth == pytest.approx(100 * deepest, abs=1e-6)
    assert deepest > 0.01
