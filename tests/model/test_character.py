"""The character: what it is made of, that its sides mirror each other, how it scales, that it stands and survives."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from mujoco.batch import Batch
from scipy.spatial.transform import Rotation

from qes_jax.model.character import CharacterConfig, joint_kind
from qes_jax.model.engine import Physics, initial_state
from qes_jax.model.mjx_engine import MjxEngine
from qes_jax.model.world import World, build_world
from tests.model.figures import balanced, bent, lowest, soles, torque_servo

TURNS_ABOUT_X_OR_Z = ("lumbar_roll", "thorax_yaw", "neck_yaw")  # of the trunk: a mirror image turns the other way


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


def _mirror_name(name: str) -> str:
    side = {"left": "right", "right": "left"}.get(name.split("_")[0])
    return name if side is None else f"{side}_{name.split('_', 1)[1]}"


def test_counts_height_and_mass(world: World) -> None:
    m = world.plain
    assert (len(world.layout.links), m.nu, m.nq, m.nv) == (18, 32, 39, 38)
    assert m.nbody == 19
    assert set(m.actuator_trnid[:, 0]) == set(np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_HINGE))
    assert m.body_mass.sum() == pytest.approx(70.0, abs=0.5)
    data = mujoco.MjData(m)
    data.qpos[:] = world.layout.home_qpos
    mujoco.mj_forward(m, data)
    top = data.geom("head").xpos[2] + m.geom("head").size[0]
    assert top - lowest(m, data.qpos) == pytest.approx(1.75, abs=0.02)


def test_key_poses_are_within_the_joint_ranges(world: World) -> None:
    low, high = world.layout.joint_range.T
    for name, qpos in world.layout.key_qpos.items():
        angles = qpos[world.layout.joint_qpos]
        assert np.all((low <= angles) & (angles <= high)), name
    data = mujoco.MjData(world.plain)
    data.qpos[:] = world.layout.key_qpos["t_pose"]
    mujoco.mj_forward(world.plain, data)
    reach = data.body("left_hand").xpos - data.body("left_upper_arm").xpos
    np.testing.assert_allclose(reach / np.linalg.norm(reach), [0, 1, 0], atol=1e-3)


def test_sides_are_mirror_images(world: World) -> None:
    """A mirrored pose has mirrored positions, and rotations M R M with M = diag(1, -1, 1)."""
    m, layout, rng = world.plain, world.layout, np.random.default_rng(0)
    at = dict(zip(layout.joints, layout.joint_qpos, strict=True))
    one, other = mujoco.MjData(m), mujoco.MjData(m)
    one.qpos[layout.joint_qpos] = rng.uniform(*layout.joint_range.T)
    for joint in layout.joints:
        sign = -1.0 if joint_kind(joint) in TURNS_ABOUT_X_OR_Z else 1.0
        other.qpos[at[_mirror_name(joint)]] = sign * one.qpos[at[joint]]
    mujoco.mj_kinematics(m, one)
    mujoco.mj_kinematics(m, other)
    flip = np.diag([1.0, -1.0, 1.0])
    for name in layout.links:
        a, b = one.body(name), other.body(_mirror_name(name))
        np.testing.assert_allclose(b.xpos, flip @ a.xpos, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.xmat.reshape(3, 3), flip @ a.xmat.reshape(3, 3) @ flip, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.xipos, flip @ a.xipos, atol=1e-9, err_msg=name)


def test_sides_weigh_and_pull_alike(world: World) -> None:
    m, flip = world.plain, np.diag([1.0, -1.0, 1.0])

    def inertia(name: str) -> np.ndarray:
        body = m.body(name)
        turn = Rotation.from_quat(body.iquat, scalar_first=True).as_matrix()
        return turn @ np.diag(body.inertia) @ turn.T

    for name in world.layout.links:
        assert m.body(name).mass == m.body(_mirror_name(name)).mass, name
        np.testing.assert_allclose(inertia(_mirror_name(name)), flip @ inertia(name) @ flip, atol=1e-9, err_msg=name)
    for name in world.layout.joints:
        a, b = m.joint(name), m.joint(_mirror_name(name))
        for field in ("range", "damping", "armature"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field), err_msg=name)
        assert m.actuator(name).gear[0] == m.actuator(_mirror_name(name)).gear[0], name


def test_no_link_touches_a_link(world: World) -> None:
    m, layout, rng = world.plain, world.layout, np.random.default_rng(1)
    data = mujoco.MjData(m)
    for _ in range(200):
        data.qpos[2] = 10.0
        data.qpos[layout.joint_qpos] = rng.uniform(*layout.joint_range.T)
        mujoco.mj_fwdPosition(m, data)
        assert data.ncon == 0


def test_all_corners_of_the_soles_touch_the_floor_at_once(world: World) -> None:
    m = world.plain
    data = mujoco.MjData(m)
    data.qpos[:] = world.layout.home_qpos
    data.qpos[2] -= 1e-4
    mujoco.mj_forward(m, data)
    touching = {int(g) for g in data.contact.geom[: data.ncon].ravel()} - {m.geom("floor").id}
    assert touching == set(soles(m))
    for foot in ("left_foot", "right_foot"):
        assert sum(m.geom_bodyid[g] == m.body(foot).id for g in touching) == 4


@pytest.mark.parametrize("height", [1.4, 2.0])
def test_scales_with_height(world: World, height: float) -> None:
    s = height / 1.75
    m, scaled = world.plain, build_world(CharacterConfig(height=height)).plain
    np.testing.assert_allclose(scaled.body_pos, m.body_pos * s, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.site_pos, m.site_pos * s, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.body_ipos, m.body_ipos * s, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.geom_size[1:], m.geom_size[1:] * s, rtol=1e-6)
    np.testing.assert_allclose(scaled.body_mass, m.body_mass * s**3, rtol=1e-6)
    np.testing.assert_allclose(scaled.body_inertia, m.body_inertia * s**5, rtol=1e-6)
    np.testing.assert_allclose(scaled.actuator_gear, m.actuator_gear * s**4, rtol=1e-6)
    assert lowest(scaled, build_world(CharacterConfig(height=height)).layout.home_qpos) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("config", [{"height": 1.39}, {"height": 2.01}, {"actuation": "muscle"}])
def test_bad_configs_are_refused(config: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(config))):
        CharacterConfig(**config)


@pytest.mark.parametrize("height", [1.4, 1.75, 2.0])
@pytest.mark.parametrize("actuation", ["torque", "pd"])
def test_stands_still_for_five_seconds(actuation: str, height: float) -> None:
    world = build_world(CharacterConfig(height, actuation))
    data = mujoco.MjData(world.plain)
    data.qpos[:] = target = bent(world)
    for _ in range(round(5.0 / world.plain.opt.timestep)):
        angles = balanced(world, data, target)
        data.ctrl[:] = angles if actuation == "pd" else torque_servo(world, angles, data.qpos)
        mujoco.mj_step(world.plain, data)
    assert data.qpos[2] == pytest.approx(target[2], abs=0.03)
    assert np.linalg.norm(data.qpos[:2]) < 0.1
    assert np.abs(data.qvel).max() < 0.1


@pytest.mark.parametrize("rate", [72, 108, 144])
def test_survives_thirty_seconds_of_full_random_torques(rate: int) -> None:
    """No NaN (MuJoCo's own reset of a failed simulation is off), and nothing spins faster than 15 turns a second."""
    world = build_world(sim_dt=1 / rate)
    batch = Batch(world.plain, 8, 2)
    batch.bind("qpos")[:] = world.layout.home_qpos
    ctrl, qvel, rng = batch.bind("ctrl"), batch.bind("qvel"), np.random.default_rng(0)
    for _ in range(30 * 36):
        ctrl[:] = rng.uniform(-1, 1, ctrl.shape)
        batch.step(nstep=rate // 36)
        assert np.abs(qvel).max() < 95.0
    assert batch.bind("qpos")[:, 2].min() > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("rate", [72, 108, 144])
def test_survives_full_random_torques_on_mjx(rate: int) -> None:
    world = build_world(sim_dt=1 / rate)
    engine = MjxEngine(world)

    def control_step(states: Physics, key: jax.Array) -> tuple[Physics, jax.Array]:
        ctrl = jax.random.uniform(key, (2, world.plain.nu), minval=-1, maxval=1)
        states, _ = jax.vmap(lambda s, u: engine.step(s, u, rate // 36))(states, ctrl)
        return states, jnp.abs(states.qvel).max()

    start = jax.vmap(lambda q: initial_state(world, q))(np.tile(world.layout.home_qpos, (2, 1)))
    run = jax.jit(lambda s, keys: jax.lax.scan(control_step, s, keys))
    states, fastest = run(start, jax.random.split(jax.random.key(0), 30 * 36))
    assert jnp.all(fastest < 95.0)
    assert jnp.all(states.qpos[:, 2] > 0.0)
