"""The motion through a desk's key poses: one of its frames may stand in for the pose, or all of them in turn."""

import numpy as np

from qes_jax.motion.clip import FPS
from qes_jax.pose.editor.desk import Desk
from qes_jax.pose.editor.timeline import Timeline, interpolate, planted

REST = 0.5  # [s] at the end, before it plays again


class Motion:
    """Frames, made anew where key poses have changed, and which of them is seen."""

    def __init__(self, desk: Desk):
        """None is seen."""
        self._desk = desk
        self.plant = True  # whether hands and feet are held that stay from key to key
        self.shown: np.ndarray | None = None  # (39,) that stands in for the pose
        self._began: float | None = None  # [s] when the first frame was played
        self._made: tuple[Timeline, bool, np.ndarray] | None = None

    @property
    def playing(self) -> bool:
        """Whether frames are to be shown in turn."""
        return self._began is not None

    def frames(self) -> np.ndarray:
        """(T, 39). Raises ValueError for fewer than two key poses."""
        keys = self._desk.keys
        if self._made is None or self._made[:2] != (keys, self.plant):
            qpos = interpolate(keys)
            self._made = keys, self.plant, planted(keys, qpos, self._desk.tools.plain) if self.plant else qpos
        return self._made[2]

    def leave(self) -> None:
        """The pose is to be seen again."""
        self.shown = self._began = None

    def play(self, now: float) -> None:
        """From the first frame, or stop. Raises ValueError as `frames`."""
        if self.playing:
            self.leave()
        else:
            self.frames()
            self._began = now

    def seek(self, moment: float) -> None:
        """Show one moment [s]. Raises ValueError as `frames`."""
        frames = self.frames()
        self._began = None
        self.shown = frames[min(round(max(0.0, moment - self._desk.keys[0].time) * FPS), len(frames) - 1)]

    def advance(self, now: float) -> float:
        """Show the frame whose turn it is; its moment [s]."""
        assert self._began is not None
        frames = self.frames()
        number = min(int((now - self._began) * FPS) % (len(frames) + round(REST * FPS)), len(frames) - 1)
        self.shown = frames[number]
        return self._desk.keys[0].time + number / FPS
