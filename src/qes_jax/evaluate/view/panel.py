"""The controls beside the scene: time line, what is shown, and the error over time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import viser
from viser import uplot

from qes_jax.evaluate.view.palette import body_color, css, legend
from qes_jax.evaluate.view.show import Show
from qes_jax.evaluate.view.stage import PARTS, Stage

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
STEPS = {"|<": None, "<": -1, ">": 1}  # frames; None: to the beginning
REDRAW = 0.2  # [s] of the clock on the wall between two drawings of the curve


@dataclass
class Clock:
    """Where playing stands."""

    duration: float  # [s]
    fps: float  # [Hz]
    time: float = 0.0  # [s]
    speed: float = 1.0
    playing: bool = True

    def advance(self, seconds: float) -> None:
        """Let time pass; past the end it begins again."""
        if self.playing and self.duration > 0:
            self.time = (self.time + self.speed * seconds) % self.duration

    def step(self, frames: int | None) -> None:
        """Stop, some frames on or back; None: at the beginning."""
        self.playing = False
        frame = 0 if frames is None else self.frame + frames
        self.time = min(max(frame / self.fps, 0.0), self.duration)

    @property
    def frame(self) -> int:
        """The frame at this time."""
        return round(self.time * self.fps)


class Panel:
    """The controls of a stage. `refresh` after each change of the clock."""

    def __init__(self, server: viser.ViserServer, stage: Stage, clock: Clock):
        """Add the controls to the server."""
        self.clock, self.stage, gui = clock, stage, server.gui
        self._shown = 0  # frame on the slider
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.set_panel_label(" | ".join(s.title for s in stage.shows))
        with gui.add_folder("time"):
            self._time_line(gui)
        with gui.add_folder("error") if stage.has("error") else gui.add_folder("error", visible=False):
            self._readout = gui.add_markdown("")
            self._errors = [(100 * s.error.mean(axis=1), s.fps) for s in stage.shows if s.error is not None]
            self._plot = self._curves(gui) if self._errors else None
        with gui.add_folder("colours"):
            gui.add_html(f"<div style='padding: 0 0.8em 0.4em'>{legend(stage.shows)}</div>")
        with gui.add_folder("show"):
            self._parts(gui)
        self._drawn = -np.inf

    def refresh(self, now: float) -> None:
        """Write time and error; the curve only every REDRAW of now [s]."""
        frame = min(self.clock.frame, self._last)
        if self._shown != frame:  # ours, not the slider's own value: a hand may just have moved that
            self._shown = self._slider.value = frame
        self._play.label = "pause" if self.clock.playing else "play"
        if now - self._drawn > REDRAW:
            self._drawn = now
            self._number.content = f"frame {frame} of {self._last}, **{self.clock.time:.2f} s**"
            self._readout.content = self._words(frame)
            if self._plot:
                self._plot.data = self._data(frame)

    def _time_line(self, gui: viser.GuiApi) -> None:
        clock = self.clock
        self._last = max(1, round(clock.duration * clock.fps))
        self._slider = gui.add_slider("frame", 0, self._last, 1, 0)
        self._number = gui.add_markdown("")
        self._play = gui.add_button("pause")
        step = gui.add_button_group("step", list(STEPS))
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")

        @self._slider.on_update
        def _(event: viser.GuiEvent) -> None:
            if event.client_id is not None:  # a person's hand, not ours
                self._shown = int(self._slider.value)
                clock.playing, clock.time = False, self._shown / clock.fps

        @self._play.on_click
        def _(_: viser.GuiEvent) -> None:
            clock.playing = not clock.playing

        @step.on_click
        def _(_: viser.GuiEvent) -> None:
            clock.step(STEPS[step.value])

        @speed.on_update
        def _(_: viser.GuiEvent) -> None:
            clock.speed = float(speed.value.removesuffix("x"))

    def _parts(self, gui: viser.GuiApi) -> None:
        stage = self.stage
        for part in (p for p in PARTS if stage.has(p)):
            box = gui.add_checkbox(part, True)
            box.on_update(lambda _, part=part, box=box: stage.part(part, box.value))
        follow = gui.add_checkbox("follow", stage.arrangement.follow, hint="the room moves, the body stays in sight")
        _bind(follow, lambda x: stage.arrange(replace(stage.arrangement, follow=x)))
        if stage.has("reference"):
            beside = gui.add_slider("reference aside [m]", -2.0, 2.0, 0.05, stage.arrangement.beside)
            _bind(beside, lambda x: stage.arrange(replace(stage.arrangement, beside=x)))
        if len(stage.shows) > 1:
            apart = gui.add_slider("apart [m]", 0.0, 6.0, 0.1, stage.arrangement.apart)
            _bind(apart, lambda x: stage.arrange(replace(stage.arrangement, apart=x)))

    def _curves(self, gui: viser.GuiApi) -> viser.GuiUplotHandle:
        series = [uplot.Series(label="s")]
        for number in (i for i, s in enumerate(self.stage.shows) if s.error is not None):
            color = css(body_color(number))
            series += [
                uplot.Series(label="", stroke=color.replace(")", ", 0.35)"), width=1),
                uplot.Series(label="cm", stroke=color, width=2),
            ]
        return gui.add_uplot(
            self._data(0), tuple(series), aspect=2.2, scales={"x": uplot.Scale(time=False)},
            legend=uplot.Legend(show=False),
        )  # fmt: skip

    def _data(self, frame: int) -> tuple[np.ndarray, ...]:
        """Times, then for each error its whole curve, and the same up to the frame."""
        frames = np.arange(self._last + 1)
        columns = [frames / self.clock.fps]
        for error, fps in self._errors:
            own = np.round(columns[0] * fps).astype(int)
            whole = np.where(own < len(error), error[np.minimum(own, len(error) - 1)], np.nan)
            columns += [whole, np.where(frames <= frame, whole, np.nan)]
        return tuple(columns)

    def _words(self, frame: int) -> str:
        rows = []
        for show in (s for s in self.stage.shows if s.error is not None):
            rows.append(f"**{show.title}**: {_sentence(show, frame / self.clock.fps)}")
        return "  \n".join(rows)


def _sentence(show: Show, time: float) -> str:
    assert show.error is not None
    head, left, right = 100 * show.error[min(round(time * show.fps), show.n_frames - 1)]
    return f"{np.mean([head, left, right]):.1f} cm (headset {head:.1f}, left {left:.1f}, right {right:.1f})"


def _bind(control: Any, act: Callable[[Any], None]) -> None:
    control.on_update(lambda _: act(control.value))
