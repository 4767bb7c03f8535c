"""One editing session: actions from the browser wait in a queue, and one loop does them, solves and draws."""

import contextlib
import io
import queue
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from editor.export import save_motion, touched
from editor.panel import NONE, WORDS, Panel, as_numbers, from_numbers, kind_from
from editor.stage import Stage
from qes_jax.evaluate.view.guard import start
from qes_jax.model.scene import Scene
from qes_jax.model.world import World
from qes_jax.motion.clip import FPS
from qes_jax.pose.editor import state as edits
from qes_jax.pose.editor.beside import beside
from qes_jax.pose.editor.check import Checker, Verdict, in_words
from qes_jax.pose.editor.desk import WHOLE, Desk
from qes_jax.pose.editor.library import list_poses, load_pose, pose_path, save_pose
from qes_jax.pose.editor.symmetry import yaw_of
from qes_jax.pose.editor.timeline import Timeline, interpolate, moved_key, planted, without_key

IDLE = 0.02  # [s] that the loop waits for something to do
ASIDE = -0.9  # [m] along Y, where another method's skeleton stands: to the right of the body
NOTHING = "&nbsp;"
WINDOW = 1.0  # [s] over which the rate is counted


@dataclass(frozen=True)
class Place:
    """Where a session works."""

    world: World
    scene: Scene
    poses: Path  # the library's folder
    clips: Path  # where motions go


