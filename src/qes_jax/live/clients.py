"""The pages and devices that are connected: what waits for each, and how much each may send."""

import asyncio
import json
from collections import deque
from typing import Any

CLIENTS = 8
LARGEST = 16 * 1024  # [bytes] of a message to us
RATES = {"tracking": (250.0, 250.0), "words": (20.0, 40.0)}  # messages a second, and how many at once
WAITING = 32  # texts for one page, after which the oldest is dropped


class Bucket:
    """Lets `rate` messages a second through, `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._then, self.refused = burst, 0.0, 0

    def take(self, now: float) -> bool:
        """Whether one more may pass at `now` [s]."""
        self._left = min(self.burst, self._left + self.rate * (now - self._then))
        self._then = now
        if self._left < 1.0:
            self.refused += 1
            return False
        self._left -= 1.0
        return True


class Mailbox:
    """What waits for one client: the newest poses alone, so that a slow page never queues, and its texts in order."""

    def __init__(self) -> None:
        self.buckets = {kind: Bucket(*rates) for kind, rates in RATES.items()}
        self.skipped = 0  # poses that a newer one replaced
        self._poses: bytes | None = None
        self._words: deque[str | bytes] = deque(maxlen=WAITING)
        self._some = asyncio.Event()

    def put_poses(self, message: bytes) -> None:
        """Replace the poses that wait."""
        self.skipped += self._poses is not None
        self._poses = message
        self._some.set()

    def put(self, message: str | bytes) -> None:
        """Add a text, or the bodies."""
        self._words.append(message)
        self._some.set()

    def say(self, **fields: Any) -> None:
        """Add a text of JSON."""
        self.put(json.dumps(fields))

    async def take(self) -> str | bytes:
        """The next message, texts first; waits for one."""
        while True:
            if self._words:
                return self._words.popleft()
            if self._poses is not None:
                message, self._poses = self._poses, None
                return message
            self._some.clear()
            await self._some.wait()
