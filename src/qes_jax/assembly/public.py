"""What `qes_jax` offers by name, beside `RunConfig` and `StreamTracker`; a test runs every example.

Everything else may change from one version to the next.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from qes_jax.assembly.clips import find_clips
from qes_jax.assembly.controlling.options import Options as ControlOptions
from qes_jax.assembly.controlling.run import make_stage
from qes_jax.assembly.evaluation.run import Measured, measure
from qes_jax.assembly.importing.motion import read_clip
from qes_jax.assembly.importing.options import Options as ImportOptions
from qes_jax.assembly.settings import RunConfig
from qes_jax.assembly.trained import Trained, find_trained, load_trained
from qes_jax.assembly.training import train_run
from qes_jax.assembly.viewing import run as viewing
from qes_jax.assembly.viewing.options import Options as ViewOptions
from qes_jax.control.simulate import Stage
from qes_jax.model.character import HEIGHT, CharacterConfig
from qes_jax.model.scene import Scene, make_piece
from qes_jax.model.scene_check import check_scene
from qes_jax.model.scene_file import find_scene
from qes_jax.model.world import build_world
from qes_jax.motion import clip as clips
from qes_jax.motion import contacts
from qes_jax.motion.clip import Clip
from qes_jax.paths import weights_dir
from qes_jax.pose.edit import Solver, make_solver
from qes_jax.pose.targets import Target, make_targets
from qes_jax.pose.weights import load_prior

SLOTS = 16  # for targets: a solver is compiled once for all that fit


def load_policy(name: str = "latest", root: Path | str = "runs") -> Trained:
    """A policy: a run folder, its name below `root`, "latest", or the name of shipped weights.

    Raises FileNotFoundError that lists what there is.

    >>> policy = load_policy("walk")
    >>> policy.config.character.height
    1.75
    """
    return load_trained(find_trained(Path(root), name))


def load_clip(word: str) -> Clip:
    """The one clip that a word names: one of our own, built at its first use, or a file. ValueError where it is many.

    >>> clip = load_clip("walk")
    >>> clip.fps, clip.scene.name
    (36.0, 'flat')
    """
    return viewing.the_clip(word)


def save_clip(path: Path | str, clip: Clip) -> None:
    """Write a clip that every command takes by its file.

    >>> save_clip("mine.npz", load_clip("walk"))
    >>> load_clip("mine.npz").name
    'walk'
    """
    clips.save_clip(path, clip)


def read_motion(path: Path | str, **settings: Any) -> Clip:
    """A foreign recording fitted to the character, its contacts labelled; the command `import` says what it takes.

    `settings` are that command's: height, up, unit, start, end, objects, scene, ... Raises RecordingError.

    >>> clip = read_motion("walk.bvh", end=1.0)           # doctest: +ELLIPSIS
    format                   BVH
    ...
    >>> clip.duration
    1.0
    """
    return read_clip(ImportOptions(Path(path), **settings))[0]


def label_contacts(qpos: np.ndarray, scene: Scene | None = None, height: float = HEIGHT) -> np.ndarray:
    """(T, L, O) uint8: which of the L links touch which of the O objects, the floor first, in qpos (T, nq) at 36 Hz.

    >>> clip = load_clip("walk")
    >>> label_contacts(clip.qpos[:20]).shape
    (20, 18, 1)
    """
    return contacts.label_contacts(build_world(CharacterConfig(height=height), scene.pieces if scene else ()), qpos)


def make_scene(name: str, *pieces: dict[str, Any]) -> Scene:
    """A scene of pieces, each by its fields: name, kind ("box" or a kind of furniture), size, pos [m], yaw [rad].

    Raises ValueError at a wrong one, SceneError where it cannot be simulated.

    >>> desk = {"name": "desk", "kind": "box", "size": (1.4, 0.7, 0.74), "pos": (1.0, 0.5, 0.0)}
    >>> scene = make_scene("study", desk, {"name": "seat", "kind": "office_chair"})
    >>> [piece.name for piece in scene.pieces]
    ['desk', 'seat']
    """
    scene = Scene(name, tuple(make_piece(fields) for fields in pieces))
    check_scene(scene)
    return scene


def read_scene(word: str) -> Scene:
    """A built-in scene by name, or one of a file (.toml, MJCF's .xml).

    >>> [piece.kind for piece in read_scene("chair").pieces]
    ['chair']
    """
    return find_scene(word)


def train(config: RunConfig, root: Path | str = "runs") -> Trained:
    """Train a policy in a new run folder below `root`, which `evaluate_policy` and `view` take too; returns it.

    Raises TrainingFailed where numbers are no longer finite. Ctrl-C saves and ends.

    >>> from dataclasses import replace
    >>> from qes_jax.assembly.settings import presets
    >>> smoke = replace(presets()["smoke"], samples=512, evaluate_every=0)
    >>> policy = train(smoke)                             # doctest: +ELLIPSIS
    1 clips, 35 s: walk
    ...
    """
    return load_trained(train_run(config, None, "none", Path(root), {}))


def evaluate_policy(
    policy: Trained | str, clips: Sequence[Clip | str] = (), starts: int = 128, seconds: float = 30.0
) -> Measured:  # fmt: skip
    """Follow clips, by default the policy's own, from `starts` even start frames; print the result for a table.

    >>> measured = evaluate_policy("walk", ["test_walk"], starts=2, seconds=1.0)
    >>> measured.scores[0.5]["all clips"].error_cm.value < 10.0
    True
    """
    trained = load_policy(policy) if isinstance(policy, str) else policy
    found = [c for word in clips for c in (find_clips([word]) if isinstance(word, str) else [word])]
    return measure(trained, found or trained.own_clips(), starts, seconds)


def view(*things: str | viewing.Found, **settings: Any) -> None:
    """Show policies, clips or episodes, one or two, in the browser until Ctrl-C, or write them.

    `settings` are those of the command `view`: clip, seconds, start, html, picture, at, port, ...

    >>> view(load_clip("walk"), html="walk.html", every=12)         # doctest: +ELLIPSIS
    written to walk.html, ... MB
    """
    for name in ("html", "picture", "root"):
        if settings.get(name) is not None:
            settings[name] = Path(settings[name])
    words = tuple(t if isinstance(t, str) else type(t).__name__ for t in things)
    viewing.view(ViewOptions(words, **settings), [None if isinstance(t, str) else t for t in things])


def solve_pose(qpos: np.ndarray, targets: Sequence[Target], prior: bool = True) -> np.ndarray:
    """The pose (39,) nearest to qpos (39,) that brings joints to their targets, with the trained prior or without.

    Compiled once. Raises ValueError that names a wrong target.

    >>> from qes_jax.pose.targets import Target
    >>> qpos = load_clip("walk").qpos[0]
    >>> solve_pose(qpos, [Target("left_wrist", position=(0.4, 0.3, 1.2))]).shape
    (39,)
    """
    return np.asarray(_solver(prior).solve(np.asarray(qpos[:39]), make_targets(targets, SLOTS)))


@cache
def _solver(prior: bool) -> Solver:
    return make_solver(load_prior(weights_dir() / "pose" / "prior.npz")) if prior else make_solver()


def walking_controller(body: str = "humanoid", style: str = "normal") -> Stage:
    """A body that walks by prioritised optimisation, without any motion capture, ready to `run` for some seconds.

    Raises KeyError that lists the bodies or the styles.

    >>> record = walking_controller(style="fast").run(0.5)
    >>> record.fell, len(record.qpos)
    (False, 125)
    """
    return make_stage(ControlOptions("walk", body=body, style=style))
