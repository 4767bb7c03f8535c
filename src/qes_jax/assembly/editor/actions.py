"""What the controls do, by the names that they say."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from qes_jax.assembly.editor.export import save_motion, touched
from qes_jax.assembly.editor.fields import Typed, from_numbers
from qes_jax.assembly.editor.motion import Motion
from qes_jax.assembly.editor.panel import NONE, Panel, kind_from
from qes_jax.assembly.editor.picture import Picture, key_words
from qes_jax.assembly.editor.stage import Stage
from qes_jax.model.scene import Scene
from qes_jax.model.world import World
from qes_jax.pose.editor.desk import Desk
from qes_jax.pose.editor.library import list_poses, load_pose, pose_path, save_pose
from qes_jax.pose.editor.timeline import moved_key, without_key

STAY = ("play", "plant", "seek")  # what does not take the eye from the motion

TYPING = 1.0  # [s] after a key another one goes on with the same number


@dataclass(frozen=True)
class Place:
    """Where a session works."""

    world: World
    scene: Scene
    poses: Path  # the library's folder
    clips: Path  # where motions go


class Actions:
    """Each action changes the desk or what is seen of it; none draws."""

    def __init__(self, desk: Desk, motion: Motion, picture: Picture, panel: Panel, stage: Stage, place: Place):
        """Fill the panel's list of poses."""
        self._desk, self._motion, self._picture = desk, motion, picture
        self._panel, self._stage, self._place = panel, stage, place
        self._by_name: dict[str, Callable[..., None]] = {
            "select": self._select, "target": self._target, "grab": self._grab, "drag": self._drag, "drop": self._drop,
            "place": self._enter, "weight": self._weigh, "tolerance": self._tolerate,
            "hold": partial(setattr, desk, "hold"), "pin": desk.pin, "release": desk.release,
            "undo": desk.undo, "redo": desk.redo, "reset": desk.reset,
            "symmetric": desk.symmetry, "mirror": desk.mirror, "to the floor": self._to_the_floor,
            "left→right": partial(desk.copy_side, "left"), "right→left": partial(desk.copy_side, "right"),
            "ghost": partial(setattr, stage.ghost.root, "visible"), "joints": stage.show_joints,
            "checks": partial(setattr, picture, "checks"), "beside": picture.compare,
            "save pose": self._save_pose, "load": self._load_pose, "load here": partial(self._load_pose, here=True),
            "add key": self._add_key, "go to key": self._go_to_key, "move key": self._move_key,
            "delete key": self._delete_key, "plant": partial(setattr, motion, "plant"), "play": self._play,
            "seek": motion.seek, "save clip": self._save_clip,
        }  # fmt: skip
        self._entered: tuple[tuple, float] = ((), 0.0)  # what was typed last, and when: a number comes key by key
        self._list_poses()

    def do(self, name: str, values: tuple) -> None:
        """One action; what it refuses is told, and changes nothing."""
        if name not in STAY:
            self._motion.leave()
        self._picture.dragging = name in ("grab", "drag")
        try:
            self._by_name[name](*values)
        except (ValueError, OSError) as error:
            self._desk.cancel()
            self._picture.tell(str(error), bad=True)

    # The joint

    def _select(self, joint: str) -> None:
        self._desk.select(joint)
        self._picture.take_hold()

    def _target(self, words: str) -> None:
        self._desk.select(self._desk.joint, kind_from(words))
        self._picture.take_hold()

    def _grab(self, _place: np.ndarray, _quat: np.ndarray) -> None:
        self._picture.rate.restart()

    def _drag(self, place: np.ndarray, quat: np.ndarray) -> None:
        began = time.perf_counter()
        self._desk.drag(place, quat)
        self._picture.rate.count(began)

    def _drop(self, _place: np.ndarray, _quat: np.ndarray) -> None:
        self._desk.drop()

    def _enter(self, typed: Typed) -> None:
        if any(number is not None for number in typed):
            desk, now = self._desk, time.perf_counter()
            before, when = self._entered
            again = now - when < TYPING and before == (desk.joint, desk.kind, id(desk.history))
            desk.enter(*from_numbers(desk.kind, typed, *desk.grip()), again)
            self._entered = (desk.joint, desk.kind, id(desk.history)), now

    def _weigh(self, value: float) -> None:
        self._desk.tune(value, self._desk.tolerance)

    def _tolerate(self, value: float) -> None:
        self._desk.tune(self._desk.weight, np.radians(value) if self._desk.kind == "rotation" else value / 100)

    def _to_the_floor(self) -> None:
        self._desk.lift(-self._picture.checker.above_floor(self._desk.state.qpos))

    # The library

    def _save_pose(self, name: str) -> None:
        path = save_pose(self._place.poses, name, self._desk.state.qpos, self._place.world)
        self._list_poses(path.stem)
        self._picture.tell(f"saved {path}")

    def _load_pose(self, name: str, here: bool = False) -> None:
        if name == NONE:
            raise ValueError(f"no pose is chosen; there are {len(list_poses(self._place.poses))}")
        self._desk.take(load_pose(pose_path(self._place.poses, name), self._place.world), here)
        self._picture.tell(f"loaded {name}")

    def _list_poses(self, chosen: str = NONE) -> None:
        names = list_poses(self._place.poses)
        self._panel.saved.options = (NONE, *names)
        self._panel.saved.value = chosen if chosen in names else NONE
        self._panel.folder.content = f"{len(names)} poses in `{self._place.poses}`"

    # Key poses and motion

    def _add_key(self, moment: float) -> None:
        self._desk.add_key(moment)
        self._panel.time.value = round(moment + 1.0, 3)
        self._picture.tell(f"key pose at {moment:g} s")

    def _go_to_key(self, words: str) -> None:
        key = self._desk.keys[self._key(words)]
        self._panel.time.value = key.time
        self._desk.take(key.qpos)

    def _move_key(self, words: str, moment: float) -> None:
        self._desk.commit(keys=moved_key(self._desk.keys, self._key(words), moment))

    def _delete_key(self, words: str) -> None:
        self._desk.commit(keys=without_key(self._desk.keys, self._key(words)))

    def _key(self, words: str) -> int:
        known = key_words(self._desk.keys)
        if words not in known:
            raise ValueError("no key pose is chosen: set one, then choose it")
        return known.index(words)

    def _play(self) -> None:
        self._motion.play(time.perf_counter())

    def _save_clip(self, name: str) -> None:
        place, written = self._place, self._panel.written
        written.content = "saving ... (the first time in a room its contacts are compiled: up to a minute)"
        files, clip = save_motion(place.clips, name, self._desk.keys, self._motion.frames(), place.scene, place.world)
        lines = [
            *(f"- `{f}`" for f in files), "", f"of its time it touches: {touched(clip)}", "",
            f"train on it: `python experiments/run.py --clips {files[0]}`",
        ]  # fmt: skip
        written.content = "\n".join(lines)
        self._picture.tell(f"saved {', '.join(f.name for f in files)}")
