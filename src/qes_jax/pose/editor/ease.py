"""A trained prior that has the less to say the less is asked, so that a pose does not jump where a drag begins."""

import jax
import jax.numpy as jnp

from qes_jax.pose.edit import Prior
from qes_jax.pose.figure import Figure, difference, frames, move
from qes_jax.pose.prior import stay
from qes_jax.pose.residual import Slots, residual

FULL = 0.3  # [m], [rad] that the furthest target misses from which on the prior is heard in full. Our choice


def eased(prior: Prior) -> Prior:
    """The prior, its step and the logarithms of its deviations scaled by what is missing at the start."""

    def guess(figure: Figure, start: jax.Array, slots: Slots) -> tuple[jax.Array, jax.Array]:
        there, spread = prior(figure, start, slots)
        away = residual(frames(figure, start), slots)  # (S, 3, N)
        share = jnp.clip(jnp.max(jnp.sqrt(jnp.sum(away**2, axis=1)), axis=0) / FULL, 0.0, 1.0)
        base = stay(figure, start, slots)[1]
        return move(figure, start, share * difference(there, start)), base * (spread / base) ** share

    return guess
