"""Start weights follow failures."""

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.curriculum import BIN, adapt_starts, n_bins
from qes_jax.env.state import EnvParams

N = 10 * BIN + 5  # the last bin is not full
FAILING = 4  # the bin whose episodes fail half the time


def params() -> EnvParams:
    weight = jnp.ones(N).at[-36:].set(0.0).at[7].set(0.0)
    return EnvParams(None, weight, jnp.zeros((2, n_bins(N))), jnp.zeros(0))


def traces(seed: int = 0) -> dict[str, jax.Array]:
    """(T, B) every start frame ends eight episodes; half of those from one bin fail."""
    rng = np.random.default_rng(seed)
    start = rng.permutation(np.tile(np.arange(N), 8)).reshape(-1, 4).astype(np.int32)
    terminated = ((start // BIN == FAILING) & (rng.random(start.shape) < 0.5)).astype(np.float32)
    return {
        "terminated": jnp.asarray(terminated),
        "truncated": jnp.asarray(1 - terminated),
        "trace/start": jnp.asarray(start),
    }


def test_weights_rise_where_failing_episodes_begin():
    weight = np.asarray(adapt_starts(params(), traces()).start_weight)
    allowed = np.asarray(params().start_weight) > 0
    hot = np.arange(N) // BIN == FAILING
    np.testing.assert_allclose(weight[hot & allowed], 1.3, rtol=1e-5)
    assert np.all(weight[~hot & allowed] < 0.32)
    assert np.all(weight[~hot & allowed] >= 0.3)


def test_frames_where_no_episode_may_start_stay_so():
    now = params()
    for seed in range(5):
        now = adapt_starts(now, traces(seed))
        np.testing.assert_array_equal(now.start_weight > 0, params().start_weight > 0)


def test_what_no_longer_fails_is_forgotten():
    now = params()
    for seed in range(20):
        now = adapt_starts(now, traces(seed))
    calm = traces(1) | {"terminated": jnp.zeros_like(traces(1)["terminated"]), "truncated": jnp.ones((N * 2, 4))}
    before = float(now.difficulty[0, FAILING] / now.difficulty[1, FAILING])
    for _ in range(100):
        now = adapt_starts(now, calm)
    assert before > 0.4
    assert float(now.difficulty[0, FAILING] / now.difficulty[1, FAILING]) < 0.05


def test_counts_are_those_of_the_episodes_that_ended():
    seen = traces(2)
    running = seen | {"truncated": jnp.zeros_like(seen["truncated"])}
    after = adapt_starts(params(), running)
    np.testing.assert_allclose(after.difficulty[0], after.difficulty[1])
    assert float(after.difficulty[0].sum()) == float(seen["terminated"].sum())


def test_it_is_deterministic_and_without_failures_even():
    one, two = adapt_starts(params(), traces(1)), adapt_starts(params(), traces(1))
    np.testing.assert_array_equal(one.start_weight, two.start_weight)
    calm = traces(1) | {"terminated": jnp.zeros_like(traces(1)["terminated"])}
    weight = np.asarray(adapt_starts(params(), calm).start_weight)
    assert len(np.unique(weight[weight > 0])) == 1
