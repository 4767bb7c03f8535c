"""Be the user: python experiments/live.py rooms --scene living_room, then open the address it prints."""

import tyro

from qes_jax.assembly.living.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Serve until Ctrl-C. Exit code 2 where something that was asked for is not there."""
    options = tyro.cli(Options, args=argv)
    prepare_jax()
    from qes_jax.assembly.living.serving import live  # only now: it imports JAX

    live(options)
    return 0
