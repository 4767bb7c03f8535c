"""Write a clip for other programs: python experiments/export_motion.py clip.npz out.bvh|out.glb

BVH holds the character alone: centimetres, Y up, resting in a T-pose. To import it again among its pieces, give
import_motion.py the clip as --scene. GLB (glTF 2.0) holds a skinned character and the
scene's pieces: metres, Y up. Both open in Blender with File > Import, where Z is up again. Set Blender's frame rate to
the clip's before importing a GLB, or its frames fall between Blender's.
"""

import tyro

from qes_jax.assembly.importing.options import ENDINGS, ExportOptions
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Export one clip. Exit code 2 at bad input."""
    options = tyro.cli(ExportOptions, args=argv)
    if options.out.suffix.lower() not in ENDINGS:
        raise ValueError(f"{options.out}: unknown format, expected a name that ends in {' or '.join(ENDINGS)}")
    prepare_jax()
    from qes_jax.assembly.importing.export import export_clip  # only now: it imports JAX

    export_clip(options)
    return 0
