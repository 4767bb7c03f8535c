"""The task as a brax environment: shapes, brax's wrappers, brax's PPO."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs.wrappers.training import EvalWrapper, wrap
from brax.training.agents.ppo import networks
from brax.training.agents.ppo import train as ppo

from qes_jax.env.brax_adaptor import OBS_KEYS, BraxEnv
from tests.env.standing import ROWS, STANDING, Lab, row


@pytest.fixture(scope="module")
def env(lab: Lab) -> BraxEnv:
    return BraxEnv(lab.task, lab.params)


def shapes(tree):
    return jax.tree.map(lambda x: (x.shape, x.dtype), tree)


def test_sizes(env, lab):
    obs = jax.eval_shape(lab.task.reset, lab.params, jax.random.PRNGKey(0))[1]
    assert env.observation_size == {"state": obs.policy.shape, "privileged_state": obs.critic.shape}
    assert set(OBS_KEYS.values()) == set(env.observation_size)
    assert env.action_size == 32
    assert env.backend == "MujocoEngine"


def test_a_step_has_the_shape_of_a_reset_under_the_training_wrappers(env):
    wrapped = EvalWrapper(wrap(env, episode_length=20))
    state = jax.eval_shape(wrapped.reset, jax.ShapeDtypeStruct((4, 2), jnp.uint32))
    after = jax.eval_shape(wrapped.step, state, jax.ShapeDtypeStruct((4, 32), jnp.float32))
    assert shapes(after) == shapes(state)
    assert state.reward.shape == state.done.shape == (4,)
    assert not any(name.startswith("trace/") for name in state.metrics)


class Replay:
    """Stands for the task: hands out what the compiled task gave for one environment."""

    def __init__(self, task, before, after):
        self.task, self.before, self.after = task, before, after

    n_actions = 32

    def reset(self, params, key):
        return self.before

    def step(self, params, state, action):
        return self.after


@pytest.mark.parametrize(
    ("frame", "shift", "terminated", "truncated"), [(5, 0, 0, 0), (5, 2, 1, 0), (STANDING - 2, 0, 0, 1)]
)
def test_done_is_a_fall_or_the_end_of_the_clip(lab, frame, shift, terminated, truncated):
    state = lab.start()._replace(frame=jnp.full(ROWS, frame, jnp.int32), age=jnp.zeros(ROWS, jnp.int32))
    qpos = jnp.tile(lab.params.reference.qpos[frame], (ROWS, 1)).at[:, 0].add(shift)
    state = state._replace(physics=state.physics._replace(qpos=qpos))
    before = row((state, lab.observe(lab.params, state)), 0)
    after = row(lab.step(lab.params, state, jnp.zeros((ROWS, 32))), 0)
    env = BraxEnv(Replay(lab.task, before, after), lab.params)
    begun = env.reset(jax.random.PRNGKey(0))
    reached = env.step(begun, jnp.zeros(32))
    assert float(reached.done) == max(terminated, truncated)
    assert float(reached.info["truncation"]) == truncated
    assert float(reached.info["time_out"]) == truncated
    assert float(reached.reward) == float(after[1].reward)
    np.testing.assert_array_equal(reached.obs["state"], after[1].obs.policy)
    np.testing.assert_array_equal(reached.obs["privileged_state"], after[1].obs.critic)
    assert shapes(reached) == shapes(begun)


@pytest.mark.slow
def test_brax_ppo_trains_on_it(env):
    seen = []
    _, params, _ = ppo.train(
        environment=env, num_timesteps=32, episode_length=20, num_envs=4, unroll_length=4, batch_size=4,
        num_minibatches=1, num_updates_per_batch=1, num_evals=2, num_eval_envs=2, normalize_observations=True, seed=0,
        network_factory=functools.partial(
            networks.make_ppo_networks, policy_hidden_layer_sizes=(16,), value_hidden_layer_sizes=(16,), **OBS_KEYS
        ),
        progress_fn=lambda step, metrics: seen.append((step, metrics)),
    )  # fmt: skip
    assert seen[-1][0] >= 32
    assert all(np.isfinite(x) for k, x in seen[-1][1].items() if k.startswith(("training/", "eval/episode_reward")))
    assert 0 < seen[-1][1]["eval/episode_reward"] < 20
    assert jax.tree.all(jax.tree.map(lambda x: bool(np.all(np.isfinite(x))), params))
