"""Joints of furniture that a recording lacks, against the angles that our own clips were made with."""

from functools import cache

import mujoco
import numpy as np
import pytest

from qes_jax.authoring.catalogue import build_qpos, get_recipe
from qes_jax.model.scene import Piece
from qes_jax.model.world import World, build_world
from qes_jax.motion.clip import FPS
from qes_jax.motion.giving import follow_body
from qes_jax.motion.rig import Rig


@cache
def chair(kind: str = "office_chair") -> World:
    return build_world(pieces=(Piece("chair", kind, pos=(1.0, 2.0, 0.0), yaw=0.5),))


def swivels(world: World, stays: list[tuple[float, float]], seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """qpos of one who, standing beside the chair between `stays`, sits turning from one heading to another [rad]."""
    layout, rows, headings = world.layout, [], []
    frames = round(seconds * FPS)
    for begin, end in stays:
        for up, yaws in ((True, np.full(frames, begin)), (False, np.linspace(begin, end, frames))):
            for yaw in yaws:
                q = layout.home_qpos.copy()
                q[:2] = [2.5, 2.0] if up else [1.0, 2.0]
                q[3:7] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
                if not up:
                    q[2] = 0.58
                    for k, joint in enumerate(layout.joints):
                        q[layout.joint_qpos[k]] = {"hip_pitch": 1.5, "knee": 1.5}.get(joint.partition("_")[2], 0.0)
                rows.append(q)
                headings.append(np.nan if up else yaw)
    return np.array(rows), np.array(headings)


@pytest.mark.parametrize("turn", [1.2, -2.0, 7.0])
def test_a_seat_turns_with_the_sitter_and_stays_as_it_was_left(turn: float) -> None:
    world = chair()
    qpos, headings = swivels(world, [(0.3, 0.3 + turn), (2.0, 1.5)])
    angle = follow_body(Rig(world), qpos, FPS)[:, world.layout.object_qpos[0]]
    first, second = 36 * 2, 36 * 6
    seated = ~np.isnan(np.convolve(headings, np.ones(25), mode="same"))  # headings leap as one sits down here
    error = (angle - (headings - 0.5) + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(error[seated]).max() < 0.02
    assert angle[:first] == pytest.approx(angle[first])  # as the first one finds it
    assert angle[144 : second - 18] == pytest.approx(angle[143])  # as it was left, until somebody comes again
    assert np.abs(np.diff(angle)).max() * FPS < 2 * np.pi / 0.5


def test_a_seat_that_nobody_sits_on_stays() -> None:
    world = chair()
    qpos, headings = swivels(world, [(0.3, 0.9)])
    standing = qpos[np.isnan(headings)]
    assert np.array_equal(follow_body(Rig(world), standing, FPS), standing)


def test_a_backrest_gives_way_within_its_range_and_no_further_than_it_must() -> None:
    world = chair("tilting_chair")
    address = world.layout.object_qpos[0]
    qpos, _ = swivels(world, [(0.5, 0.5)])
    lean = world.layout.joint_qpos[world.layout.joints.index("lumbar_pitch")]
    seated = np.repeat(qpos[-1:], 60, axis=0)
    seated[:, :2] -= 0.1 * np.array([np.cos(0.5), np.sin(0.5)])
    seated[:, lean] = np.r_[np.zeros(20), np.linspace(0.0, -0.45, 20), np.full(20, -0.45)]
    found = follow_body(Rig(world), seated, FPS)
    assert found[:15, address] == pytest.approx(0.0, abs=1e-6) and 0.1 < found[-1, address] < np.radians(28)
    rig = Rig(world)
    back = world.plain.geom("chair/backrest").id
    pushed = found[-1:].copy()
    pushed[:, address] -= 0.05
    depths = [_depth(rig, rows, back) for rows in (found[-1:], pushed)]
    assert depths[0] < 0.006 < 0.01 < depths[1]


def _depth(rig: Rig, qpos: np.ndarray, geom: int) -> float:
    data = mujoco.MjData(rig.model)
    data.qpos[:] = qpos[0]
    mujoco.mj_kinematics(rig.model, data)
    body = np.flatnonzero(rig.model.geom_contype == 1)
    return max(-mujoco.mj_geomDistance(rig.model, data, geom, int(b), 0.0, None) for b in body)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("turn_office_03", 1.5), ("lean_tilting_01", 0.1)])
def test_our_own_clips_get_their_angles_back(name: str, most: float) -> None:
    world, truth = build_world(pieces=get_recipe(name).scene.pieces), build_qpos(name)
    address, hidden = world.layout.object_qpos, truth.copy()
    hidden[:, address] = world.layout.home_qpos[address]
    error = np.abs(follow_body(Rig(world), hidden, FPS) - truth)[:, address]
    assert np.ptp(truth[:, address]) > most / 15  # there is something to find
    assert error.max() < 0.03
