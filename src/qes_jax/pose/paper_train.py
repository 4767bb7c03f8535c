"""Training of the published networks: as published but for a larger rate that decays, as there are fewer poses."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from qes_jax.pose.data import PoseSet, pairs
from qes_jax.pose.paper import AutoEncoder, LatentSolver, Paper, apply, columns_of, scale_of
from qes_jax.pose.skeleton import SETS

Say = Callable[[str], None]


@dataclass(frozen=True)
class Schedule:
    """Published: Adam 1e-4, weight decay 1e-5, batch 512, 30 epochs, then 10 epochs a solver, of 1.5 M poses.

    That is 88,000 and 29,000 updates. As many epochs of fewer poses are fewer updates: the rate begins ten times as
    high and decays.
    """

    batch: int = 512
    coder_epochs: int = 30
    solver_epochs: int = 10
    rate: float = 1e-3
    decay: float = 1e-5
    target_weight: float = 100.0
    seconds: float = 1.0


def train_paper(
    points: np.ndarray, poses: PoseSet, seed: int, schedule: Schedule = Schedule(), say: Say = print
) -> Paper:
    """The auto-encoder, then a solver for each set, on joints (M, 22, 3) of the poses."""
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    scale = scale_of(points)
    normal = jnp.asarray((points.reshape(len(points), -1) - scale.mean) / scale.deviation)
    coder = AutoEncoder()

    def coder_loss(params, rows: jax.Array) -> jax.Array:
        return jnp.mean((apply(coder, params, normal[rows]) - normal[rows]) ** 2)

    def batches() -> tuple[np.ndarray]:
        return (rng.integers(0, len(points), schedule.batch),)

    updates = schedule.coder_epochs * len(points) // schedule.batch
    trained, loss = fit(coder_loss, coder.init(key, normal[:1]), batches, updates, schedule)
    say(f"auto-encoder: {updates} updates, loss {loss:.5f}")
    solvers = {}
    for name in SETS:
        solvers[name], loss = _train_solver(name, trained, normal, poses, rng, key, schedule)
        say(f"solver {name}: loss {loss:.4f}")
    return Paper(scale, trained, solvers)


def _train_solver(name: str, coder_params, normal: jax.Array, poses: PoseSet, rng, key, schedule: Schedule):
    """Loss: squared error of the decoded pose, the targets' coordinates counting `target_weight` times."""
    coder, solver, columns = AutoEncoder(), LatentSolver(), columns_of(name)
    weight = jnp.ones(normal.shape[1]).at[columns].set(schedule.target_weight)
    codes = apply(coder, coder_params, normal, method="encode")

    def loss(params, start: jax.Array, end: jax.Array) -> jax.Array:
        z = apply(solver, params, codes[start], normal[end][:, columns])
        return jnp.mean(weight * (apply(coder, coder_params, z, method="decode") - normal[end]) ** 2)

    params = solver.init(key, codes[:1], normal[:1, columns])
    draw = partial(pairs, poses, schedule.batch, schedule.seconds, rng)
    return fit(loss, params, draw, schedule.solver_epochs * len(normal) // schedule.batch, schedule)


def fit(loss, params, batches: Callable[[], tuple], updates: int, schedule: Schedule, inner: int = 50):
    """Parameters after `updates` of Adam, and the last mean loss. `batches` gives the loss's further arguments."""
    rate = optax.cosine_decay_schedule(schedule.rate, updates)
    optimizer = optax.adamw(rate, weight_decay=schedule.decay)

    def update(carry, batch):
        params, state = carry
        value, gradient = jax.value_and_grad(loss)(params, *batch)
        change, state = optimizer.update(gradient, state, params)
        return (optax.apply_updates(params, change), state), value

    many = jax.jit(lambda carry, stack: jax.lax.scan(update, carry, stack))
    carry, values = (params, optimizer.init(params)), jnp.zeros(1)
    for _ in range(max(updates // inner, 1)):
        stack = tuple(np.stack(column) for column in zip(*(batches() for _ in range(inner)), strict=True))
        carry, values = many(carry, stack)
    return carry[0], float(values.mean())