class Session:
    """A desk, and the window that shows it. `run` until it is told to end."""

    def __init__(self, desk: Desk, place: Place, port: int):
        """Start the server. Raises ValueError where the port is taken."""
        self.desk, self.place = desk, place
        self._checker: Checker | None = Checker(place.world)
        self._todo: queue.Queue[tuple[str, tuple]] = queue.Queue()
        self._solves: deque[float] = deque()
        self._spent = self._rate = 0.0
        self._message, self._beside, self._plant = "", NONE, True
        self._play: tuple[np.ndarray, float] | None = None  # frames, and when the first was shown
        self._shown: np.ndarray | None = None  # a frame that stands in for the pose
        self._cache: tuple[Timeline, bool, np.ndarray] | None = None
        self._dragging = False
        self.server = start(port)
        self.panel = Panel(self.server, self._act, f"pose editor: {place.scene.name}")
        self.stage = Stage(self.server, place.world, self._pick, self._grip)
        self.stage.ghost.show(desk.start.qpos)
        self.stage.look_at(desk.start.qpos[:3])
        self._refresh_poses()
        self._take_hold()
        self._draw()

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.server.get_port()}"

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Work until KeyboardInterrupt, or until `until` says so."""
        try:
            while not until():
                done = self._work()
                if self._play is not None:
                    self._advance()
                elif done:
                    self._draw()
        finally:
            with contextlib.redirect_stdout(io.StringIO()):
                self.server.stop()

    def _act(self, action: str, *values: Any) -> None:
        self._todo.put((action, values))

    def _pick(self, joint: str) -> None:
        self._act("select", joint)

    def _grip(self, phase: str, place: np.ndarray, quat: np.ndarray) -> None:
        self._act("drag" if phase == "update" else "drop" if phase == "end" else "grab", place, quat)

    def _work(self) -> bool:
        """Do what waits; of several drags in a row only the last. Whether there was any."""
        try:
            waiting = [self._todo.get(timeout=IDLE)]
        except queue.Empty:
            return False
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.append(self._todo.get_nowait())
        for (action, values), after in zip(waiting, [*waiting[1:], ("", ())], strict=True):
            if not (action == after[0] == "drag"):
                self._do(action, values)
        return True

    def _do(self, action: str, values: tuple) -> None:
        """One action; what it refuses is told, and changes nothing."""
        if action not in ("play", "plant", "seek"):
            self._play = self._shown = None
        try:
            getattr(self, f"_on_{ACTIONS.get(action, action)}")(*values)
        except (ValueError, OSError) as error:
            self.desk.cancel()
            self._tell(str(error), bad=True)

    # The joint

    def _on_select(self, joint: str) -> None:
        self.desk.select(joint)
        self._take_hold()

    def _on_kind(self, words: str) -> None:
        self.desk.select(self.desk.joint, kind_from(words))
        self._take_hold()

    def _on_grab(self, _place: np.ndarray, _quat: np.ndarray) -> None:
        self._dragging = True
        self._solves.clear()

    def _on_drag(self, place: np.ndarray, quat: np.ndarray) -> None:
        began = time.perf_counter()
        self.desk.drag(place, quat)
        self._count(began)

    def _count(self, began: float) -> None:
        """Solves in the last second, and the time of one."""
        now = time.perf_counter()
        self._spent = now - began
        self._solves.append(now)
        while self._solves[0] < now - WINDOW:
            self._solves.popleft()
        span = self._solves[-1] - self._solves[0]
        self._rate = (len(self._solves) - 1) / span if span > 0 else 0.0

    def _on_drop(self, _place: np.ndarray, _quat: np.ndarray) -> None:
        self._dragging = False
        self.desk.drop()
        self._release_grip()

    def _on_place(self, values: tuple[float, ...]) -> None:
        kind = self.desk.kind
        self.desk.enter(*from_numbers(kind, values, *self.desk.grip()))
        self._release_grip()

    def _on_weight(self, value: float) -> None:
        self.desk.tune(value, self.desk.tolerance)

    def _on_tolerance(self, value: float) -> None:
        self.desk.tune(self.desk.weight, np.radians(value) if self.desk.kind == "rotation" else value / 100)

    def _on_hold(self, on: bool) -> None:
        self.desk.hold = on

    def _on_step(self, action: str) -> None:
        getattr(self.desk, action)()
        self._release_grip()

    def _on_undo(self) -> None:
        self._on_step("undo")

    def _on_redo(self) -> None:
        self._on_step("redo")

    def _on_reset(self) -> None:
        self._on_step("reset")

    def _on_mirror(self) -> None:
        self._on_step("mirror")

    def _on_pin(self) -> None:
        self.desk.pin()

    def _on_release(self) -> None:
        self.desk.release()

    def _on_ground(self) -> None:
        self.desk.lift(-Checker(self.place.world).above_floor(self.desk.state.qpos))
        self._release_grip()

    def _on_left(self) -> None:
        self.desk.copy_side("left")
        self._release_grip()

    def _on_right(self) -> None:
        self.desk.copy_side("right")
        self._release_grip()

    def _on_symmetric(self, on: bool) -> None:
        self.desk.symmetry(on)
        self._release_grip()

    # What is shown

    def _on_ghost(self, on: bool) -> None:
        self.stage.ghost.root.visible = on

    def _on_spheres(self, on: bool) -> None:
        for sphere in self.stage.spheres.values():
            sphere.visible = on

    def _on_checks(self, on: bool) -> None:
        self._checker = Checker(self.place.world) if on else None

    def _on_beside(self, method: str) -> None:
        self._beside = method
        if method == NONE:
            self.stage.beside(None, "", np.zeros(3))

    # The library

    def _on_save_pose(self, name: str) -> None:
        path = save_pose(self.place.poses, name, self.desk.state.qpos, self.place.world)
        self._refresh_poses(path.stem)
        self._tell(f"saved {path}")

    def _on_load_pose(self, name: str, here: bool) -> None:
        if name == NONE:
            raise ValueError(f"no pose is chosen; there are {len(list_poses(self.place.poses))}")
        self.desk.take(load_pose(pose_path(self.place.poses, name), self.place.world), here)
        self._release_grip()
        self._tell(f"loaded {name}")

    def _refresh_poses(self, chosen: str = NONE) -> None:
        names = list_poses(self.place.poses)
        self.panel.saved.options = (NONE, *names)
        self.panel.saved.value = chosen if chosen in names else NONE
        self.panel.folder.content = f"{len(names)} poses in `{self.place.poses}`"

    # Key poses and motion

    def _on_add_key(self, time: float) -> None:
        self.desk.add_key(time)
        self.panel.time.value = round(time + 1.0, 3)
        self._tell(f"key pose at {time:g} s")

    def _key(self, word: str) -> int:
        words = key_words(self.desk.keys)
        if word not in words:
            raise ValueError("no key pose is chosen: set one, then choose it")
        return words.index(word)

    def _on_go_key(self, word: str, _time: float) -> None:
        key = self.desk.keys[self._key(word)]
        self.panel.time.value = key.time
        self.desk.take(key.qpos)
        self._release_grip()

    def _on_move_key(self, word: str, time: float) -> None:
        self.desk.commit(keys=moved_key(self.desk.keys, self._key(word), time))

    def _on_drop_key(self, word: str, _time: float) -> None:
        self.desk.commit(keys=without_key(self.desk.keys, self._key(word)))

    def _on_plant(self, on: bool) -> None:
        self._plant = on

    def _frames(self) -> np.ndarray:
        """(T, 39) of the motion, made anew where key poses have changed."""
        keys = self.desk.keys
        if self._cache is None or self._cache[:2] != (keys, self._plant):
            qpos = interpolate(keys)
            self._cache = keys, self._plant, planted(keys, qpos, self.desk.tools.plain) if self._plant else qpos
        return self._cache[2]

    def _on_play(self) -> None:
        if self._play is not None:
            self._play = self._shown = None
        else:
            frames = self._frames()
            self._play = frames, time.perf_counter()
        self._draw()

    def _on_seek(self, moment: float) -> None:
        frames = self._frames()
        self._play = None
        self._shown = frames[min(round(max(0.0, moment - self.desk.keys[0].time) * FPS), len(frames) - 1)]

    def _advance(self) -> None:
        assert self._play is not None
        frames, began = self._play
        number = int((time.perf_counter() - began) * FPS) % (len(frames) + round(FPS / 2))  # it rests at the end
        self._shown = frames[min(number, len(frames) - 1)]
        moment = self.desk.keys[0].time + min(number, len(frames) - 1) / FPS
        with self.server.atomic():
            self.stage.body.show(self._shown)
            self.stage.marks.show(self._checker.check(self._shown) if self._checker else None)
            self.panel.when.value = round(moment, 2)

    def _on_save_clip(self, name: str) -> None:
        place = self.place
        self.panel.written.content = "saving ... (the first time in a room its contacts are compiled: up to a minute)"
        files, clip = save_motion(place.clips, name, self.desk.keys, self._frames(), place.scene, place.world)
        lines = [*(f"- `{f}`" for f in files), "", f"of its time it touches: {touched(clip)}", ""]
        self.panel.written.content = "\n".join(
            [*lines, f"train on it: `python experiments/run.py --clips {files[0]}`"]
        )
        self._tell(f"saved {', '.join(f.name for f in files)}")

    # Drawing

    def _tell(self, text: str, bad: bool = False) -> None:
        self._message = f"**{text}**" if bad else text

    def _take_hold(self) -> None:
        """A fresh gizmo for what is selected."""
        self.stage.hold(self.desk.joint, self.desk.kind, *self.desk.grip())

    def _release_grip(self) -> None:
        """The gizmo goes to where the joint has come."""
        place, quat = self.desk.grip()
        turns = self.desk.kind == "rotation" or self.desk.joint == WHOLE
        self.stage.follow(place, quat if turns else None)

    def _draw(self) -> None:
        """Show the pose, the joints, the controls."""
        desk, state = self.desk, self.desk.state
        place, quat = desk.grip()
        with self.server.atomic():
            qpos = state.qpos if self._shown is None else self._shown
            self.stage.body.show(qpos)
            verdict = self._checker.check(qpos) if self._checker else None
            self.stage.marks.show(verdict)
            self.stage.colour(desk.joint, {g.joint for g in state.goals}, np.array([*state.qpos[:2], 0.0]))
            self.stage.label(f"{desk.joint.replace('_', ' ')}", place)
            self._draw_beside()
            self._draw_panel(place, quat, verdict)

    def _draw_panel(self, place: np.ndarray, quat: np.ndarray, verdict: Verdict | None) -> None:
        panel, desk = self.panel, self.desk
        panel.set(panel.joint, desk.joint)
        panel.set(panel.kind, WORDS[desk.kind])
        panel.set(panel.place, as_numbers(desk.kind, place, quat))
        panel.set(panel.weight, desk.weight)
        scale = np.degrees(1.0) if desk.kind == "rotation" else 100.0
        panel.set(panel.tolerance, round(2 * desk.tolerance * scale) / 2)
        panel.set(panel.symmetric, desk.state.symmetric)
        words = key_words(desk.keys)
        if panel.key.options != (tuple(words) or (NONE,)):
            panel.key.options = tuple(words) or (NONE,)
            if desk.keys:
                panel.when.min, panel.when.max = desk.keys[0].time, max(desk.keys[-1].time, desk.keys[0].time + 0.1)
        panel.play.label = "stop" if self._play is not None else "play"
        panel.status.content = self._status(verdict)

    def _status(self, verdict: Verdict | None) -> str:
        desk = self.desk
        lines = [f"**{desk.joint.replace('_', ' ')}**, {WORDS[desk.kind]}"]
        if desk.target is not None:
            away = edits.missing(desk.state, desk.tools, [desk.target])[0]
            unit = f"{1000 * away:.1f} mm" if desk.kind == "position" else f"{np.degrees(away):.1f}°"
            lines[0] += f": {unit} off its target"
        lines.append(f"{self._rate:.0f} solves/s, {1000 * self._spent:.1f} ms each" if self._rate else NOTHING)
        lines.append(in_words(verdict, self.place.world.layout.links) if verdict else NOTHING)
        return "  \n".join([*lines, self._message or NOTHING])  # always four lines, so that nothing below moves

    def _draw_beside(self) -> None:
        if self._beside == NONE:
            return
        desk = self.desk
        targets = edits.wanted(desk.base, desk.target)
        began = time.perf_counter()
        result = beside(self._beside, desk.base, desk.tools, targets)
        spent = time.perf_counter() - began
        aside = yaw_of(desk.state.qpos[3:7]).apply([0.0, ASIDE, 0.0])
        text = f"{self._beside}: {1000 * result.greatest:.1f} mm off at most, {1000 * spent:.1f} ms"
        self.stage.beside(result, text, aside)


# Buttons whose names are no names of methods.
ACTIONS = {"left→right": "left", "right→left": "right", "to the floor": "ground"}


def key_words(keys: Timeline) -> list[str]:
    """How key poses are called in the panel."""
    return [f"{number + 1}: {key.time:g} s" for number, key in enumerate(keys)]
