"""Proximal policy optimisation over pure `reset` and `step` functions."""

from qes_jax.ppo.config import PPOConfig, cpu, paper
from qes_jax.ppo.inference import PolicyParams, policy, policy_params
from qes_jax.ppo.loss import Mirror
from qes_jax.ppo.train import AXIS, TrainState, init, make_iteration, shard

__all__ = [
    "AXIS",
    "Mirror",
    "PPOConfig",
    "PolicyParams",
    "TrainState",
    "cpu",
    "init",
    "make_iteration",
    "paper",
    "policy",
    "policy_params",
    "shard",
]
