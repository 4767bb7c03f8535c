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

from qes_jax.ppo import inference, train
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Mirror
from qes_jax.ppo.rollout import Carry, critic_value, rollout, start
from tests.ppo.probes import counter, point_mass

CFG = PPOConfig(
    n_envs=16, n_steps=8, minibatch=32, epochs=2, shuffle_blocks=4, actor_hidden=(16, 16), critic_hidden=(16,), lr=1e-3
)
FORCE = jnp.float32(3.0)


def fresh(cfg=CFG, probe=None, seed=0):
    return train.init(cfg, *(probe or point_mass()), FORCE, jax.random.key(seed), n_act=1)


def run(iteration, ts, n):
    for _ in range(n):
        ts, metrics, _ = iteration(ts, FORCE)
    return ts, metrics


def assert_equal(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.fixture(scope="module")
def iteration():
    return train.make_iteration(CFG, *point_mass())


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


def test_nan_is_counted_not_hidden():
    reset, step = point_mass()

    def broken(params, state, action):
        state, ts = step(FORCE, state, action)
        here = state.t == 3
        poison = jax.tree.map(lambda x: jnp.where(here, x, 0.0), params)
        obs = jax.tree.map(lambda x: x + poison["obs"], ts.obs)
        return state, ts._replace(obs=obs, reward=ts.reward + poison["reward"])

    iteration = train.make_iteration(CFG, reset, broken)
    for where in ("reward", "obs"):
        params = {"obs": jnp.float32(0), "reward": jnp.float32(0)} | {where: jnp.float32(jnp.nan)}
        _, metrics, _ = iteration(fresh(), params)
        counts = {name for name, x in metrics.items() if name.startswith("nan/") and x > 0}
        expected = {"nan/grads", "nan/params", f"nan/{where}"} | ({"nan/action"} if where == "obs" else set())
        assert counts >= expected
        assert where == "obs" or counts == expected


def test_mirror_makes_the_policy_odd(iteration):
    """The point mass looks the same from the other side, so f(-obs) = -f(obs) pays."""
    mirror = Mirror(jnp.negative, jnp.negative, jnp.negative)
    cfg = dataclasses.replace(CFG, mirror_weight=1.0)
    oddness = []
    for one in (iteration, train.make_iteration(cfg, *point_mass(), mirror=mirror)):
        ts, metrics = run(one, fresh(), 60)
        obs = jax.random.uniform(jax.random.key(9), (50, 3), minval=-1.0)
        params = inference.policy_params(ts)
        f, g = inference.policy(cfg, params, obs), inference.policy(cfg, params, -obs)
        oddness.append(float(jnp.mean(jnp.abs(f + g)) / jnp.mean(jnp.abs(f))))
        assert ("loss/mirror_policy" in metrics) == (one is not iteration)
    assert oddness[1] < 0.6 * oddness[0]


def test_a_step_of_another_shape_is_named():
    reset, step = point_mass()

    def grows(params, state, action):
        state, ts = step(params, state, action)
        return state._replace(memory=jnp.zeros(4)), ts

    with pytest.raises(ValueError, match=r"state\.memory"):
        train.init(CFG, reset, grows, FORCE, jax.random.key(0), n_act=1)


TWO_DEVICES = """
import sys
sys.path.insert(0, sys.argv[1])
import jax, numpy as np
from jax.sharding import Mesh
from qes_jax.ppo import train
from tests.ppo.probes import point_mass
from tests.ppo.test_train import CFG, fresh, run

mesh = Mesh(np.array(jax.devices()), (train.AXIS,))
two = run(train.make_iteration(CFG, *point_mass(), mesh=mesh), train.shard(fresh(), mesh), 3)
shards = two[0].obs.policy.addressable_shards
assert [x.data.shape[0] for x in shards] == [CFG.n_envs // 2] * 2
np.savez(sys.argv[2], *jax.tree.leaves(two))
"""


def test_two_devices_give_the_result_of_one(iteration, tmp_path):
    env = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", TWO_DEVICES, str(Path(__file__).parents[2]), str(tmp_path / "two.npz")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    two = list(np.load(tmp_path / "two.npz").values())
    one = jax.tree.leaves(run(iteration, fresh(), 3))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4)


def test_devices_must_divide_the_blocks():
    class ThreeDevices:
        shape = {train.AXIS: 3}  # noqa: RUF012

    with pytest.raises(ValueError, match="shuffle_blocks"):
        train.make_iteration(CFG, *point_mass(), mesh=ThreeDevices())
