"""Furniture with joints: at rest by itself, turned and tilted as springs, inertia and friction predict."""

import mujoco
import numpy as np
import pytest

from qes_jax.model.scene import PARKED, SCENES, Piece
from qes_jax.model.world import World, build_world

FAR = 50.0  # [m] where the character is out of the way


def room(world: World, placement: np.ndarray | None = None) -> mujoco.MjData:
    """The scene by itself, as modelled or placed."""
    data = mujoco.MjData(world.plain)
    data.qpos[:] = world.layout.home_qpos
    data.qpos[0] = FAR
    placement = world.placement() if placement is None else placement
    data.mocap_pos[:], data.mocap_quat[:] = placement[:, :3], placement[:, 3:]
    return data


def alone(kind: str) -> tuple[World, mujoco.MjData]:
    """A piece of that kind, its one joint's address being qpos[39] and qvel[38]."""
    world = build_world(pieces=(Piece("it", kind),))
    assert world.layout.object_qpos.tolist() == [39]
    assert world.layout.object_dofs.tolist() == [38]
    return world, room(world)


def advance(world: World, data: mujoco.MjData, seconds: float) -> None:
    for _ in range(round(seconds / world.plain.opt.timestep)):
        mujoco.mj_step(world.plain, data)


@pytest.mark.parametrize("scene", SCENES.values(), ids=list(SCENES))
@pytest.mark.parametrize("parked", [False, True])
def test_nothing_moves_by_itself(scene, parked: bool) -> None:
    """In three seconds, where a piece stands or is parked; a spring presses its stop in by half a milliradian."""
    world = build_world(pieces=scene.pieces)
    data = room(world, np.tile(PARKED, (len(scene.pieces), 1)) if parked else None)
    mujoco.mj_forward(world.plain, data)
    before = data.xpos[1 + len(world.layout.links) :].copy()
    advance(world, data, 3.0)
    mujoco.mj_forward(world.plain, data)
    np.testing.assert_allclose(data.xpos[1 + len(world.layout.links) :], before, atol=1e-6)
    np.testing.assert_allclose(data.qpos[world.layout.object_qpos], 0.0, atol=1e-3)
    np.testing.assert_allclose(data.qvel[world.layout.object_dofs], 0.0, atol=1e-6)


def inertia_of_seat(m: mujoco.MjModel) -> float:
    """About Z through the origin [kg m^2]: boxes' own, and mass times distance squared (Steiner)."""
    total = 0.0
    for name, mass in (("it/seat", 6.0), ("it/backrest", 3.0)):
        geom = m.geom(name)
        total += mass * ((geom.size[0] ** 2 + geom.size[1] ** 2) / 3 + geom.pos[0] ** 2 + geom.pos[1] ** 2)
    return total


@pytest.mark.parametrize("torque", [1.9, 2.5, 6.0, -6.0])
def test_the_seat_turns_with_the_torque_that_friction_leaves(torque: float) -> None:
    """Not at all below 2 N m; beyond that I w' = torque - 2 - 1 w, so w(t) = (torque - 2) (1 - exp(-t / I))."""
    world, data = alone("office_chair")
    inertia, free = inertia_of_seat(world.plain), np.sign(torque) * max(abs(torque) - 2.0, 0.0)
    data.qfrc_applied[38] = torque
    for seconds in (0.25, 0.5):
        advance(world, data, 0.25)
        rate = free * (1.0 - np.exp(-seconds / inertia))
        assert data.qvel[38] == pytest.approx(rate, rel=0.02, abs=0.01)
    turned = free * (0.5 - inertia * (1.0 - np.exp(-0.5 / inertia)))
    assert data.qpos[39] == pytest.approx(turned, rel=0.03, abs=0.01)


def test_a_turning_seat_comes_to_rest() -> None:
    """I w' = -2 - w: from w0 it stops after I ln(1 + w0 / 2), and stays."""
    world, data = alone("office_chair")
    data.qvel[38] = 3.0
    stop = inertia_of_seat(world.plain) * np.log(1.0 + 3.0 / 2.0)
    advance(world, data, 0.8 * stop)
    assert data.qvel[38] > 0.1
    advance(world, data, 0.2 * stop + 0.1)
    here = data.qpos[39]
    assert data.qvel[38] == pytest.approx(0.0, abs=1e-3)
    advance(world, data, 1.0)
    assert data.qpos[39] == pytest.approx(here, abs=1e-3)


def test_the_base_stays_while_the_seat_turns() -> None:
    world, data = alone("office_chair")
    data.qpos[39] = 1.0
    mujoco.mj_forward(world.plain, data)
    np.testing.assert_array_equal(data.xquat[world.layout.piece_ids[0] + 1], [1, 0, 0, 0])
    seat = world.plain.body("it/upper").id
    np.testing.assert_allclose(data.xquat[seat], [np.cos(0.5), 0, 0, np.sin(0.5)], atol=1e-12)
    assert world.layout.moving_ids.tolist() == [seat - 1]


@pytest.mark.parametrize("force", [10.0, 60.0, 200.0])
def test_the_backrest_reclines_as_its_spring_says(force: float) -> None:
    """A push at its middle, 0.32 m from the hinge and square to it, and its weight, against 8 N m + 80 N m/rad."""
    world, data = alone("tilting_chair")
    back, arm, weight = world.plain.body("it/back").id, 0.32, 4.0 * 9.81
    for _ in range(round(6.0 / world.plain.opt.timestep)):
        push = data.xmat[back].reshape(3, 3) @ [-force, 0.0, 0.0]
        data.xfrc_applied[back] = [*push, 0.0, 0.0, 0.0]
        data.xfrc_applied[back, 3:] = np.cross(data.geom("it/backrest").xpos - data.xipos[back], push)
        mujoco.mj_step(world.plain, data)
    angle = data.qpos[39]
    assert data.qvel[38] == pytest.approx(0.0, abs=1e-4)
    left = force * arm + weight * arm * np.sin(angle) - 8.0 - 80.0 * angle  # what no spring holds
    if force == 10.0:
        assert angle == pytest.approx(0.0, abs=1e-3)  # against the front stop
        assert left < 0
    elif force == 60.0:
        assert 0.1 < angle < np.radians(27)
        assert left == pytest.approx(0.0, abs=0.05)
    else:
        assert angle == pytest.approx(np.radians(28), abs=2e-2)  # against the rear stop, which gives a little
        assert left > 0


def test_a_foot_turns_the_chair_and_a_reaching_arm_does_not() -> None:
    """What the friction is for. A foot that carries 150 N grips with as much, 0.35 m from the column; an arm of 3.5 kg
    that is swung at 4 rad/s^2, 0.3 m out, asks of the seat what it takes: 3.5 x 0.3^2 x 4 = 1.3 N m."""
    friction = build_world(pieces=(Piece("it", "office_chair"),)).plain.dof_frictionloss[38]
    assert 3.5 * 0.3**2 * 4 < friction < 0.1 * 150 * 0.35
