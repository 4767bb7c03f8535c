"""Good files of our own formats, as small as they come: what a campaign spoils."""

import dataclasses
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trained import LEARNER, WEIGHTS
from qes_jax.assembly.trusting.motions import FRAMES, aframe, swaying, world
from qes_jax.evaluate.episode import Episode, save_episode
from qes_jax.evaluate.weights import save_learner, save_policy
from qes_jax.live.person import Person, save_person
from qes_jax.live.record import RESET, STEP, Session, save_session
from qes_jax.model.character import CharacterConfig
from qes_jax.motion.clip import save_clip
from qes_jax.motion.sensors import make_track, read_device, save_track
from qes_jax.pose.data import PoseSet, Source, save_poses
from qes_jax.pose.editor.library import save_pose
from qes_jax.ppo.config import cpu
from qes_jax.ppo.inference import PolicyParams
from qes_jax.ppo.learner import Learner
from qes_jax.ppo.networks import init_params
from qes_jax.runs.checkpoint import CheckpointStore, named_leaves
from qes_jax.runs.folder import RunFolder, write_json

SEEN, JOINTS = 12, 4  # numbers of an observation and of an action of the made-up policy
PPO = dataclasses.replace(cpu(), actor_hidden=(8,), critic_hidden=(8,))

SCENE = """name = "study"

[[piece]]
name = "desk"
kind = "box"
size = [1.4, 0.7, 0.74]
pos = [1.0, 0.5, 0.0]
yaw_degrees = 90

[[piece]]
name = "stool"
kind = "parts/stool.xml"
pos = [-1.0, 0.0, 0.0]
yaw = 0.5
"""
STOOL = """<mujoco model="stool">
  <default><default class="wood"><geom rgba="0.5 0.3 0.2 1"/></default></default>
  <worldbody>
    <body name="stool" childclass="wood">
      <geom type="cylinder" size="0.18 0.02" pos="0 0 0.45"/>
      <geom type="box" size="0.03 0.03 0.22" pos="0.1 0 0.22" euler="0 5 0"/>
      <body name="seat" pos="0 0 0.48">
        <joint name="turn" type="hinge" axis="0 0 1" damping="1"/>
        <geom type="cylinder" size="0.17 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
ROOM = """<mujoco model="room">
  <compiler angle="radian"/>
  <option timestep="0.002"/>
  <include file="parts/stool.xml"/>
  <asset><material name="red" rgba="0.8 0.1 0.1 1"/></asset>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <frame pos="1 0 0" euler="0 0 0.3">
      <body name="crate" pos="0 1 0"><geom type="box" size="0.2 0.2 0.2" pos="0 0 0.2" material="red"/></body>
    </frame>
  </worldbody>
</mujoco>
"""


def clip(folder: Path) -> None:
    """A clip."""
    save_clip(folder / "clip.npz", swaying())


def track(folder: Path) -> None:
    """A track of headset and controllers."""
    aframe(folder)
    save_track(folder / "track.npz", make_track(read_device(folder / "motion.json"), eye_height=1.65))
    (folder / "motion.json").unlink()


def scene_toml(folder: Path) -> None:
    """A scene of a box and a piece of its own file."""
    (folder / "scene.toml").write_text(SCENE)
    _stool(folder)


def scene_mjcf(folder: Path) -> None:
    """A scene in MJCF that includes a file."""
    (folder / "scene.xml").write_text(ROOM)
    _stool(folder)


def _stool(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "stool.xml").write_text(STOOL)


def corrections(folder: Path) -> None:
    """Corrections of contact labels."""
    lines = ["# by eye", "frames 0-3: left_foot floor on", "frames 2-5: right_toes box off", "frames 1-1: head box on"]
    (folder / "contacts.txt").write_text("\n".join(lines) + "\n")


def pose(folder: Path) -> None:
    """A pose that the editor saved."""
    save_pose(folder, "pose", np.asarray(world().layout.home_qpos[:39]), world())


def poses(folder: Path) -> None:
    """Poses to train the editor's network on."""
    source = Source("swaying", "made up", "none", "train", FRAMES)
    rows = swaying().qpos[:, :39].astype(np.float32)
    save_poses(folder / "poses.npz", PoseSet(rows, np.zeros(FRAMES, np.int32), (source,)))


def person(folder: Path) -> None:
    """A user's measures."""
    save_person(folder, Person("someone"))


def session(folder: Path) -> None:
    """What was recorded in the live room."""
    made = swaying()
    op = np.array([RESET, *[STEP] * (FRAMES - 1)], np.uint8)
    placement = np.tile(np.array(made.scene.pieces[0].placement()), (FRAMES, 1, 1))
    arrays = op, made.sensor_pos, made.sensor_quat, made.qpos, placement, np.array(1)
    save_session(folder / "session.npz", Session("walk", made.scene, made.height, *arrays))


def episode(folder: Path) -> None:
    """An episode to look at."""
    made = swaying()
    placement = np.array([p.placement() for p in made.scene.pieces])
    force = np.zeros(made.contact.shape, np.float32)
    arrays = made.qpos, placement, made.qpos, made.sensor_pos, made.sensor_quat, made.sensor_pos, force, made.contact
    save_episode(folder / "episode.npz", Episode("made", 36.0, CharacterConfig(), made.scene.pieces, True, *arrays))


@cache
def learner() -> Learner:
    """A small learner that has learned nothing: Adam's moments and the rest are stood for by a few numbers."""
    shapes = jax.eval_shape(lambda key: init_params(PPO, SEEN, SEEN, JOINTS, key), jax.random.key(0))
    params = jax.tree.map(lambda x: jnp.full(x.shape, 0.1, x.dtype), shapes)
    moments = jax.tree.map(lambda x: 0.1 * x, params)
    return Learner(params, {"mu": moments}, {"mean": jnp.zeros(SEEN), "std": jnp.ones(SEEN)}, jnp.float32(1e-3))


def mean_pose() -> jax.Array:
    """(J,) [rad]."""
    return jnp.linspace(-0.1, 0.1, JOINTS)


def weights(folder: Path) -> None:
    """A policy with its settings."""
    params = learner().params
    policy = PolicyParams(params["actor"], params["log_std"], jnp.zeros(SEEN), jnp.ones(SEEN))
    save_policy(folder / WEIGHTS, policy, mean_pose())
    config(folder)


def learned(folder: Path) -> None:
    """What training carries on from."""
    leaves = named_leaves({"train": learner(), "adaptive": {"mean_pose": mean_pose()}})
    save_learner(folder / LEARNER, leaves)


def config(folder: Path) -> None:
    """The settings of a run."""
    write_json(folder / "config.json", dataclasses.asdict(RunConfig(ppo=PPO)))


def state() -> dict:
    """What a checkpoint of the made-up run holds."""
    key = jax.random.key_data(jax.random.key(0))
    return {"weights": jnp.arange(6.0).reshape(2, 3), "number": jnp.int32(3), "key": key}


def checkpoint(folder: Path) -> None:
    """A run folder with two checkpoints."""
    config(folder)
    run = RunFolder(folder)
    for number in (1, 2):
        CheckpointStore(run.checkpoints).save(number, state(), {"iteration": number})


def metrics(folder: Path) -> None:
    """A run's lines of metrics."""
    (folder / "metrics.jsonl").write_text("".join(f'{{"iteration": {i}, "loss": {0.5 / i}}}\n' for i in range(1, 6)))
