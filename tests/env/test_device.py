"""Devices as people hold them: what is drawn, what is shown, and that the goal of the motion does not change."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from qes_jax.env.config import RandomizeConfig
from qes_jax.env.device import TRACKED, draw_device, lose_and_find, shown
from qes_jax.env.observe import observe
from tests.env.standing import CONFIG, Lab, quick, row

GRIPPED = RandomizeConfig(grip=(0.03, 0.3), mount=(0.01, 0.05))
FRAME = jnp.int32(40)


def many(config: RandomizeConfig, n: int = 4000):
    return quick(jax.vmap(partial(draw_device, config)))(jax.random.split(jax.random.PRNGKey(0), n))


def turns(quat) -> np.ndarray:
    return Rotation.from_quat(np.asarray(quat), scalar_first=True).as_rotvec()


def test_grips_have_the_stated_deviations() -> None:
    device = many(GRIPPED)
    np.testing.assert_allclose(np.asarray(device.pos).std(axis=(0, 2)), [0.01, 0.03, 0.03], rtol=0.05)
    for i, expected in enumerate((0.05, 0.3, 0.3)):
        np.testing.assert_allclose(turns(device.quat[:, i]).std(), expected, rtol=0.05)
    assert np.all(np.asarray(device.lost_at) == TRACKED)


def test_a_grip_turns_and_shifts_the_controller_in_the_hand(lab: Lab) -> None:
    ref, device = lab.params.reference, jax.tree.map(lambda x: x[0], many(GRIPPED, 1))
    pos, quat = shown(GRIPPED, ref, device, FRAME, jax.random.key(0))
    for i in range(3):
        hand = Rotation.from_quat(np.asarray(ref.sensor_quat[FRAME, i]), scalar_first=True)
        held = Rotation.from_quat(np.asarray(device.quat[i]), scalar_first=True)
        np.testing.assert_allclose(pos[i], ref.sensor_pos[FRAME, i] + hand.apply(np.asarray(device.pos[i])), atol=1e-6)
        np.testing.assert_allclose(turns(quat[i]), (hand * held).as_rotvec(), atol=1e-5)


def test_without_randomisation_the_devices_show_the_reference_to_the_bit(lab: Lab) -> None:
    device = jax.tree.map(lambda x: x[0], many(RandomizeConfig(), 1))
    pos, quat = shown(RandomizeConfig(), lab.params.reference, device, FRAME, jax.random.key(0))
    np.testing.assert_array_equal(pos, lab.params.reference.sensor_pos[FRAME])
    np.testing.assert_array_equal(quat, lab.params.reference.sensor_quat[FRAME])


def test_noise_is_that_of_its_frame(lab: Lab) -> None:
    noisy = RandomizeConfig(noise=(0.004, 0.02))
    device = jax.tree.map(lambda x: x[0], many(noisy, 1))
    see = quick(jax.vmap(lambda key: shown(noisy, lab.params.reference, device, FRAME, key)))
    keys = jax.random.split(jax.random.key(1), 2000)
    pos, quat = see(keys)
    np.testing.assert_array_equal(pos, see(keys)[0])
    off = np.asarray(pos) - np.asarray(lab.params.reference.sensor_pos[FRAME])
    np.testing.assert_allclose(off.std(), 0.004, rtol=0.05)
    still = Rotation.from_quat(np.asarray(lab.params.reference.sensor_quat[FRAME, 1]), scalar_first=True)
    shaken = (still.inv() * Rotation.from_quat(np.asarray(quat[:, 1]), scalar_first=True)).as_rotvec()
    np.testing.assert_allclose(shaken.std(), 0.02, rtol=0.05)


def test_controllers_get_lost_and_found_and_the_headset_never() -> None:
    """In the long run a share rate / (rate + 1 / seconds) of the time, here 0.5 / (0.5 + 2) = 0.2."""
    config, dt, n = RandomizeConfig(lost=(0.5, 0.5)), CONFIG.ctrl_dt, 500
    step = quick(jax.vmap(partial(lose_and_find, config, dt), (0, None, 0)))
    device, lost, held = many(config, n), [], None
    for frame in range(400):
        device = step(device, jnp.int32(frame), jax.random.split(jax.random.PRNGKey(frame), n))
        at = np.asarray(device.lost_at)
        if held is not None:
            stays = (held < TRACKED) & (at < TRACKED)
            np.testing.assert_array_equal(at[stays], held[stays])
        held = at
        lost.append(at < TRACKED)
    assert not np.any(np.array(lost)[:, :, 0])
    np.testing.assert_allclose(np.array(lost)[100:, :, 1:].mean(), 0.2, atol=0.02)


def test_a_lost_controller_is_seen_where_it_was(lab: Lab) -> None:
    """Whatever it does since; the other one goes on."""
    one = row(lab.moving(), 0)._replace(frame=FRAME)
    lost = one._replace(device=one.device._replace(lost_at=jnp.array([TRACKED, 20, TRACKED], jnp.int32)))
    ref = lab.params.reference
    moved = ref._replace(sensor_pos=ref.sensor_pos.at[21:, 1].add(0.3), sensor_quat=ref.sensor_quat.at[21:, 1].set(1.0))
    see = quick(lambda ref, s: observe(CONFIG, lab.world.layout, lab.params._replace(reference=ref), s).policy)
    np.testing.assert_array_equal(see(moved, lost), see(ref, lost))
    assert np.abs(see(moved, one) - see(ref, one)).max() > 0.1
    other = ref._replace(sensor_pos=ref.sensor_pos.at[21:, 2].add(0.3))
    assert np.abs(see(other, lost) - see(ref, lost)).max() > 0.1


def test_the_reward_is_of_the_hand_not_of_the_device(lab: Lab) -> None:
    """A step under another grip: the policy sees something else, and is rewarded for the same."""
    one = row(lab.moving(), 0)
    config = replace(CONFIG, randomize=replace(CONFIG.randomize, noise=(0.01, 0.05)))
    step = quick(lambda s: replace(lab.task, config=config).step(lab.params, s, jnp.zeros(32))[1])
    plain, gripped = step(one), step(one._replace(device=jax.tree.map(lambda x: x[0], many(GRIPPED, 1))))
    assert np.abs(plain.obs.policy - gripped.obs.policy).max() > 0.01
    np.testing.assert_array_equal(plain.reward, gripped.reward)
