"""A session recorded and replayed with a body that is simulated; rooms saved as files."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from qes_jax.env.config import EnvConfig
from qes_jax.env.task import Task
from qes_jax.evaluate.glb import write_glb
from qes_jax.live.record import RESET, STEP, Recorder, load_session, replay, save_session, session_clip
from qes_jax.live.room import Room, make_room, moved, write_scene
from qes_jax.model.engines import make_engine
from qes_jax.model.scene import SCENES, Piece, Scene
from qes_jax.model.scene_file import read_scene
from qes_jax.model.world import build_world
from qes_jax.motion.formats.gltf import read_gltf
from tests.live.people import user

SCENE = Scene("yard", (Piece("box", "box", (0.5, 0.5, 0.4), (1.5, 0.0, 0.0)),))


def sway(policy: jax.Array, obs: jax.Array) -> jax.Array:
    return 0.2 * jnp.tanh(obs[..., :32]) + policy


@cache
def room() -> Room:
    from qes_jax.model.character import CharacterConfig

    config = EnvConfig(future=2)
    world = build_world(CharacterConfig(actuation="pd"), SCENE.pieces, config.sim_dt)
    mean = jnp.asarray(world.layout.home_qpos[world.layout.joint_qpos], jnp.float32)
    return make_room("sway", Task(config, make_engine(world, "mujoco")), sway, jnp.zeros(()), mean, SCENE)


def recorded(frames: int = 40):
    here, recorder = room(), Recorder(room())
    here.follower.place(here.placement())
    pos, quat = user()
    recorder.add(RESET, pos, quat, here.follower.reset(pos, quat))
    for n in range(frames):
        if n == 10:
            recorder.start()
        if n == 20:
            here = moved(here, "box", 1.2, 0.3, 0.5)
            recorder.room = here
        to = pos + np.array([0.002 * n, 0.0, 0.0])
        recorder.add(STEP, to, quat, here.follower.step(to, quat))
    return recorder.stop()


def test_a_session_replays_to_the_bit_and_becomes_a_clip_and_a_glb(tmp_path: Path) -> None:
    session = recorded()
    path = tmp_path / "a.npz"
    save_session(path, session)
    again = load_session(path)
    assert int(again.since) == 11 and again.scene.pieces[0].pos[0] == pytest.approx(1.2)
    np.testing.assert_array_equal(replay(again, room().follower), session.qpos)
    clip = session_clip(again, room(), "a")
    assert clip.n_frames == 30
    np.testing.assert_array_equal(clip.qpos[:, :39], session.qpos[11:, :39])
    write_glb(tmp_path / "a.glb", clip)
    assert read_gltf(tmp_path / "a.glb")


def test_nothing_recorded_is_said() -> None:
    recorder = Recorder(room())
    recorder.start()
    with pytest.raises(ValueError, match="nothing was recorded"):
        recorder.stop()


@pytest.mark.parametrize("keep", [0, 30, 2000])
def test_a_broken_session_is_named(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.npz"
    save_session(path, recorded())
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"a\.npz"):
        load_session(path)


def test_a_clip_is_the_longest_stretch_without_a_fall() -> None:
    session = recorded()
    op = session.op.copy()
    op[15] = RESET
    clip = session_clip(replace(session, op=op), room(), "a")
    assert clip.n_frames == len(op) - 16


@pytest.mark.parametrize("name", ["living_room", "office_chair", "flat"])
def test_a_saved_room_is_the_same_room(tmp_path: Path, name: str) -> None:
    write_scene(tmp_path / "a.toml", SCENES[name])
    again = read_scene(tmp_path / "a.toml")
    assert again.name == name
    for a, b in zip(again.pieces, SCENES[name].pieces, strict=True):
        assert (a.name, a.kind, a.size) == (b.name, b.kind, b.size)
        np.testing.assert_allclose(a.placement(), b.placement(), atol=1e-3)


@pytest.mark.parametrize(("x", "yaw"), [(np.nan, 0), (0, np.inf), (99, 0)])
def test_furniture_stays_in_the_world(x: float, yaw: float) -> None:
    with pytest.raises(ValueError, match="box"):
        moved(room(), "box", x, 0.0, yaw)
