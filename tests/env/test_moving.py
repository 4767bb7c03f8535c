"""Chairs that turn and tilt, all the way: clip, file, reference, reset, observation, labels, mirror, continuation."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from qes_jax.env.config import EnvConfig
from qes_jax.env.observe import MOVING, see_moving
from qes_jax.env.state import EnvState, Frame, body_of, heading_frame
from qes_jax.env.symmetry import apply, symmetry
from qes_jax.env.task import Task
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import SCENES, Piece, Scene
from qes_jax.model.world import build_world
from qes_jax.motion.build import velocities
from qes_jax.motion.clip import Clip, load_clip, save_clip
from qes_jax.motion.contacts import label_contacts
from qes_jax.motion.continuation import continue_clip
from qes_jax.motion.library import pack, world_for
from qes_jax.motion.mirror import mirror_clip
from tests.env.standing import quick
from tests.motion.synthetic import wobble

OFFICE, TILTING = (Piece(kind, kind, None, (0.4, -0.3, 0.0), 0.5) for kind in ("office_chair", "tilting_chair"))
CONFIG = EnvConfig()


class Room:
    """One clip with both chairs, tilting first; one with the office chair; one without any. The environment on them."""

    def __init__(self) -> None:
        scenes = Scene("both", (TILTING, OFFICE)), Scene("one", (OFFICE,)), SCENES["flat"]
        self.clips = [wobble(s, 60, seed=i, name=s.name) for i, s in enumerate(scenes)]
        self.world = world_for(self.clips)
        self.layout = self.world.layout
        self.task = Task(CONFIG, make_engine(self.world, "mujoco"))
        self.params = self.task.params(pack(self.clips, self.world))
        self.reset_at = quick(lambda params, frame: self.task.reset_at(params, frame, jax.random.key(0)))
        self.step = quick(self.task.step)


@pytest.fixture(scope="module")
def room() -> Room:
    return Room()


def test_a_clip_keeps_its_chairs_joints_on_disk(room: Room, tmp_path: Path) -> None:
    clip = room.clips[0]
    save_clip(tmp_path / "clip.npz", clip)
    back = load_clip(tmp_path / "clip.npz")
    assert back.scene == clip.scene
    assert back.qpos.shape == (60, 39 + 2)
    assert np.ptp(back.qpos[:, 39:], axis=0).min() > 0.05
    np.testing.assert_array_equal(back.qpos, clip.qpos)
    np.testing.assert_array_equal(back.qvel, clip.qvel)


def test_an_episode_starts_with_the_chairs_as_the_clip_has_them(room: Room) -> None:
    """Whatever the order of pieces; a chair that a clip lacks is parked, at rest."""
    joints = [room.world.plain.joint(j).name for j in range(room.world.plain.njnt)][-2:]
    assert joints == ["tilting_chair0/tilt", "office_chair0/swivel"]
    for clip, columns in ((0, [39, 40]), (1, [None, 39]), (2, [None, None])):
        frame = 60 * clip + 20
        state, _ = room.reset_at(room.params, jnp.int32(frame))
        for k, column in enumerate(columns):
            q, v = state.physics.qpos[39 + k], state.physics.qvel[38 + k]
            have = room.clips[clip]
            assert q == (0.0 if column is None else have.qpos[20, column])
            assert v == (0.0 if column is None else have.qvel[20, column - 1])
            assert (state.physics.mocap_pos[k, 2] < -90) == (column is None)


def test_a_parked_chair_stays_at_rest(room: Room) -> None:
    state, _ = room.reset_at(room.params, jnp.int32(130))
    for _ in range(10):
        state, seen = room.step(room.params, state, jnp.zeros(32))
    np.testing.assert_allclose(state.physics.qpos[39:], 0.0, atol=1e-3)
    assert np.isfinite(seen.obs.policy).all()
    assert np.abs(seen.obs.policy).max() < 50  # nothing is seen 100 m below


def test_the_policy_sees_pose_and_velocity_of_what_moves(room: Room) -> None:
    """In the root's heading frame, nearest first, by MuJoCo's own kinematics; zeros for a chair that is not there."""
    m = room.world.plain
    for clip, here in ((0, ("tilting_chair0/back", "office_chair0/upper")), (1, ("office_chair0/upper",)), (2, ())):
        state, obs = room.reset_at(room.params, jnp.int32(60 * clip + 30))
        frame = heading_frame(body_of(room.layout, state.physics, state.derived))
        seen = np.asarray(see_moving(room.layout, state.derived, frame))
        np.testing.assert_allclose(obs.policy[-16 * MOVING :], seen, atol=1e-5)
        expected = [seen_by_mujoco(m, state, frame, name) for name in here]
        expected.sort(key=lambda row: np.linalg.norm(row[:3]))
        expected += [np.zeros(16)] * (MOVING - len(here))
        slots = np.concatenate(
            [p.reshape(MOVING, -1) for p in np.split(seen, MOVING * np.array([3, 9, 12, 15]))], axis=1
        )
        np.testing.assert_allclose(slots, expected, atol=1e-4)


def seen_by_mujoco(m: mujoco.MjModel, state: EnvState, frame: Frame, name: str) -> np.ndarray:
    """(16,) place, axes, velocity, angular velocity in the heading frame, and 1."""
    data, which, speed = mujoco.MjData(m), m.body(name).id, np.zeros(6)
    data.qpos[:], data.qvel[:] = state.physics.qpos, state.physics.qvel
    data.mocap_pos[:], data.mocap_quat[:] = state.physics.mocap_pos, state.physics.mocap_quat
    mujoco.mj_forward(m, data)
    mujoco.mj_objectVelocity(m, data, mujoco.mjtObj.mjOBJ_XBODY, which, speed, 0)
    turn = Rotation.from_quat(np.asarray(frame.yaw), scalar_first=True).inv()
    place = turn.apply(data.xpos[which] - np.asarray(frame.origin))
    axes = (turn.as_matrix() @ data.xmat[which].reshape(3, 3))[:, :2].T.ravel()
    return np.concatenate([place, axes, turn.apply(speed[3:]), turn.apply(speed[:3]), [1.0]])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_any_number_of_moving_pieces_is_seen_by_as_many_numbers(count: int) -> None:
    """Of three chairs the two nearest."""
    pieces = tuple(replace(OFFICE, name=f"chair{i}", pos=(2.0 * i, -1.0, 0.0)) for i in range(count))
    world = world_for([wobble(Scene("many", pieces), 40)])
    task = Task(CONFIG, make_engine(world, "mujoco"))
    params = task.params(pack([wobble(Scene("many", pieces), 40)], world))
    state, obs = quick(lambda params: task.reset_at(params, jnp.int32(5), jax.random.key(0)))(params)
    assert obs.policy.shape == (527,)
    slots = np.asarray(obs.policy[-16 * MOVING :])
    np.testing.assert_array_equal(slots[-MOVING:], np.arange(MOVING) < count)
    if count > MOVING:
        xy, layout = np.asarray(state.derived.xpos)[:, :2], world.layout
        away = np.sort(np.linalg.norm(xy[layout.piece_ids] - xy[layout.link_ids[0]], axis=1))[:MOVING]
        np.testing.assert_allclose(np.linalg.norm(slots[: 3 * MOVING].reshape(-1, 3)[:, :2], axis=1), away, atol=1e-4)


def test_the_mirrored_clip_is_seen_mirrored(room: Room) -> None:
    """Swivel and its speed change sign, the tilt does not, and the observation is the mirror image."""
    clip = room.clips[0]
    image = mirror_clip(clip)
    np.testing.assert_array_equal(image.qpos[:, 39:], clip.qpos[:, 39:] * np.float32([1, -1]))
    np.testing.assert_array_equal(image.qvel[:, 38:], clip.qvel[:, 38:] * np.float32([1, -1]))
    other = room.params._replace(reference=pack([mirror_clip(c) for c in room.clips], room.world))
    still = dataclasses.replace(CONFIG.randomize, place=0.0, yaw=0.0, joint_pos=0.0, joint_vel=0.0)
    task = Task(dataclasses.replace(CONFIG, randomize=still), room.task.engine)
    start = quick(lambda params: task.reset_at(params, jnp.int32(30), jax.random.key(0))[1].policy)
    np.testing.assert_allclose(start(other), apply(symmetry(CONFIG, room.world).policy, start(room.params)), atol=2e-4)


def seated_on_office_chair(rate: float, with_seat: bool = True) -> tuple:
    """World and qpos (36, nq) of a sitter who turns at `rate` [rad/s], with the seat or above a seat that stands."""
    world = build_world(pieces=(Piece("office_chair", "office_chair"),))
    layout, t = world.layout, np.arange(36) / 36.0
    qpos = np.tile(layout.home_qpos, (36, 1))
    for joint in ("hip_pitch", "knee"):
        for side in ("left", "right"):
            qpos[:, layout.joint_qpos[layout.joints.index(f"{side}_{joint}")]] = np.pi / 2
    yaw = rate * t
    qpos[:, :3] = [0.0, 0.0, 0.47 + 0.069]
    qpos[:, 3:7] = np.stack([np.cos(yaw / 2), 0 * t, 0 * t, np.sin(yaw / 2)], axis=1)
    qpos[:, layout.object_qpos[0]] = yaw * with_seat
    return world, qpos


def test_a_sitter_touches_the_seat_that_turns_along() -> None:
    """At 6 rad/s the thighs pass the base at up to 1 m/s, but rest on the seat."""
    world, qpos = seated_on_office_chair(6.0)
    labels = label_contacts(world, qpos)
    thighs = [world.layout.links.index(f"{side}_thigh") for side in ("left", "right")]
    assert labels[:, thighs, 1].all()
    world, qpos = seated_on_office_chair(6.0, with_seat=False)
    assert not label_contacts(world, qpos)[:, thighs, 1].any()


def turning(total: float) -> Clip:
    """A still body beside an office chair that turns by `total` [rad] within three seconds, and is back if it is 0."""
    clip = wobble(Scene("one", (OFFICE,)), 108, name="turning")
    qpos = np.repeat(clip.qpos[:1], 108, axis=0).astype(np.float64)
    t = np.linspace(0, 1, 108)
    qpos[:, 39] = total * t + 0.25 - 0.25 * np.cos(2 * np.pi * t)
    world = build_world(pieces=clip.scene.pieces)
    still = {
        k: np.repeat(getattr(clip, k)[:1], 108, axis=0)
        for k in ("link_pos", "link_quat", "contact", "sensor_pos", "sensor_quat")
    }
    qvel = velocities(world.plain, qpos, clip.fps).astype(np.float32)
    return dataclasses.replace(clip, qpos=qpos.astype(np.float32), qvel=qvel, **still)


@pytest.mark.parametrize("total", [0.0, 2 * np.pi])
def test_a_chair_goes_on_turning_or_comes_to_rest_but_never_jumps(total: float) -> None:
    """A chair that comes back is turned again; one that has gone around once stays where it is."""
    clip = turning(total)
    longer = continue_clip(clip, 8.0)
    assert longer.duration >= 8.0
    rate = np.abs(np.diff(longer.qpos[:, 39])) * clip.fps
    assert rate.max() <= 1.3 * (np.abs(np.diff(clip.qpos[:, 39])) * clip.fps).max()
    later = longer.qpos[200:, 39]
    assert (np.ptp(later) > 0.3) == (total == 0.0)
    np.testing.assert_allclose(longer.qvel[:-1, 38], np.diff(longer.qpos[:, 39]) * clip.fps, atol=1e-3)
