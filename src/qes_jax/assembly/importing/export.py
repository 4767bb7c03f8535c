"""Clips written for other programs."""

from qes_jax.assembly.importing.options import ExportOptions
from qes_jax.evaluate.glb import write_glb
from qes_jax.files import check_target
from qes_jax.motion.clip import load_clip
from qes_jax.motion.export import clip_skeleton
from qes_jax.motion.formats.bvh_write import write_bvh
from qes_jax.runs.folder import write_json


def export_clip(options: ExportOptions) -> None:
    """Write a clip in the format that the target's ending says, and tell of it."""
    check_target(options.out, options.json)
    clip = load_clip(options.clip)
    if options.out.suffix.lower() == ".bvh":
        write_bvh(options.out, clip_skeleton(clip))
        what = "the character in centimetres"
    else:
        write_glb(options.out, clip)
        what = f"the character and {len(clip.scene.pieces)} pieces in metres"
    report = {"file": str(options.out), "frames": clip.n_frames, "fps": clip.fps, "seconds": clip.duration}
    print(f"{options.out}: {what}, Y up, {clip.n_frames} frames at {clip.fps:g} Hz, {clip.duration:.2f} s")
    if options.json:
        write_json(options.json, report)
