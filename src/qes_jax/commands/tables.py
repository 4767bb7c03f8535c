"""The paper's tables: python experiments/tables.py 2|3|4 [--seeds 5] [--samples N] [--index I --of N] [--smoke]"""

import os

import tyro

from qes_jax.assembly.claims.options import Options
from qes_jax.commands.launch import explained, prepare_jax


@explained
def main(argv: list[str] | None = None) -> int:
    """Train what is missing, evaluate, write the table. Exit code 1 where a training failed, 2 at bad input."""
    options = tyro.cli(Options, args=argv)
    prepare_jax()
    os.environ.setdefault("WANDB_RUN_GROUP", "tables-smoke" if options.smoke else "tables")  # read by wandb itself
    from qes_jax.assembly.claims.run import make_table  # only now: it imports JAX

    return make_table(options, os.environ)
