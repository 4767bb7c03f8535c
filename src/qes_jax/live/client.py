"""A device without a device: a recorded session, or a clip's headset and controllers, sent as a headset would."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from websockets.asyncio.client import connect

from qes_jax.live.wire import Sample, write_sample
from qes_jax.motion.clip import load_clip
from qes_jax.motion.formats.device import HOLD, DeviceRecording
from qes_jax.motion.sensors import GRIPS, hold, read_device, resample

RATE = 72.0  # [Hz]
STAND = 1.5  # [s] of standing still before it begins, so that a body can be put there


def samples(path: Path, stand: float = STAND) -> list[Sample]:
    """What to send of a device's recording (.json, .csv) or a clip (.npz): first its first pose for `stand` [s]."""
    found = list(_of_clip(path) if path.suffix == ".npz" else _of_recording(read_device(path)))
    still = [_at(found[0], n / RATE, n) for n in range(round(stand * RATE))]
    return still + [_at(s, s.t - found[0].t + stand, len(still) + n) for n, s in enumerate(found)]


def _of_recording(recording: DeviceRecording) -> Iterator[Sample]:
    """Controllers as the hands that hold them, which is how WebXR has its grips."""
    times = np.arange(0.0, recording.duration, 1.0 / RATE) + recording.streams[0].time[0]
    pos, quat, valid = (np.stack(c, axis=1) for c in zip(*(resample(s, times) for s in recording.streams), strict=True))
    pos[:, 1:], quat[:, 1:] = hold(GRIPS[recording.kind], pos[:, 1:], quat[:, 1:])
    for t, p, q, known in zip(times, pos, quat, valid, strict=True):
        yield Sample(0, float(t), True, 0, known, p, q)


def _of_clip(path: Path) -> Iterator[Sample]:
    clip = load_clip(path)
    for n, (p, q) in enumerate(zip(clip.sensor_pos, clip.sensor_quat, strict=True)):
        yield Sample(0, n / clip.fps, True, 0, np.ones(3, bool), p.astype(float), q.astype(float))


def _at(sample: Sample, t: float, seq: int) -> Sample:
    return Sample(seq, t, sample.visible, sample.buttons, sample.tracked, sample.pos, sample.quat)


async def send(address: str, path: Path, loop: bool = False) -> dict:
    """Send a recording in its own time to a live room's address, tell what it says; returns its last status."""
    todo, status = samples(path), {}
    url = address.replace("http", "ws", 1).rstrip("/")
    base, _, token = url.partition("?")
    async with connect(f"{base.rstrip('/')}/socket?{token}", proxy=None, max_size=1 << 24, max_queue=None) as socket:

        async def hear() -> None:
            async for message in socket:
                words = json.loads(message) if isinstance(message, str) else {}
                if words.get("type") == "status":
                    if words["say"] != status.get("say") or words["note"] != status.get("note"):
                        print(f"{words['phase']}: {words['say']} {words['note']}".rstrip(), flush=True)
                    status.update(words)
                elif words.get("type") == "refused":
                    print(f"refused: {words['why']}", flush=True)

        hearing = asyncio.create_task(hear())
        while True:
            start = time.monotonic()
            for sample in todo:
                await asyncio.sleep(max(0.0, start + sample.t - time.monotonic()))
                await socket.send(write_sample(_at(sample, start + sample.t, sample.seq)))
            if not loop:
                break
        await asyncio.sleep(HOLD)
        hearing.cancel()
    return status
