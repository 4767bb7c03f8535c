"""PPO finds the values and actions that are known on paper."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.inference import policy, policy_params
from qes_jax.ppo.rollout import critic_value
from qes_jax.ppo.train import init, make_iteration
from qes_jax.types import Obs
from tests.ppo.probes import Ending, constant, counter, matched_action, point_mass, shown_reward

GAMMA = 0.9
SMALL = PPOConfig(
    n_envs=64,
    n_steps=16,
    minibatch=256,
    epochs=4,
    lr=3e-3,
    target_kl=None,
    gamma=GAMMA,
    actor_hidden=(32, 32),
    critic_hidden=(32, 32),
    log_std_init=-0.7,
)


@functools.cache
def compiled(probe, cfg):
    """The probe's functions and iteration, compiled once for all its parameters."""
    reset, step = probe()
    return reset, step, make_iteration(cfg, reset, step)


def train(probe, iterations, cfg=SMALL, env_params=None):
    reset, step, iteration = compiled(probe, cfg)
    ts = init(cfg, reset, step, env_params, jax.random.key(0), n_act=1)
    history = []
    for _ in range(iterations):
        ts, metrics, _ = iteration(ts, env_params)
        history.append(metrics)
    assert not any(float(m[name]) for m in history for name in m if name.startswith("nan/"))
    return ts, history


def values(ts, rows, cfg=SMALL):
    obs = jnp.array(rows, jnp.float32)
    return np.asarray(critic_value(cfg, ts.params, ts.normalizer, Obs(obs, obs)))


@pytest.mark.parametrize(
    ("length", "terminates", "expected"),
    [(10**6, False, 1 / (1 - GAMMA)), (1, False, 1 / (1 - GAMMA)), (5, False, 1 / (1 - GAMMA)), (1, True, 1.0)],
)
def test_truncation_bootstraps_and_termination_does_not(length, terminates, expected):
    ts, _ = train(constant, 150, env_params=Ending(jnp.int32(length), jnp.bool(terminates)))
    np.testing.assert_allclose(values(ts, [[1.0]]), expected, rtol=0.03)


def test_value_depends_on_time_to_termination():
    ts, history = train(counter, 80)
    np.testing.assert_allclose(values(ts, [[0.0], [1.0]]), [1 + GAMMA, 1], atol=0.05)
    assert history[-1]["ppo/explained_variance"] > 0.95
    np.testing.assert_allclose(history[-1]["rollout/terminated"], 0.5, atol=0.02)


def test_value_depends_on_observation():
    ts, _ = train(shown_reward, 60, env_params=jnp.int32(1))
    np.testing.assert_allclose(values(ts, [[-1.0, 0.0], [1.0, 0.0]]), [-1, 1], atol=0.05)


def test_credit_passes_back_in_time():
    ts, _ = train(shown_reward, 80, env_params=jnp.int32(2))
    rows = [[-1.0, 0.0], [1.0, 0.0], [-1.0, 1.0], [1.0, 1.0]]
    np.testing.assert_allclose(values(ts, rows), [-GAMMA, GAMMA, -1, 1], atol=0.07)


def test_action_depends_on_observation():
    ts, history = train(matched_action, 80)
    actions = policy(SMALL, policy_params(ts), jnp.array([[-1.0], [1.0]]))
    np.testing.assert_allclose(actions[:, 0], [-0.5, 0.5], atol=0.08)
    assert history[-1]["ppo/std"] < 0.5 * history[0]["ppo/std"]


def test_point_mass_learns():
    """Doing nothing earns about 0.5 a step, a good policy above 0.8."""
    _, history = train(point_mass, 80, env_params=jnp.float32(3.0))
    assert history[0]["rollout/reward"] < 0.6
    assert np.mean([m["rollout/reward"] for m in history[-5:]]) > 0.78
