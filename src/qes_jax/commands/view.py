"""Look at clips and policies in the browser: python experiments/view.py rooms --clip chair [--html out.html]"""

import tyro

from qes_jax.assembly.viewing.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Parse the command line, then show. Exit code 2 where something that was asked for is not there."""
    options = tyro.cli(Options, args=argv)
    prepare_jax()
    from qes_jax.assembly.viewing.run import view  # only now: it imports JAX

    view(options)
    return 0
