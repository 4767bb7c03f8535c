"""Author poses and motions in the browser: python experiments/edit_pose.py [START] [--scene couch]"""

import tyro

from qes_jax.assembly.editor.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Serve until Ctrl-C. Exit code 2 where something that was asked for is not there."""
    options = tyro.cli(Options, args=argv)
    prepare_jax()
    from qes_jax.assembly.editor.open import edit  # only now: it imports JAX

    edit(options)
    return 0
