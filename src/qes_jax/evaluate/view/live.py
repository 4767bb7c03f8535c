"""A viser server that plays motions until it is interrupted.

It listens on 127.0.0.1 alone and answers only its own pages, see guard.py.
"""

import contextlib
import io
import time
from collections.abc import Callable, Sequence

import viser

from qes_jax.evaluate.view.guard import HOST, start
from qes_jax.evaluate.view.panel import Clock, Panel
from qes_jax.evaluate.view.show import Show
from qes_jax.evaluate.view.stage import Arrangement, Stage

RATE = 40.0  # [Hz] at which the scene is renewed at most


def serve(
    shows: Sequence[Show], port: int, arrangement: Arrangement | None = None,
    ready: Callable[[str], None] = print, until: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Play until KeyboardInterrupt, or until `until` says so. `ready` is told the address once all is there.

    Raises ValueError where the port is taken; port 0 takes any that is free.
    """
    server = start(port)
    try:
        stage = Stage(server, shows, arrangement)
        clock = Clock(stage.duration, stage.fps)
        panel = Panel(server, stage, clock)
        ready(f"http://{HOST}:{server.get_port()}")
        _play(server, stage, clock, panel, until)
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def _play(server: viser.ViserServer, stage: Stage, clock: Clock, panel: Panel, until: Callable[[], bool]) -> None:
    """Time goes on only while somebody watches."""
    before = time.monotonic()
    while not until():
        now = time.monotonic()
        watched = bool(server.get_clients())
        if watched:
            clock.advance(now - before)
            with server.atomic():
                stage.at(clock.time)
                panel.refresh(now)
        before = now
        time.sleep(max(0.0, (1 / RATE if watched else 0.2) - (time.monotonic() - now)))
