"""Start weights follow failures."""

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.env.curriculum import BIN, adapt_starts, n_bins
from qes_jax.env.state import EnvParams

N = 10 * BIN + 5  # the last bin is not full
FAILING = 4  # the bin where the policy falls


def params() -> EnvParams:
    weight = jnp.ones(N).at[-36:].set(0.0).at[7].set(0.0)
    return EnvParams(None, weight, jnp.zeros(n_bins(N)), jnp.zeros(0))


def traces(seed: int = 0) -> dict[str, jax.Array]:
    """(T, B) every frame visited alike; half of the visits to one bin fail."""
    rng = np.random.default_rng(seed)
    frame = rng.permutation(np.tile(np.arange(N), 8)).reshape(-1, 4).astype(np.int32)
    terminated = ((frame // BIN == FAILING) & (rng.random(frame.shape) < 0.5)).astype(np.float32)
    return {"terminated": jnp.asarray(terminated), "trace/frame": jnp.asarray(frame)}


def test_weights_rise_where_episodes_fail_and_just_before():
    after = adapt_starts(params(), traces())
    weight = np.asarray(after.start_weight)
    allowed = np.asarray(params().start_weight) > 0
    hot = np.isin(np.arange(N) // BIN, [FAILING - 1, FAILING])
    np.testing.assert_allclose(weight[hot & allowed], 1.2, rtol=1e-5)
    np.testing.assert_allclose(weight[~hot & allowed], 0.2, rtol=1e-5)


def test_frames_where_no_episode_may_start_stay_so():
    now = params()
    for seed in range(5):
        now = adapt_starts(now, traces(seed))
        np.testing.assert_array_equal(now.start_weight > 0, params().start_weight > 0)


def test_difficulty_tends_to_the_share_of_failures():
    now = params()
    for seed in range(300):
        now = adapt_starts(now, traces(seed))
    expected = np.zeros(n_bins(N))
    expected[FAILING] = 0.5
    np.testing.assert_allclose(now.difficulty, expected, atol=0.03)


def test_it_is_deterministic_and_without_failures_even():
    one, two = adapt_starts(params(), traces(1)), adapt_starts(params(), traces(1))
    np.testing.assert_array_equal(one.start_weight, two.start_weight)
    calm = traces(1) | {"terminated": jnp.zeros_like(traces(1)["terminated"])}
    weight = np.asarray(adapt_starts(params(), calm).start_weight)
    assert len(np.unique(weight[weight > 0])) == 1
