"""Advantages, densities and the loss against formulas written down independently."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Mirror, Samples, gae, loss, surrogate
from qes_jax.types import Obs

CFG = PPOConfig(actor_hidden=(8,), critic_hidden=(8,), last_layer_scale=1.0, entropy_coef=0.01)


def advantages_by_sums(reward, value, next_value, terminated, truncated, gamma, lam):
    """sum_k (gamma lam)^k delta_{t+k} up to the episode's end, in float64."""
    steps, envs = reward.shape
    out = np.zeros((steps, envs))
    for t in range(steps):
        for i in range(envs):
            for k in range(t, steps):
                bootstrap = 0.0 if terminated[k, i] else gamma * next_value[k, i]
                out[t, i] += (gamma * lam) ** (k - t) * (reward[k, i] + bootstrap - value[k, i])
                if terminated[k, i] or truncated[k, i]:
                    break
    return out


@pytest.mark.parametrize(("gamma", "lam"), [(0.97, 0.95), (0.9, 0.0), (1.0, 1.0)])
def test_gae(gamma, lam):
    rng = np.random.default_rng(0)
    reward, value, next_value = rng.normal(size=(3, 20, 6))
    terminated, truncated = (rng.random((2, 20, 6)) < 0.15).astype(float)
    assert (terminated * truncated).any()
    args = reward, value, next_value, terminated, truncated
    got = gae(*[jnp.asarray(x, jnp.float32) for x in args], gamma, lam)
    np.testing.assert_allclose(got, advantages_by_sums(*args, gamma, lam), atol=2e-5)


def test_gaussian_against_scipy():
    rng = np.random.default_rng(1)
    mean, action = rng.normal(size=(2, 5, 3))
    log_std = rng.normal(size=3)
    dist = stats.norm(mean, np.exp(log_std))
    np.testing.assert_allclose(networks.log_prob(mean, log_std, action), dist.logpdf(action).sum(-1), rtol=1e-5)
    np.testing.assert_allclose(networks.entropy(jnp.asarray(log_std)), dist.entropy()[0].sum(), rtol=1e-5)


def test_kl_against_quadrature():
    p, q = stats.norm(0.3, 0.5), stats.norm(-0.2, 0.8)
    expected = integrate.quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -8, 8)[0]
    got = networks.kl(jnp.array([0.3]), jnp.log(jnp.array([0.5])), jnp.array([-0.2]), jnp.log(jnp.array([0.8])))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("ratio", "advantage", "value", "slope"),
    [
        (1.1, 2.0, -2.2, -2.0),
        (1.5, 2.0, -2.4, 0.0),
        (1.5, -2.0, 3.0, 2.0),
        (0.5, -2.0, 1.6, 0.0),
        (0.5, 2.0, -1.0, -2.0),
    ],
)
def test_surrogate_is_clipped_only_where_it_would_gain(ratio, advantage, value, slope):
    got, grad = jax.value_and_grad(surrogate)(jnp.float32(ratio), jnp.float32(advantage), 0.2)
    np.testing.assert_allclose([got, grad], [value, slope], rtol=1e-6)


def batch(params, n=16):
    keys = jax.random.split(jax.random.key(3), 6)
    obs = Obs(jax.random.normal(keys[0], (n, 4)), jax.random.normal(keys[1], (n, 6)))
    mean = networks.mean_action(CFG, params, obs.policy)
    action = mean + 0.2 * jax.random.normal(keys[2], mean.shape)
    log_prob = networks.log_prob(mean, params["log_std"], action)
    advantage, target = jax.random.normal(keys[3], (2, n))
    return Samples(obs, Obs(-obs.policy, -obs.critic), action, mean, log_prob, advantage, target)


def test_loss_at_the_acting_policy():
    params = networks.init_params(CFG, 4, 6, 2, jax.random.key(0))
    samples = batch(params)
    total, terms = loss(CFG, params, params["log_std"], samples, None)
    np.testing.assert_allclose(terms["loss/policy"], -np.mean(samples.advantage), atol=1e-6)
    np.testing.assert_allclose(terms["ppo/kl"], 0, atol=1e-6)
    assert terms["ppo/clip_fraction"] == 0
    excess = np.maximum(np.abs(samples.mean) - 1, 0)
    assert excess.any()
    np.testing.assert_allclose(terms["loss/bound"], (excess**2).sum(-1).mean(), rtol=1e-5)
    value_loss = 0.5 * np.mean((networks.value(CFG, params, samples.obs.critic) - samples.target) ** 2)
    expected = terms["loss/policy"] + value_loss + terms["loss/bound"] - 0.01 * networks.entropy(params["log_std"])
    np.testing.assert_allclose(total, expected, rtol=1e-5)


def test_mirrored_loss_is_the_same_for_samples_and_their_images():
    cfg = dataclasses.replace(CFG, mirror_weight=1.0)
    params = networks.init_params(CFG, 4, 6, 2, jax.random.key(0))
    mirror = Mirror(jnp.negative, jnp.negative, jnp.negative)
    samples = batch(params)
    images = samples._replace(
        obs=samples.mirror_obs, mirror_obs=samples.obs, action=-samples.action, mean=-samples.mean
    )
    new = jax.tree.map(lambda p: p + 0.05, params)
    one, two = (loss(cfg, new, params["log_std"], x, mirror)[0] for x in (samples, images))
    np.testing.assert_allclose(one, two, rtol=1e-5)
    assert abs(one - loss(cfg, new, params["log_std"], samples, None)[0]) > 1e-3
