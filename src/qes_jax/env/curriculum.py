"""Start sampling by failure: begin episodes more often where the policy still falls."""

from functools import partial

import jax
import jax.numpy as jnp

from qes_jax.env.state import EnvParams

BIN = 18  # [frames] half a second: frames that share one estimate, our choice


def adapt_starts(params: EnvParams, traces: dict[str, jax.Array], decay: float = 0.97, floor: float = 0.3) -> EnvParams:
    """Start weights after one iteration's episodes. Pure and deterministic, our choice of rule.

    traces: `terminated`, `truncated` and `trace/start`, (T, B). For each bin of BIN frames, params.difficulty (2, bins)
    counts failed and ended episodes that began there, forgetting by `decay` an iteration. With
    s = (failed + m) / (ended + 1), m the share of failures everywhere, a frame's weight is floor + s / max s where an
    episode may start. Counting by start and not by where it fell brings the approach to a hard place, too.
    """
    bins = (traces["trace/start"] // BIN).ravel()
    failed = traces["terminated"].ravel()
    ended = failed + traces["truncated"].ravel()
    count = partial(jax.ops.segment_sum, segment_ids=bins, num_segments=params.difficulty.shape[1])
    difficulty = decay * params.difficulty + jnp.stack([count(failed), count(ended)])
    mean = difficulty[0].sum() / jnp.maximum(difficulty[1].sum(), 1e-6)
    share = (difficulty[0] + mean) / (difficulty[1] + 1.0)
    weight = floor + share / jnp.maximum(share.max(), 1e-6)
    allowed = params.start_weight > 0
    per_frame = weight[jnp.arange(allowed.shape[0]) // BIN]
    return params._replace(start_weight=jnp.where(allowed, per_frame, 0.0), difficulty=difficulty)


def n_bins(n_frames: int) -> int:
    """How many bins a reference of n_frames has."""
    return -(-n_frames // BIN)
