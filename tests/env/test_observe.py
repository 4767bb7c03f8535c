"""What the observation does and does not depend on."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.config import SceneObsConfig, ablate
from qes_jax.env.observe import height_grid, observe, see_reference
from qes_jax.env.state import body_of, heading_frame
from qes_jax.env.symmetry import apply, symmetry
from qes_jax.motion.library import Reference
from tests.env.standing import CONFIG, Lab, quick, row
from tests.env.worlds import mirror_reference, mirror_state, move_world

NOW = 50  # a frame of the standing clip


@pytest.fixture(scope="module")
def state(lab: Lab):
    return lab.moving()


def watcher(lab: Lab, state, config=CONFIG):
    """reference -> policy and critic observation of one of the states, at frame NOW."""
    one = row(state, 0)._replace(frame=jnp.int32(NOW))
    f = quick(lambda ref: observe(config, lab.world.layout, lab.params._replace(reference=ref), one))
    return lambda ref: tuple(np.asarray(x) for x in f(ref))


def noisy(reference: Reference, *fields: str, keep: tuple[int, ...] = ()) -> Reference:
    """The reference with random numbers in some fields, but in the frames `keep`."""
    rng, changed = np.random.default_rng(0), {}
    for field in fields:
        old = np.asarray(getattr(reference, field))
        new = rng.normal(size=old.shape).astype(np.float32)
        new[list(keep)] = old[list(keep)]
        changed[field] = jnp.asarray(new)
    return reference._replace(**changed)


BODY = ("qpos", "qvel", "link_pos", "link_quat", "link_vel", "link_angvel", "contact")
SENSED = ("sensor_pos", "sensor_quat")


@pytest.mark.parametrize(("yaw", "shift"), [(0.7, (3.0, -2.0)), (3.0, (0.0, 0.0)), (-1.9, (-5.0, 1.0))])
def test_turning_and_moving_the_whole_world_changes_nothing(lab, state, yaw, shift):
    before = lab.observe(lab.params, state)
    after = lab.observe(*move_world(lab.params, state, jnp.float32(yaw), jnp.array(shift)))
    np.testing.assert_allclose(after.policy, before.policy, atol=2e-4)
    np.testing.assert_allclose(after.critic, before.critic, atol=2e-4)


def test_moving_the_user_alone_is_seen(lab, state):
    ref = lab.params.reference
    other = lab.observe(lab.params._replace(reference=ref._replace(sensor_pos=ref.sensor_pos + 0.1)), state)
    assert np.all(np.abs(other.policy - lab.observe(lab.params, state).policy).max(axis=1) > 0.05)


def test_mirrored_world_gives_the_mirrored_observation(lab, state):
    mirror = symmetry(CONFIG, lab.world)
    obs = lab.observe(lab.params, state)
    image = lab.observe(lab.params._replace(reference=mirror_reference(lab)), mirror_state(lab, state))
    np.testing.assert_allclose(image.policy, apply(mirror.policy, obs.policy), atol=2e-4)
    np.testing.assert_allclose(image.critic, apply(mirror.critic, obs.critic), atol=2e-4)
    assert np.abs(image.policy - obs.policy).max() > 0.1  # the states are not symmetric


def test_mirror_symmetry_of_the_other_observations(lab, state):
    config = replace(CONFIG, future=0, controllers=False, scene_obs=SceneObsConfig("distances"))
    mirror = symmetry(config, lab.world)
    params = lab.params._replace(reference=mirror_reference(lab))
    f = quick(lambda params, state: observe(config, lab.world.layout, params, state))
    obs, image = f(lab.params, row(state, 1)), f(params, row(mirror_state(lab, state), 1))
    np.testing.assert_allclose(image.critic, apply(mirror.critic, obs.critic), atol=2e-4)


def test_a_mirrored_action_moves_the_mirrored_body_likewise(lab, state):
    mirror = symmetry(CONFIG, lab.world)
    action = jnp.asarray(np.random.default_rng(1).uniform(-1, 1, state.action.shape), jnp.float32)
    after, seen = lab.step(lab.params, state, action)
    params = lab.params._replace(reference=mirror_reference(lab))
    image, image_seen = lab.step(params, mirror_state(lab, state), apply(mirror.action, action))
    expected = mirror_state(lab, after).physics
    np.testing.assert_allclose(image.physics.qpos, expected.qpos, atol=2e-3)
    np.testing.assert_allclose(image.physics.qvel, expected.qvel, atol=0.15)
    np.testing.assert_allclose(image_seen.reward, seen.reward, atol=5e-3)


def test_the_policy_does_not_see_the_reference_body_but_the_critic_does(lab, state):
    watch, ref = watcher(lab, state), lab.params.reference
    policy, critic = watch(ref)
    for field in BODY:
        other_policy, other_critic = watch(noisy(ref, field))
        np.testing.assert_array_equal(other_policy, policy, err_msg=field)
        if field not in ("qvel", "link_angvel"):
            assert np.abs(other_critic - critic).max() > 0.1, field


def test_the_policy_sees_of_the_future_only_one_frame(lab, state):
    watch, ref = watcher(lab, state), lab.params.reference
    policy, _ = watch(ref)
    seen = (NOW - 1, NOW, NOW + CONFIG.future)
    np.testing.assert_array_equal(watch(noisy(ref, *SENSED, keep=seen))[0], policy)
    for left_out in seen:
        kept = tuple(f for f in seen if f != left_out)
        assert np.abs(watch(noisy(ref, *SENSED, keep=kept))[0] - policy).max() > 0.1


def test_in_real_time_the_policy_sees_nothing_after_now(lab, state):
    watch, ref = watcher(lab, state, ablate(CONFIG, "real_time")), lab.params.reference
    later = tuple(range(NOW + 1))
    np.testing.assert_array_equal(watch(noisy(ref, *SENSED, *BODY, keep=later))[0], watch(ref)[0])
    assert np.abs(watch(noisy(ref, *SENSED, keep=later[:-1]))[0] - watch(ref)[0]).max() > 0.1


def test_headset_only_sees_no_controllers(lab, state):
    watch, ref = watcher(lab, state, ablate(CONFIG, "headset_only")), lab.params.reference
    changed = noisy(ref, *SENSED)
    hands = ref._replace(
        sensor_pos=changed.sensor_pos.at[:, 0].set(ref.sensor_pos[:, 0]),
        sensor_quat=changed.sensor_quat.at[:, 0].set(ref.sensor_quat[:, 0]),
    )
    np.testing.assert_array_equal(watch(hands)[0], watch(ref)[0])
    assert np.abs(watch(changed)[0] - watch(ref)[0]).max() > 0.1


def test_the_future_stops_at_the_end_of_the_clip(lab, state):
    last = len(lab.clips[0].qpos) - 1
    one = row(state, 0)._replace(frame=jnp.int32(last - 2))
    f = quick(lambda ref: observe(CONFIG, lab.world.layout, lab.params._replace(reference=ref), one).policy)
    ref = lab.params.reference
    np.testing.assert_array_equal(f(noisy(ref, *SENSED, keep=tuple(range(last + 1)))), f(ref))


@pytest.mark.parametrize(("kind", "size"), [("heightmap", 99 + 32), ("distances", 54 + 32), ("none", 0)])
def test_size_of_the_scene_observation(lab, state, kind, size):
    def shapes(kind):
        config = replace(CONFIG, scene_obs=SceneObsConfig(kind))
        return jax.eval_shape(lambda s: observe(config, lab.world.layout, lab.params, s), row(state, 0))

    bare, obs = shapes("none"), shapes(kind)
    assert obs.policy.shape[0] == bare.policy.shape[0] + size
    assert obs.critic.shape[0] == bare.critic.shape[0] + size


def test_without_scene_observation_the_room_is_not_seen(lab, state):
    config = ablate(CONFIG, "no_scene_obs")
    one = row(state, 0)
    pieces = lab.world.layout.piece_ids
    derived = one.derived._replace(xpos=one.derived.xpos.at[pieces].add(0.5))
    f = quick(lambda s: observe(config, lab.world.layout, lab.params, s).policy)
    np.testing.assert_array_equal(f(one._replace(derived=derived)), f(one))
    moved = state._replace(derived=state.derived._replace(xpos=state.derived.xpos.at[:, pieces].add(0.5)))
    assert np.abs(lab.observe(lab.params, moved).policy - lab.observe(lab.params, state).policy).max() > 0.1


def test_height_map_shows_the_box_where_it_stands(lab):
    """From the origin, facing +X: a box of x 0.7 to 1.3, y -0.1 to 0.5, 0.2 m high. The chair is behind."""
    start, pieces, placement = lab.start_from(0, 1), lab.world.layout.piece_ids, lab.params.reference.placement[0]
    derived = start.derived._replace(
        xpos=start.derived.xpos.at[:, pieces].set(placement[:, :3]),
        xquat=start.derived.xquat.at[:, pieces].set(placement[:, 3:]),
    )
    seen = np.asarray(lab.observe(lab.params, start._replace(derived=derived)).policy[0, -99 - 32 : -32])
    grid = height_grid(CONFIG.scene_obs)
    on_box = (np.abs(grid[:, 0] - 1.0) < 0.3) & (np.abs(grid[:, 1] - 0.2) < 0.3)
    assert on_box.sum() >= 6
    np.testing.assert_allclose(seen[grid[:, 0] > -0.5], np.where(on_box, 0.2, 0.0)[grid[:, 0] > -0.5], atol=1e-5)


def test_critic_sees_no_error_on_the_reference(lab):
    """At the very pose of the reference its differences are zero, but for the velocity of the swaying arm."""
    frame = 30
    ref, layout = lab.params.reference, lab.world.layout
    one = row(lab.start(), 0)
    physics = one.physics._replace(qpos=ref.qpos[frame], qvel=ref.qvel[frame])
    one = one._replace(physics=physics, derived=quick(lab.task.engine.forward)(physics), frame=jnp.int32(frame))
    body = body_of(layout, physics, one.derived)
    seen = np.asarray(see_reference(layout, ref, one, body, heading_frame(body)))
    n = len(layout.links) * 3
    np.testing.assert_allclose(seen[:n], 0.0, atol=1e-5)
    np.testing.assert_allclose(seen[n : 2 * n], 0.0, atol=0.03)
    np.testing.assert_allclose(seen[2 * n : 2 * n + 32], 0.0, atol=1e-6)
    assert seen[-1] == 1.0  # more than two seconds are left
