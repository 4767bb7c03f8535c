"""Recordings of a headset and two controllers, made into tracks."""

from typing import Any

from qes_jax.assembly.importing.options import SensorOptions
from qes_jax.motion.formats.device import SENSORS, DeviceRecording, Stream
from qes_jax.motion.sensors import SensorTrack, make_track, read_device, save_track


def import_sensors(options: SensorOptions) -> dict[str, Any]:
    """Write the track of a recording; returns what was found."""
    recording = read_device(options.file, options.part)
    track = make_track(recording, options.height, options.start, options.end, options.eye_height)
    save_track(options.out, track)
    return describe(recording, track)


def describe(recording: DeviceRecording, track: SensorTrack) -> dict[str, Any]:
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


def describe_stream(stream: Stream) -> dict[str, Any]:
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
