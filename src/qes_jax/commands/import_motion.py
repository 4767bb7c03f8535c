"""Make a clip of a foreign recording: read it, fit the character to it, label its contacts, report how good it is.

python experiments/import_motion.py climb.npy --objects box1.obj box2.obj --out climb.npz --json climb.json
python experiments/import_motion.py walk.txt --repeat 16 --out walk.npz
python experiments/import_motion.py 02_01.amc --skeleton 02.asf --out walk.npz
python experiments/import_motion.py dance.bvh --map dance.map.toml --out dance.npz

The format is told from the file. Where a skeleton's joints are not recognised, a map file is written to be filled in.
"""

import tyro

from qes_jax.assembly.importing.options import Options
from qes_jax.commands.launch import explained, on_one_thread, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Import one recording. Exit code 2 at bad input, 3 where the clip that was made is in doubt."""
    options = tyro.cli(Options, args=argv)
    on_one_thread()
    prepare_jax()
    from qes_jax.assembly.importing.motion import import_clip  # only now: it imports NumPy and JAX

    return 3 if import_clip(options)["doubt"] else 0
