"""Stop requests: a first Ctrl-C or SIGTERM asks the loop to save and end, a second Ctrl-C ends the process at once."""

import os
import signal
import socket
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopFlag:
    """A context in which SIGINT and SIGTERM set `requested` and do nothing else. Use it in the main thread.

    Python runs its handlers only between two bytecodes, so not while XLA compiles; a thread that reads the
    interpreter's wake-up socket sees signals at once and so makes a second Ctrl-C work during a compilation.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._interrupts = 0
        self._before: dict[signal.Signals, Any] = {}

    @property
    def requested(self) -> bool:
        return self.signal is not None

    def __enter__(self) -> "StopFlag":
        self._before = {s: signal.signal(s, self._handle) for s in SIGNALS}
        self._receiver, self._sender = socket.socketpair()
        self._sender.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=_watch, args=(self._receiver,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._sender.close()  # ends the thread, which closes its own side

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.signal = signal.Signals(number)
        self._interrupts += number == signal.SIGINT
        if self._interrupts >= 2:
            _leave()


def _watch(receiver: socket.socket) -> None:
    interrupts = 0
    with receiver:
        while data := receiver.recv(64):
            interrupts += data.count(signal.SIGINT)
            if interrupts >= 2:
                _leave()


def _leave() -> None:
    """Ends the process without clean-up: files are written atomically, so what is on disk stays whole."""
    os._exit(128 + signal.SIGINT)
