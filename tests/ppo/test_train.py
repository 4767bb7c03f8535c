"""The whole iteration: repeatable, resumable, the same on two devices, loud about NaN, right about episode ends."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax import ppo
from qes_jax.ppo import train
from qes_jax.ppo.loss import Mirror
from qes_jax.ppo.rollout import Carry, critic_value, rollout, start
from tests.ppo.probes import counter, point_mass

CFG = ppo.PPOConfig(
    n_envs=16, n_steps=8, minibatch=32, epochs=2, shuffle_blocks=4, actor_hidden=(16, 16), critic_hidden=(16,), lr=1e-3
)
FORCE = jnp.float32(3.0)


def fresh(cfg=CFG, probe=None, seed=0):
    return ppo.init(cfg, *(probe or point_mass()), FORCE, jax.random.key(seed), n_act=1)


def run(iteration, ts, n):
    for _ in range(n):
        ts, metrics, _ = iteration(ts, FORCE)
    return ts, metrics


def assert_equal(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.fixture(scope="module")
def iteration():
    return ppo.make_iteration(CFG, *point_mass())


def test_same_key_same_bits(iteration):
    one, two, other = (run(iteration, fresh(seed=seed), 4) for seed in (0, 0, 1))
    assert_equal(one, two)
    assert (one[0].params["log_std"] != other[0].params["log_std"]).all()


def test_resumes_bit_for_bit_through_numpy(iteration):
    straight = run(iteration, fresh(), 5)
    half = jax.tree.map(lambda x: np.array(x), run(iteration, fresh(), 2)[0])
    resumed = run(iteration, jax.tree.map(jnp.asarray, half), 3)
    assert_equal(straight, resumed)
    assert int(resumed[0].iteration) == 5
    assert iteration._cache_size() == 1


def test_metrics_and_episodes(iteration):
    _, metrics, episodes = iteration(fresh(), FORCE)
    assert all(x.shape == () for x in metrics.values())
    assert set(episodes) == {"terminated", "truncated", "trace/reward"}
    assert all(x.shape == (CFG.n_steps, CFG.n_envs) for x in episodes.values())
    np.testing.assert_allclose(metrics["rollout/reward"], np.mean(episodes["trace/reward"]), rtol=1e-5)


def test_environment_parameters_do_not_recompile(iteration):
    before = iteration._cache_size()
    rewards = [float(iteration(fresh(), force)[1]["rollout/reward"]) for force in (FORCE, FORCE * 2)]
    assert rewards[0] != rewards[1]
    assert iteration._cache_size() == max(before, 1)


def test_ended_environments_go_on_from_the_pool():
    reset, step = counter()
    ts = fresh(probe=(reset, step))
    pool = start(CFG, ts.params, ts.normalizer, reset, FORCE, jax.random.split(jax.random.PRNGKey(5), CFG.n_envs))
    pool = pool._replace(state=pool.state._replace(memory=jnp.arange(CFG.n_envs, dtype=jnp.float32)))
    now = Carry(ts.env_state, ts.obs, critic_value(CFG, ts.params, ts.normalizer, ts.obs))
    slots = jnp.stack([jax.random.permutation(jax.random.key(t), CFG.n_envs) for t in range(4)])
    noise = jnp.zeros((4, CFG.n_envs, 1))
    end, _, seen = rollout(CFG, ts.params, ts.normalizer, step, FORCE, now, pool, noise, slots)
    np.testing.assert_array_equal(seen.terminated[:, 0], [0, 1, 0, 1])
    np.testing.assert_array_equal(end.state.memory, slots[3])
    np.testing.assert_array_equal(end.obs.critic, 0)
    two = pool.obs._replace(critic=jnp.full_like(pool.obs.critic, 2.0))
    np.testing.assert_allclose(seen.next_value[1], critic_value(CFG, ts.params, ts.normalizer, two), rtol=1e-6)
    np.testing.assert_allclose(seen.value[2], pool.value, rtol=1e-6)
    np.testing.assert_allclose(seen.next_value[0], seen.value[1], rtol=1e-6)


@pytest.mark.parametrize("where", ["reward", "obs"])
def test_nan_is_counted_not_hidden(where):
    reset, step = point_mass()

    def broken(params, state, action):
        state, ts = step(params, state, action)
        poison = jnp.where(state.t == 3, jnp.nan, 0.0)
        return state, ts._replace(**{where: jax.tree.map(lambda x: x + poison, getattr(ts, where))})

    _, metrics, _ = ppo.make_iteration(CFG, reset, broken)(fresh(), FORCE)
    assert metrics[f"nan/{where}"] > 0
    assert metrics["nan/grads"] > 0
    assert metrics["nan/params"] > 0


def test_mirror_makes_the_policy_odd():
    """The point mass looks the same from the other side, so f(-obs) = -f(obs) pays."""
    mirror = Mirror(jnp.negative, jnp.negative, jnp.negative)
    oddness = []
    for weight in (0.0, 1.0):
        cfg = dataclasses.replace(CFG, mirror_weight=weight, n_envs=64, minibatch=128)
        ts, metrics = run(ppo.make_iteration(cfg, *point_mass(), mirror=mirror), fresh(cfg), 40)
        obs = jax.random.uniform(jax.random.key(9), (50, 3), minval=-1.0)
        params = ppo.policy_params(ts)
        f, g = ppo.policy(cfg, params, obs), ppo.policy(cfg, params, -obs)
        oddness.append(float(jnp.mean(jnp.abs(f + g)) / jnp.mean(jnp.abs(f))))
        assert ("loss/mirror_policy" in metrics) == (weight > 0)
    assert oddness[1] < 0.6 * oddness[0]


def test_a_step_of_another_shape_is_named():
    reset, step = point_mass()

    def grows(params, state, action):
        state, ts = step(params, state, action)
        return state._replace(memory=jnp.zeros(4)), ts

    with pytest.raises(ValueError, match=r"state\.memory"):
        ppo.init(CFG, reset, grows, FORCE, jax.random.key(0), n_act=1)


TWO_DEVICES = """
import sys
sys.path.insert(0, sys.argv[1])
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh
from tests.ppo.test_train import CFG, FORCE, fresh, run
from tests.ppo.probes import point_mass
from qes_jax import ppo

assert jax.device_count() == 2
mesh = Mesh(np.array(jax.devices()), (ppo.AXIS,))
one = run(ppo.make_iteration(CFG, *point_mass()), fresh(), 3)
two = run(ppo.make_iteration(CFG, *point_mass(), mesh=mesh), ppo.shard(fresh(), mesh), 3)
assert len(two[0].obs.policy.sharding.device_set) == 2
assert two[0].obs.policy.addressable_shards[0].data.shape[0] == CFG.n_envs // 2
jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4), one, two)
print("same")
"""


def test_two_devices_give_the_result_of_one():
    env = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES, str(Path(__file__).parents[2])],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.endswith("same\n"), done.stderr[-3000:]


def test_devices_must_divide_the_blocks():
    class ThreeDevices:
        shape = {train.AXIS: 3}  # noqa: RUF012

    with pytest.raises(ValueError, match="shuffle_blocks"):
        ppo.make_iteration(CFG, *point_mass(), mesh=ThreeDevices())
