"""Write a clip for other programs: python experiments/export_motion.py clip.npz out.bvh|out.glb

BVH holds the character alone: centimetres, Y up, resting in a T-pose. To import it again among its pieces, give
import_motion.py the clip as --scene. GLB (glTF 2.0) holds a skinned character and the
scene's pieces: metres, Y up. Both open in Blender with File > Import, where Z is up again. Set Blender's frame rate to
the clip's before importing a GLB, or its frames fall between Blender's.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from launch import explained, prepare_jax

ENDINGS = (".bvh", ".glb")


@dataclass(frozen=True)
class Options:
    """What to export, and where to."""

    clip: Annotated[Path, tyro.conf.Positional]
    """The clip (.npz)."""
    out: Annotated[Path, tyro.conf.Positional]
    """The file to write, whose ending says the format: .bvh or .glb."""
    json: Path | None = None
    """Where the report goes."""


@explained
def main(argv: list[str] | None = None) -> int:
    """Export one clip. Exit code 2 at bad input."""
    options = tyro.cli(Options, args=argv)
    if options.out.suffix.lower() not in ENDINGS:
        raise ValueError(f"{options.out}: unknown format, expected a name that ends in {' or '.join(ENDINGS)}")
    prepare_jax()
    from qes_jax.evaluate.glb import write_glb
    from qes_jax.files import check_target
    from qes_jax.motion.clip import load_clip
    from qes_jax.motion.export import clip_skeleton
    from qes_jax.motion.formats.bvh_write import write_bvh
    from qes_jax.runs.folder import write_json

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
    return 0


if __name__ == "__main__":
    sys.exit(main())
