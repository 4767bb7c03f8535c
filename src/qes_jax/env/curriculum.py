"""Start sampling by failure: begin episodes more often where the policy still falls."""

import jax
import jax.numpy as jnp

from qes_jax.env.state import EnvParams

BIN = 18  # [frames] half a second: frames that share one estimate, our choice


def adapt_starts(params: EnvParams, traces: dict[str, jax.Array], rate: float = 0.02, floor: float = 0.2) -> EnvParams:
    """Start weights after one iteration's episodes. Pure and deterministic, our choice of rule.

    traces: `terminated` and `trace/frame`, (T, B). For each bin of BIN frames, f is a running mean (by `rate`) of
    failures per visit there, or in the bin after, which its starts lead into, if that is more. A frame's weight is
    floor + f / max f where an episode may start.
    """
    allowed = params.start_weight > 0
    n_bins = params.difficulty.shape[0]
    bins = (traces["trace/frame"] // BIN).ravel()
    visits = jax.ops.segment_sum(jnp.ones(bins.shape, jnp.float32), bins, n_bins)
    failures = jax.ops.segment_sum(traces["terminated"].ravel(), bins, n_bins)
    share = failures / jnp.maximum(visits, 1.0)
    step = rate * jnp.minimum(visits / BIN, 1.0)  # a bin hardly visited tells little
    difficulty = params.difficulty + step * (share - params.difficulty)
    ahead = jnp.maximum(difficulty, jnp.append(difficulty[1:], 0.0))
    weight = floor + ahead / jnp.maximum(ahead.max(), 1e-6)
    per_frame = jnp.repeat(weight, BIN, total_repeat_length=n_bins * BIN)[: allowed.shape[0]]
    return params._replace(start_weight=jnp.where(allowed, per_frame, 0.0), difficulty=difficulty)


def n_bins(n_frames: int) -> int:
    """How many bins a reference of n_frames has."""
    return -(-n_frames // BIN)
