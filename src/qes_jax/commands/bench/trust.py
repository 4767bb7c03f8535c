"""A campaign of bad input: python experiments/bench/trust.py [--minutes 10] [--only PART] [--seed 0] [--page FILE]"""

import tyro

from qes_jax.assembly.trusting.options import Options
from qes_jax.commands.launch import explained, on_one_thread, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Exit code 0: nothing was found, 1: something was, 2: bad input."""
    options = tyro.cli(Options, args=argv)
    on_one_thread()
    prepare_jax()
    from qes_jax.assembly.trusting.run import run  # only now: it imports JAX

    return run(options)
