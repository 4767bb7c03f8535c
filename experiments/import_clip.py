"""The work behind import_motion.py."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from qes_jax.model.scene import get_scene
from qes_jax.motion.build import make_clip
from qes_jax.motion.clip import Clip, save_clip
from qes_jax.motion.contacts import correct_contacts
from qes_jax.motion.fit_report import report
from qes_jax.motion.formats.read import read_recording
from qes_jax.motion.formats.recording import Recording, crop
from qes_jax.motion.retarget import Fit, estimate_height, retarget
from qes_jax.runs.folder import write_json

if TYPE_CHECKING:
    from import_motion import Options


def import_clip(options: Options) -> dict[str, float]:
    """Read, fit, label, write and report. Returns the report: see `fit_report`, and the recording's seconds and fps."""
    kind, recording = _read(options)
    what = f"{kind}, {recording.fps:g} Hz, {recording.duration:.2f} s, {len(recording.pieces)} objects"
    print(f"{options.file.name}: {what}")
    print(f"subject's height by its bones: {estimate_height(recording):.3f} m", flush=True)
    began = time.perf_counter()
    fit = retarget(recording, options.scene or options.name or options.file.stem, options.height)
    took = time.perf_counter() - began
    print(f"character: {fit.height:.3f} m; recording scaled by {fit.scale:.3f}; fitted in {took:.1f} s", flush=True)
    clip = _clip(options, fit, recording)
    save_clip(options.out, clip)
    result = report(fit, clip.contact) | {"seconds": recording.duration, "fps": recording.fps}
    print("\n".join(f"{key:>24} {value:8.2f}" for key, value in result.items()))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(options.json, result)
    return result


def _read(options: Options) -> tuple[str, Recording]:
    if options.scene and options.objects:
        raise ValueError("give --objects or --scene, not both")
    kind, recording = read_recording(options.file, options.objects, options.fps, options.repeat)
    if options.scene:
        recording = dataclasses.replace(recording, pieces=get_scene(options.scene).pieces)
    if options.start or options.end is not None:
        recording = crop(recording, options.start, options.end)
    return kind, recording


def _clip(options: Options, fit: Fit, recording: Recording) -> Clip:
    licence = options.licence or recording.licence
    clip = make_clip(options.name or options.file.stem, fit.qpos, fit.scene, fit.height, recording.source, licence)
    if options.corrections:
        clip = dataclasses.replace(clip, contact=correct_contacts(clip.contact, options.corrections, fit.world))
    return clip
