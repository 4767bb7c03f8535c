"""The step as a function: pure, row by row, compiled once; actions; pushes; every variant of the task."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from qes_jax.env.config import ABLATIONS, RandomizeConfig, SceneObsConfig, ablate
from qes_jax.env.task import Task, push
from qes_jax.model.character import CharacterConfig
from qes_jax.model.engines import make_engine
from qes_jax.model.world import build_world
from tests.env.standing import CONFIG, ROWS, Lab, quick, row, standing_task

SIZES = {"full": 0, "no_contact": 0, "no_randomization": 0, "real_time": -36, "headset_only": -54}
SIZES["no_scene_obs"] = -99 - 32  # height map and what moves


def random_actions(seed: int, scale: float = 1.0):
    return jnp.asarray(np.random.default_rng(seed).uniform(-scale, scale, (ROWS, 32)), jnp.float32)


def assert_equal(a, b) -> None:
    jax.tree.map(np.testing.assert_array_equal, a, b)


def test_the_same_state_twice_gives_the_same_bits(lab: Lab):
    state, action = lab.moving(), random_actions(1)
    one = lab.step(lab.params, state, action)
    lab.step(lab.params, lab.moving(5), random_actions(2))  # something else in between
    assert_equal(one, lab.step(lab.params, state, action))


def test_an_environment_does_not_feel_its_neighbours(lab: Lab):
    state, other = lab.moving(), lab.moving(5)
    mixed = jax.tree.map(lambda x, y: y.at[3].set(x[3]), state, other)
    action = random_actions(1)
    alone = lab.step(lab.params, state, action)
    among = lab.step(lab.params, mixed, random_actions(2).at[3].set(action[3]))
    assert_equal(row(alone, 3), row(among, 3))
    assert np.abs(alone[0].physics.qpos[4] - among[0].physics.qpos[4]).max() > 1e-3


def test_changed_parameters_compile_nothing(lab: Lab):
    state = lab.moving()
    lab.step(lab.params, state, random_actions(0))
    traces = lab.traces
    ref = lab.params.reference
    changed = lab.params._replace(
        reference=ref._replace(sensor_pos=ref.sensor_pos + 0.05, placement=ref.placement * 1.01),
        start_weight=lab.params.start_weight * 0.3, mean_pose=lab.params.mean_pose + 0.1,
    )  # fmt: skip
    _, seen = lab.step(changed, state, random_actions(0))
    assert lab.traces == traces
    assert np.abs(seen.reward - lab.step(lab.params, state, random_actions(0))[1].reward).max() > 1e-3


def test_actions_are_cut_to_the_maximum_torque(lab: Lab):
    state, action = lab.moving(), random_actions(4, 3.0)
    beyond, cut = lab.step(lab.params, state, action), lab.step(lab.params, state, jnp.clip(action, -1, 1))
    assert_equal(beyond, cut)
    np.testing.assert_array_equal(beyond[0].action, np.clip(action, -1, 1))


def test_an_action_is_a_share_of_the_maximum_torque(lab: Lab):
    m, layout = lab.world.mj, lab.world.layout
    data, action = mujoco.MjData(m), np.asarray(random_actions(5)[0])
    data.ctrl[:] = lab.task._ctrl(lab.params, action)
    mujoco.mj_forward(m, data)
    np.testing.assert_allclose(data.qfrc_actuator[layout.joint_dofs], action * layout.max_torque, rtol=1e-6)
    assert np.all(data.qfrc_actuator[:6] == 0)  # nothing holds the root


def test_the_floor_bears_a_standing_body(lab: Lab):
    """Forces on the links point up, and are of the order of the weight, while the limp body begins to sink."""
    state = lab.start_from(0, 40)
    upward = []
    for _ in range(4):
        state, _ = lab.step(lab.params, state, jnp.zeros((ROWS, 32)))
        upward.append(state.derived.force[:, :, 0, 2].sum(axis=1))
    weight = 9.81 * lab.world.mj.body_mass.sum()
    assert np.all((np.mean(upward, axis=0) > 0.2 * weight) & (np.mean(upward, axis=0) < 2.0 * weight))


@pytest.fixture(scope="module")
def pd_task() -> Task:
    return Task(replace(CONFIG, pd_scale=2.0), make_engine(build_world(CharacterConfig(actuation="pd")), "mujoco"))


def test_pd_targets_are_about_the_mean_pose_and_within_the_joints_range(lab: Lab, pd_task):
    low, high = pd_task.engine.world.layout.joint_range.T
    mean = np.asarray(lab.params.mean_pose)
    np.testing.assert_allclose(pd_task._ctrl(lab.params, np.zeros(32)), np.clip(mean, low, high), atol=1e-6)
    np.testing.assert_allclose(pd_task._ctrl(lab.params, np.full(32, 3.0)), np.minimum(high, mean + 6), atol=1e-6)
    np.testing.assert_allclose(pd_task._ctrl(lab.params, np.full(32, -3.0)), np.maximum(low, mean - 6), atol=1e-6)
    np.testing.assert_allclose(
        pd_task._ctrl(lab.params, np.full(32, 0.05)), np.clip(mean + 0.1, low, high), atol=1e-6
    )


def test_pd_torques_never_exceed_the_maximum(lab: Lab, pd_task):
    m, layout = pd_task.engine.world.mj, pd_task.engine.world.layout
    data = mujoco.MjData(m)
    data.ctrl[:] = pd_task._ctrl(lab.params, np.where(np.arange(32) % 2, 3.0, -3.0))
    mujoco.mj_forward(m, data)
    torque = np.abs(data.qfrc_actuator[layout.joint_dofs])
    assert np.all(torque <= layout.max_torque * (1 + 1e-6))
    assert np.any(torque > 0.99 * layout.max_torque)


def test_pushes_come_at_their_rate_and_move_the_root_only(lab: Lab):
    config, n = RandomizeConfig(push=0.5, push_every=50), 20_000
    physics = row(lab.start(), 0)
    keys = jax.random.split(jax.random.PRNGKey(0), n)
    change = np.asarray(quick(jax.vmap(lambda k: push(config, physics, k).qvel))(keys) - physics.physics.qvel)
    pushed = np.any(change != 0, axis=1)
    expected, deviation = n / 50, np.sqrt(n / 50 * (1 - 1 / 50))
    assert abs(pushed.sum() - expected) < 3 * deviation
    assert np.all(change[:, 2:] == 0)
    assert 0.45 < np.abs(change).max() <= 0.5 + 1e-6
    assert abs(change[pushed, :2].mean()) < 0.05
    still = push(replace(config, push=0.0), physics, keys[0])
    assert_equal(still, physics.physics)


@pytest.mark.parametrize("ablation", ABLATIONS)
def test_every_ablation_has_the_observation_that_it_should(lab: Lab, ablation):
    task = Task(ablate(CONFIG, ablation), lab.task.engine)
    full = jax.eval_shape(lab.task.reset, lab.params, jax.random.PRNGKey(0))[1]
    state, obs = jax.eval_shape(task.reset, lab.params, jax.random.PRNGKey(0))
    _, seen = jax.eval_shape(task.step, lab.params, state, jax.ShapeDtypeStruct((32,), jnp.float32))
    assert obs == seen.obs
    assert obs.policy.shape[0] - full.policy.shape[0] == SIZES[ablation]
    assert obs.critic.shape[0] - full.critic.shape[0] == SIZES[ablation]


def test_an_unknown_ablation_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no_legs.*no_scene_obs"):
        ablate(CONFIG, "no_legs")


VARIANTS = [*({"ablation": a} for a in ABLATIONS[1:]), {"actuation": "pd"}, {"kind": "distances"}]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: next(iter(v.values())))
def test_every_variant_steps(variant):
    config = ablate(CONFIG, variant.get("ablation", "full"))
    if "kind" in variant:
        config = replace(config, scene_obs=SceneObsConfig(variant["kind"]))
    task, params = standing_task(config, actuation=variant.get("actuation", "torque"))
    state, obs = quick(jax.vmap(task.reset, (None, 0)))(params, jax.random.split(jax.random.PRNGKey(0), 4))
    step = quick(jax.vmap(task.step, (None, 0, 0)))
    for _ in range(5):
        state, seen = step(params, state, jnp.zeros((4, 32)))
        assert np.all(np.isfinite(seen.obs.critic)) and np.all(np.isfinite(seen.reward))
    assert seen.obs.policy.shape == obs.policy.shape
    assert np.all(seen.reward > 0.3) and not np.any(seen.terminated)
    moved = np.abs(state.physics.mocap_pos - params.reference.placement[0, :, :3]).max()
    assert (moved == 0) == (variant.get("ablation") == "no_randomization")
