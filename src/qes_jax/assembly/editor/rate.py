"""How quickly a drag is followed."""

import time
from collections import deque

WINDOW = 1.0  # [s] over which solves are counted, or since the last but one


class Rate:
    """Solves a second, and the time of one."""

    def __init__(self):
        """Nothing is counted yet."""
        self._ends: deque[float] = deque()
        self._spent = 0.0

    def restart(self) -> None:
        """A new drag begins."""
        self._ends.clear()

    def count(self, began: float) -> None:
        """A solve that began at a time of `time.perf_counter` has just ended."""
        now = time.perf_counter()
        self._spent = now - began
        self._ends.append(now)
        while len(self._ends) > 2 and self._ends[0] < now - WINDOW:
            self._ends.popleft()

    def in_words(self) -> str:
        """One line; nothing before the second solve."""
        if len(self._ends) < 2:
            return ""
        rate = (len(self._ends) - 1) / (self._ends[-1] - self._ends[0])
        return f"{rate:.0f} solves/s, {1000 * self._spent:.1f} ms each"
