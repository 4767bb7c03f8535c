"""Epochs of minibatches over one rollout's samples."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Mirror, Samples, loss
from qes_jax.ppo.networks import NetworkParams


def clip_each(max_norm: float) -> optax.GradientTransformation:
    """Clips the norm of each entry of the gradient dictionary (actor, critic, log_std) by itself."""

    def clip(grads: Any, _: Any) -> Any:
        def one(tree: Any) -> Any:
            factor = max_norm / jnp.maximum(optax.tree.norm(tree), max_norm)
            return jax.tree.map(lambda g: g * factor, tree)

        return {name: one(tree) for name, tree in grads.items()}

    return optax.stateless(clip)


def optimizer(cfg: PPOConfig) -> optax.GradientTransformation:
    """Clipping, then Adam's direction; `gradient_step` applies the learning rate, which the train state holds."""
    return optax.chain(clip_each(cfg.max_grad_norm), optax.scale_by_adam(eps=1e-5))


def gradient_step(
    cfg: PPOConfig,
    params: NetworkParams,
    opt_state: optax.OptState,
    lr: jax.Array,
    old_log_std: jax.Array,
    samples: Samples,
    mirror: Mirror | None,
    axis: str | None,
) -> tuple[NetworkParams, optax.OptState, dict[str, jax.Array]]:
    """One minibatch. Gradients are averaged over the device axis `axis` where there is one."""
    grads, terms = jax.grad(partial(loss, cfg), has_aux=True)(params, old_log_std, samples, mirror)
    if axis is not None:
        grads, terms = jax.lax.pmean((grads, terms), axis)
    terms = terms | {"nan/grads": count_nan(grads)}
    direction, opt_state = optimizer(cfg).update(grads, opt_state)
    params = jax.tree.map(lambda p, d: p - lr * d, params, direction)
    params = params | {"log_std": jnp.maximum(params["log_std"], cfg.log_std_min)}
    return params, opt_state, terms


def update(
    cfg: PPOConfig,
    params: NetworkParams,
    opt_state: optax.OptState,
    lr: jax.Array,
    samples: Samples,
    rows: jax.Array,
    mirror: Mirror | None = None,
    axis: str | None = None,
) -> tuple[NetworkParams, optax.OptState, dict[str, jax.Array]]:
    """All gradient steps of an iteration.

    rows: (epochs * n_minibatches, samples of a minibatch on this device) row numbers into `samples`.
    The terms are means over the gradient steps; `ppo/last_kl` is the last epoch's, `nan/grads` a sum.
    """
    old_log_std = params["log_std"]

    def one(carry: tuple[NetworkParams, optax.OptState], minibatch: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
        chosen = jax.tree.map(lambda x: jnp.take(x, minibatch, axis=0, mode="clip"), samples)
        params, opt_state, terms = gradient_step(cfg, carry[0], carry[1], lr, old_log_std, chosen, mirror, axis)
        return (params, opt_state), terms

    (params, opt_state), terms = jax.lax.scan(one, (params, opt_state), rows)
    metrics = {name: jnp.mean(x) for name, x in terms.items() if name != "nan/grads"}
    metrics["ppo/last_kl"] = jnp.mean(terms["ppo/kl"][-cfg.n_minibatches :])
    metrics["nan/grads"] = jnp.sum(terms["nan/grads"])
    return params, opt_state, metrics


def next_lr(cfg: PPOConfig, lr: jax.Array, last_kl: jax.Array) -> jax.Array:
    """Slower above twice the KL target, faster below half of it, within bounds. Fixed where there is no target."""
    if cfg.target_kl is None:
        return lr
    slower = jnp.maximum(lr / cfg.lr_factor, cfg.lr_min)
    faster = jnp.minimum(lr * cfg.lr_factor, cfg.lr_max)
    return jnp.where(last_kl > 2.0 * cfg.target_kl, slower, jnp.where(last_kl < 0.5 * cfg.target_kl, faster, lr))


def count_nan(tree: Any) -> jax.Array:
    """How many numbers of a pytree are not finite, () f32."""
    return sum((jnp.sum(~jnp.isfinite(x), dtype=jnp.float32) for x in jax.tree.leaves(tree)), jnp.float32(0))
