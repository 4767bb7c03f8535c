"""The environment does not know which engine steps it: both give the same observations and rewards."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.task import Task
from qes_jax.model.engines import make_engine
from tests.env.standing import CONFIG, Lab, quick, row


@pytest.mark.slow
@pytest.mark.parametrize("frame", [20, 130], ids=["standing", "seated"])
def test_mjx_gives_the_observations_and_rewards_of_mujoco(lab: Lab, frame):
    """The joints are held lightly for five steps; contact forces of stiff contacts agree only roughly, poses well."""
    other = Task(CONFIG, make_engine(lab.world, "mjx"))
    step, step_other = quick(lab.task.step), quick(other.step)
    one = row(lab.start_from(frame, frame + 1), 0)
    two, rng = one, np.random.default_rng(0)
    for _ in range(5):
        action = jnp.asarray(rng.uniform(-0.2, 0.2, 32), jnp.float32)
        (one, seen), (two, seen_other) = step(lab.params, one, action), step_other(lab.params, two, action)
        np.testing.assert_allclose(seen_other.obs.policy, seen.obs.policy, atol=0.05, rtol=0.02)
        np.testing.assert_allclose(two.physics.qpos, one.physics.qpos, atol=2e-3)
        np.testing.assert_allclose(seen_other.reward, seen.reward, atol=0.02)
        assert seen_other.terminated == seen.terminated
