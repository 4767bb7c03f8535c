"""From the words of a command line to a session that is served."""

import sys
from pathlib import Path

import mujoco
import numpy as np

from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.editor.actions import Place
from qes_jax.assembly.editor.options import Options
from qes_jax.assembly.editor.session import Session
from qes_jax.authoring.catalogue import RECIPES
from qes_jax.authoring.library import LIBRARY
from qes_jax.evaluate.view.guard import check_port
from qes_jax.model.character import CharacterConfig
from qes_jax.model.scene import Scene
from qes_jax.model.scene_file import find_scene
from qes_jax.model.world import World, build_world
from qes_jax.paths import weights_dir
from qes_jax.pose.edit import Prior
from qes_jax.pose.editor.beside import beside
from qes_jax.pose.editor.desk import Desk, make_tools
from qes_jax.pose.editor.library import list_poses, load_pose, pose_path
from qes_jax.pose.editor.state import NQ
from qes_jax.pose.editor.timeline import Key, interpolate, planted
from qes_jax.pose.prior import stay
from qes_jax.pose.weights import load_prior

ROOM = 0.3  # [m]


def edit(options: Options) -> None:
    """Serve a session until Ctrl-C. Raises FileNotFoundError, KeyError or ValueError that says what there is."""
    check_port(options.port)
    for name, folder in (("--poses", options.poses), ("--clips", options.clips)):
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{name} {folder}: is a file, expected a folder, which may be new")
    alone = build_world(CharacterConfig(height=options.height))
    qpos, scene = begin(options, alone)
    prior = trained_prior() if options.prior == "yes" else stay
    print("preparing the solvers (a minute the first time)", file=sys.stderr)
    desk = Desk(make_tools(alone, prior), qpos)
    compile_all(desk)
    world = build_world(CharacterConfig(height=options.height), scene.pieces)
    session = Session(desk, Place(world, scene, options.poses, options.clips), options.port)
    print(f"open {session.address} (Ctrl-C ends)", flush=True)
    try:
        session.run()
    except KeyboardInterrupt:
        print("\nended")


def trained_prior() -> Prior:
    """The prior that ships. Raises FileNotFoundError or ValueError that says how to do without."""
    try:
        return load_prior(weights_dir() / "pose" / "prior.npz")
    except (FileNotFoundError, ValueError) as error:
        raise type(error)(f"{error}; --prior no edits without the network") from None


def compile_all(desk: Desk) -> None:
    """Have everything compiled before anybody waits for it."""
    desk.drag(*desk.grip())
    assert desk.target is not None
    beside("FABRIK", desk.state, desk.tools, [desk.target])
    beside("without prior", desk.state, desk.tools, [desk.target])
    desk.cancel()
    keys = Key(0.0, desk.state.qpos), Key(1.0, desk.state.qpos)
    planted(keys, interpolate(keys), desk.tools.plain)


def begin(options: Options, world: World) -> tuple[np.ndarray, Scene]:
    """The pose (39,) to begin with, and the room."""
    word, scene = options.start, find_scene(options.scene)
    if word in world.layout.key_qpos:
        return clear_of(world.layout.key_qpos[word], scene), scene
    if word in list_poses(options.poses):
        return load_pose(pose_path(options.poses, word), world), scene
    if Path(word).suffix == ".json":
        return load_pose(Path(word), world), scene
    if word in RECIPES or word in LIBRARY or Path(word).is_file():
        return from_clip(options, scene)
    known = [*world.layout.key_qpos, *list_poses(options.poses), *RECIPES]
    raise FileNotFoundError(f"{word}: no such pose, clip or file; there are {', '.join(known)}")


def clear_of(qpos: np.ndarray, scene: Scene) -> np.ndarray:
    """The pose moved ahead, along X, until no box around a piece's geom is within ROOM of where it stands."""
    room = build_world(pieces=scene.pieces)
    data = mujoco.MjData(room.plain)
    mujoco.mj_kinematics(room.plain, data)
    geoms = room.layout.geoms
    turn = data.xmat[geoms.body + 1].reshape(-1, 3, 3)
    middle = data.xpos[geoms.body + 1] + np.einsum("gij,gj->gi", turn, geoms.pos)
    half = np.einsum("gij,gj->gi", np.abs(turn), geoms.size)
    low, high = ((middle + sign * (half + ROOM))[:, :2] for sign in (-1, 1))
    qpos = qpos.copy()
    while ((low < qpos[:2]) & (qpos[:2] < high)).all(axis=1).any():
        qpos[0] += 0.05
    return qpos


def from_clip(options: Options, scene: Scene) -> tuple[np.ndarray, Scene]:
    """A moment of a clip, and its room where none was asked for. Raises ValueError at a time that it has not."""
    clip = find_clips([options.start])[0]
    if not 0 <= options.at <= clip.duration:
        raise ValueError(f"--at {options.at:g}: {clip.name} lasts {clip.duration:.1f} s")
    qpos = clip.qpos[round(options.at * clip.fps), :NQ].astype(np.float64)
    qpos[2] *= options.height / clip.height
    return qpos, clip.scene if options.scene == "flat" else scene
