"""Weights in their file."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.evaluate.weights import check_fit, load_learner, load_policy, save_learner, save_policy
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.inference import PolicyParams, policy
from qes_jax.ppo.learner import Learner
from qes_jax.ppo.networks import init_params
from qes_jax.ppo.normalize import init_normalizer
from qes_jax.ppo.update import optimizer
from qes_jax.runs.checkpoint import named_leaves
from qes_jax.types import Obs

N_OBS, N_ACT = 500, 32


@pytest.fixture
def params() -> PolicyParams:
    weights = jax.eval_shape(partial(init_params, PPOConfig(), N_OBS, N_OBS, N_ACT), jax.random.PRNGKey(1))
    rng = np.random.default_rng(1)
    weights = jax.tree.map(lambda x: jnp.asarray(0.1 * rng.normal(size=x.shape), x.dtype), weights)
    mean, std = jnp.linspace(-1.0, 1.0, N_OBS), jnp.linspace(0.5, 2.0, N_OBS)
    return PolicyParams(weights["actor"], weights["log_std"], mean, std)


def test_a_policy_read_back_acts_bit_for_bit_the_same(tmp_path: Path, params: PolicyParams) -> None:
    pose = jnp.linspace(-0.5, 0.5, N_ACT)
    save_policy(tmp_path / "new" / "policy.npz", params, pose)
    found = load_policy(tmp_path / "new" / "policy.npz")
    obs = jax.random.normal(jax.random.PRNGKey(2), (3, N_OBS))
    np.testing.assert_array_equal(policy(PPOConfig(), found.policy, obs), policy(PPOConfig(), params, obs))
    np.testing.assert_array_equal(found.mean_pose, pose)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["policy.npz"]
    assert (tmp_path / "new" / "policy.npz").stat().st_size < 5e6


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short", b"not an archive"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "policy.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"policy\.npz: not a policy"):
        load_policy(path)


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "policy.npz", other=np.zeros(3))
    with pytest.raises(ValueError, match=r"policy\.npz: not a policy.*policy"):
        load_policy(tmp_path / "policy.npz")


def test_weights_of_another_network_are_told_from_the_configured_one(params: PolicyParams) -> None:
    check_fit(Path("policy.npz"), PPOConfig(), params)
    with pytest.raises(ValueError, match=r"policy\.npz: actor/params/Dense_0/bias has shape \(\d+,\), the configured"):
        check_fit(Path("policy.npz"), replace(PPOConfig(), actor_hidden=(7, 7)), params)
    with pytest.raises(ValueError, match=r"policy\.npz: std has shape \(3,\), the configured network \(500,\)"):
        check_fit(Path("policy.npz"), PPOConfig(), params._replace(std=jnp.ones(3)))


def small_learner(scale: float) -> Learner:
    cfg = PPOConfig(actor_hidden=(8,), critic_hidden=(8,))
    weights = jax.tree.map(lambda x: scale * jnp.ones_like(x), init_params(cfg, 5, 6, 2, jax.random.PRNGKey(0)))
    obs = Obs(jnp.arange(5.0) * scale, jnp.arange(6.0))
    return Learner(weights, optimizer(cfg).init(weights), init_normalizer(obs), jnp.float32(scale))


def leaves(learner: Learner, mean_pose: jax.Array) -> dict:
    """As a checkpoint has them, among others."""
    train = learner._asdict() | {"obs": np.zeros(3), "iteration": np.zeros(())}
    return named_leaves({"train": train, "adaptive": {"mean_pose": mean_pose, "difficulty": np.zeros(3)}})


def test_a_learner_read_back_is_the_same_to_the_bit(tmp_path: Path) -> None:
    learner, pose = small_learner(0.3), jnp.array([0.1, -0.2])
    save_learner(tmp_path / "learner.npz", leaves(learner, pose))
    found, found_pose = load_learner(tmp_path / "learner.npz", small_learner(1.0), jnp.zeros(2))
    jax.tree.map(np.testing.assert_array_equal, found, learner)
    assert jax.tree.structure(found) == jax.tree.structure(learner)
    np.testing.assert_array_equal(found_pose, pose)


def test_a_learner_of_another_network_or_with_a_nan_is_named(tmp_path: Path) -> None:
    path = tmp_path / "learner.npz"
    save_learner(path, leaves(small_learner(0.3), jnp.zeros(3)))
    with pytest.raises(ValueError, match=r"learner\.npz: adaptive/mean_pose is float32"):
        load_learner(path, small_learner(1.0), jnp.zeros(2))
    save_learner(path, leaves(small_learner(np.nan), jnp.zeros(2)))
    with pytest.raises(ValueError, match=r"learner\.npz: train/.* not finite"):
        load_learner(path, small_learner(1.0), jnp.zeros(2))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"learner\.npz: not what a learner has learned"):
        load_learner(path, small_learner(1.0), jnp.zeros(2))
