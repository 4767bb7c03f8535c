"""The other bodies: what they weigh, that sides mirror, that they rest balanced on flat feet, links apart."""

import itertools

import mujoco
import numpy as np
import pytest

from qes_jax.model.bodies import BODIES, OTHERS, body_spec

MASS = {"infant": 9.2, "ostrich": 95.5, "dinosaur": 75.6}
SPINE = ("lumbar", "thorax", "neck", "upper_neck", "head", "tail_base", "tail_middle", "tail_tip")
FLIP = np.diag([1.0, -1.0, 1.0])


def _at_rest(name: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    m = body_spec(name).compile()
    data = mujoco.MjData(m)
    if m.nkey and name in OTHERS:
        data.qpos[:] = m.key("rest").qpos
    mujoco.mj_forward(m, data)
    return m, data


def _mirror_name(name: str) -> str:
    side = {"left": "right", "right": "left"}.get(name.split("_")[0])
    return name if side is None else f"{side}_{name.split('_', 1)[1]}"


def _corners(m: mujoco.MjModel) -> list[int]:
    return [
        m.geom(f"{side}_{part}_{edge}").id
        for side, part, edge in itertools.product(("left", "right"), ("heel", "ball"), ("in", "out"))
    ]


@pytest.mark.parametrize("name", BODIES)
def test_every_hinge_has_a_motor_and_every_foot_four_corners(name: str) -> None:
    m, _ = _at_rest(name)
    assert m.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    assert sorted(m.actuator_trnid[:, 0]) == list(range(1, m.njnt))
    assert np.all(m.actuator_gear[:, 0] > 0) and np.all(m.jnt_limited[1:])
    for corner in _corners(m):
        assert m.body(m.geom_bodyid[corner]).name == f"{m.geom(corner).name.split('_')[0]}_foot"


@pytest.mark.parametrize("name", OTHERS)
def test_mass_is_as_designed(name: str) -> None:
    m, _ = _at_rest(name)
    assert m.body_mass.sum() == pytest.approx(MASS[name], abs=0.1)
    moving = m.body_inertia[1:]
    assert np.all(moving > 0)
    assert np.all(moving.sum(axis=1) - 2 * moving.max(axis=1) >= -1e-12)  # the triangle inequality of real inertias


@pytest.mark.parametrize("name", OTHERS)
def test_sides_are_mirror_images(name: str) -> None:
    """A mirrored pose has mirrored frames, masses and torques; trunk roll and yaw change sign."""
    m, _ = _at_rest(name)
    one, other, rng = mujoco.MjData(m), mujoco.MjData(m), np.random.default_rng(0)
    for j in range(1, m.njnt):
        joint, image = m.joint(j), m.joint(_mirror_name(m.joint(j).name))
        middle = m.body(m.jnt_bodyid[j]).name in SPINE
        angle = rng.uniform(*joint.range)
        one.qpos[joint.qposadr] = angle
        other.qpos[image.qposadr] = -angle if middle and joint.name.endswith(("_roll", "_yaw")) else angle
        motor, its_image = m.actuator(joint.name), m.actuator(image.name)
        assert motor.gear[0] == its_image.gear[0]
    mujoco.mj_kinematics(m, one)
    mujoco.mj_kinematics(m, other)
    for b in range(1, m.nbody):
        name_a = m.body(b).name
        a, c = one.body(name_a), other.body(_mirror_name(name_a))
        np.testing.assert_allclose(c.xipos, FLIP @ a.xipos, atol=1e-9, err_msg=name_a)
        np.testing.assert_allclose(
            c.xmat.reshape(3, 3), FLIP @ a.xmat.reshape(3, 3) @ FLIP, atol=1e-9, err_msg=name_a
        )
        assert m.body(name_a).mass[0] == m.body(_mirror_name(name_a)).mass[0]


@pytest.mark.parametrize("name", OTHERS)
def test_rests_on_flat_feet_with_its_centre_of_mass_above_them(name: str) -> None:
    m, data = _at_rest(name)
    corners = _corners(m)
    heights = data.geom_xpos[corners, 2] - m.geom_size[corners, 0]
    np.testing.assert_allclose(heights, 0.0, atol=2e-4)
    back, front = np.sort(data.geom_xpos[corners, 0])[[0, -1]]
    margin = 0.2 * (front - back)
    assert back + margin < data.subtree_com[1, 0] < front - margin
    assert data.subtree_com[1, 1] == pytest.approx(0.0, abs=1e-6)
    low, high = m.jnt_range[1:].T
    assert np.all((low <= data.qpos[7:]) & (data.qpos[7:] <= high))


@pytest.mark.parametrize("name", OTHERS)
def test_torques_hold_the_rest_pose_twice_over(name: str) -> None:
    """Gravity with the weight on both feet alike, by inverse dynamics: limits leave room to crouch and to jump."""
    m, data = _at_rest(name)
    feet = [m.body(f"{side}_foot").id for side in ("left", "right")]
    ahead = data.subtree_com[1] * [1, 0, 0]
    for foot in feet:
        point, jac = data.xpos[foot] * [0, 1, 0] + ahead, np.zeros((3, m.nv))
        mujoco.mj_jac(m, data, jac, None, point, foot)
        data.qfrc_applied += jac.T @ [0, 0, 0.5 * 9.81 * m.body_mass.sum()]
    need = data.qfrc_bias - data.qfrc_applied
    np.testing.assert_allclose(need[:6], 0.0, atol=1e-6 * m.body_mass.sum() * 9.81)
    gear = m.actuator_gear[:, 0]
    assert np.all(2 * np.abs(need[m.jnt_dofadr[m.actuator_trnid[:, 0]]]) < gear)


@pytest.mark.parametrize("name", OTHERS)
def test_no_link_lies_inside_another_at_rest(name: str) -> None:
    """Links that share a joint may overlap; others keep a distance."""
    m, data = _at_rest(name)
    solid = [g for g in range(m.ngeom) if m.geom_bodyid[g] > 0 and m.geom_group[g] == 0]
    for g, k in itertools.combinations(solid, 2):
        a, b = m.geom_bodyid[g], m.geom_bodyid[k]
        joined = a == b or m.body_parentid[a] == b or m.body_parentid[b] == a
        if not joined:
            gap = mujoco.mj_geomDistance(m, data, g, k, 1.0, None)
            assert gap > 0, (m.geom(g).name, m.geom(k).name, gap)


def test_doubling_arms_and_legs_doubles_their_reach_and_mass() -> None:
    (m, at), (big, far) = _at_rest("humanoid"), _at_rest("humanoid_limbs2")
    for limb, end in (("upper_arm", "hand"), ("thigh", "foot")):
        for side in ("left", "right"):
            root, tip = f"{side}_{limb}", f"{side}_{end}"
            reach, twice = at.body(tip).xpos - at.body(root).xpos, far.body(tip).xpos - far.body(root).xpos
            np.testing.assert_allclose(twice, 2 * reach, atol=1e-9)
            weight = [x.body_subtreemass[x.body(root).id] for x in (m, big)]
            assert weight[1] == pytest.approx(2 * weight[0])
    assert big.actuator("left_knee").gear[0] == 4 * m.actuator("left_knee").gear[0]
    assert big.actuator("neck_yaw").gear[0] == m.actuator("neck_yaw").gear[0]


def test_an_unknown_body_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="dinosaur"):
        body_spec("dragon")
