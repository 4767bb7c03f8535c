"""What a learner has learned, apart from where its environments stand: the part that training can carry on from."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from qes_jax.ppo.networks import NetworkParams
from qes_jax.ppo.normalize import Normalizer
from qes_jax.ppo.train import TrainState


class Learner(NamedTuple):
    """Actor, critic and deviation, the optimiser's moments, the statistics of both observations, the learning rate."""

    params: NetworkParams
    opt_state: optax.OptState
    normalizer: Normalizer
    lr: jax.Array  # ()


def learner_of(ts: TrainState) -> Learner:
    """What a train state has learned."""
    return Learner(ts.params, ts.opt_state, ts.normalizer, ts.lr)


def carry_on(ts: TrainState, learner: Learner, lr: float | None = None) -> TrainState:
    """A fresh train state, its episodes as they are, that has learned what `learner` has. `lr` instead of its own."""
    rate = learner.lr if lr is None else jnp.float32(lr)
    return ts._replace(params=learner.params, opt_state=learner.opt_state, normalizer=learner.normalizer, lr=rate)
