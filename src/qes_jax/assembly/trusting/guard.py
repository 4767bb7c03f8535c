"""The limits of a child process that reads spoilt files, and what it may not do there."""

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qes_jax.assembly.trusting.judge import Hang

MORE = 2 * 2**30  # bytes of address space above what the process has when it begins
SECONDS = 10.0
CODE = ("pickle.find_class", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "os.fork", "socket.connect")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.symlink", "os.link")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def limit_memory(more: int = MORE) -> None:
    """Let the process grow by so much and no further. Does nothing where the system does not say its size."""
    sizes = Path("/proc/self/statm")
    if sizes.is_file():
        now = int(sizes.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise Hang after so long."""

    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class Watch:
    """Sees files that are written and code that is run while it is on. It cannot be taken off a process again."""

    def __init__(self) -> None:
        self.on, self.written, self.ran = False, [], []
        sys.addaudithook(self._hook)

    def begin(self) -> None:
        """Forget what was seen, and look."""
        self.written, self.ran, self.on = [], [], True

    def _hook(self, event: str, arguments: tuple) -> None:
        if not self.on:
            return
        if event in CODE:
            self.ran.append(f"{event} {arguments[:2]}"[:120])
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES:
            self.written.append(str(arguments[0]))
        elif event in CHANGES:
            self.written.append(f"{event} {arguments[0]}")
