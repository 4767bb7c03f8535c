"""The iteration of PPO: rollout, advantages, update, statistics, all in one compiled function of a pytree of arrays."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from qes_jax.ppo import networks
from qes_jax.ppo.config import PPOConfig
from qes_jax.ppo.loss import Mirror
from qes_jax.ppo.networks import NetworkParams
from qes_jax.ppo.normalize import Normalizer, init_normalizer, update_normalizer
from qes_jax.ppo.rollout import Carry, critic_value, rollout, start
from qes_jax.ppo.samples import Metrics, block_rows, episodes, make_samples, minibatch_rows, rollout_metrics
from qes_jax.ppo.update import count_nan, next_lr, optimizer, update
from qes_jax.types import Obs, Params, ResetFn, State, StepFn

AXIS = "env"  # the mesh axis that environments are spread over


class TrainState(NamedTuple):
    """Everything that training goes on from. Arrays only, so that it can be saved leaf by leaf."""

    params: NetworkParams
    opt_state: optax.OptState
    normalizer: Normalizer
    env_state: State  # (B, ...)
    obs: Obs  # (B, n) raw
    key: jax.Array  # (2,) uint32
    lr: jax.Array  # ()
    iteration: jax.Array  # () int32


class Draws(NamedTuple):
    """All randomness of one iteration but the environment's own, drawn for all devices together."""

    reset_keys: jax.Array  # (B, 2)
    noise: jax.Array  # (T, B, n_act)
    slots: jax.Array  # (T, blocks, B / blocks) permutations
    shuffle: jax.Array  # (epochs, blocks, T * B / blocks) permutations


Iteration = Callable[[TrainState, Params], tuple[TrainState, Metrics, Metrics]]


def init(cfg: PPOConfig, reset: ResetFn, step: StepFn, env_params: Params, key: jax.Array, n_act: int) -> TrainState:
    """A fresh train state. Consumes `key`. The normaliser starts from the observations of the first states.

    Raises ValueError where `step` does not give back a state like the one it took.
    """
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    key, net_key, reset_key = jax.random.split(key, 3)
    env_state, obs = jax.jit(jax.vmap(reset, (None, 0)))(env_params, jax.random.split(reset_key, cfg.n_envs))
    check_step(step, env_params, env_state, n_act)
    params = networks.init_params(cfg, obs.policy.shape[-1], obs.critic.shape[-1], n_act, net_key)
    normalizer = init_normalizer(jax.tree.map(lambda x: x[0], obs))
    return TrainState(
        params=params,
        opt_state=optimizer(cfg).init(params),
        normalizer=jax.jit(partial(update_normalizer, cfg))(normalizer, obs),
        env_state=env_state,
        obs=obs,
        key=key,
        lr=jnp.float32(cfg.lr),
        iteration=jnp.int32(0),
    )


def check_step(step: StepFn, env_params: Params, env_state: State, n_act: int) -> None:
    """Raises ValueError where one step would change the type of the state, or a metric is no scalar. Runs nothing."""
    n_envs = jax.tree.leaves(env_state)[0].shape[0]
    action = jax.ShapeDtypeStruct((n_envs, n_act), jnp.float32)
    after, ts = jax.eval_shape(jax.vmap(step, (None, 0, 0)), env_params, env_state, action)
    before = jax.eval_shape(lambda x: x, env_state)
    trees = jax.tree.structure(before), jax.tree.structure(after)
    if trees[0] != trees[1]:
        raise ValueError(f"step changes the structure of the state:\n{trees[0]}\n{trees[1]}")
    for (path, old), new in zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(after), strict=True):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            raise ValueError(f"step changes state{jax.tree_util.keystr(path)} from {old} to {new}")
    for name, x in ts.metrics.items():
        if x.shape != (n_envs,):
            raise ValueError(f"metric {name!r} must be a scalar of each environment, got shape {x.shape[1:]}")


