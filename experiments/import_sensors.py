"""Turn a headset recording into a track that a policy can be evaluated on, and say what was found in it.

python experiments/import_sensors.py FILE --out track.npz [--height 1.75] [--start 0 --end 60] [--eye-height 1.65]
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from launch import explained, prepare_jax

from qes_jax.model.character import HEIGHT
from qes_jax.motion.formats.device import SENSORS, DeviceRecording, Stream

if TYPE_CHECKING:
    from qes_jax.motion.sensors import SensorTrack


@dataclass(frozen=True)
class Args:
    """What to read and what to make of it."""

    file: Annotated[Path, tyro.conf.Positional]
    """Recording: A-Frame's .json, or Unity's .csv."""
    out: Path
    """Where the track goes (.npz)."""
    height: float = HEIGHT
    """Height of the character to scale to [m]."""
    start: float = 0.0
    """First second of the recording to take."""
    end: float | None = None
    """Last second; by default its end."""
    eye_height: float | None = None
    """The person's eye height standing [m], if nobody stands in the recording."""
    part: int | None = None
    """Which part of a session that had to be cut, from 1; by default the longest."""


def describe(recording: DeviceRecording, track: SensorTrack) -> dict:
    """What was found in the file and made of it, for people and programs."""
    streams = zip(SENSORS, recording.streams, track.valid.mean(axis=0), strict=True)
    return {
        "file": recording.source,
        "seconds": round(recording.duration, 2),
        "eye_height_m": round(recording.eye_height(), 3),
        "track_seconds": round(track.duration, 2),
        "track_frames": len(track.pos),
        "fps": track.fps,
        "height_m": track.height,
        "notes": recording.notes,
        "sensors": {
            name: describe_stream(stream) | {"valid": round(float(valid), 4)} for name, stream, valid in streams
        },
    }


def describe_stream(stream: Stream) -> dict:
    """What one device sent."""
    gaps = stream.gaps()
    return {
        "samples": len(stream.time),
        "rate_hz": round(stream.rate, 2),
        "lost": stream.lost,
        "repeated": stream.repeated,
        "gaps": len(gaps),
        "longest_gap_s": round(float(gaps[:, 1].max(initial=0.0)), 3),
    }


@explained
def main(argv: list[str] | None = None) -> int:
    """Import one recording, print what was found. Exit code 2 at bad input."""
    args = tyro.cli(Args, description=__doc__, args=argv)
    prepare_jax()
    from qes_jax.motion.sensors import make_track, read_device, save_track  # only now: it imports JAX

    recording = read_device(args.file, args.part)
    track = make_track(recording, args.height, args.start, args.end, args.eye_height)
    save_track(args.out, track)
    print(json.dumps(describe(recording, track), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
