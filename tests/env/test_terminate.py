"""When episodes end: failure against the end of the clip or of the time."""

import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.state import Body
from qes_jax.env.terminate import failure
from tests.env.standing import CONFIG, ROWS, SEATED, STANDING, Lab

FRAME = 20


def failed(lab: Lab, sensor: float = 0.0, height: float = 0.0, speed: float = 0.0) -> tuple[bool, ...]:
    """Failure of a body that is off by so much in one sensor, in the root's height and in one velocity."""
    ref = lab.params.reference
    none = jnp.zeros(0)
    body = Body(
        ref.link_pos[FRAME].at[0, 2].add(height), none, none, none, none, none,
        ref.sensor_pos[FRAME].at[2, 1].add(sensor), none, none,
    )  # fmt: skip
    qvel = jnp.zeros(38).at[11].set(speed)
    return tuple(bool(x) for x in failure(CONFIG, ref, jnp.int32(FRAME), body, qvel))


@pytest.mark.parametrize(
    ("off", "which"),
    [
        ({}, (False, False, False)),
        ({"sensor": 0.49, "height": -0.29, "speed": 99.0}, (False, False, False)),
        ({"sensor": -0.51}, (True, False, False)),
        ({"height": 0.31}, (False, True, False)),
        ({"height": -0.31}, (False, True, False)),
        ({"speed": -101.0}, (False, False, True)),
    ],
)
def test_failure_is_beyond_each_threshold_alone(lab, off, which):
    assert failed(lab, **off) == which


def test_failure_the_end_of_the_clip_and_of_the_time(lab: Lab):
    """Seven environments that differ in one thing each; the user goes one frame on before it is looked at."""
    frame = np.full(ROWS, 10)
    frame[1:4] = STANDING - 2, STANDING - 3, STANDING + SEATED - 2  # to the last frame, the last but one, the last
    age = np.zeros(ROWS, int)
    age[4:6] = CONFIG.max_frames - 1, CONFIG.max_frames - 2
    ref = lab.params.reference
    state = lab.start()._replace(frame=jnp.asarray(frame, jnp.int32), age=jnp.asarray(age, jnp.int32))
    qpos = ref.qpos[frame].at[6:8, 0].add(2.0)  # two bodies elsewhere
    frame = np.where(np.arange(ROWS) == 7, STANDING - 2, frame)  # one of them at the end
    physics = state.physics._replace(qpos=qpos, qvel=jnp.zeros_like(state.physics.qvel))
    state = state._replace(physics=physics, frame=jnp.asarray(frame, jnp.int32))
    after, seen = lab.step(lab.params, state, jnp.zeros((ROWS, 32)))
    np.testing.assert_array_equal(after.frame, frame + 1)
    np.testing.assert_array_equal(after.age, age + 1)
    np.testing.assert_array_equal(seen.terminated[:8], [0, 0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(seen.truncated[:8], [0, 1, 0, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(seen.metrics["fail/sensor"][:8], [0, 0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(seen.metrics["fail/height"][:8], 0)
