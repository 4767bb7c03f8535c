"""What a failed run says of itself: the environment, the step, the term, and a state to look at."""

from types import SimpleNamespace

import numpy as np

from qes_jax.assembly.program import name_failure
from qes_jax.model.engine import Physics


def test_it_names_environment_step_and_term_and_keeps_the_state(tmp_path):
    qpos = np.zeros((3, 5))
    qpos[2] = np.nan
    state = SimpleNamespace(env_state=SimpleNamespace(physics=Physics(qpos, qpos, qpos, qpos, qpos)))
    finite = np.ones((4, 3), bool)
    finite[1:, 2] = False
    metrics = {"reward/joint_pos": float("nan"), "reward/contact": 0.1, "nan/reward": 3.0}
    words = name_failure(tmp_path, state, None, metrics, {"trace/finite": finite})
    assert "environment 2" in words
    assert "step 1" in words
    assert "reward/joint_pos" in words
    assert "reward/contact" not in words
    with np.load(tmp_path / "environment.npz", allow_pickle=False) as file:
        assert np.isnan(file["qpos"]).all()


def test_it_says_so_where_nothing_is_known(tmp_path):
    assert "none" in name_failure(tmp_path, None, None, {"loss": 1.0}, {})
