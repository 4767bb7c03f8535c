"""brax's PPO and ours on the same task, at equal settings."""

import time
from dataclasses import replace
from functools import partial
from typing import Any

import jax
from brax.training.agents.ppo import networks
from brax.training.agents.ppo import train as brax_ppo

from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.program import initial_state, make_training
from qes_jax.assembly.settings import RunConfig
from qes_jax.env.brax_adaptor import OBS_KEYS, BraxEnv
from qes_jax.env.state import EnvParams
from qes_jax.env.task import Task
from qes_jax.evaluate.summary import make_evaluator
from qes_jax.motion.clip import Clip
from qes_jax.ppo import train
from qes_jax.ppo.config import PPOConfig, cpu
from qes_jax.ppo.inference import policy, policy_params

LR = 2e-4


def compare(samples: int, clip: str, starts: int) -> dict[str, Any]:
    """Train both on a clip with `samples` each, judge both from `starts` even start frames, 20 s each."""
    config = RunConfig(clips=(clip,), samples=samples, ppo=replace(cpu(), lr=LR, target_kl=None))
    clips = find_clips(config.clips)
    task, params = make_training(config, clips)
    return {
        "samples": samples,
        "ours": ours(config, task, params, clips, starts),
        "brax": brax(config, task, params, clips, starts),
    }


def ours(config: RunConfig, task: Task, params: EnvParams, clips: list[Clip], starts: int) -> dict[str, float]:
    """Train with qes_jax.ppo."""
    began = time.perf_counter()
    state = initial_state(config, task, params)
    iteration = train.make_iteration(config.ppo, task.reset, task.step)
    for _ in range(-(-config.samples // config.ppo.n_samples)):
        state, _, _ = iteration(state, params)
    jax.block_until_ready(state)
    return judge(task, clips, partial(policy, config.ppo), policy_params(state), starts, began)


def brax(config: RunConfig, task: Task, params: EnvParams, clips: list[Clip], starts: int) -> dict[str, float]:
    """Train with brax.training's PPO through the adaptor."""
    began = time.perf_counter()
    ppo = config.ppo
    make_policy, trained, _ = brax_ppo.train(
        BraxEnv(task, params),
        num_timesteps=config.samples, episode_length=config.env.max_frames, num_envs=ppo.n_envs,
        learning_rate=LR, discounting=ppo.gamma, gae_lambda=ppo.lam, clipping_epsilon=ppo.clip,
        unroll_length=ppo.n_steps, batch_size=ppo.minibatch // ppo.n_steps, num_minibatches=ppo.n_minibatches,
        num_updates_per_batch=ppo.epochs, entropy_cost=ppo.entropy_coef, max_grad_norm=ppo.max_grad_norm,
        normalize_observations=True, bootstrap_on_timeout=True, seed=config.seed, run_evals=False,
        network_factory=partial(brax_networks, ppo),
    )  # fmt: skip

    def act(policy: Any, obs: jax.Array) -> jax.Array:
        return make_policy(policy, deterministic=True)({OBS_KEYS["policy_obs_key"]: obs}, jax.random.PRNGKey(0))[0]

    return judge(task, clips, act, trained, starts, began)


def brax_networks(ppo: PPOConfig, *args: Any, **kwargs: Any) -> networks.PPONetworks:
    """brax's networks of the same sizes: tanh towers, a deviation that does not depend on the state, no squashing."""
    return networks.make_ppo_networks(
        *args, **kwargs, **OBS_KEYS,
        policy_hidden_layer_sizes=ppo.actor_hidden, value_hidden_layer_sizes=ppo.critic_hidden,
        activation=jax.numpy.tanh, distribution_type="normal", noise_std_type="log",
        init_noise_std=float(jax.numpy.exp(ppo.log_std_init)), state_dependent_std=False,
    )  # fmt: skip


def judge(task: Task, clips: list[Clip], act: Any, policy: Any, starts: int, began: float) -> dict[str, float]:
    """Our evaluation at 0.5 m, and the minutes that training took."""
    minutes = (time.perf_counter() - began) / 60.0
    return {"minutes": minutes, **make_evaluator(task, clips, act, starts, seconds=20.0)(policy)}
