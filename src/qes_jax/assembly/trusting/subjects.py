"""All readers that a stranger's file may reach, each with a good file of its kind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trained import LEARNER, load_trained
from qes_jax.assembly.trusting import motions, own
from qes_jax.evaluate.episode import load_episode
from qes_jax.evaluate.weights import load_learner
from qes_jax.live.person import load_person
from qes_jax.live.record import load_session
from qes_jax.model.scene_file import read_scene
from qes_jax.motion.clip import load_clip
from qes_jax.motion.contacts import correct_contacts
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.boxes import read_box
from qes_jax.motion.formats.maps import check_roles, read_roles
from qes_jax.motion.formats.read import Choices, NoRoles, read_recording
from qes_jax.motion.sensors import load_track, make_track, read_device
from qes_jax.pose.data import load_poses
from qes_jax.pose.editor.library import load_pose
from qes_jax.runs.checkpoint import CheckpointStore
from qes_jax.runs.config import from_json
from qes_jax.runs.folder import RunFolder
from qes_jax.runs.metrics import read_metrics


@dataclass(frozen=True)
class Subject:
    """One reader.

    make: writes good files into an empty folder.
    main: the file in it that is read, what an error has to name; where other files belong to it, theirs will do.
    read: reads it as its users do, down to what they would work with.
    """

    name: str
    main: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]


def _motion(path: Path) -> Any:
    try:
        return read_recording(path)[1]
    except NoRoles as error:  # what a map file is for: the motion itself was read
        return error.motion


def _points(path: Path) -> Any:
    return read_recording(path, choices=Choices(fps=30.0))[1]


def _device(path: Path) -> Any:
    recording = read_device(path)
    return recording, make_track(recording, eye_height=1.65)


def _roles(path: Path) -> Any:
    roles = read_roles(path)
    check_roles(clip_skeleton(motions.swaying()), roles, str(path))
    return roles


def _corrections(path: Path) -> Any:
    labels = np.zeros_like(motions.swaying().contact)
    return correct_contacts(labels, path, motions.world())


def _weights(path: Path) -> Any:
    trained = load_trained(RunFolder(path.parent))
    return trained.policy, trained.mean_pose


def _config(path: Path) -> Any:
    return from_json(RunConfig, RunFolder(path.parent).read_config(), str(path))


def _checkpoint(path: Path) -> Any:
    found = CheckpointStore(path).restore_latest(own.state())
    return found and found.state


SUBJECTS = (
    Subject("BVH", "motion.bvh", motions.bvh, _motion),
    Subject("ASF and AMC", "motion.amc", motions.amc, _motion),
    Subject("AMASS", "motion.npz", motions.amass, _motion),
    Subject("glTF, binary", "motion.glb", motions.glb, _motion),
    Subject("glTF, JSON", "motion.gltf", motions.gltf, _motion),
    Subject("DeepMimic", "motion.txt", motions.deepmimic, _motion),
    Subject("joint points, npz", "motion.npz", motions.points_npz, _motion),
    Subject("joint points, npy", "motion.npy", motions.points_npy, _points),
    Subject("joint points, 53 known", "motion.npy", motions.holosoma, _motion),
    Subject("box, OBJ", "box.obj", motions.box, read_box),
    Subject("map of joints", "map.toml", motions.roles, _roles),
    Subject("headset, A-Frame", "motion.json", motions.aframe, _device),
    Subject("headset, Unity", "motion.csv", motions.unity, _device),
    Subject("clip", "clip.npz", own.clip, load_clip),
    Subject("track", "track.npz", own.track, load_track),
    Subject("scene, TOML", "scene.toml", own.scene_toml, read_scene),
    Subject("scene, MJCF", "scene.xml", own.scene_mjcf, read_scene),
    Subject("contact corrections", "contacts.txt", own.corrections, _corrections),
    Subject("policy's weights", "policy.npz", own.weights, _weights),
    Subject("learner", LEARNER, own.learned, lambda path: load_learner(path, own.learner(), own.mean_pose())),
    Subject("configuration", "config.json", own.config, _config),
    Subject("checkpoints", "checkpoints", own.checkpoint, _checkpoint),
    Subject("metrics", "metrics.jsonl", own.metrics, read_metrics),
    Subject("editor's pose", "pose.json", own.pose, lambda path: load_pose(path, motions.world())),
    Subject("poses", "poses.npz", own.poses, load_poses),
    Subject("person", "someone.json", own.person, lambda path: load_person(path.parent, path.stem)),
    Subject("live session", "session.npz", own.session, load_session),
    Subject("episode", "episode.npz", own.episode, load_episode),
)


def subject(name: str) -> Subject:
    """The reader of that name. Raises KeyError that lists them."""
    found = {s.name: s for s in SUBJECTS}
    if name not in found:
        raise KeyError(f"unknown reader {name!r}: expected one of {', '.join(found)}")
    return found[name]