def make_iteration(
    cfg: PPOConfig, reset: ResetFn, step: StepFn, mesh: Mesh | None = None, mirror: Mirror | None = None
) -> Iteration:
    """Compiles `(train_state, env_params) -> (train_state, metrics, episodes)`; the state given is used up (donated).

    metrics: () each. Terms of loss and update, `rollout/*`, `nan/<where>` (how many numbers, for `nan/obs` how many
        features, are not finite: stop when any is), and the mean of every metric of the environment under its own name.
    episodes: (T, B) each. `terminated`, `truncated`, and every metric of the environment named `trace/...`, as it was.
    mesh: devices on one axis named AXIS share the environments; it must divide `shuffle_blocks`. See `shard`.
    mirror: adds mirror images of the samples with weight `cfg.mirror_weight`.
    """
    n_devices = 1 if mesh is None else mesh.shape[AXIS]
    if cfg.shuffle_blocks % n_devices:
        raise ValueError(f"{n_devices} devices must divide PPOConfig.shuffle_blocks={cfg.shuffle_blocks}")
    mirror = mirror if cfg.mirror_weight > 0 else None
    body = partial(iterate, cfg, reset, step, mirror, None if mesh is None else AXIS)
    if mesh is not None:
        body = jax.shard_map(
            body,
            mesh=mesh,
            in_specs=(state_specs(), Draws._make([P(AXIS), *[P(None, AXIS)] * 3]), P()),
            out_specs=(state_specs(), P(), P(None, AXIS)),
            check_vma=False,
        )

    def iteration(ts: TrainState, env_params: Params) -> tuple[TrainState, Metrics, Metrics]:
        key, draw_key = jax.random.split(ts.key)
        ts, metrics, episodes = body(ts, draw(cfg, ts.params["log_std"].shape[0], draw_key), env_params)
        return ts._replace(key=key, iteration=ts.iteration + 1), metrics, episodes

    return jax.jit(iteration, donate_argnums=0)


def state_specs() -> TrainState:
    """How a train state is spread over devices, a PartitionSpec a field: environments split, all else copied."""
    return TrainState._make([P(), P(), P(), P(AXIS), P(AXIS), P(), P(), P()])


def shard(ts: TrainState, mesh: Mesh) -> TrainState:
    """Puts a train state on the devices of `mesh`."""
    specs = cast(tuple[P, ...], state_specs())
    parts = zip(ts, specs, strict=True)
    return TrainState._make(jax.device_put(part, NamedSharding(mesh, spec)) for part, spec in parts)


def draw(cfg: PPOConfig, n_act: int, key: jax.Array) -> Draws:
    """Consumes `key`."""
    reset_key, noise_key, slot_key, shuffle_key = jax.random.split(key, 4)
    blocks, width = cfg.shuffle_blocks, cfg.n_envs // cfg.shuffle_blocks

    def permutations(key: jax.Array, rows: int, length: int) -> jax.Array:
        return jnp.argsort(jax.random.bits(key, (rows, blocks, length)), axis=-1)  # int32

    return Draws(
        reset_keys=jax.random.split(reset_key, cfg.n_envs),
        noise=jax.random.normal(noise_key, (cfg.n_steps, cfg.n_envs, n_act)),
        slots=permutations(slot_key, cfg.n_steps, width),
        shuffle=permutations(shuffle_key, cfg.epochs, width * cfg.n_steps),
    )


def iterate(
    cfg: PPOConfig,
    reset: ResetFn,
    step: StepFn,
    mirror: Mirror | None,
    axis: str | None,
    ts: TrainState,
    draws: Draws,
    env_params: Params,
) -> tuple[TrainState, Metrics, Metrics]:
    """One iteration on one device's share of the environments."""
    pool = start(cfg, ts.params, ts.normalizer, reset, env_params, draws.reset_keys)
    now = Carry(ts.env_state, ts.obs, critic_value(cfg, ts.params, ts.normalizer, ts.obs))
    slots = block_rows(draws.slots, now.value.shape[0]).reshape(cfg.n_steps, -1)
    end, normalizer, seen = rollout(
        cfg, ts.params, ts.normalizer, step, env_params, now, pool, draws.noise, slots, mirror, axis
    )
    samples, value_metrics = make_samples(cfg, seen, axis)
    rows = minibatch_rows(cfg, draws.shuffle, now.value.shape[0])
    params, opt_state, metrics = update(cfg, ts.params, ts.opt_state, ts.lr, samples, rows, mirror, axis)
    metrics |= value_metrics | rollout_metrics(seen, axis)
    metrics |= {"ppo/lr": ts.lr, "ppo/std": jnp.mean(jnp.exp(params["log_std"])), "nan/params": count_nan(params)}
    metrics["nan/obs"] = count_nan(normalizer.mean)
    lr = next_lr(cfg, ts.lr, metrics["ppo/last_kl"])
    ts = TrainState(params, opt_state, normalizer, end.state, end.obs, ts.key, lr, ts.iteration)
    return ts, metrics, episodes(seen)
