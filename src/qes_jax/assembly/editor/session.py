"""One editing session: actions from the browser wait in a queue, and one loop does them, solves and draws."""

import contextlib
import io
import queue
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from qes_jax.assembly.editor.actions import Actions, Place
from qes_jax.assembly.editor.motion import Motion
from qes_jax.assembly.editor.panel import Panel
from qes_jax.assembly.editor.picture import Picture
from qes_jax.assembly.editor.stage import Stage
from qes_jax.evaluate.view.guard import start
from qes_jax.pose.editor.desk import Desk

IDLE = 0.02  # [s] that the loop waits for something to do
PHASES = {"start": "grab", "update": "drag", "end": "drop"}  # of the gizmo


class Session:
    """A desk, and the window that shows it. `run` until it is told to end."""

    def __init__(self, desk: Desk, place: Place, port: int):
        """Start the server. Raises ValueError where the port is taken."""
        self._todo: queue.Queue[tuple[str, tuple]] = queue.Queue()
        self.server = start(port)
        panel = Panel(self.server, self._act, f"pose editor: {place.scene.name}")
        stage = Stage(self.server, place.world, self._pick, self._grip)
        self._motion, self._picture = Motion(desk), Picture(desk, panel, stage, place.world)
        self._actions = Actions(desk, self._motion, self._picture, panel, stage, place)
        self._picture.take_hold()
        self._draw()

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.server.get_port()}"

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Work until KeyboardInterrupt, or until `until` says so."""
        try:
            while not until():
                if self._work():
                    self._draw()
                if self._motion.playing:
                    self._draw_next()
        finally:
            with contextlib.redirect_stdout(io.StringIO()):
                self.server.stop()

    def _act(self, action: str, *values: Any) -> None:
        self._todo.put((action, values))

    def _pick(self, joint: str) -> None:
        self._act("select", joint)

    def _grip(self, phase: str, place: np.ndarray, quat: np.ndarray) -> None:
        self._act(PHASES[phase], place, quat)

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
                self._actions.do(action, values)
        return True

    def _draw(self) -> None:
        with self.server.atomic():
            self._picture.draw(self._motion.shown, self._motion.playing)

    def _draw_next(self) -> None:
        moment = self._motion.advance(time.perf_counter())
        assert self._motion.shown is not None
        with self.server.atomic():
            self._picture.draw_frame(self._motion.shown, moment)
