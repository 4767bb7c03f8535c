"""Animation channels of glTF 2.0: which node's translation, rotation or scale moves how, and its value at any time."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qes_jax.motion.formats.gltf_file import Document, accessor, entry, reading
from qes_jax.motion.formats.recording import RecordingError
from qes_jax.motion.frames import slerp

FPS = 60.0  # [Hz] of clips whose keys are not even, and of the ones with fewer keys than SPARSE; our choice
SPARSE = 20.0  # [Hz]
LONGEST = 1_000_000  # frames
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass(frozen=True)
class Track:
    """One property of one node over time: K keys, for cubic splines with tangents before and after."""

    node: int
    path: str  # translation, rotation (wxyz) or scale
    way: str  # LINEAR, STEP or CUBICSPLINE
    times: np.ndarray  # (K,) [s], increasing
    values: np.ndarray  # (K, 3 or 4), or (K, 3, 3 or 4): tangent, value, tangent


def read_tracks(document: Document, number: int) -> list[Track]:
    """What moves in an animation. Weights of morph targets, and paths of extensions, move no joint."""
    place, tracks = f"animations[{number}]", []
    with reading(document.path, place):
        animation = document.lists["animations"][number]
        channels, samplers = animation["channels"], animation["samplers"]
        wanted = [(n, c) for n, c in enumerate(channels) if c["target"]["path"] in WIDTHS and "node" in c["target"]]
    for n, channel in wanted:
        with reading(document.path, f"{place}.channels[{n}]"):
            tracks.append(_track(document, channel["target"], entry(samplers, channel["sampler"], "sampler")))
    if not tracks:
        raise RecordingError(f"{document.path}: field {place}: it moves no node")
    return tracks


def _track(document: Document, target: dict, sampler: dict) -> Track:
    node, path, way = target["node"], target["path"], sampler.get("interpolation", "LINEAR")
    entry(document.lists["nodes"], node, "node")
    if way not in ("LINEAR", "STEP", "CUBICSPLINE"):
        raise ValueError(f"interpolation {way!r} is not LINEAR, STEP or CUBICSPLINE")
    times, values = accessor(document, sampler["input"])[:, 0], accessor(document, sampler["output"])
    expected = len(times) * (3 if way == "CUBICSPLINE" else 1), WIDTHS[path]
    if values.shape != expected:
        raise ValueError(f"{path} has values of shape {values.shape}, expected {expected}")
    if (np.diff(times) <= 0).any():
        raise ValueError("key times do not increase")
    if way == "CUBICSPLINE":
        values = values.reshape(len(times), 3, -1)
    if path == "rotation":
        values = values[..., [3, 0, 1, 2]]
        unit(values[:, 1] if way == "CUBICSPLINE" else values)
    return Track(node, path, way, times, values)


def sample_times(path: Path, tracks: list[Track]) -> tuple[float, np.ndarray]:
    """Rate [Hz] and times (T,) [s]: the keys' own where the longest row of them is even and dense, else FPS."""
    start, end = min(t.times[0] for t in tracks), max(t.times[-1] for t in tracks)
    gaps = np.diff(max(tracks, key=lambda t: len(t.times)).times)
    fps = FPS
    if len(gaps) and np.ptp(gaps) < 0.02 * gaps.mean() and 1 / gaps.mean() >= SPARSE:
        fps = float(np.round(1 / gaps.mean(), 2))
    if (end - start) * fps > LONGEST:
        raise RecordingError(f"{path}: field animations: a clip of {end - start:.0f} s at {fps:g} Hz is too long")
    return fps, start + np.arange(int((end - start) * fps + 1e-3) + 1) / fps


def sample(track: Track, times: np.ndarray) -> np.ndarray:
    """(T, 3 or 4) values at times (T,) [s], held before the first and after the last key; rotations are unit."""
    keys, values = track.times, track.values
    times = np.clip(times, keys[0], keys[-1])
    at = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(at + 1, len(keys) - 1)
    gap = np.where(after > at, keys[after] - keys[at], 1.0)
    share = (times - keys[at]) / gap
    turns = track.path == "rotation"
    if track.way == "STEP":
        result = values[np.where(share >= 1, after, at)]
    elif track.way == "CUBICSPLINE":
        result = _hermite(values, at, after, gap[:, None], share[:, None])
    elif turns:
        result = slerp(unit(values[at]), unit(values[after]), share)
    else:
        result = values[at] + share[:, None] * (values[after] - values[at])
    return unit(result) if turns else result


def _hermite(values: np.ndarray, at: np.ndarray, after: np.ndarray, gap: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The cubic through two keys with given tangents, by the share s (T, 1) of the gap [s] between (appendix C)."""
    start, leave = values[at, 1], gap * values[at, 2]
    end, arrive = values[after, 1], gap * values[after, 0]
    bend = s**3 - 2 * s**2 + s
    return start + (3 * s**2 - 2 * s**3) * (end - start) + bend * leave + (s**3 - s**2) * arrive


def unit(quat: np.ndarray) -> np.ndarray:
    """Quaternions (..., 4) made unit. Raises ValueError at a zero one."""
    norm = np.linalg.norm(quat, axis=-1, keepdims=True)
    if (norm < 1e-6).any():
        raise ValueError("a rotation is a zero quaternion")
    return quat / norm
