"""Where episodes start: frames, placement, the body on its seat."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chisquare, kstest

from qes_jax.env.config import ablate
from qes_jax.env.reset import cumulative, draw_frame, follow_piece, perturb
from qes_jax.motion.library import pack
from tests.env.standing import CONFIG, ROWS, SEATED, STANDING, Lab, quick, standing_clip


def many(n: int, seed: int = 0):
    return jax.random.split(jax.random.PRNGKey(seed), n)


def test_starts_follow_their_weights():
    weight = jnp.array([0.0, 0.0, 3.0, 0.5, 0.0, 1.5, 2.0, 0.0, 0.25, 0.0])
    frames = np.asarray(quick(jax.vmap(partial(draw_frame, weight)))(many(20_000)))
    counts, allowed = np.bincount(frames, minlength=len(weight)), np.asarray(weight) > 0
    assert counts[~allowed].sum() == 0
    expected = np.asarray(weight)[allowed] / weight.sum() * counts.sum()
    assert chisquare(counts[allowed], expected).pvalue > 0.01


def test_no_rounding_ever_lets_an_episode_start_where_the_weight_is_zero():
    rng = np.random.default_rng(0)
    weight = (rng.random(20_000) * (rng.random(20_000) < 0.5)).astype(np.float32)
    rises = np.diff(np.asarray(quick(cumulative)(jnp.asarray(weight))), prepend=0.0)
    assert np.all(rises >= 0)
    np.testing.assert_array_equal(rises[weight == 0], 0.0)
    np.testing.assert_allclose(np.cumsum(rises, dtype=float)[-1], weight.sum(dtype=float), rtol=1e-5)


def test_an_episode_may_start_anywhere_but_in_the_last_second(lab: Lab):
    ends = [36, SEATED // 2]  # [frames]
    expected = [i < n - end for n, end in zip([STANDING, SEATED], ends, strict=True) for i in range(n)]
    np.testing.assert_array_equal(lab.params.start_weight, expected)


def test_a_clip_below_a_second_has_starts_too(lab: Lab):
    short = lab.task.params(pack([standing_clip(20), standing_clip(2)], lab.world))
    np.testing.assert_array_equal(short.start_weight, [*[1] * 10, *[0] * 10, 1, 0])


def test_pieces_move_within_8_cm_and_a_tenth_radian(lab: Lab):
    placement = lab.params.reference.placement[0]
    new = np.asarray(quick(jax.vmap(partial(perturb, CONFIG.randomize, placement)))(many(4000)))
    move = new[..., :3] - placement[:, :3]
    assert np.abs(move).max() <= 0.08 + 1e-6
    turn = Rotation.from_quat(new[..., 3:].reshape(-1, 4), scalar_first=True)
    old = Rotation.from_quat(np.tile(placement[:, 3:], (4000, 1)), scalar_first=True)
    vector = (turn * old.inv()).as_rotvec()
    np.testing.assert_allclose(vector[:, :2], 0.0, atol=1e-6)
    for value, reach in ((move[:, 0, 0], 0.08), (move[:, 0, 1], 0.08), (move[:, 1, 2], 0.08), (vector[::2, 2], 0.1)):
        assert kstest(value, "uniform", (-reach, 2 * reach)).pvalue > 0.01
    assert abs(np.corrcoef(move[:, 0, 0], move[:, 1, 0])[0, 1]) < 0.06  # each piece for itself


def test_without_randomisation_pieces_stay(lab: Lab):
    config = ablate(CONFIG, "no_randomization").randomize
    placement = lab.params.reference.placement[0]
    new = quick(jax.vmap(partial(perturb, config, placement)))(many(10))
    np.testing.assert_array_equal(new, np.tile(placement, (10, 1, 1)))


@pytest.mark.parametrize(
    ("touched", "expected"),
    [
        ([], (0.0, 0.0, 0.0)),
        ([(0, 0)], (0.0, 0.0, 0.0)),  # the floor does not move
        ([(0, 1)], (0.1, 0.2, 0.3)),
        ([(0, 0), (1, 0), (2, 0), (0, 1)], (0.1, 0.2, 0.3)),
        ([(0, 1), (1, 2), (2, 2)], (-0.4, -0.5, 0.0)),  # more links on the other; never downward
    ],
)
def test_the_body_follows_the_piece_that_it_touches_most(touched, expected):
    contact, moved = np.zeros((3, 3), np.float32), jnp.array([[0.1, 0.2, 0.3], [-0.4, -0.5, -0.6]])
    for link, thing in touched:
        contact[link, thing] = 1.0
    np.testing.assert_allclose(follow_piece(jnp.asarray(contact), moved), expected, atol=1e-7)


def test_in_a_bare_room_there_is_nothing_to_follow():
    np.testing.assert_array_equal(follow_piece(jnp.ones((3, 1)), jnp.zeros((0, 7))), np.zeros(3))


def test_reset_puts_the_body_near_its_reference(lab: Lab):
    state = lab.start(7)
    ref, layout = lab.params.reference, lab.world.layout
    frame = np.asarray(state.frame)
    assert np.all(np.asarray(lab.params.start_weight)[frame] > 0)
    assert len(np.unique(frame)) > ROWS // 2
    np.testing.assert_array_equal(state.start, frame)
    placement = np.asarray(ref.placement)[np.asarray(ref.clip_of_frame)[frame]]
    moved = np.asarray(state.physics.mocap_pos) - placement[..., :3]
    assert 0.04 < np.abs(moved).max() <= 0.08 + 1e-6
    np.testing.assert_allclose(state.derived.xpos[:, layout.piece_ids], state.physics.mocap_pos, atol=1e-6)
    noise = np.asarray(state.physics.qpos - ref.qpos[frame])[:, layout.joint_qpos]
    assert np.std(noise) == pytest.approx(CONFIG.randomize.joint_pos, rel=0.2)
    speed = np.asarray(state.physics.qvel - ref.qvel[frame])[:, layout.joint_dofs]
    assert np.std(speed) == pytest.approx(CONFIG.randomize.joint_vel, rel=0.2)
    assert len(np.unique(np.asarray(state.key), axis=0)) == ROWS


def test_a_body_that_starts_on_a_moved_chair_stays_calm(lab: Lab):
    state = lab.start_from(STANDING, STANDING + SEATED // 3, seed=1)
    raised = np.asarray(state.physics.mocap_pos[:, 1, 2])
    assert raised.max() > 0.03 and raised.min() < -0.03
    seat = [lab.world.layout.links.index(link) for link in ("pelvis", "left_thigh", "right_thigh")]
    pressed = np.zeros(ROWS)
    for _ in range(10):
        state, seen = lab.step(lab.params, state, jnp.zeros((ROWS, 32)))
        assert np.abs(state.physics.qvel).max() < 6.0  # a fall of 8 cm gives 1.3 m/s; an explosion tens
        pressed = np.asarray(state.derived.force[:, seat, 2, 2]).sum(axis=1)
    assert np.all(pressed > 100.0)  # and it sits
    assert not np.any(seen.terminated)
