"""Start frames of several clips, and the summary that training logs."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.evaluate.starts import all_starts, clip_of_start, continued, even_starts
from qes_jax.evaluate.summary import make_evaluator
from qes_jax.model.scene import get_scene
from qes_jax.motion.build import make_clip
from tests.evaluate.standing import hold, standing, task_for


def test_starts_are_the_clips_own_frames_only() -> None:
    clips = [standing(0.5), standing(1.0)]
    longer = continued(clips, 3.0)
    starts = all_starts(clips, longer)
    assert len(starts) == 19 + 37
    assert starts[:19].tolist() == list(range(19))
    assert starts[19] == longer[0].n_frames
    assert clip_of_start(starts, longer).tolist() == [0] * 19 + [1] * 37
    for clip, long in zip(clips, longer, strict=True):
        assert long.n_frames - clip.n_frames >= 3 * 36  # 3 s can be followed from the last of them too


def test_even_starts_are_even_and_never_repeat() -> None:
    starts = np.arange(100, 200)
    assert even_starts(starts, 4).tolist() == [100, 125, 150, 175]
    assert even_starts(starts, 300).tolist() == starts.tolist()
    assert len(set(even_starts(starts, 33).tolist())) == 33
    with pytest.raises(ValueError, match="0 start frames"):
        even_starts(starts, 0)


def test_a_summary_tells_episodes_that_fail_from_those_that_do_not() -> None:
    qpos = standing().qpos.copy()
    qpos[36:, 0] += 3.0
    jumps = make_clip("jumps", qpos, get_scene("flat"), 1.75, "made for tests", "none")
    evaluate = make_evaluator(task_for(), [jumps], hold, n_starts=2, seconds=1.0)
    found = evaluate(jnp.zeros(()))  # from frame 0 the user is gone at step 36, from frame 36 nothing happens
    assert found["eval/mean_tracked_s"] == pytest.approx((35 + 36) / 2 / 36)
    assert found["eval/success_20s"] == 0.5
    assert 0 < found["eval/error_cm"] < 10
    assert found["eval/episodes"] == 2
    assert all(isinstance(x, float) for x in found.values())
