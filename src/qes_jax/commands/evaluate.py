"""Evaluate a policy: python experiments/evaluate.py RUN [--starts all] [--clips walk] [--recording FILE] [--video]"""

import tyro

from qes_jax.assembly.evaluation.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Parse the command line, then evaluate. Exit code 2 where something that was asked for is not there."""
    options = tyro.cli(Options, args=argv)
    prepare_jax()
    from qes_jax.assembly.evaluation.run import evaluate_run  # only now: it imports JAX

    evaluate_run(options)
    return 0
