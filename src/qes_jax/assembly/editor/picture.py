"""What a desk looks like: on the stage, in the panel, and in the lines at the top."""

import time

import numpy as np

from qes_jax.assembly.editor.fields import as_numbers
from qes_jax.assembly.editor.panel import NONE, WORDS, Panel
from qes_jax.assembly.editor.rate import Rate
from qes_jax.assembly.editor.stage import Stage
from qes_jax.model.world import World
from qes_jax.pose.editor import state as edits
from qes_jax.pose.editor.beside import beside
from qes_jax.pose.editor.check import Checker, Verdict, in_words
from qes_jax.pose.editor.desk import WHOLE, Desk
from qes_jax.pose.editor.symmetry import yaw_of
from qes_jax.pose.editor.timeline import Timeline

ASIDE = -0.9  # [m] along Y, where another method's skeleton stands: to the right of the body
NOTHING = "&nbsp;"


class Picture:
    """Draws a desk, and what the user has asked to see beside it."""

    def __init__(self, desk: Desk, panel: Panel, stage: Stage, world: World):
        """Nothing is drawn yet but the start pose's ghost."""
        self._desk, self._panel, self._stage, self._links = desk, panel, stage, world.layout.links
        self.rate, self.checker = Rate(), Checker(world)
        self.checks = True  # whether what sinks and the balance are shown
        self.dragging = False  # whether the gizmo is in the user's hand
        self._beside, self._message = NONE, ""
        stage.ghost.show(desk.start.qpos)
        stage.look_at(desk.start.qpos[:3])

    def tell(self, text: str, bad: bool = False) -> None:
        """What the last line says from now on."""
        self._message = f"**{text}**" if bad else text

    def take_hold(self) -> None:
        """A fresh gizmo for what is selected."""
        self._stage.hold(self._desk.joint, self._desk.kind, *self._desk.grip())

    def compare(self, method: str) -> None:
        """Show what another method makes of the targets, or NONE."""
        self._beside = method
        if method == NONE:
            self._stage.beside(None, "", np.zeros(3))

    def draw(self, shown: np.ndarray | None, playing: bool) -> None:
        """The pose, or a frame (39,) that stands in for it; the joints, the controls."""
        desk, stage = self._desk, self._stage
        state, (place, quat) = desk.state, desk.grip()
        verdict = self._draw_body(state.qpos if shown is None else shown)
        stage.colour(desk.joint, {g.joint for g in state.goals}, np.array([*state.qpos[:2], 0.0]))
        stage.label(desk.joint.replace("_", " "), place)
        if not self.dragging:
            stage.follow(place, quat if desk.kind == "rotation" or desk.joint == WHOLE else None)
        if self._beside != NONE:
            self._draw_beside()
        self._draw_joint(place, quat)
        self._draw_keys(playing)
        self._panel.status.content = self._status(verdict)

    def draw_frame(self, qpos: np.ndarray, moment: float) -> None:
        """Of a motion that is played, at a moment [s]: no more than changes."""
        self._draw_body(qpos)
        self._panel.when.value = round(moment, 2)

    def _draw_body(self, qpos: np.ndarray) -> Verdict | None:
        verdict = self.checker.check(qpos) if self.checks else None
        self._stage.body.show(qpos)
        self._stage.marks.show(verdict)
        return verdict

    def _draw_beside(self) -> None:
        desk = self._desk
        targets = edits.wanted(desk.base, desk.target)
        began = time.perf_counter()
        result = beside(self._beside, desk.base, desk.tools, targets)
        spent = time.perf_counter() - began
        aside = yaw_of(desk.state.qpos[3:7]).apply([0.0, ASIDE, 0.0])
        text = f"{self._beside}: {1000 * result.greatest:.1f} mm off at most, {1000 * spent:.1f} ms"
        self._stage.beside(result, text, aside)

    def _draw_joint(self, place: np.ndarray, quat: np.ndarray) -> None:
        panel, desk = self._panel, self._desk
        panel.set(panel.joint, desk.joint)
        panel.set(panel.kind, WORDS[desk.kind])
        panel.set_place(as_numbers(desk.kind, place, quat))
        panel.set(panel.weight, desk.weight)
        scale = np.degrees(1.0) if desk.kind == "rotation" else 100.0
        panel.set(panel.tolerance, round(2 * desk.tolerance * scale) / 2)
        panel.set(panel.symmetric, desk.state.symmetric)

    def _draw_keys(self, playing: bool) -> None:
        panel, keys = self._panel, self._desk.keys
        words = key_words(keys) or (NONE,)
        if panel.key.options != words:
            panel.key.options = words
            if keys:
                panel.when.min, panel.when.max = keys[0].time, max(keys[-1].time, keys[0].time + 0.1)
        panel.play.label = "stop" if playing else "play"

    def _status(self, verdict: Verdict | None) -> str:
        desk = self._desk
        lines = [f"**{desk.joint.replace('_', ' ')}**, {WORDS[desk.kind]}"]
        if desk.target is not None:
            away = edits.missing(desk.state, desk.tools, [desk.target])[0]
            unit = f"{1000 * away:.1f} mm" if desk.kind == "position" else f"{np.degrees(away):.1f}°"
            lines[0] += f": {unit} off its target"
        found = in_words(verdict, self._links) if verdict else ""
        lines += [self.rate.in_words(), found, self._message]
        return "  \n".join(line or NOTHING for line in lines)  # always four lines, so that nothing below moves


def key_words(keys: Timeline) -> tuple[str, ...]:
    """How key poses are called in the panel."""
    return tuple(f"{number + 1}: {key.time:g} s" for number, key in enumerate(keys))
