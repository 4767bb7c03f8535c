"""Minibatches, clipping, the learning rate's rule, statistics and settings."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.ppo import config, train
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.normalize import init_normalizer, normalize, update_normalizer
from qes_jax.ppo.samples import minibatch_rows
from qes_jax.ppo.update import clip_each, count_nan, next_lr
from qes_jax.types import Obs

CFG = PPOConfig(n_envs=8, n_steps=6, minibatch=12, epochs=2, shuffle_blocks=4, target_kl=0.02)


def test_each_epoch_takes_every_sample_once_and_all_blocks_equally():
    draws = train.draw(CFG, 2, jax.random.key(0))
    rows = np.asarray(minibatch_rows(CFG, draws.shuffle, CFG.n_envs))
    assert rows.shape == (CFG.epochs * CFG.n_minibatches, CFG.minibatch)
    for epoch in rows.reshape(CFG.epochs, -1):
        np.testing.assert_array_equal(np.sort(epoch), np.arange(CFG.n_samples))
    block = rows % CFG.n_envs // 2
    assert all(np.bincount(b, minlength=4).tolist() == [3, 3, 3, 3] for b in block)
    assert (rows[0] != rows[CFG.n_minibatches]).any()


def test_minibatches_do_not_depend_on_the_number_of_devices():
    shuffle = train.draw(CFG, 2, jax.random.key(0)).shuffle
    whole = np.asarray(minibatch_rows(CFG, shuffle, 8))
    halves = [np.asarray(minibatch_rows(CFG, shuffle[:, part], 4)) for part in (slice(0, 2), slice(2, 4))]
    joined = [half // 4 * 8 + half % 4 + first for half, first in zip(halves, (0, 4), strict=True)]
    np.testing.assert_array_equal(np.sort(np.concatenate(joined, 1), 1), np.sort(whole, 1))


def test_slots_are_permutations_within_blocks():
    slots = np.asarray(train.draw(CFG, 2, jax.random.key(1)).slots)
    assert slots.shape == (6, 4, 2)
    np.testing.assert_array_equal(np.sort(slots, -1), np.broadcast_to([0, 1], (6, 4, 2)))


def test_each_group_of_gradients_is_clipped_by_itself():
    grads = {"actor": {"a": jnp.full(4, 3.0), "b": jnp.full(9, 2.0)}, "critic": jnp.array([0.3, 0.4])}
    clipped, _ = clip_each(1.0).update(grads, None)
    norm = np.sqrt(4 * 9 + 9 * 4)
    np.testing.assert_allclose(clipped["actor"]["a"], 3 / norm, rtol=1e-6)
    np.testing.assert_allclose(clipped["critic"], [0.3, 0.4])


@pytest.mark.parametrize(
    ("lr", "kl", "expected"),
    [(3e-4, 0.05, 2e-4), (2e-4, 0.005, 3e-4), (2e-4, 0.02, 2e-4), (1.1e-5, 1.0, 1e-5), (9e-4, 0.0, 1e-3)],
)
def test_learning_rate_follows_kl(lr, kl, expected):
    np.testing.assert_allclose(next_lr(CFG, jnp.float32(lr), jnp.float32(kl)), expected, rtol=1e-5)
    fixed = dataclasses.replace(CFG, target_kl=None)
    np.testing.assert_allclose(next_lr(fixed, jnp.float32(lr), jnp.float32(kl)), lr)


def test_normalizer_against_numpy():
    rng = np.random.default_rng(0)
    policy, critic = rng.normal(3, 2, (40, 3)), rng.normal(-1, 0.5, (40, 5))
    critic[:, 0] = 7.0
    obs = Obs(jnp.asarray(policy, jnp.float32), jnp.asarray(critic, jnp.float32))
    state = init_normalizer(jax.tree.map(lambda x: x[0], obs))
    for part in (slice(0, 8), slice(8, 40)):
        state = update_normalizer(CFG, state, jax.tree.map(lambda x, part=part: x[part], obs))
    np.testing.assert_allclose(state.mean.policy, policy.mean(0), rtol=1e-5)
    np.testing.assert_allclose(state.std.policy, policy.std(0), rtol=1e-5)
    np.testing.assert_allclose(state.std.critic[0], CFG.obs_std_min)
    x = normalize(CFG, state, Obs(obs.policy + 1e3, obs.critic))
    np.testing.assert_allclose(x.policy, CFG.obs_clip)
    np.testing.assert_allclose(
        x.critic[:, 1:], ((critic - critic.mean(0)) / critic.std(0).clip(0.01))[:, 1:], atol=1e-4
    )
    assert np.isnan(normalize(CFG, state, Obs(obs.policy * jnp.nan, obs.critic)).policy).all()


def test_count_nan():
    assert count_nan({"a": jnp.array([1.0, jnp.nan, jnp.inf]), "b": jnp.zeros(2)}) == 2


def test_presets():
    paper = config.paper()
    assert (paper.n_samples, paper.n_minibatches) == (61440, 8)
    assert (config.cpu().n_samples, config.cpu().n_minibatches) == (8192, 8)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"minibatch": 1000}, "minibatch"),
        ({"shuffle_blocks": 7}, "shuffle_blocks"),
        ({"minibatch": 6, "shuffle_blocks": 4}, "shuffle_blocks"),
        ({"activation": "gelu"}, "activation"),
    ],
)
def test_wrong_settings_name_the_field(change, field):
    with pytest.raises(ValueError, match=f"PPOConfig.{field}"):
        dataclasses.replace(CFG, **change)
